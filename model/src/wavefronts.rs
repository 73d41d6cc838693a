//! Wavefronts of a traced access to shared memory.
//!
//! The law is the layout algebra's: an access of 8 bytes a lane goes in two passes of half a warp, one of 16 bytes in four of
//! a quarter. On the chip of the profile two such passes become one where all lanes share their addresses with their
//! neighbours: then half of the lanes say all, and the access is one of those alone. A load of 16 bytes at
//! `16 * (lane / 2)` takes 2 wavefronts, not 4.
//!
//! The least that one can hope for instead counts the warp as a whole: the bank with the most words, as if passes could always
//! be merged, but never less than the width needs for lanes that all want the same.

use quadpair_layouts::banks::{BANKS, LANES, WORD, ideal, wavefronts};

/// Byte addresses of the active lanes.
pub type Addresses = [Option<u32>; LANES];

/// Wavefronts in passes, and how many of them are no conflicts: one for each pass that the width needs. Passes of lanes that
/// share their addresses with those `paired` off become one.
pub fn in_passes(addresses: &Addresses, bytes: u32, paired: &[usize]) -> (u32, u32) {
    let paired = paired.iter().filter(|_| bytes > WORD).find(|distance| shares(addresses, **distance));
    let said = paired.map_or(*addresses, |distance| half(addresses, *distance));
    let taken = wavefronts(&said, bytes);
    (taken, taken.min(ideal(addresses, bytes)))
}

/// Whether each lane has the address of the one `distance` off, where both are active.
fn shares(addresses: &Addresses, distance: usize) -> bool {
    (0..LANES).all(|lane| match (addresses[lane], addresses[(lane ^ distance) % LANES]) {
        (Some(own), Some(other)) => own == other,
        _ => true,
    })
}

/// The addresses of pairs of lanes `distance` apart, one a pair, in the lower half of a warp.
fn half(addresses: &Addresses, distance: usize) -> Addresses {
    let mut pairs = [None; LANES];
    let firsts = (0..LANES).filter(|lane| lane & distance == 0);
    for (pair, lane) in pairs.iter_mut().zip(firsts) {
        *pair = addresses[lane].or(addresses[(lane ^ distance) % LANES]);
    }
    pairs
}

/// The fewest wavefronts that the words of all lanes together can take.
pub fn at_least(addresses: &Addresses, bytes: u32) -> u32 {
    let mut words: Vec<u32> = Vec::with_capacity(LANES * 4);
    for address in addresses.iter().flatten() {
        words.extend((0..bytes.div_ceil(WORD)).map(|word| (address / WORD).wrapping_add(word)));
    }
    words.sort_unstable();
    words.dedup();
    let mut banks = [0_u32; BANKS];
    words.iter().for_each(|word| banks[*word as usize % BANKS] += 1);
    let busiest = banks.into_iter().max().unwrap_or(0);
    busiest.max(bytes / 8).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(address: impl Fn(u32) -> u32) -> Addresses {
        std::array::from_fn(|lane| Some(address(lane as u32)))
    }

    #[test]
    fn neighbours_that_share_an_address_halve_the_passes() {
        for (address, bytes, passes) in [
            (every(|lane| lane * 16), 16, (4, 4)),
            (every(|lane| lane / 2 * 16), 16, (2, 2)),
            (every(|lane| (lane / 4 * 2 + lane % 2) * 16), 16, (2, 2)),
            (every(|lane| lane / 4 % 2 * 16 + lane / 8 * 32), 16, (2, 2)),
            (every(|lane| lane / 2 * 8), 8, (1, 1)),
            (every(|lane| lane / 2 * 128), 8, (16, 2)),
            (every(|_| 0), 4, (1, 1)),
            // Lanes four apart share: no pass is spared.
            (every(|lane| (lane & !4) * 8), 8, (2, 2)),
        ] {
            assert_eq!(in_passes(&address, bytes, &[1, 2]), passes, "{address:?}");
        }
        assert_eq!(in_passes(&every(|lane| lane / 2 * 16), 16, &[]), (4, 4));
    }

    #[test]
    fn a_pair_with_one_active_lane_has_its_address() {
        let mut addresses = every(|lane| lane / 2 * 16);
        (0..LANES).step_by(2).for_each(|lane| addresses[lane] = None);
        assert_eq!(in_passes(&addresses, 16, &[1]), (2, 2));
        addresses[1] = Some(144);
        assert_eq!(in_passes(&addresses, 16, &[1]), (3, 3));
    }

    #[test]
    fn the_least_counts_words_of_the_whole_warp() {
        assert_eq!(at_least(&every(|lane| lane * 4), 4), 1);
        assert_eq!(at_least(&every(|lane| lane * 128), 4), 32);
        assert_eq!(at_least(&every(|lane| lane * 16), 16), 4);
        assert_eq!(at_least(&every(|_| 0), 16), 2);
        assert_eq!(at_least(&every(|_| 0), 8), 1);
        assert_eq!(at_least(&every(|lane| lane % 16 * 8), 8), 1);
        assert_eq!(at_least(&[None; LANES], 4), 1);
    }
}
