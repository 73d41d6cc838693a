//! Shared memory in every kind of layout, run: where each element lies, and what the accesses take.
//!
//! A tile goes to memory in one register layout and comes back in another, whole and in views. The simulator sees each
//! address; the wavefronts that it counts must be those that the layout algebra says.

use half::f16;
use quadpair::Target;
use quadpair::prelude::*;
use quadpair::sim::{Counters, Simulator};
use quadpair_layouts::banks;
use quadpair_profiles::Profile;

/// Rows and columns of the tile.
const SIDE: usize = 64;

const WARPS: usize = 4;

/// How the memory is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Rows with a gap of an element.
    RowAndOne,
    /// Rows with a gap of 8 elements.
    RowAndEight,
    /// Gaps in rows, after rows and after groups of rows.
    Three,
    /// A swizzle whose rows have gaps: registers and threads decide the same bits of an offset.
    SwizzleAndGaps,
    /// Columns with gaps.
    Columns,
    /// As wgmma reads it.
    Chunks,
}

impl Memory {
    const fn layout(self) -> SharedLayout {
        let shape = [SIDE, SIDE];
        match self {
            Memory::RowAndOne => padded(shape, &[(SIDE, 1)], [1, 0]),
            Memory::RowAndEight => padded(shape, &[(SIDE, 8)], [1, 0]),
            Memory::Three => padded(shape, &[(16, 4), (64, 2), (512, 8)], [1, 0]),
            Memory::SwizzleAndGaps => swizzled(shape, 4, 1, 8, [1, 0]).with_padding(&[(32, 4)]),
            Memory::Columns => padded(shape, &[(SIDE, 4)], [0, 1]),
            Memory::Chunks => nvmma_shared(shape, 128, 16, false),
        }
    }
}

/// The register layouts on both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The memory.
    pub memory: Memory,
}

impl Way {
    const fn stored(&self) -> Layout {
        blocked([SIDE, SIDE], [1, 8], [8, 4], [WARPS, 1], [1, 0])
    }

    /// Columns of a thread: no register moves along a row.
    const fn loaded(&self) -> Layout {
        blocked([SIDE, SIDE], [4, 1], [2, 16], [1, WARPS], [0, 1])
    }
}

/// The tile through memory, from rows to columns.
#[kernel(grid = [1])]
pub fn whole<T: Element>(x: Ptr<T>, out: PtrMut<T>, #[comptime] t: Way) {
    let memory = shared::<T>(t.memory.layout());
    let place = arange(t.stored().slice(1)).expand_dims(1) * SIDE + arange(t.stored().slice(0)).expand_dims(0);
    memory.store(load(x + place));
    barrier();
    let place = arange(t.loaded().slice(1)).expand_dims(1) * SIDE + arange(t.loaded().slice(0)).expand_dims(0);
    store(out + place, memory.load(t.loaded()));
}

/// A quarter of the tile at a time, and turned.
#[kernel(grid = [1])]
pub fn views<T: Element>(x: Ptr<T>, out: PtrMut<T>, #[comptime] t: Way) {
    let memory = shared::<T>(t.memory.layout());
    let place = arange(t.stored().slice(1)).expand_dims(1) * SIDE + arange(t.stored().slice(0)).expand_dims(0);
    memory.store(load(x + place));
    barrier();
    let quarter = blocked([SIDE / 2, SIDE / 2], [1, 4], [4, 8], [WARPS, 1], [1, 0]);
    // [column, row] of the upper right quarter.
    let turned = memory.slice(0, 0, 32).slice(1, 32, 32).permute([1, 0]).load(quarter);
    let column = arange(quarter.slice(1)).expand_dims(1) + 32;
    store(out + (arange(quarter.slice(0)).expand_dims(0) * SIDE + column), turned);
}

/// Rows of a tile that are chosen at run time.
#[kernel(grid = [1])]
pub fn indexed<T: Element>(x: Ptr<T>, out: PtrMut<T>, parts: i32, #[comptime] t: Way) {
    let memory = shared::<T>(t.memory.layout().reshape([4, 16, SIDE]));
    let place = arange(t.stored().slice(1)).expand_dims(1) * SIDE + arange(t.stored().slice(0)).expand_dims(0);
    memory.reshape([SIDE, SIDE]).store(load(x + place));
    barrier();
    let part = blocked([16, SIDE], [1, 4], [2, 16], [WARPS, 1], [1, 0]);
    for i in 0..parts {
        let row = arange(part.slice(1)).expand_dims(1) + i * 16;
        store(out + (row * SIDE + arange(part.slice(0)).expand_dims(0)), memory.index(i).load(part));
    }
}

instances! {
    WHOLE_ONE_F32 = Whole::<f32> { t: Way { memory: Memory::RowAndOne } };
    WHOLE_ONE_F16 = Whole::<f16> { t: Way { memory: Memory::RowAndOne } };
    WHOLE_EIGHT_F16 = Whole::<f16> { t: Way { memory: Memory::RowAndEight } };
    WHOLE_THREE_F32 = Whole::<f32> { t: Way { memory: Memory::Three } };
    WHOLE_THREE_F16 = Whole::<f16> { t: Way { memory: Memory::Three } };
    WHOLE_SWIZZLE_F32 = Whole::<f32> { t: Way { memory: Memory::SwizzleAndGaps } };
    WHOLE_SWIZZLE_F16 = Whole::<f16> { t: Way { memory: Memory::SwizzleAndGaps } };
    WHOLE_COLUMNS_F32 = Whole::<f32> { t: Way { memory: Memory::Columns } };
    WHOLE_CHUNKS_F16 = Whole::<f16> { t: Way { memory: Memory::Chunks } };
    VIEWS_THREE = Views::<f32> { t: Way { memory: Memory::Three } };
    VIEWS_SWIZZLE = Views::<f32> { t: Way { memory: Memory::SwizzleAndGaps } };
    VIEWS_CHUNKS = Views::<f32> { t: Way { memory: Memory::Chunks } };
    INDEXED_ONE = Indexed::<f32> { t: Way { memory: Memory::RowAndOne } };
    INDEXED_EIGHT = Indexed::<f32> { t: Way { memory: Memory::RowAndEight } };
    INDEXED_THREE = Indexed::<f32> { t: Way { memory: Memory::Three } };
}

fn simulator() -> Simulator {
    Simulator::new(&Profile::by_name("volta").unwrap())
}

fn singles() -> Vec<f32> {
    (0..SIDE * SIDE).map(|i| i as f32).collect()
}

/// Different halves: their bits count, leaving out NaN and infinities.
fn halves() -> Vec<f16> {
    (0..SIDE * SIDE).map(|i| f16::from_bits(i as u16)).collect()
}

/// Wavefronts of all warps, on both ways.
fn expected(way: Way, bits: u32) -> (u64, u64) {
    let memory = way.memory.layout();
    let (store, load) = (banks::store(&way.stored(), &memory, bits), banks::load(&way.loaded(), &memory, bits));
    let instructions = (store.instructions + load.instructions) as u64 * WARPS as u64;
    (instructions, u64::from(store.wavefronts + load.wavefronts) * WARPS as u64)
}

#[track_caller]
fn counted(counters: Option<Counters>, way: Way, bits: u32) {
    let counters = counters.unwrap();
    let (instructions, wavefronts) = expected(way, bits);
    let label = format!("{way:?}, {bits} bits");
    assert_eq!(counters.shared_load + counters.shared_store, instructions, "instructions of {label}");
    assert_eq!(counters.shared_wavefronts, wavefronts, "wavefronts of {label}");
}

#[test]
fn a_tile_comes_back_in_another_layout_and_costs_what_the_algebra_says() {
    let simulator = simulator();
    for instance in [&WHOLE_ONE_F32, &WHOLE_THREE_F32, &WHOLE_SWIZZLE_F32, &WHOLE_COLUMNS_F32] {
        let (x, mut out) = (singles(), vec![f32::NAN; SIDE * SIDE]);
        let args = WholeArgs { x: x.as_slice(), out: out.as_mut_slice() };
        let report = instance.launch(&simulator, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
        assert_eq!(x, out, "{}", instance.name());
        counted(report.counters, instance.kernel().t, 32);
    }
    for instance in [&WHOLE_ONE_F16, &WHOLE_EIGHT_F16, &WHOLE_THREE_F16, &WHOLE_SWIZZLE_F16, &WHOLE_CHUNKS_F16] {
        let (x, mut out) = (halves(), vec![f16::NAN; SIDE * SIDE]);
        let args = WholeArgs { x: x.as_slice(), out: out.as_mut_slice() };
        let report = instance.launch(&simulator, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
        assert_eq!(x, out, "{}", instance.name());
        counted(report.counters, instance.kernel().t, 16);
    }
}

#[test]
fn a_gap_after_each_row_frees_columns_from_conflicts() {
    let way = Way { memory: Memory::RowAndOne };
    let column = blocked([SIDE, SIDE], [1, 1], [32, 1], [2, 2], [0, 1]);
    assert_eq!(banks::load(&column, &row_major([SIDE, SIDE]), 32).conflict(), 32);
    assert_eq!(banks::load(&column, &way.memory.layout(), 32).conflict(), 1);
}

#[test]
fn views_see_what_was_stored() {
    let simulator = simulator();
    for instance in [&VIEWS_THREE, &VIEWS_SWIZZLE, &VIEWS_CHUNKS] {
        let (x, mut out) = (singles(), vec![f32::NAN; SIDE * SIDE]);
        let args = ViewsArgs { x: x.as_slice(), out: out.as_mut_slice() };
        instance.launch(&simulator, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
        for (i, (&x, &out)) in x.iter().zip(&out).enumerate() {
            let inside = i / SIDE < 32 && i % SIDE >= 32;
            assert!(if inside { out == x } else { out.is_nan() }, "{}, element {i}: {out}", instance.name());
        }
    }
}

#[test]
fn an_index_at_run_time_skips_gaps() {
    let simulator = simulator();
    for instance in [&INDEXED_ONE, &INDEXED_EIGHT, &INDEXED_THREE] {
        let (x, mut out) = (singles(), vec![f32::NAN; SIDE * SIDE]);
        let args = IndexedArgs { x: x.as_slice(), out: out.as_mut_slice(), parts: 4 };
        instance.launch(&simulator, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
        assert_eq!(x, out, "{}", instance.name());
    }
}

/// Gaps cost a thread one address, not one for each register.
#[test]
fn what_registers_move_by_stays_an_immediate_among_gaps() {
    let program = WHOLE_ONE_F32.program(Target::from(&Profile::by_name("volta").unwrap())).unwrap();
    let stores = program.ptx().lines().filter_map(|line| line.trim().strip_prefix("st.shared.f32 [%"));
    let bases: Vec<&str> = stores.map(|store| store.split(['+', ']']).next().unwrap()).collect();
    assert_eq!(bases.len(), SIDE * SIDE / (32 * WARPS));
    assert!(bases.iter().all(|base| *base == bases[0]), "{bases:?}");
}

#[test]
fn an_allocation_starts_at_a_multiple_of_its_alignment() {
    let program = WHOLE_CHUNKS_F16.program(Target::from(&Profile::by_name("volta").unwrap())).unwrap();
    assert!(program.ptx().contains(".extern .shared .align 1024"), "{}", program.ptx());
    assert_eq!(program.shared_bytes() as usize, SIDE * SIDE * 2);
}
