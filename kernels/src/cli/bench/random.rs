//! Random inputs that another program can make again, bit by bit.
//!
//! Element `i` of a tensor is made from a hash of `i`, with no state in between, so that it can be made in parallel and in
//! any language. SplitMix64 gives 64 bits; their four 16-bit parts, added, are a whole number from 0 to 262140 that is
//! nearly normally distributed; moved to 0 and scaled to a variance of 1 it is
//!
//! ```text
//! hash  = mix(seed * 2^40 + i + 1)            all on 64 bits, see `mix`
//! sum   = (hash & 0xffff) + (hash >> 16 & 0xffff) + (hash >> 32 & 0xffff) + (hash >> 48)
//! value = (2 sum - 262140) as f32 * (1 / 75674.0) as f32     rounded to f16
//! ```
//!
//! Each part is uniform, of variance 65536^2 / 12; four have a standard deviation of 65536 / sqrt(3) = 37837, and twice the
//! sum one of 75674. Values lie within 3.47 of 0.

use half::f16;
use rayon::prelude::*;

/// What the doubled sum is multiplied by.
const SCALE: f32 = 1.0 / 75_674.0;

/// A tensor of `length` elements; each seed, below 2^24, gives its own.
pub fn normal(seed: u64, length: usize) -> Vec<f16> {
    (0..length as u64).into_par_iter().map(|i| element(seed, i)).collect()
}

fn element(seed: u64, i: u64) -> f16 {
    let hash = mix((seed << 40) + i + 1);
    let sum: u64 = (0..4).map(|part| hash >> (16 * part) & 0xffff).sum();
    f16::from_f32((2 * sum as i64 - 262_140) as f32 * SCALE)
}

/// The output function of SplitMix64, of the n-th state.
fn mix(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_splitmix64() {
        // The generator's first three numbers from the state 0.
        let known = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([1, 2, 3].map(mix), known);
    }

    #[test]
    fn the_first_numbers_are_those_that_the_comparison_with_pytorch_expects() {
        // The same four stand in tests/peers/gpu.py.
        let first = [1.4287109375, 0.13916015625, -1.453125, 1.119140625].map(f16::from_f64);
        assert_eq!(normal(0, 4), first);
    }

    #[test]
    fn numbers_are_nearly_normal_and_differ_by_seed() {
        let numbers: Vec<f64> = normal(3, 1 << 16).into_iter().map(f64::from).collect();
        let moment = |power: i32| numbers.iter().map(|number| number.powi(power)).sum::<f64>() / numbers.len() as f64;
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.02, "{} {}", moment(1), moment(2));
        // 3 for a normal distribution; 2.7 for four uniform parts.
        assert!((moment(4) - 2.7).abs() < 0.1, "{}", moment(4));
        assert_ne!(normal(3, 8), normal(4, 8));
        assert_eq!(normal(3, 8), normal(3, 16)[..8]);
    }
}
