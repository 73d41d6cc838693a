//! What tests of several kernels share.

use quadpair_kernels::number::Real;
use quadpair_kernels::unit::Unit;
use quadpair_profiles::Profile;

/// Marsaglia's xorshift generator.
pub struct Random(pub u64);

impl Random {
    /// A number from -1 to 1.
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Numbers from `-most` to `most`.
    pub fn numbers<T: Real>(&mut self, most: f64, length: usize) -> Vec<T> {
        (0..length).map(|_| T::from_f64(most * self.number())).collect()
    }
}

/// The first shipped profile whose chips have a unit.
pub fn profile_with(unit: Unit) -> Profile {
    Profile::shipped().find(|profile| Unit::of(profile).contains(&unit)).expect("every unit is in a profile")
}
