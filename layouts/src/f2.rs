//! Linear algebra over F2: vectors are the bits of a `u32`, addition is XOR.
//!
//! A [`Map`] is a matrix by its columns: column i is what input bit i gives, and the image of a number is the XOR of the
//! columns of its bits. With the columns `011`, `110` the input 3 = `11` gives `101`.
//!
//! A [`Span`] is a set of vectors in echelon form, each with the combination of inputs that gives it. It answers both
//! questions that the algebra asks: is a vector a sum of these, and of which? Of the vectors `110` and `011`, the vector
//! `101` is the sum of both: combination `11`. Nothing in this module knows of tiles or threads.

/// Bits of a vector, and the most columns of a map.
pub const MAX_DIMENSION: usize = 32;

/// The vectors that are sums of given ones.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// By leading bit: the vector that has it, or 0.
    vectors: [u32; MAX_DIMENSION],
    /// For each vector, which inputs sum to it.
    combinations: [u32; MAX_DIMENSION],
    rank: usize,
}

impl Span {
    /// The span of nothing: 0 alone.
    pub const fn new() -> Span {
        Span { vectors: [0; MAX_DIMENSION], combinations: [0; MAX_DIMENSION], rank: 0 }
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

/// A linear map from some bits to some bits.
///
/// ```
/// use quadpair_layouts::f2::Map;
/// const SWIZZLE: Map = Map::new(&[0b01, 0b11], 2);
/// assert_eq!(SWIZZLE.apply(0b10), 0b11);
/// assert_eq!(SWIZZLE.inverse().unwrap().apply(0b11), 0b10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    columns: [u32; MAX_DIMENSION],
    inputs: u8,
    outputs: u8,
}

impl Map {
    /// The map with these columns, of `outputs` bits each. Columns beyond the 32nd and bits beyond `outputs` are dropped.
    pub const fn new(columns: &[u32], outputs: usize) -> Map {
        let outputs = if outputs < MAX_DIMENSION { outputs } else { MAX_DIMENSION };
        let mut map = Map { columns: [0; MAX_DIMENSION], inputs: 0, outputs: outputs as u8 };
        while (map.inputs as usize) < columns.len() && (map.inputs as usize) < MAX_DIMENSION {
            map.columns[map.inputs as usize] = columns[map.inputs as usize] & low_bits(outputs);
            map.inputs += 1;
        }
        map
    }

    /// The map of `bits` bits that changes nothing.
    pub const fn identity(bits: usize) -> Map {
        let (mut columns, mut i) = ([0; MAX_DIMENSION], 0);
        while i < MAX_DIMENSION {
            columns[i] = 1 << i;
            i += 1;
        }
        let bits = if bits < MAX_DIMENSION { bits } else { MAX_DIMENSION };
        Map::new(columns.split_at(bits).0, bits)
    }

    /// Bits that go in.
    pub const fn inputs(&self) -> usize {
        self.inputs as usize
    }

    /// Bits that come out.
    pub const fn outputs(&self) -> usize {
        self.outputs as usize
    }

    /// What each input bit gives.
    pub const fn columns(&self) -> &[u32] {
        self.columns.split_at(self.inputs as usize).0
    }

    /// The image of a number.
    pub const fn apply(&self, input: u32) -> u32 {
        let mut rest = input & low_bits(self.inputs as usize);
        let mut image = 0;
        while rest != 0 {
            image ^= self.columns[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        image
    }

    /// First `inner`, then this: `outer.compose(inner).apply(x) == outer.apply(inner.apply(x))`. `None` unless `inner`
    /// gives as many bits as this takes.
    pub const fn compose(&self, inner: &Map) -> Option<Map> {
        if inner.outputs != self.inputs {
            return None;
        }
        let (mut map, mut i) = (*inner, 0);
        while i < inner.inputs as usize {
            map.columns[i] = self.apply(inner.columns[i]);
            i += 1;
        }
        map.outputs = self.outputs;
        Some(map)
    }

    /// Both side by side: the low input bits go through `low` to the low output bits, the others through `high` to the
    /// others. `None` if that is more than 32 bits.
    pub const fn product(low: &Map, high: &Map) -> Option<Map> {
        let (inputs, outputs) = (low.inputs() + high.inputs(), low.outputs() + high.outputs());
        if inputs > MAX_DIMENSION || outputs > MAX_DIMENSION {
            return None;
        }
        let mut map = Map { inputs: inputs as u8, outputs: outputs as u8, ..*low };
        let mut i = 0;
        while i < high.inputs() {
            // A column without bits stays one even where there is no bit to shift to.
            map.columns[low.inputs() + i] = if high.columns[i] == 0 { 0 } else { high.columns[i] << low.outputs };
            i += 1;
        }
        Some(map)
    }

    /// The columns as a span, solvable for the inputs.
    pub const fn span(&self) -> Span {
        let (mut span, mut i) = (Span::new(), 0);
        while i < self.inputs() {
            span.insert(self.columns[i], 1 << i);
            i += 1;
        }
        span
    }

    /// How many output bits can be set independently.
    pub const fn rank(&self) -> usize {
        self.span().rank()
    }

    /// Whether every output has an input.
    pub const fn is_surjective(&self) -> bool {
        self.rank() == self.outputs()
    }

    /// Whether different inputs have different outputs.
    pub const fn is_injective(&self) -> bool {
        self.rank() == self.inputs()
    }

    /// An input that gives this output, if there is one; inputs that depend on earlier ones are 0 in it.
    pub const fn solve(&self, output: u32) -> Option<u32> {
        self.span().solve(output)
    }

    /// The inputs that give 0, as a map from as many bits as there are independent ones: composed with it, this is 0.
    pub const fn kernel(&self) -> Map {
        let (mut span, mut kernel, mut i) = (Span::new(), Map::new(&[], self.inputs()), 0);
        while i < self.inputs() {
            match span.solve(self.columns[i]) {
                Some(combination) => {
                    kernel.columns[kernel.inputs as usize] = combination ^ 1 << i;
                    kernel.inputs += 1;
                }
                None => {
                    span.insert(self.columns[i], 1 << i);
                }
            }
            i += 1;
        }
        kernel
    }

    /// The map X with `self.compose(&x) == image`: for each column of `image` an input that gives it. Inputs that depend
    /// on earlier ones are 0 in it.
    ///
    /// # Errors
    /// The number of the first column that no input gives.
    pub const fn lift(&self, image: &Map) -> Result<Map, usize> {
        let (span, mut lifted, mut i) = (self.span(), Map::new(&[], self.inputs()), 0);
        while i < image.inputs() {
            lifted.columns[i] = match span.solve(image.columns[i]) {
                Some(combination) => combination,
                None => return Err(i),
            };
            i += 1;
        }
        lifted.inputs = image.inputs;
        Ok(lifted)
    }

    /// A map that this one undoes: `m.compose(m.pseudo_inverse())` changes nothing. `None` unless surjective.
    ///
    /// Of the inputs that give an output it takes the one in which inputs that depend on earlier ones are 0.
    pub const fn pseudo_inverse(&self) -> Option<Map> {
        match self.lift(&Map::identity(self.outputs())) {
            Ok(inverse) => Some(inverse),
            Err(_) => None,
        }
    }

    /// The map that undoes this one and is undone by it. `None` unless both injective and surjective.
    pub const fn inverse(&self) -> Option<Map> {
        if self.inputs == self.outputs { self.pseudo_inverse() } else { None }
    }
}

/// A number with this many low bits set.
pub(crate) const fn low_bits(count: usize) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_solves_for_what_was_inserted() {
        let vectors = [0b110, 0b011, 0b101, 0b1000];
        let mut span = Span::new();
        let new = [0, 1, 2, 3].map(|i| span.insert(vectors[i], 1 << i));
        assert_eq!(new, [true, true, false, true]);
        assert_eq!((span.rank(), span.solve(0b101), span.solve(1)), (3, Some(0b11), None));
    }

    #[test]
    fn a_map_of_the_largest_size_works() {
        let identity = Map::identity(40);
        assert_eq!((identity.inputs(), identity.apply(u32::MAX)), (32, u32::MAX));
        assert_eq!(Map::product(&identity, &Map::new(&[0], 0)), None);
        assert_eq!(Map::product(&identity, &Map::new(&[], 0)), Some(identity));
        assert_eq!(identity.inverse(), Some(identity));
    }

    #[test]
    fn lifted_maps_give_the_image_with_dependent_inputs_at_zero() {
        let map = Map::new(&[0b01, 0b10, 0b11], 2);
        let lifted = map.lift(&Map::new(&[0b11, 0b00, 0b10], 2)).unwrap();
        assert_eq!((lifted.columns(), lifted.outputs()), (&[0b011, 0b000, 0b010][..], 3));
        assert_eq!(Map::new(&[0b01], 2).lift(&Map::new(&[0b01, 0b11], 2)), Err(1));
    }

    #[test]
    fn sizes_must_agree() {
        assert_eq!(Map::identity(3).compose(&Map::identity(2)), None);
        assert_eq!(Map::new(&[1, 2, 3], 2).inverse(), None);
        assert_eq!(Map::new(&[1, 1], 2).inverse(), None);
    }
}
