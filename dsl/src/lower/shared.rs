//! Shared memory: allocations, stores and loads through a register layout and a shared layout.
//!
//! The two layouts compose to a linear map from (register, lane, warp) to an element's place. Its lane and warp part is
//! one value a thread; its register part is a constant that becomes an immediate wherever it has no bit in common with
//! what threads set. Gaps between elements are added to both parts one by one: to the thread's by shifts at run time, to
//! the immediate here.

use quadpair_layouts::{Access, Layout, SharedLayout, banks};

use super::access::{Place, runs};
use super::emit::Pure;
use super::holders::held_once;
use super::linear::ThreadMap;
use super::num::Num;
use super::{Lowering, SHARED, SHARED_ALIGN};
use crate::element::DType;
use crate::ir::{BinaryOp, Memory, TileType, Value};
use crate::ptx::{Class, Op, Operand, Space, Type};

/// A stretch of shared memory that a tile is stored to or loaded from.
pub(super) struct Window {
    pub dtype: DType,
    /// Where each element lies, in elements.
    pub layout: SharedLayout,
    /// Byte address of element offset 0.
    pub start: Num,
}

impl Window {
    /// What a bit of the thread's number moves an address by, in bytes without gaps, that moves by this basis in the tile.
    /// The view's own constant belongs to the registers' part.
    pub fn move_by(&self, basis: u32) -> u32 {
        (self.layout.linear_offset(basis) ^ self.layout.constant()) * self.dtype.bytes()
    }
}

/// Where an allocation starts if others end at `end`, and where it ends itself; in bytes.
pub(super) fn placed(memory: &Memory, end: u32) -> (u32, u32) {
    let start = end.next_multiple_of(memory.layout.alignment());
    (start, start + (memory.layout.size() * memory.dtype.bytes()).next_multiple_of(SHARED_ALIGN))
}

/// The most bytes of one access. Among gaps some elements of a thread may be aligned better than others; all go as the
/// layouts' analysis says, by which costs are counted.
fn widest(window: &Window, tile: &Layout, access: fn(&Layout, &SharedLayout, u32) -> Access) -> u32 {
    if !window.layout.is_padded() {
        return u32::MAX;
    }
    access(tile, &window.layout, window.dtype.bits()).vector as u32 * window.dtype.bytes()
}

impl Lowering<'_> {
    pub(super) fn allocate(&mut self, memory: &Memory) {
        let (start, end) = placed(memory, self.next_free);
        self.allocations.insert(memory.allocation, start);
        self.next_free = end;
    }

    pub(super) fn shared_store(&mut self, memory: &Memory, value: Value) {
        let tile = self.function.type_of(value).layout.expect("typing lets only tiles be stored");
        let values = self.held(value);
        let window = self.window(memory);
        let mask = self.holder(&tile);
        self.store_to(&window, &tile, &values, mask);
    }

    pub(super) fn shared_load(&mut self, memory: &Memory, ty: &TileType) {
        let tile = ty.layout.expect("typing gives a loaded tile a layout");
        let window = self.window(memory);
        let held = self.load_matrices(memory, &window, &tile);
        let held = held.unwrap_or_else(|| self.load_from(&window, &tile));
        self.define(held);
    }

    pub(super) fn barrier(&mut self) {
        self.settle_all();
        self.proxy_fence();
        self.emit.push(Op::Bar { id: 0, threads: None });
    }

    /// Stores a tile's elements where the mask holds, each from one of the registers that hold it.
    pub(super) fn store_to(&mut self, window: &Window, tile: &Layout, values: &[Num], mask: Num) {
        let widest = widest(window, tile, banks::store);
        let places = self.shared_places(window, tile, held_once(tile).into_iter(), mask, widest);
        for run in runs(places, window.dtype.bytes()) {
            let values: Vec<Num> = run.indices.iter().map(|&i| values[i]).collect();
            self.store_run(&run, window.dtype, (Space::Shared, &[]), &values);
        }
    }

    /// Loads a tile's elements; registers that hold the same element share one load.
    pub(super) fn load_from(&mut self, window: &Window, tile: &Layout) -> Vec<Num> {
        let repeated = tile.repeated_registers() as usize;
        let own = (0..tile.registers()).filter(|r| r & repeated == 0);
        let widest = widest(window, tile, banks::load);
        let places = self.shared_places(window, tile, own, Num::Bool(true), widest);
        let mut held = vec![Num::int(0); tile.registers()];
        for run in runs(places, window.dtype.bytes()) {
            let loaded = self.load_run(&run, window.dtype, (Space::Shared, &[]), None);
            for (&index, num) in run.indices.iter().zip(loaded) {
                held[index] = num;
            }
        }
        (0..held.len()).map(|r| held[r & !repeated]).collect()
    }

    fn shared_places(
        &mut self,
        window: &Window,
        tile: &Layout,
        registers: impl Iterator<Item = usize>,
        mask: Num,
        widest: u32,
    ) -> Vec<Place> {
        let map = ThreadMap::new(tile, |basis| window.move_by(basis));
        registers
            .map(|r| {
                let place = self.shared_place(window, &map, r, tile.apply(r, 0, 0), mask);
                Place { divisor: place.divisor.min(widest), ..place }
            })
            .collect()
    }

    /// Where a register's element lies, given what the thread's number moves it by.
    pub(super) fn shared_place(
        &mut self,
        window: &Window,
        map: &ThreadMap,
        register: usize,
        element: u32,
        mask: Num,
    ) -> Place {
        let (layout, bytes) = (window.layout, window.dtype.bytes());
        let own = self.linear(map, layout.linear_offset(element) * bytes);
        let own = self.with_gaps(&layout, bytes, own);
        let address = self.integer(BinaryOp::Add, DType::U32, window.start, own);
        self.place(register, address, Class::B32, mask)
    }

    /// An offset in bytes with the gaps before it. The register and the constant of a linear map's value have no bit in
    /// common, so that each has gaps of its own.
    pub(super) fn with_gaps(&mut self, layout: &SharedLayout, bytes: u32, own: Num) -> Num {
        let Num::Int { base, offset } = own else { unreachable!("a linear map gives an integer") };
        let offset = i64::from(layout.with_gaps(offset as u32 / bytes) * bytes);
        let Some(reg) = base.filter(|_| layout.is_padded()) else { return Num::Int { base, offset } };
        let (shift, linear) = (bytes.trailing_zeros(), Num::base(reg));
        let mut sum = linear;
        for &(interval, gap) in layout.gap_shifts() {
            let before = u32::from(interval) + shift;
            let number = self.integer(BinaryOp::Shr, DType::U32, linear, Num::int(before.into()));
            if let Some(number) = number.register() {
                self.emit.set_divisor(number, self.emit.divisor(reg) >> before);
            }
            let gaps = self.integer(BinaryOp::Shl, DType::U32, number, Num::int((u32::from(gap) + shift).into()));
            sum = self.integer(BinaryOp::Add, DType::U32, sum, gaps);
        }
        self.integer(BinaryOp::Add, DType::U32, sum, Num::int(offset))
    }

    pub(super) fn window(&mut self, memory: &Memory) -> Window {
        let base = self.allocations[&memory.allocation];
        let mut start = self.shared_address(base);
        if let Some(offset) = memory.offset {
            let elements = self.scalar_of(offset);
            let added = self.integer(BinaryOp::Mul, DType::I32, elements, Num::int(memory.dtype.bytes().into()));
            start = self.integer(BinaryOp::Add, DType::U32, start, added);
        }
        Window { dtype: memory.dtype, layout: memory.layout, start }
    }

    /// An address in the block's shared memory.
    pub(super) fn shared_address(&mut self, offset: u32) -> Num {
        let symbol = self.emit.pure(Pure::SharedBase, Class::B32, &[], |_, dst| Op::Mov {
            ty: Type::U32,
            dst,
            src: Operand::Symbol(SHARED.to_owned()),
        });
        self.emit.set_divisor(symbol, SHARED_ALIGN);
        Num::Int { base: Some(symbol), offset: offset.into() }
    }

    /// Takes memory behind all allocations for a conversion or reduction, after those who read it before are done.
    pub(super) fn scratch(&mut self, dtype: DType, layout: SharedLayout, bytes: u32) -> Window {
        self.scratch = self.scratch.max(bytes.next_multiple_of(SHARED_ALIGN));
        if self.scratch_used || self.emit.nested() {
            self.barrier();
        }
        self.scratch_used = true;
        let start = self.shared_address(self.allocated);
        Window { dtype, layout, start }
    }
}
