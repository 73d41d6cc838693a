//! Pairs of layouts in no order, the same in every run: named ones and random bases, with duplicates in registers, lanes
//! and warps; and pairs that differ little, so that conversions of every kind occur.

use quadpair_layouts::{Layout, Mma, Quadpairs, Shape, blocked};

/// Marsaglia's xorshift generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Two layouts of one shape and number of warps.
    pub fn pair(&mut self) -> (Layout, Layout) {
        let warp_bits = self.below(4);
        match self.below(8) {
            0 | 1 => {
                let shape = self.shape();
                (self.any(shape, warp_bits), self.any(shape, warp_bits))
            }
            2 | 3 => self.related(warp_bits),
            4 | 5 => self.within_warps(warp_bits),
            6 => self.of_the_matrix_unit(warp_bits.min(2)),
            _ => {
                let shape = self.matrix();
                (self.blocked(shape, warp_bits), self.blocked(shape, warp_bits))
            }
        }
    }

    fn shape(&mut self) -> Shape {
        let rank = 1 + self.below(4);
        let mut extents = vec![1; rank];
        for _ in 0..3 + self.below(8) {
            extents[self.below(rank)] *= 2;
        }
        Shape::from_slice(&extents)
    }

    fn matrix(&mut self) -> Shape {
        Shape::new([8 << self.below(3), 8 << self.below(3)])
    }

    fn blocked(&mut self, shape: Shape, warp_bits: usize) -> Layout {
        let lanes = self.below(6);
        let warps = self.below(warp_bits + 1);
        let per_thread = [1 << self.below(3), 1 << self.below(4)];
        let order = if self.below(2) == 0 { [0, 1] } else { [1, 0] };
        let extents = [shape.extent(0), shape.extent(1)];
        let threads = [1 << lanes, 32 >> lanes];
        blocked(extents, per_thread, threads, [1 << warps, 1 << (warp_bits - warps)], order)
    }

    fn of_the_matrix_unit(&mut self, warp_bits: usize) -> (Layout, Layout) {
        let quadpairs = [Quadpairs::TwoByTwo, Quadpairs::FourByOne, Quadpairs::OneByFour][self.below(3)];
        let mma = Mma::m8n8k4(quadpairs, [1 << warp_bits, 1]);
        let shape = [32 << warp_bits, 32];
        let blocked = self.blocked(Shape::new(shape), warp_bits);
        let mut all = [mma.accumulator(shape), mma.a(shape), mma.a_col(shape), blocked];
        self.shuffle(&mut all);
        (all[0], all[1])
    }

    /// Unit vectors, and some zeros and sums, in any order.
    fn any(&mut self, shape: Shape, warp_bits: usize) -> Layout {
        let count = (shape.bits() + self.below(3)).max(5 + warp_bits);
        let mut columns: Vec<u32> = (0..count).map(|i| if i < shape.bits() { 1 << i } else { 0 }).collect();
        self.shuffle(&mut columns);
        self.add(&mut columns, 0..count);
        of_columns(shape, &columns, warp_bits)
    }

    fn add(&mut self, columns: &mut [u32], from: std::ops::Range<usize>) {
        for _ in 0..self.below(5) {
            let (to, from) = (self.below(columns.len()), from.start + self.below(from.len().max(1)));
            if to != from && from < columns.len() {
                columns[to] ^= columns[from];
            }
        }
    }

    /// A layout and itself with registers added anywhere, or with threads rotated.
    fn related(&mut self, warp_bits: usize) -> (Layout, Layout) {
        let shape = self.shape();
        let first = self.any(shape, warp_bits);
        let (mut columns, registers) = (first.columns().to_vec(), first.register_bits());
        if self.below(2) == 0 && registers > 0 {
            self.add(&mut columns, 0..registers);
        } else {
            let by = 1 + self.below(4 + warp_bits);
            columns[registers..].rotate_left(by);
        }
        (first, of_columns(shape, &columns, warp_bits))
    }

    /// A layout and itself with some register and lane bits exchanged and added, some of them dropped for duplicates.
    fn within_warps(&mut self, warp_bits: usize) -> (Layout, Layout) {
        let shape = if self.below(2) == 0 { self.shape() } else { Shape::new([16, 16, 1 << (2 + warp_bits)]) };
        let first = self.any(shape, warp_bits);
        let mut columns = first.columns().to_vec();
        let inner = first.register_bits() + 5;
        for _ in 0..1 + self.below(8) {
            let (i, j) = (self.below(inner), self.below(inner));
            columns.swap(i, j);
        }
        self.add(&mut columns[..inner], 0..inner);
        if self.below(3) == 0 {
            let added: Vec<u32> = (0..self.below(3)).map(|_| columns[self.below(inner)]).collect();
            columns.splice(0..0, added);
        }
        if self.below(2) == 0 {
            (first, of_columns(shape, &columns, warp_bits))
        } else {
            (of_columns(shape, &columns, warp_bits), first)
        }
    }
}

fn of_columns(shape: Shape, columns: &[u32], warp_bits: usize) -> Layout {
    let (registers, threads) = columns.split_at(columns.len() - 5 - warp_bits);
    Layout::from_bases(shape, registers, [0, 1, 2, 3, 4].map(|i| threads[i]), &threads[5..])
}
