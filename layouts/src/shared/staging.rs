//! Staging: a layout of shared memory for one way in and one way out, without bank conflicts.
//!
//! The bits of an offset have three jobs. The lowest make up what one access of a thread moves, or at least one bank's
//! word of 4 bytes; the next five choose the bank; the others choose the *line*: elements that differ by lines only lie
//! in the same bank. So an access has no conflict if no two lanes of a pass differ by lines only.
//!
//! Let S be the span of the lanes of a pass that stores, L that of a pass that loads, both modulo the word, in a space of
//! d dimensions. Elements for lines are chosen in two steps: first those outside S + L; then, for s in S but not L, and l
//! in L but not S, the sum s + l, pair by pair. No combination of these lies in S or in L. And there are enough: d - 5
//! lines are wanted, the steps find d - max(dim S, dim L), and a warp has five lane bits.
//!
//! One side may be *wide*: it takes elements at once that the other doesn't. They follow what both take at once, and count
//! as reached by the wide side's pass: S is then the span of the lanes and of what one lane stores.
//!
//! All of that needs accesses as wide as was assumed. So elements lie side by side only if no lane, warp or other register
//! of either layout moves by them together with something else, and everything else is chosen from what those move by.
//!
//! A transpose of 32x32 floats: S = columns, L = rows, five pairs: the line is row + column, the bank the column. That is
//! the XOR swizzle.

use super::SharedLayout;
use crate::banks::{WIDEST, WORD, element_bytes};
use crate::error::Error;
use crate::f2::Span;
use crate::layout::{LANE_BITS, Layout, MAX_BASES};
use crate::shape::{MAX_SHAPE_BITS, Shape};

impl SharedLayout {
    /// A layout in which neither storing a tile in one register layout nor loading it, or slices of it, in the other has
    /// a bank conflict. The loaded layout may have smaller extents: those of a slice.
    ///
    /// Elements that both hold in registers lie side by side, as many as one access moves.
    ///
    /// ```
    /// use quadpair_layouts::{SharedLayout, banks, blocked};
    /// let rows = blocked([32, 32], [1, 1], [1, 32], [1, 1], [1, 0]);
    /// let columns = blocked([32, 32], [1, 1], [32, 1], [1, 1], [0, 1]);
    /// let memory = SharedLayout::between(&rows, &columns, 32);
    /// assert_eq!(banks::load(&columns, &memory, 32).wavefronts, 32);
    /// // Row-major memory lets a lane load four floats of its row at once, but from the same bank as all others.
    /// assert_eq!(banks::load(&columns, &SharedLayout::flat(&rows.shape()), 32).wavefronts, 8 * 32);
    /// ```
    ///
    /// Invalid if a register layout is, or the loaded tile isn't part of the stored one.
    pub const fn between(store: &Layout, load: &Layout, element_bits: u32) -> SharedLayout {
        SharedLayout::staged(store, load, element_bits, Wide::Neither)
    }

    /// The same, where one side may take more elements at once than the other.
    pub(crate) const fn staged(store: &Layout, load: &Layout, element_bits: u32, wide: Wide) -> SharedLayout {
        let shape = store.shape();
        let layout = SharedLayout::flat(&shape);
        if let Some(error) = store.fault() {
            return layout.failed(error);
        }
        if let Some(error) = load.fault() {
            return layout.failed(error);
        }
        if !holds(&shape, &load.shape()) {
            return layout.failed(Error::shapes(" is stored, loaded is ", &shape, &load.shape()));
        }
        let (bytes, inside) = (element_bytes(element_bits), load.embedded(&shape));
        let common = side_by_side(store, &inside, &fixed(&shape, &load.shape()), WIDEST / bytes);
        let mut chosen = Chosen::new(&shape, &common);
        chosen.side_by_side(store, &inside, bytes, wide);
        let (both, all) = (chosen.narrow(common.length, bytes), chosen.bases.length);
        let (stored, loaded) = match wide {
            Wide::Neither => (all, all),
            Wide::Store => (all, both),
            Wide::Load => (both, all),
        };
        let (stores, loads) = (chosen.pass(store, stored, bytes), chosen.pass(&inside, loaded, bytes));
        chosen.banks_and_lines(&stores, &loads, bytes);
        SharedLayout::of_bases(&shape, chosen.bases.items.split_at(chosen.bases.length).0)
    }
}

/// Which side accesses elements side by side that the other has in different threads or registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wide {
    /// Neither, but for those of a bank's word.
    Neither,
    /// The side that stores.
    Store,
    /// The side that loads.
    Load,
}

/// Whether a shape has room for a slice of another.
const fn holds(whole: &Shape, slice: &Shape) -> bool {
    let (mut holds, mut dim) = (whole.rank() == slice.rank(), 0);
    while holds && dim < whole.rank() {
        holds = slice.extent(dim) <= whole.extent(dim);
        dim += 1;
    }
    holds
}

/// How many times a warp is halved for an access of so many bytes a lane.
const fn passes(bytes: u32) -> usize {
    if bytes > WORD { (bytes / WORD).ilog2() as usize } else { 0 }
}

/// A list of vectors.
struct Vectors {
    items: [u32; MOST],
    length: usize,
}

/// What two layouts move by, and what a slice fixes.
const MOST: usize = 2 * MAX_BASES + MAX_SHAPE_BITS;

impl Vectors {
    const fn new() -> Vectors {
        Vectors { items: [0; MOST], length: 0 }
    }

    const fn push(&mut self, vector: u32) {
        self.items[self.length] = vector;
        self.length += 1;
    }

    const fn has(&self, vector: u32) -> bool {
        let mut i = 0;
        while i < self.length {
            if self.items[i] == vector {
                return true;
            }
            i += 1;
        }
        false
    }
}

const fn add(span: &mut Span, vectors: &Vectors) {
    let mut i = 0;
    while i < vectors.length {
        span.insert(vectors.items[i], 0);
        i += 1;
    }
}

/// The bits of a flat index that a slice of this shape fixes.
const fn fixed(whole: &Shape, slice: &Shape) -> Vectors {
    let (mut fixed, mut dim) = (Vectors::new(), 0);
    while dim < whole.rank() {
        let mut bit = slice.dim_bits(dim);
        while bit < whole.dim_bits(dim) {
            fixed.push(1 << (whole.shift(dim) + bit));
            bit += 1;
        }
        dim += 1;
    }
    fixed
}

/// Elements that both layouts hold in registers and that nothing else moves by, until `most` lie side by side.
const fn side_by_side(store: &Layout, load: &Layout, fixed: &Vectors, most: u32) -> Vectors {
    let mut common = common_registers(store, load);
    loop {
        let mut span = Span::new();
        add(&mut span, fixed);
        others(&mut span, store, &common);
        others(&mut span, load, &common);
        // One that is a sum of others becomes one of the others, which may be what a further one is a sum of.
        let (mut kept, mut i) = (Vectors::new(), 0);
        while i < common.length {
            if span.insert(common.items[i], 0) {
                kept.push(common.items[i]);
            }
            i += 1;
        }
        let stable = kept.length == common.length;
        common = kept;
        if stable {
            break;
        }
    }
    while 1 << common.length > most {
        common.length -= 1;
    }
    common
}

const fn common_registers(store: &Layout, load: &Layout) -> Vectors {
    let (mut common, mut i) = (Vectors::new(), 0);
    while i < store.register_bits() {
        let basis = store.register_basis(i);
        if basis != 0 && !common.has(basis) && has_register(load, basis) {
            common.push(basis);
        }
        i += 1;
    }
    common
}

/// What a layout moves by, one register for each common element aside.
const fn others(span: &mut Span, layout: &Layout, common: &Vectors) {
    let (mut seen, mut i) = (Vectors::new(), 0);
    while i < layout.columns().len() {
        let column = layout.columns()[i];
        if i < layout.register_bits() && common.has(column) && !seen.has(column) {
            seen.push(column);
        } else {
            span.insert(column, 0);
        }
        i += 1;
    }
}

/// The elements at offsets 1, 2, 4, … as far as they are chosen.
struct Chosen {
    bases: Vectors,
    /// What is chosen from, registers that could widen an access first.
    candidates: Vectors,
    span: Span,
    dimension: usize,
}

impl Chosen {
    const fn new(shape: &Shape, vector: &Vectors) -> Chosen {
        let (mut bases, mut span) = (Vectors::new(), Span::new());
        let mut i = 0;
        while i < vector.length {
            span.insert(vector.items[i], 0);
            bases.push(vector.items[i]);
            i += 1;
        }
        Chosen { bases, candidates: Vectors::new(), span, dimension: shape.bits() }
    }

    /// Chooses what lies side by side beyond what both access at once, and the candidates for the rest: what the wide side
    /// moves by comes first, so that its accesses stay aligned.
    const fn side_by_side(&mut self, store: &Layout, load: &Layout, bytes: u32, wide: Wide) {
        match wide {
            Wide::Neither => {
                self.moves(store.columns().split_at(store.register_bits()).0);
                self.moves(load.columns().split_at(load.register_bits()).0);
                self.moves(store.columns().split_at(store.register_bits()).1);
                self.fill_word(WORD / bytes);
            }
            Wide::Store => self.widen(store, load, WIDEST / bytes),
            Wide::Load => self.widen(load, store, WIDEST / bytes),
        }
    }

    /// Registers of the wide side that nothing else of it moves by, until `most` elements lie side by side.
    const fn widen(&mut self, wide: &Layout, narrow: &Layout, most: u32) {
        self.moves(wide.columns());
        self.moves(narrow.columns());
        let mut i = 0;
        while i < wide.register_bits() && 1 << self.bases.length < most {
            let (mut others, mut j) = (self.span, 0);
            while j < wide.columns().len() {
                if j != i {
                    others.insert(wide.columns()[j], 0);
                }
                j += 1;
            }
            if !others.contains(wide.register_basis(i)) {
                self.take(wide.register_basis(i));
            }
            i += 1;
        }
    }

    /// How many of the bases the side that isn't wide has in one access, or in one bank.
    const fn narrow(&self, common: usize, bytes: u32) -> usize {
        let word = if bytes < WORD { (WORD / bytes).ilog2() as usize } else { 0 };
        let least = if word < self.bases.length { word } else { self.bases.length };
        if common > least { common } else { least }
    }

    /// What a pass of an access reaches whose first `length` bases go at once: its lanes, then these, then further lanes
    /// while there are banks for them, so that accesses of a part of it, whose passes are of more lanes, have no conflicts
    /// either.
    const fn pass(&self, layout: &Layout, length: usize, bytes: u32) -> Vectors {
        let (mut reached, mut i, lanes) = (Vectors::new(), 0, LANE_BITS - passes(bytes << length));
        while i < lanes {
            reached.push(layout.lane_basis(i));
            i += 1;
        }
        i = 0;
        while i < length {
            reached.push(self.bases.items[i]);
            i += 1;
        }
        let (mut span, mut dimension) = (Span::new(), 0);
        i = 0;
        while i < reached.length {
            dimension += span.insert(reached.items[i], 0) as usize;
            i += 1;
        }
        i = lanes;
        while i < LANE_BITS && dimension < (WORD * 32 / bytes).ilog2() as usize {
            if span.insert(layout.lane_basis(i), 0) {
                reached.push(layout.lane_basis(i));
                dimension += 1;
            }
            i += 1;
        }
        reached
    }

    /// Adds what bits move by to the candidates.
    const fn moves(&mut self, columns: &[u32]) {
        let mut i = 0;
        while i < columns.len() {
            self.candidates.push(columns[i]);
            i += 1;
        }
    }

    /// Takes an element for the next bit, if it is no sum of those before.
    const fn take(&mut self, element: u32) {
        if self.span.insert(element, 0) {
            self.bases.push(element);
        }
    }

    /// Where less than a word lies side by side, elements that the stored or the loaded layout holds in registers.
    const fn fill_word(&mut self, most: u32) {
        let mut i = 0;
        while i < self.candidates.length && 1 << self.bases.length < most {
            self.take(self.candidates.items[i]);
            i += 1;
        }
    }

    const fn banks_and_lines(&mut self, store: &Vectors, load: &Vectors, bytes: u32) {
        let line = (WORD * 32 / bytes).ilog2() as usize;
        let lines = self.lines(store, load, self.dimension.saturating_sub(line));
        // What is no line is a bank; the lines come last.
        let (mut rest, mut i) = (self.span, 0);
        add(&mut rest, &lines);
        while i < self.candidates.length {
            if rest.insert(self.candidates.items[i], 0) {
                self.take(self.candidates.items[i]);
            }
            i += 1;
        }
        i = 0;
        while i < lines.length {
            self.take(lines.items[i]);
            i += 1;
        }
    }

    /// The elements that move between lines, `wanted` of them.
    const fn lines(&self, store: &Vectors, load: &Vectors, wanted: usize) -> Vectors {
        let (mut lines, mut taken) = (Vectors::new(), self.span);
        add(&mut taken, store);
        add(&mut taken, load);
        let mut i = 0;
        while i < self.candidates.length && lines.length < wanted {
            if taken.insert(self.candidates.items[i], 0) {
                lines.push(self.candidates.items[i]);
            }
            i += 1;
        }
        let (only_store, only_load) = (self.only(store, load), self.only(load, store));
        i = 0;
        while i < only_store.length && i < only_load.length && lines.length < wanted {
            lines.push(only_store.items[i] ^ only_load.items[i]);
            i += 1;
        }
        lines
    }

    /// What one access reaches that is no sum of what the other does.
    const fn only(&self, lanes: &Vectors, others: &Vectors) -> Vectors {
        let (mut span, mut only, mut i) = (Span::new(), Vectors::new(), 0);
        add(&mut span, others);
        while i < lanes.length {
            if span.insert(lanes.items[i], 0) {
                only.push(lanes.items[i]);
            }
            i += 1;
        }
        only
    }
}

const fn has_register(layout: &Layout, basis: u32) -> bool {
    let mut i = 0;
    while i < layout.register_bits() {
        if layout.register_basis(i) == basis {
            return true;
        }
        i += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::blocked;
    use crate::shared::row_major;

    fn conflict_free(store: &Layout, load: &Layout, view: impl Fn(&SharedLayout) -> SharedLayout, bits: u32) {
        let memory = SharedLayout::between(store, load, bits).check().unwrap();
        let (store, load) = (banks::store(store, &memory, bits), banks::load(load, &view(&memory), bits));
        assert!(store.is_conflict_free() && load.is_conflict_free(), "{store:?} {load:?}");
    }

    #[test]
    fn operands_of_the_matrix_unit_are_staged_without_conflicts() {
        for quadpairs in Quadpairs::ALL {
            let mma = Mma::m8n8k4(quadpairs, [4, 1]);
            for d in [16, 32, 64, 128] {
                let rows = blocked([64, d], [1, 8], [8, 4], [4, 1], [1, 0]);
                let k = mma.b([8, 64]).permute([1, 0]);
                conflict_free(&rows, &k, |memory| memory.slice(1, 8, 8), 16);
                conflict_free(&rows, &mma.b_row([8, d]), |memory| memory.slice(0, 24, 8), 16);
                conflict_free(&rows, &mma.a([64, 8]), |memory| memory.slice(1, 0, 8), 16);
            }
        }
    }

    #[test]
    fn both_ways_of_a_transpose_are_free_at_every_width() {
        let rows = blocked([64, 64], [1, 8], [8, 4], [2, 2], [1, 0]);
        let columns = rows.permute([1, 0]);
        for bits in [8, 16, 32, 64] {
            conflict_free(&rows, &columns, |memory| *memory, bits);
        }
        // Halves: two of the stored lie in a word, so that half of the instructions suffice for the store.
        let memory = SharedLayout::between(&rows, &columns, 16);
        assert_eq!(banks::store(&rows, &memory, 16).vector, 2);
    }

    #[test]
    fn a_tile_smaller_than_a_line_works() {
        let small = blocked([2, 4], [1, 1], [8, 4], [1, 1], [1, 0]);
        conflict_free(&small, &small.permute([1, 0]).reshape([2, 4]), |memory| *memory, 16);
    }

    #[test]
    fn faults_are_named() {
        let tile = blocked([32, 32], [1, 1], [8, 4], [1, 1], [1, 0]);
        let larger = blocked([64, 32], [1, 1], [8, 4], [1, 1], [1, 0]);
        assert!(matches!(SharedLayout::between(&tile, &larger, 16).fault(), Some(Error::Shapes { .. })));
        let fault = tile.slice(2);
        assert_eq!(SharedLayout::between(&fault, &tile, 16).fault(), fault.fault());
        assert_eq!(SharedLayout::between(&tile, &fault, 16).fault(), fault.fault());
        assert_eq!(row_major([3]).fault(), Some(Error::NotPowerOfTwo { dim: 0, extent: 3 }));
    }
}
