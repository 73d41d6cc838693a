//! The law of bank conflicts by sets of words, independent of the library's.

use std::collections::{HashMap, HashSet};

/// Wavefronts of one instruction of a warp: each byte asks its bank for the byte's word.
pub fn wavefronts(addresses: &[Option<u32>; 32], bytes: u32) -> u32 {
    let together = 32 / (bytes / 4).max(1) as usize;
    let pass = |lanes: &[Option<u32>]| {
        let mut words: HashMap<u32, HashSet<u32>> = HashMap::new();
        for byte in lanes.iter().flatten().flat_map(|&address| address..address + bytes) {
            words.entry(byte / 4 % 32).or_default().insert(byte / 4);
        }
        words.values().map(HashSet::len).max().unwrap_or(0) as u32
    };
    addresses.chunks(together).map(pass).sum()
}
