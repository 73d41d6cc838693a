//! What the PTX of a kernel does, by source line: memory accesses, shuffles, barriers and matrix products.
//!
//! Each instruction of the text is counted once, where `.loc` says that it comes from, with the loop that it runs in. For
//! shared memory the lanes' addresses are followed as far as they are known, which gives wavefronts with
//! no run: `st.shared` of `%tid.x * 8` as words takes two. What the simulator counts for a program without loops and
//! branches is this times the blocks.

use super::lanes::Warp;
use crate::ptx::{self, Entry, Guard, Label, Module, Op, ParseError, Space, Statement, Type};
use crate::runtime::Program;
use quadpair_layouts::banks;

/// What kind of work an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// Reads global memory.
    GlobalLoad,
    /// Writes global memory, or updates it.
    GlobalStore,
    /// Reads shared memory.
    SharedLoad,
    /// Writes shared memory, or updates it.
    SharedStore,
    /// Exchanges registers between the lanes of a warp.
    Shuffle,
    /// Waits for the other threads of the block.
    Barrier,
    /// Waits for the other lanes of the warp.
    WarpSync,
    /// Multiplies on the matrix unit.
    Mma,
    /// Reads matrices from shared memory, `ldmatrix`.
    MatrixLoad,
    /// Copies from global to shared memory while others go on, `cp.async`.
    AsyncLoad,
}

impl Work {
    /// Every kind.
    pub const ALL: [Work; 10] = [
        Work::GlobalLoad,
        Work::GlobalStore,
        Work::SharedLoad,
        Work::SharedStore,
        Work::Shuffle,
        Work::Barrier,
        Work::WarpSync,
        Work::Mma,
        Work::MatrixLoad,
        Work::AsyncLoad,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Work::GlobalLoad => "global load",
            Work::GlobalStore => "global store",
            Work::SharedLoad => "shared load",
            Work::SharedStore => "shared store",
            Work::Shuffle => "shuffle",
            Work::Barrier => "barrier",
            Work::WarpSync => "warp sync",
            Work::Mma => "mma",
            Work::MatrixLoad => "ldmatrix load",
            Work::AsyncLoad => "async load",
        }
    }

    /// Whether it takes wavefronts of shared memory.
    pub const fn is_shared(self) -> bool {
        matches!(self, Work::SharedLoad | Work::SharedStore | Work::MatrixLoad | Work::AsyncLoad)
    }
}

/// Where an instruction comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The source file.
    pub file: String,
    /// The line, from 1; 0 where the text doesn't say.
    pub line: u32,
    /// The line of the innermost loop around it.
    pub turn_of: Option<u32>,
}

/// Instructions of one kind and width that one source line gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// Where they come from.
    pub place: Place,
    /// What they do.
    pub work: Work,
    /// Bytes that each moves for a lane; 0 where that has no meaning.
    pub bytes: u32,
    /// Elements of the instruction: the 4 of `ld.global.v4.f32`.
    pub vector: u32,
    /// Instructions of a warp.
    pub instructions: u32,
    /// What they take of shared memory.
    pub shared: Wavefronts,
}

/// Wavefronts of shared memory, of all warps of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// How many they take.
    pub taken: u32,
    /// How many accesses of these widths need at least.
    pub ideal: u32,
    /// Accesses that aren't counted, because their addresses depend on data; with `taken` and `ideal` 0.
    pub unknown: u32,
    /// Accesses that are counted as if every lane took part, because their guards depend on data.
    pub guarded: u32,
}

impl Wavefronts {
    /// Adds another's.
    pub fn add(&mut self, other: Wavefronts) {
        self.taken += other.taken;
        self.ideal += other.ideal;
        self.unknown += other.unknown;
        self.guarded += other.guarded;
    }
}

/// What a program does, in the order of the text.
///
/// # Errors
/// PTX that can't be read.
pub fn emitted(program: &Program) -> Result<Vec<Emitted>, ParseError> {
    emitted_by(&program.ptx, program.threads)
}

/// What the kernels of a text do, launched with so many threads a block.
///
/// # Errors
/// PTX that can't be read.
pub fn emitted_by(text: &str, threads: u32) -> Result<Vec<Emitted>, ParseError> {
    let (module, warps) = (ptx::parse(text)?, threads / 32);
    Ok(module.entries.iter().flat_map(|entry| of_entry(&module, entry, warps)).collect())
}

fn of_entry(module: &Module, entry: &Entry, warps: u32) -> Vec<Emitted> {
    let warps: Vec<Warp> = (0..warps).map(|number| Warp::of(&entry.body, number)).collect();
    let places = places(module, &entry.body);
    let mut all: Vec<Emitted> = Vec::new();
    for (statement, place) in entry.body.iter().zip(places) {
        let Statement::Instruction { guard, op } = statement else { continue };
        let Some((work, bytes, vector)) = work(op) else { continue };
        let shared = if work.is_shared() { wavefronts(op, *guard, bytes, &warps) } else { Wavefronts::default() };
        let alike =
            |one: &&mut Emitted| one.place == place && (one.work, one.bytes, one.vector) == (work, bytes, vector);
        match all.iter_mut().find(alike) {
            Some(known) => {
                known.instructions += 1;
                known.shared.add(shared);
            }
            None => all.push(Emitted { place, work, bytes, vector, instructions: 1, shared }),
        }
    }
    all
}

/// What an instruction does, the bytes that it moves for a lane, and in how many elements.
fn work(op: &Op) -> Option<(Work, u32, u32)> {
    let moved = |work, ty: Type, count: usize| Some((work, ptx::bytes_of(ty)? * count as u32, count as u32));
    match op {
        Op::Ld { space: Space::Shared, ty, dst, .. } => moved(Work::SharedLoad, *ty, dst.len()),
        Op::Ld { space: Space::Global | Space::Generic, ty, dst, .. } => moved(Work::GlobalLoad, *ty, dst.len()),
        Op::St { space: Space::Shared, ty, src, .. } => moved(Work::SharedStore, *ty, src.len()),
        Op::St { space: Space::Global | Space::Generic, ty, src, .. } => moved(Work::GlobalStore, *ty, src.len()),
        Op::Atom { space: Space::Shared, ty, .. } => moved(Work::SharedStore, *ty, 1),
        Op::Atom { ty, .. } => moved(Work::GlobalStore, *ty, 1),
        Op::Shfl { .. } | Op::Vote { .. } => Some((Work::Shuffle, 0, 1)),
        Op::Bar { .. } => Some((Work::Barrier, 0, 1)),
        Op::WarpSync { .. } => Some((Work::WarpSync, 0, 1)),
        Op::Mma { .. } | Op::Wgmma(_) => Some((Work::Mma, 0, 1)),
        Op::LdMatrix { dst, .. } => Some((Work::MatrixLoad, 4 * dst.len() as u32, dst.len() as u32)),
        Op::CpAsync { bytes, .. } => Some((Work::AsyncLoad, *bytes, 1)),
        _ => None,
    }
}

fn wavefronts(op: &Op, guard: Option<Guard>, bytes: u32, warps: &[Warp]) -> Wavefronts {
    let (address, lanes, bytes) = match op {
        Op::Ld { address, .. } | Op::St { address, .. } | Op::Atom { address, .. } => (address, banks::LANES, bytes),
        Op::CpAsync { to, .. } => (to, banks::LANES, bytes),
        // The first lanes give the addresses of rows of 16 bytes.
        Op::LdMatrix { address, dst, .. } => (address, 8 * dst.len(), 16),
        _ => return Wavefronts::default(),
    };
    let mut all = Wavefronts::default();
    for warp in warps {
        let (addresses, sure) = warp.addresses(address, guard);
        let asked = addresses.map(|all| std::array::from_fn(|lane| all[lane].filter(|_| lane < lanes)));
        all.add(match (asked, sure) {
            (Some(addresses), sure) => Wavefronts {
                taken: banks::wavefronts(&addresses, bytes),
                ideal: banks::ideal(&addresses, bytes),
                unknown: 0,
                guarded: u32::from(!sure),
            },
            (None, _) => Wavefronts { unknown: 1, ..Wavefronts::default() },
        });
    }
    all
}

/// The place of each statement.
fn places(module: &Module, body: &[Statement]) -> Vec<Place> {
    let mut at = (0, 0);
    let lines: Vec<(u32, u32)> = body
        .iter()
        .map(|statement| {
            if let Statement::Loc { file, line, .. } = statement {
                at = (*file, *line);
            }
            at
        })
        .collect();
    let loops = loops(body);
    (0..body.len())
        .map(|i| {
            let around = loops.iter().filter(|(start, end)| (*start..=*end).contains(&i));
            let innermost = around.min_by_key(|(start, end)| end - start);
            let (file, line) = lines[i];
            let file = (file as usize).checked_sub(1).and_then(|file| module.files.get(file));
            Place { file: file.cloned().unwrap_or_default(), line, turn_of: innermost.map(|(_, end)| lines[*end].1) }
        })
        .collect()
}

/// The stretches that are run again and again: from a label to a branch back to it.
fn loops(body: &[Statement]) -> Vec<(usize, usize)> {
    let label = |wanted: Label| body.iter().position(|s| matches!(s, Statement::Label(label) if *label == wanted));
    let back = body.iter().enumerate().filter_map(|(end, statement)| match statement {
        Statement::Instruction { op: Op::Bra { target, .. }, .. } => Some((label(*target)?, end)),
        _ => None,
    });
    back.filter(|(start, end)| start < end).collect()
}
