//! Linear algebra over F2: vectors are the bits of a `u32`, addition is XOR.
//!
//! A [`Span`] is a set of vectors in echelon form, each with the combination of inputs that gives it. It answers both
//! questions that layouts ask: is a vector a sum of these, and of which? With the vectors 6 = `110` and 3 = `011`, the
//! vector 5 = `101` is the sum of both: combination `11`.

/// The most independent vectors of a span.
const MOST: usize = 32;

/// The vectors that are sums of given ones.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// By leading bit: the vector that has it, or 0.
    vectors: [u32; MOST],
    /// For each vector, which inputs sum to it.
    combinations: [u32; MOST],
    rank: usize,
}

impl Span {
    /// The span of nothing: 0 alone.
    pub const fn new() -> Span {
        Span { vectors: [0; MOST], combinations: [0; MOST], rank: 0 }
    }

    /// How many independent vectors there are.
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// Adds a vector, which is the sum of the inputs in `combination`; whether it was no sum of earlier ones.
    pub const fn insert(&mut self, vector: u32, combination: u32) -> bool {
        let (rest, used) = self.reduce(vector);
        if rest == 0 {
            return false;
        }
        let lead = 31 - rest.leading_zeros() as usize;
        self.vectors[lead] = rest;
        self.combinations[lead] = combination ^ used;
        self.rank += 1;
        true
    }

    /// Whether a vector is a sum of the span's.
    pub const fn contains(&self, vector: u32) -> bool {
        self.reduce(vector).0 == 0
    }

    /// The inputs that sum to a vector, if some do.
    pub const fn solve(&self, vector: u32) -> Option<u32> {
        match self.reduce(vector) {
            (0, combination) => Some(combination),
            _ => None,
        }
    }

    /// What is left of a vector, and the inputs that were taken off.
    const fn reduce(&self, mut vector: u32) -> (u32, u32) {
        let mut used = 0;
        while vector != 0 {
            let lead = 31 - vector.leading_zeros() as usize;
            if self.vectors[lead] == 0 {
                return (vector, used);
            }
            vector ^= self.vectors[lead];
            used ^= self.combinations[lead];
        }
        (0, used)
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::new()
    }
}
