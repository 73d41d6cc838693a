//! The comptime parameters of the matrix product, and the layouts that follow from them.
//!
//! All depend on the unit and on how A and B lie in memory, and nothing else does: a matrix that lies column by column is
//! loaded and staged as its transpose, row by row, and the unit takes it from there. m8n8k4 has a fragment for each case,
//! with 4 neighbours in memory in a thread: of k, or of a row or column of the result.

use crate::tile::{VECTOR, for_matrices, loaded_rows};
use crate::unit::Unit;
use quadpair::prelude::*;

/// Most tiles of an operand that are in shared memory at once.
pub(super) const MOST_STAGES: usize = *quadpair_profiles::MatmulTile::STAGES.end();

/// Rows of C that a warp has together where four warps share an instruction.
const WARP_ROWS: usize = 16;

/// Rows of a band of C.
const BAND: usize = 1024;

/// How deep the unit is: steps along k whose fragments are loaded at once.
const fn step(unit: Unit) -> usize {
    match unit {
        Unit::M8N8K4 | Unit::Fma => 4,
        Unit::M16N8K8 => 8,
        Unit::M16N8K16 | Unit::Wgmma => 16,
    }
}

/// The least depth of a tile, of which every depth is a multiple. Fragments of a step are loaded while the step before is
/// multiplied, and the next tile sets out behind the first of them: that takes two.
pub(super) const fn least_depth(unit: Unit) -> usize {
    if unit.reads_shared() { step(unit) } else { 2 * step(unit) }
}

/// The comptime parameters: sizes, and the layouts that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatmulTile {
    /// What multiplies.
    pub unit: Unit,
    /// Rows of a block.
    pub block_m: usize,
    /// Columns of a block.
    pub block_n: usize,
    /// Depth of a tile: a multiple of two steps of the unit, or of one of wgmma, which are 4 deep on m8n8k4 and FMA, 8 on
    /// m16n8k8, and 16 on the others.
    pub block_k: usize,
    /// Warps of a block, an even power of two or twice one.
    pub warps: usize,
    /// Tiles of each operand that shared memory has room for, 2 to 6: the profiles' `MatmulTile::STAGES`.
    pub stages: usize,
    /// How A and B lie in memory.
    pub order: [Order; 2],
    /// Of A, B and C, whether every row (or column) in memory starts at a 16-byte boundary and has a multiple of 8
    /// elements.
    pub aligned: [bool; 3],
    /// Whether C is added to.
    pub accumulate: bool,
    /// Whether there is a bias.
    pub bias: bool,
}

impl MatmulTile {
    /// Warps along the rows and along the columns of a block. The units of 16 rows have more of them along its longer
    /// side: the squarer a warp's part is, the less it loads from shared memory. On wgmma it is four warps that read
    /// memory, and the more columns an instruction has, the less it reads: warps lie along the columns when there are no
    /// rows left.
    pub(super) const fn warp_grid(unit: Unit, [block_m, block_n]: [usize; 2], warps: usize) -> [usize; 2] {
        let few = 1 << (warps.ilog2() / 2);
        match unit {
            Unit::M16N8K8 | Unit::M16N8K16 if block_n > block_m => [few, warps / few],
            Unit::Wgmma => {
                let most = block_m / WARP_ROWS;
                let along_m = if most < warps { most } else { warps };
                [along_m, warps / along_m]
            }
            _ => [warps / few, few],
        }
    }

    const fn warps_along(&self) -> [usize; 2] {
        MatmulTile::warp_grid(self.unit, [self.block_m, self.block_n], self.warps)
    }

    /// Block rows that blocks running at once are spread over, if C is walked by bands. Together they read about as many
    /// rows of A as columns of B.
    pub(super) const fn band(&self) -> Option<usize> {
        match self.unit {
            Unit::M16N8K16 | Unit::Wgmma => Some(BAND.div_ceil(self.block_m)),
            _ => None,
        }
    }

    /// Steps along k whose fragments are loaded at once.
    pub(super) const fn step(&self) -> usize {
        step(self.unit)
    }

    /// Steps of a tile.
    pub(super) const fn steps(&self) -> usize {
        self.block_k / self.step()
    }

    /// The step of a tile in which the last of an operand's next one sets out.
    pub(super) const fn last_fetch(&self, operand: usize) -> usize {
        if self.copies(operand) { self.steps() - 1 } else { 1 }
    }

    /// Whether an operand's tiles are copied to shared memory by the chip, which takes aligned rows. Else they come through
    /// registers.
    pub(super) const fn copies(&self, operand: usize) -> bool {
        self.unit.copies() && self.aligned[operand]
    }

    /// How many tiles ahead of the one that is multiplied an operand's next one is.
    pub(super) const fn ahead_of(&self, operand: usize) -> usize {
        if self.copies(operand) { self.stages - 1 } else { 1 }
    }

    /// The same for the operand that is further ahead.
    pub(super) const fn ahead(&self) -> usize {
        if self.copies(0) || self.copies(1) { self.stages - 1 } else { 1 }
    }

    const fn mma(&self) -> Mma {
        let warps = self.warps_along();
        match self.unit {
            Unit::M16N8K8 => Mma::m16n8k8(warps),
            Unit::M16N8K16 => Mma::m16n8k16(warps).together(),
            Unit::Wgmma => Mma::wgmma(self.block_n / warps[1], warps),
            _ => Mma::m8n8k4(Quadpairs::TwoByTwo, warps),
        }
    }

    pub(super) const fn accumulator(&self) -> Layout {
        let shape = [self.block_m, self.block_n];
        match self.unit {
            Unit::Fma => blocked(shape, [4, 4], [4, 8], self.warps_along(), [1, 0]),
            _ => self.mma().accumulator(shape),
        }
    }

    /// The elements of C as they are stored, if that is another layout than the accumulator's. The units of 16 rows leave a
    /// thread two neighbours; in a warp's own part of C four lanes can exchange theirs, so that each has 16 bytes of a row.
    pub(super) const fn stored(&self, bits: u32) -> Option<Layout> {
        let [along_m, along_n] = self.warps_along();
        let [rows, columns] = [self.block_m / along_m, self.block_n / along_n];
        // Rows that a warp has side by side, and which side's warps are counted first. Its next rows follow those of all.
        let (together, order) = match self.unit {
            Unit::M16N8K16 => (rows, [4, 3, 2, 1, 0]),
            Unit::Wgmma => (WARP_ROWS, [4, 1, 2, 3, 0]),
            _ => return None,
        };
        if !self.aligned[2] || bits != 16 || columns < 32 {
            return None;
        }
        let shape = [rows / together, along_m, together, along_n, columns];
        let whole = blocked(shape, [1, 1, 1, 1, 8], [1, 1, 8, 1, 4], [1, along_m, 1, along_n, 1], order);
        Some(whole.reshape([self.block_m, self.block_n]))
    }

    /// Operand 0, `[m, k]`, or 1, `[k, n]`, of `k` steps, as the unit takes it from the order that it lies in.
    pub(super) const fn fragment(&self, operand: usize, k: usize) -> Layout {
        let (a, b) = ([self.block_m, k], [k, self.block_n]);
        match (self.unit, operand, self.order[operand]) {
            (Unit::M8N8K4, 0, Order::Rows) => self.mma().a(a),
            (Unit::M8N8K4, 0, Order::Columns) => self.mma().a_col(a),
            (Unit::M8N8K4, _, Order::Rows) => self.mma().b_row(b),
            (Unit::M8N8K4, _, Order::Columns) => self.mma().b(b),
            (Unit::Fma, 0, _) => self.accumulator().operand_a(k),
            (Unit::Fma, _, _) => self.accumulator().operand_b(k),
            (_, 0, _) => self.mma().a(a),
            (_, _, _) => self.mma().b(b),
        }
    }

    /// The dimensions of memory in the order of the operand's, and the other way round.
    pub(super) const fn dims(&self, operand: usize) -> [usize; 2] {
        match self.order[operand] {
            Order::Rows => [0, 1],
            Order::Columns => [1, 0],
        }
    }

    /// A tile of an operand as it comes from global memory, in the order of memory.
    pub(super) const fn loaded(&self, operand: usize) -> Layout {
        let [rows, columns] = if operand == 0 { [self.block_m, self.block_k] } else { [self.block_k, self.block_n] };
        let [rows, columns] = match self.order[operand] {
            Order::Rows => [rows, columns],
            Order::Columns => [columns, rows],
        };
        match self.unit {
            Unit::M16N8K16 => lines([rows, columns], self.warps, self.steps()),
            Unit::Wgmma => lines([rows, columns], self.warps, 1),
            _ => loaded_rows(rows, columns, self.warps),
        }
    }

    /// Rows of an operand's tile in memory that the threads have side by side: what a step copies is a multiple of them.
    pub(super) const fn share(&self, operand: usize) -> usize {
        let loaded = self.loaded(operand);
        let rows = loaded.shape().extent(0);
        let side_by_side = 32 / line_lanes(rows, loaded.shape().extent(1), self.warps, self.steps()) * self.warps;
        if side_by_side < rows { side_by_side } else { rows }
    }

    /// Shared memory for a tile of an operand, in the order of memory.
    pub(super) const fn staged(&self, operand: usize, bits: u32) -> SharedLayout {
        let loaded = self.loaded(operand);
        let [rows, columns] = [loaded.shape().extent(0), loaded.shape().extent(1)];
        match self.unit {
            Unit::M16N8K16 => return for_matrices(rows, columns),
            Unit::Wgmma => {
                return nvmma_shared([rows, columns], if columns < 64 { 2 * columns } else { 128 }, 16, false);
            }
            _ => {}
        }
        let fragment = self.fragment(operand, self.step()).permute(self.dims(operand));
        SharedLayout::between(&self.loaded(operand), &fragment, bits)
    }

    /// Whether k runs along the rows of memory.
    pub(super) const fn k_contiguous(&self, operand: usize) -> bool {
        (operand == 0) == matches!(self.order[operand], Order::Rows)
    }
}

/// A tile of rows as it is copied.
const fn lines(shape: [usize; 2], warps: usize, steps: usize) -> Layout {
    let lanes = line_lanes(shape[0], shape[1], warps, steps);
    blocked(shape, [1, VECTOR], [32 / lanes, lanes], [warps, 1], [1, 0])
}

/// Lanes along a row of a tile that is copied: enough for a line of 128 bytes, and for rows in each of its steps. The fewer
/// they are, the fewer rows a thread's pieces lie in, and the more of their addresses differ by constants.
const fn line_lanes(rows: usize, columns: usize, warps: usize, steps: usize) -> usize {
    let needed = (32 * warps * steps / rows).next_power_of_two();
    let wanted = if needed > 8 { needed } else { 8 };
    if wanted < columns / VECTOR { wanted } else { columns / VECTOR }
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row by row.
    #[default]
    Rows,
    /// Column by column: the transposed matrix, row by row.
    Columns,
}
