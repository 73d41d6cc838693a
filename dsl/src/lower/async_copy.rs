//! Asynchronous copies from global to shared memory.
//!
//! One instruction moves 4, 8 or 16 bytes of a thread that lie side by side in both memories. In shared memory that is
//! the layouts' to say; in global memory it is seen in the addresses: those of a thread's neighbours must be known to
//! follow one another, and the first to be a multiple of the bytes. With halves in `[64, 64]`, rows of 64 and addresses
//! `p + row * 64 + column` that are told `multiple_of(p, 8)`, a thread with eight columns copies 16 bytes at once.

use std::panic::Location;

use quadpair_layouts::{Layout, banks};

use super::emit::divisor_of_constant;
use super::holders::held_once;
use super::linear::ThreadMap;
use super::num::Num;
use super::shared::Window;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{Memory, TileType, Value};
use crate::ptx::{Address, Class, Op, Operand};

/// The first target that has it.
const FIRST_SM: u32 = 80;

/// Bytes of one copy, the most first.
const WIDTHS: [u32; 3] = [16, 8, 4];

/// What one instruction copies for a thread.
struct Chunk {
    /// The register that has the first element.
    first: usize,
    from: Address,
    mask: Num,
}

impl Lowering<'_> {
    pub(super) fn async_copy(
        &mut self,
        memory: &Memory,
        pointer: Value,
        mask: Option<Value>,
        at: &'static Location<'static>,
    ) -> Result<(), LowerError> {
        self.copies_here(at)?;
        let ty = *self.function.type_of(pointer);
        let tile = ty.layout.expect("typing lets only tiles be copied");
        let (window, bytes) = (self.window(memory), memory.dtype.bytes());
        let access = banks::store(&tile, &memory.layout, memory.dtype.bits());
        let order: Vec<usize> = (0..access.vector).map(|i| access.register(i)).collect();
        let starts = self.emit.divisor_of(window.start);
        let masks = mask.map(|mask| self.spread(mask, &ty));
        let mut widths = WIDTHS.into_iter().filter(|&width| width <= access.vector as u32 * bytes && width <= starts);
        let found = widths.find_map(|width| Some((width, self.chunks(&ty, pointer, masks.as_deref(), &order, width)?)));
        let Some((width, chunks)) = found else {
            return Err(LowerError::AsyncCopyWidth { at: at.to_string(), dtype: memory.dtype.name(), bytes });
        };
        self.emit_copies(&window, &tile, chunks, width);
        Ok(())
    }

    /// The copies of this width that move a tile, if its addresses and mask allow it.
    fn chunks(
        &self,
        ty: &TileType,
        pointer: Value,
        masks: Option<&[Num]>,
        order: &[usize],
        width: u32,
    ) -> Option<Vec<Chunk>> {
        let (pointers, bytes) = (self.held(pointer), ty.dtype.bytes());
        let own = held_once(&ty.layout?);
        let vector = order.iter().fold(0, |all, register| all | register);
        let elements = (width / bytes) as usize;
        let mut chunks = Vec::new();
        for register in own.into_iter().filter(|r| r & vector == 0) {
            for part in order.chunks(elements) {
                let registers: Vec<usize> = part.iter().map(|own| register | own).collect();
                chunks.push(self.chunk(&registers, &pointers, masks, bytes, width)?);
            }
        }
        Some(chunks)
    }

    fn chunk(
        &self,
        registers: &[usize],
        pointers: &[Num],
        masks: Option<&[Num]>,
        bytes: u32,
        width: u32,
    ) -> Option<Chunk> {
        let first = registers[0];
        let Num::Int { base: Some(base), offset } = pointers[first] else { return None };
        let mask = masks.map_or(Num::Bool(true), |masks| masks[first]);
        let follows = registers.iter().enumerate().all(|(i, &r)| {
            let next = Num::Int { base: Some(base), offset: offset + i as i64 * i64::from(bytes) };
            pointers[r] == next && masks.is_none_or(|masks| masks[r] == mask)
        });
        let aligned = self.emit.divisor(base).min(divisor_of_constant(offset)) >= width;
        let from = Address { base: Operand::Reg(base), offset };
        (follows && aligned).then_some(Chunk { first, from, mask })
    }

    fn emit_copies(&mut self, window: &Window, tile: &Layout, chunks: Vec<Chunk>, width: u32) {
        let map = ThreadMap::new(tile, |basis| window.move_by(basis));
        let holder = self.holder(tile);
        let guard = self.guard_of(holder);
        for Chunk { first, from, mask } in chunks {
            let place = self.shared_place(window, &map, first, tile.apply(first, 0, 0), holder);
            let to = Address { base: Operand::Reg(place.base), offset: place.offset };
            let read = match mask {
                Num::Bool(true) => None,
                mask => {
                    let read = self.select(DType::U32, mask, Num::int(width.into()), Num::int(0));
                    Some(self.operand(read, Class::B32))
                }
            };
            self.emit.push_guarded(guard, Op::CpAsync { global: width == 16, bytes: width, to, from, read });
        }
    }

    pub(super) fn commit_group(&mut self, at: &'static Location<'static>) -> Result<(), LowerError> {
        self.copies_here(at)?;
        self.emit.push(Op::CpAsyncCommit);
        Ok(())
    }

    pub(super) fn wait_group(&mut self, groups: u32, at: &'static Location<'static>) -> Result<(), LowerError> {
        self.copies_here(at)?;
        self.emit.push(Op::CpAsyncWait { groups });
        Ok(())
    }

    fn copies_here(&self, at: &'static Location<'static>) -> Result<(), LowerError> {
        let sm = self.target.sm;
        if sm < FIRST_SM { Err(LowerError::AsyncCopy { at: at.to_string(), sm }) } else { Ok(()) }
    }
}
