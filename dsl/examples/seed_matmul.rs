//! A matrix product on Volta's tensor cores by an author's own hand: the accumulator's layout written from the fragment,
//! the operands relabelled to it, and the instruction as inline assembly.
//!
//! The instruction `mma.m8n8k4` multiplies 8x4 by 4x8. A warp runs four at once, one in each *quadpair* of 8 lanes, which
//! are the quadrants of a 16x16 tile. With the lane as a0 + 2 a1 + 4 q0 + 8 q1 + 16 b, thread t = a0 + 2 a1 + 4 b of a
//! quadpair holds row t of A and column t of B, for 4 k; its accumulator register v0 + 2 v1 + 4 v2 is D\[m, n\] with
//! m = a0 + 2 v1 + 4 b and n = v0 + 2 a1 + 4 v2.
//!
//! So the accumulator is kept under 7 coordinates, `[MB, 2, 8, NB, 2, 2, 4]`: m = 16 mb + 8 mi3 + mi and
//! n = 16 nb + 8 ni3 + 4 ni2 + ni. Its row-major order is that of `[BM, BN]`. A thread's 4 elements of A depend on v0 and
//! v1, but not on v2: under the names of the accumulator's coordinates they are a tile `[MB, 2, 8, 1, 1, 1, 4]`, which
//! broadcasts. In the same way B's are `[1, 1, 8, NB, 2, 1, 4]`.
//!
//! The example runs two ways of loading B. The fragments want 4 consecutive k of a column side by side in shared memory,
//! but in global memory a *row* is contiguous. A thread that has 4 k of 2 columns stores each column's at once. A thread
//! that has 8 neighbours of one row scatters them, 8 or 16 lanes to a bank. The layout algebra knows the cost before
//! anything runs, and the simulator counts the same. Run it with
//! `cargo run --release --example seed_matmul -p quadpair`.

use std::error::Error;

use quadpair::Instance;
use quadpair::layouts::{Access, banks, row_major};
use quadpair::prelude::*;
use quadpair::sim::{Counters, Simulator};
use quadpair_profiles::Profile;

/// Depth of the instruction: a step along k.
const STEP: usize = 4;

/// The warps are 2 along m by 2 along n.
const WARPS: usize = 4;

/// Bits of an operand's element.
const BITS: u32 = 16;

/// How B comes from global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadB {
    /// Each thread has 4 consecutive k of 2 columns.
    Columns,
    /// Each thread has 8 neighbours of a row.
    Rows,
}

/// The comptime parameters: sizes, and the layouts that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeedTile {
    /// Rows of a block, 32 or 64.
    pub block_m: usize,
    /// Columns of a block, 64 to 256.
    pub block_n: usize,
    /// Depth of a tile, a multiple of 32.
    pub block_k: usize,
    /// How B is loaded.
    pub load_b: LoadB,
}

/// The accumulator's coordinates, in order, when only one of them is not 0.
const fn only(dim: usize, coordinate: usize) -> [usize; 7] {
    let mut coordinates = [0; 7];
    coordinates[dim] = coordinate;
    coordinates
}

const fn mb(i: usize) -> [usize; 7] {
    only(0, i)
}

const fn nb(i: usize) -> [usize; 7] {
    only(3, i)
}

const MI3: [usize; 7] = only(1, 1);
const MI2: [usize; 7] = only(2, 4);
const MI1: [usize; 7] = only(2, 2);
const MI0: [usize; 7] = only(2, 1);
const NI3: [usize; 7] = only(4, 1);
const NI2: [usize; 7] = only(5, 1);
const NI1: [usize; 7] = only(6, 2);
const NI0: [usize; 7] = only(6, 1);

/// From (mb, mi3, mi2, mi1, mi0, k1, k0) to (mb, mi3, mi2, k1, mi0, mi1, k0): k takes the places of v0 and v1, and row
/// bit 1, which is lane bit a1, that of ni1. It is its own inverse.
const ORDER_A: [usize; 7] = [0, 1, 2, 5, 4, 3, 6];

/// From (nb, ni3, ni2, ni1, ni0, k1, k0) to (ni2, k1, ni0, nb, ni3, ni1, k0).
const ORDER_B: [usize; 7] = [2, 5, 4, 0, 1, 3, 6];

/// The inverse of [`ORDER_B`].
const ORDER_B_BACK: [usize; 7] = [3, 4, 0, 5, 2, 1, 6];

/// Eight accumulators of a thread are the instruction's results `$0` to `$7` and addends `$16` to `$23`. An operand's
/// pack is eight halves too, but the second four only repeat the first, because v2 broadcasts: `$8` and `$9` of the four
/// registers `$8` to `$11` are A's, `$12` and `$13` of `$12` to `$15` are B's.
const MMA: &str = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 \
    {$0, $1, $2, $3, $4, $5, $6, $7}, {$8, $9}, {$12, $13}, {$16, $17, $18, $19, $20, $21, $22, $23};";

impl SeedTile {
    /// A tile of 32 k.
    const fn new(block_m: usize, block_n: usize, load_b: LoadB) -> SeedTile {
        SeedTile { block_m, block_n, block_k: 32, load_b }
    }

    /// Steps of a tile.
    const fn steps(&self) -> usize {
        self.block_k / STEP
    }

    /// The accumulator's extents.
    const fn shape(&self) -> [usize; 7] {
        [self.block_m / 16, 2, 8, self.block_n / 16, 2, 2, 4]
    }

    /// The accumulator, from the fragment: v0, v1, v2, then what a warp repeats along n and m; lanes a0, a1, q0, q1, b.
    const fn accumulator(&self) -> Layout {
        let [half_m, half_n] = [self.block_m / 32, self.block_n / 32];
        // What is behind the count is only room.
        let mut registers = [NI0, MI1, NI2, MI0, MI0, MI0, MI0, MI0, MI0];
        let (mut count, mut i) = (3, 1);
        while i < half_n {
            registers[count] = nb(i);
            (count, i) = (count + 1, i * 2);
        }
        i = 1;
        while i < half_m {
            registers[count] = mb(i);
            (count, i) = (count + 1, i * 2);
        }
        linear(self.shape(), registers.split_at(count).0, &[MI0, NI1, MI3, NI3, MI2], &[mb(half_m), nb(half_n)])
    }

    /// A under the accumulator's coordinates: `[MB, 2, 8, 1, 1, 1, 4]`.
    const fn broadcast_a(&self) -> Layout {
        self.accumulator().collapse(3).collapse(4).collapse(5)
    }

    /// B under the accumulator's coordinates: `[1, 1, 8, NB, 2, 1, 4]`.
    const fn broadcast_b(&self) -> Layout {
        self.accumulator().collapse(0).collapse(1).collapse(5)
    }

    /// The rows of A of one step, `[BM, 4]`, as the accumulator wants them.
    const fn frag_a_layout(&self) -> Layout {
        let bits = self.broadcast_a().reshape([self.block_m / 16, 2, 2, 2, 2, 2, 2]);
        bits.permute(ORDER_A).reshape([self.block_m, STEP])
    }

    /// The columns of B of one step, `[BN, 4]`, as the accumulator wants them.
    const fn frag_b_layout(&self) -> Layout {
        let bits = self.broadcast_b().reshape([2, 2, 2, self.block_n / 16, 2, 2, 2]);
        bits.permute(ORDER_B_BACK).reshape([self.block_n, STEP])
    }

    /// A from global memory: each thread has 8 neighbours of a row, so two steps; 16 lanes are 16 rows of one step, and
    /// 2 lanes a sector of 32 bytes.
    const fn load_a_layout(&self) -> Layout {
        let rows = if self.block_m / 16 < WARPS { self.block_m / 16 } else { WARPS };
        blocked([self.block_m, self.block_k], [1, 8], [16, 2], [rows, WARPS / rows], [0, 1])
    }

    /// B from global memory.
    const fn load_b_layout(&self) -> Layout {
        let shape = [self.block_k, self.block_n];
        let lanes = if self.block_n / 8 < 32 { self.block_n / 8 } else { 32 };
        match self.load_b {
            LoadB::Columns => blocked(shape, [4, 2], [1, 32], [WARPS, 1], [1, 0]),
            LoadB::Rows => blocked(shape, [1, 8], [32 / lanes, lanes], [WARPS, 1], [1, 0]),
        }
    }

    /// A tile `[rows, BK]`, k innermost, as it is staged: `[steps x rows, 4]`.
    const fn staged(&self, tile: Layout, rows: usize) -> Layout {
        tile.reshape([rows, self.steps(), STEP]).permute([1, 0, 2]).reshape([self.steps() * rows, STEP])
    }

    /// Shared memory of an operand: 8 bytes a row.
    const fn memory(&self, rows: usize) -> SharedLayout {
        row_major([self.steps() * rows, STEP])
    }
}

/// A tile of a row-major matrix; 0 beyond `rows_left` and `columns_left`.
#[device]
fn fetch(base: Tile, stride: Tile, rows_left: Tile, columns_left: Tile, #[comptime] layout: Layout) -> Tile {
    let row = arange(layout.slice(1)).expand_dims(1);
    let column = arange(layout.slice(0)).expand_dims(0);
    load_masked(base + row as i64 * stride as i64 + column, (row < rows_left) & (column < columns_left), 0.0)
}

/// Stages a tile `[rows, BK]`. Nothing moves but into memory: reshape and permute only rename.
#[device]
fn stage(tile: Tile, memory: Shared, #[comptime] rows: usize, #[comptime] t: SeedTile) {
    memory.store(tile.reshape([rows, t.steps(), STEP]).permute([1, 0, 2]).reshape([t.steps() * rows, STEP]));
}

/// One step: operands loaded, relabelled (which moves no data, or the build fails), multiplied and added.
#[device]
fn multiply(a: Shared, b: Shared, acc: Tile, #[comptime] step: usize, #[comptime] t: SeedTile) -> Tile {
    let left = a.slice(0, step * t.block_m, t.block_m).load(t.frag_a_layout());
    let left = left.reshape([t.block_m / 16, 2, 2, 2, 2, 2, 2]).permute(ORDER_A);
    let left = left.reshape([t.block_m / 16, 2, 8, 1, 1, 1, 4]).assert_trivial(t.broadcast_a());
    let right = b.slice(0, step * t.block_n, t.block_n).load(t.frag_b_layout());
    let right = right.reshape([t.block_n / 16, 2, 2, 2, 2, 2, 2]).permute(ORDER_B);
    let right = right.reshape([1, 1, 8, t.block_n / 16, 2, 1, 4]).assert_trivial(t.broadcast_b());
    inline_asm_elementwise::<f32, 3>(MMA, [left, right, acc], 8)
}

/// `C = A B` of row-major matrices without gaps. n and k are multiples of 8, and all three start at 16-byte boundaries: so
/// rows do, and 8 neighbours are inside or outside together, one load.
#[kernel(grid = [(n as usize).div_ceil(t.block_n), (m as usize).div_ceil(t.block_m)])]
pub fn seed_matmul(a: Ptr<f16>, b: Ptr<f16>, c: PtrMut<f32>, m: i32, n: i32, k: i32, #[comptime] t: SeedTile) {
    let a_shared = shared::<f16>(t.memory(t.block_m));
    let b_shared = shared::<f16>(t.memory(t.block_n));
    let [n, k] = [multiple_of(n, 8), multiple_of(k, 8)];
    let first_row = program_id(1) * t.block_m;
    let first_column = program_id(0) * t.block_n;
    let mut a_next = a + first_row as i64 * k as i64;
    let mut b_next = b + first_column;
    let mut acc = zeros::<f32>(t.accumulator());
    for first in (0..k).step_by(t.block_k) {
        // The promise is repeated here: nothing is known of an address that a loop carries.
        let a_tile = fetch(multiple_of(a_next, 8), k, m - first_row, k - first, t.load_a_layout());
        let b_tile = fetch(multiple_of(b_next, 8), n, k - first, n - first_column, t.load_b_layout());
        stage(a_tile, a_shared, t.block_m, t);
        stage(b_tile.permute([1, 0]), b_shared, t.block_n, t);
        barrier();
        for step in 0..t.steps() {
            acc = multiply(a_shared, b_shared, acc, step, t);
        }
        barrier();
        a_next = a_next + t.block_k;
        b_next = b_next + n as i64 * t.block_k;
    }

    // The 7 coordinates in row-major order are [BM, BN]: this reshape, too, moves nothing.
    let out = acc.reshape([t.block_m, t.block_n]);
    let row = first_row + arange(out.layout().slice(1)).expand_dims(1);
    let column = first_column + arange(out.layout().slice(0)).expand_dims(0);
    store_masked(multiple_of(c, 4) + row as i64 * n as i64 + column, out, (row < m) & (column < n));
}

instances! {
    /// 128 columns, four k of a column a thread.
    pub COLUMNS_128 = SeedMatmul { t: SeedTile::new(64, 128, LoadB::Columns) };
    /// 128 columns, eight neighbours of a row a thread.
    pub ROWS_128 = SeedMatmul { t: SeedTile::new(64, 128, LoadB::Rows) };
    /// 256 columns, four k of a column a thread.
    pub COLUMNS_256 = SeedMatmul { t: SeedTile::new(32, 256, LoadB::Columns) };
    /// 256 columns, eight neighbours of a row a thread.
    pub ROWS_256 = SeedMatmul { t: SeedTile::new(32, 256, LoadB::Rows) };
}

/// What the algebra says of a tile's accesses to shared memory, a warp.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Storing A.
    pub store_a: Access,
    /// Storing B.
    pub store_b: Access,
    /// Loading one step of A.
    pub load_a: Access,
    /// Loading one step of B.
    pub load_b: Access,
}

impl Prediction {
    /// The accesses of a tile's layouts.
    pub const fn of(t: &SeedTile) -> Prediction {
        let [a, b] = [t.memory(t.block_m), t.memory(t.block_n)];
        Prediction {
            store_a: banks::store(&t.staged(t.load_a_layout(), t.block_m), &a, BITS),
            store_b: banks::store(&t.staged(t.load_b_layout().permute([1, 0]), t.block_n), &b, BITS),
            load_a: banks::load(&t.frag_a_layout(), &a.slice(0, 0, t.block_m), BITS),
            load_b: banks::load(&t.frag_b_layout(), &b.slice(0, 0, t.block_n), BITS),
        }
    }

    /// Wavefronts and ideal wavefronts of one tile and one warp: each operand is stored once and loaded step by step.
    fn of_tile(&self, steps: usize) -> [u64; 2] {
        let sum = |count: fn(&Access) -> u32| {
            let stored = count(&self.store_a) + count(&self.store_b);
            let loaded = count(&self.load_a) + count(&self.load_b);
            u64::from(stored) + u64::from(loaded) * steps as u64
        };
        [sum(|access| access.wavefronts), sum(|access| access.ideal)]
    }
}

// The claim about bank conflicts needs no run: it holds when the example compiles.
const _: () = {
    let columns = Prediction::of(&SeedTile::new(32, 256, LoadB::Columns)).store_b;
    let rows = Prediction::of(&SeedTile::new(32, 256, LoadB::Rows)).store_b;
    assert!(columns.is_conflict_free() && rows.wavefronts == 16 * rows.ideal);
};

/// One launch: what ran, how far from `f64` it was, and wavefronts predicted and counted.
#[derive(Debug)]
pub struct Run {
    /// The instance.
    pub name: &'static str,
    /// The tile.
    pub tile: SeedTile,
    /// What the algebra says, a tile and a warp.
    pub prediction: Prediction,
    /// Wavefronts of the whole launch, and how few they could be, by the algebra.
    pub expected: [u64; 2],
    /// The same as the simulator counted them.
    pub counted: [u64; 2],
    /// The largest error of an element.
    pub error: f64,
}

impl Run {
    /// Wavefronts of storing B over the fewest possible.
    pub const fn conflicts(&self) -> u32 {
        self.prediction.store_b.wavefronts / self.prediction.store_b.ideal
    }
}

/// m, n and k of the check: no multiples of the tiles'.
const SIZE: [usize; 3] = [88, 296, 72];

/// The largest error that a right kernel makes: sums of 72 products of at most 1, in `f32`.
const TOLERANCE: f64 = 2e-5;

/// Runs all instances, checks each product against `f64`, the predicted wavefronts against the counted ones, and that
/// only loading rows of B has bank conflicts.
///
/// # Errors
/// A launch that fails, or anything that is not so.
pub fn check() -> Result<Vec<Run>, Box<dyn Error>> {
    let simulator = Simulator::new(&Profile::by_name("volta")?);
    [&COLUMNS_128, &ROWS_128, &COLUMNS_256, &ROWS_256].into_iter().map(|own| run(&simulator, own)).collect()
}

fn run(simulator: &Simulator, instance: &'static Instance<SeedMatmul>) -> Result<Run, Box<dyn Error>> {
    let [m, n, k] = SIZE;
    let tile = instance.kernel().t;
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    // An element that the kernel forgets stays NaN, and is found.
    let mut c = vec![f32::NAN; m * n];
    let (a, b) = (a.as_slice(), b.as_slice());
    let args = SeedMatmulArgs { a, b, c: c.as_mut_slice(), m: m as i32, n: n as i32, k: k as i32 };
    let counters = instance.launch(simulator, args)?.counters.unwrap_or_default();
    let prediction = Prediction::of(&tile);
    let run = Run {
        name: instance.name(),
        tile,
        prediction,
        expected: expected(&tile, &prediction),
        counted: [counters.shared_wavefronts, counters.shared_ideal],
        error: largest_error(a, b, &c),
    };
    verify(&run, &counters)?;
    Ok(run)
}

/// Wavefronts and ideal wavefronts of the launch: what a tile takes, times iterations, warps and blocks.
fn expected(t: &SeedTile, prediction: &Prediction) -> [u64; 2] {
    let [m, n, k] = SIZE;
    let blocks = m.div_ceil(t.block_m) * n.div_ceil(t.block_n);
    let tiles = blocks * WARPS * k.div_ceil(t.block_k);
    prediction.of_tile(t.steps()).map(|wavefronts| wavefronts * tiles as u64)
}

fn verify(run: &Run, counters: &Counters) -> Result<(), Box<dyn Error>> {
    let name = run.name;
    if run.expected != run.counted {
        return Err(format!("{name}: {:?} wavefronts by the algebra, {:?} counted", run.expected, run.counted).into());
    }
    let right = match (run.tile.load_b, run.tile.block_n) {
        (LoadB::Columns, _) => 1,
        (LoadB::Rows, columns) => columns as u32 / 16,
    };
    if run.conflicts() != right {
        return Err(format!("{name}: {}-way conflicts storing B, {right}-way is right", run.conflicts()).into());
    }
    let p = &run.prediction;
    if ![p.store_a, p.load_a, p.load_b].iter().all(Access::is_conflict_free) {
        return Err(format!("{name}: conflicts elsewhere: {p:?}").into());
    }
    if counters.mma == 0 {
        return Err(format!("{name}: no matrix instruction ran").into());
    }
    if run.error.is_nan() || run.error > TOLERANCE {
        return Err(format!("{name}: error {:.1e}, at most {TOLERANCE:.0e} is right", run.error).into());
    }
    Ok(())
}

/// Numbers between -1 and 1 in no order.
fn numbers(count: usize, seed: u32) -> Vec<f16> {
    let number = |i: usize| {
        let mixed = (i as u32).wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b);
        (mixed.wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|i| f16::from_f32(number(i))).collect()
}

/// The largest error of any element; NaN if any element is.
fn largest_error(a: &[f16], b: &[f16], c: &[f32]) -> f64 {
    let [_, n, k] = SIZE;
    let mut largest = 0.0;
    for (i, &found) in c.iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let wanted: f64 = (0..k).map(|l| a[row * k + l].to_f64() * b[l * n + column].to_f64()).sum();
        let error = (f64::from(found) - wanted).abs();
        largest = if error <= largest { largest } else { error };
    }
    largest
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("Storing a tile of B, a warp, by the algebra; all of shared memory, a launch, by both:\n");
    println!(
        "{:<12} {:>6} {:>11} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "instance", "vector", "wavefronts", "ideal", "conflicts", "algebra", "counted", "ideal", "error"
    );
    for run in check()? {
        let Access { vector, wavefronts, ideal, .. } = run.prediction.store_b;
        let ([algebra, least], [counted, _]) = (run.expected, run.counted);
        let conflicts = format!("{}-way", run.conflicts());
        println!(
            "{:<12} {vector:>6} {wavefronts:>11} {ideal:>6} {conflicts:>9} {algebra:>9} {counted:>9} {least:>9} {:>9.1e}",
            run.name, run.error
        );
    }
    Ok(())
}
