//! How far a result is from what it should be.
//!
//! Two figures: the Frobenius relative error `|actual - expected| / |expected|` over all elements, and the largest
//! absolute difference. Infinities need care: a row with no key has an LSE of -inf on both sides, which is agreement, so
//! equal infinities differ by 0; an infinity beside anything else, and any NaN, make the result *unusable*: such pairs
//! are counted apart, and one is enough to fail.

/// The difference of two equally long sequences of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// `|actual - expected| / |expected|` in the Frobenius norm, over the finite pairs.
    pub relative: f64,
    /// The largest absolute difference of a finite pair.
    pub max_abs: f64,
    /// The largest absolute difference of a finite pair, divided by the expected number where that is above 1.
    pub max_scaled: f64,
    /// Pairs that hold a NaN, or an infinity that the other side lacks.
    pub unusable: usize,
}

impl Difference {
    /// Compares number by number; both sequences have to be equally long.
    pub fn between(actual: impl IntoIterator<Item = f64>, expected: impl IntoIterator<Item = f64>) -> Self {
        let mut result = Self::default();
        let (mut error, mut norm) = (0.0, 0.0);
        for (actual, expected) in actual.into_iter().zip(expected) {
            let difference = if actual == expected { 0.0 } else { (actual - expected).abs() };
            if !difference.is_finite() {
                result.unusable += 1;
                continue;
            }
            result.max_abs = result.max_abs.max(difference);
            result.max_scaled = result.max_scaled.max(difference / expected.abs().max(1.0));
            if expected.is_finite() {
                error += difference * difference;
                norm += expected * expected;
            }
        }
        result.relative = if error == 0.0 { 0.0 } else { (error / norm).sqrt() };
        result
    }

    /// The relative error, or NaN if a pair was unusable.
    pub fn relative_or_nan(&self) -> f64 {
        if self.unusable == 0 { self.relative } else { f64::NAN }
    }

    /// The largest absolute difference, or NaN if a pair was unusable.
    pub fn max_abs_or_nan(&self) -> f64 {
        if self.unusable == 0 { self.max_abs } else { f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_is_the_frobenius_norm_and_max_the_largest_difference() {
        let difference = Difference::between([3.0, 4.5, 0.0], [3.0, 4.0, 0.0]);
        assert_eq!(difference.relative, 0.1);
        assert_eq!(difference.max_abs, 0.5);
        assert_eq!(difference.max_scaled, 0.125);
        assert_eq!(difference.unusable, 0);
    }

    #[test]
    fn equal_infinities_agree() {
        let difference = Difference::between([f64::NEG_INFINITY, 1.0], [f64::NEG_INFINITY, 1.0]);
        assert_eq!(difference, Difference::default());
    }

    #[test]
    fn nan_and_lone_infinities_are_unusable() {
        let inf = f64::INFINITY;
        let difference = Difference::between([f64::NAN, inf, 1.0, -inf, 2.0], [1.0, 1.0, f64::NAN, inf, 2.0]);
        assert_eq!(difference.unusable, 4);
        assert!(difference.relative_or_nan().is_nan() && difference.max_abs_or_nan().is_nan());
    }

    #[test]
    fn something_instead_of_zero_is_infinitely_wrong() {
        assert_eq!(Difference::between([1e-9], [0.0]).relative, f64::INFINITY);
        assert_eq!(Difference::between([0.0], [0.0]).relative, 0.0);
    }
}
