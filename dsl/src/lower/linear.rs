//! Linear maps of the thread's number, as instructions.
//!
//! A layout sends bit i of the thread's number (five bits of lane, then the warp) to a basis; an address is the XOR of
//! the bases of the bits that are set. Bits that move by the same distance are moved together: when lane bits 0 to 2
//! become address bits 4 to 6, that is one AND and one shift. What a register adds is a constant: an offset where it
//! has no bit in common with the thread's part, an XOR where it has.

use std::collections::BTreeMap;

use quadpair_layouts::Layout;

use super::Lowering;
use super::emit::Pures;
use super::num::Num;
use crate::element::DType;
use crate::ir::{BinaryOp, TileType};
use crate::ptx::{Alu, Class, Special, Type};

/// A linear map of the thread's number: the value of each of its bits.
pub(super) struct ThreadMap {
    columns: Vec<u32>,
}

impl ThreadMap {
    /// The part of a layout that lanes and warps decide, each basis sent through a linear function.
    pub fn new(layout: &Layout, function: impl Fn(u32) -> u32) -> Self {
        let lanes = (0..5).map(|i| layout.lane_basis(i));
        let warps = (0..layout.warp_bits()).map(|i| layout.warp_basis(i));
        ThreadMap { columns: lanes.chain(warps).map(function).collect() }
    }

    /// A map given by the value of each bit.
    pub fn from_columns(columns: Vec<u32>) -> Self {
        ThreadMap { columns }
    }

    /// The bits that some thread sets.
    pub(super) fn mask(&self) -> u32 {
        self.columns.iter().fold(0, |mask, column| mask | column)
    }

    /// The thread's bits that move by each distance.
    fn by_distance(&self) -> BTreeMap<i32, u32> {
        let mut moves = BTreeMap::new();
        for (i, &column) in self.columns.iter().enumerate() {
            for bit in (0..32).filter(|bit| column >> bit & 1 == 1) {
                *moves.entry(bit - i as i32).or_insert(0) |= 1 << i;
            }
        }
        moves
    }
}

impl Lowering<'_> {
    /// The thread's number in the block.
    fn thread(&mut self) -> Num {
        self.emit.special(Special::TidX)
    }

    /// The value of a linear map at this thread and a register's constant, as a 32-bit integer.
    pub(super) fn linear(&mut self, map: &ThreadMap, constant: u32) -> Num {
        let thread = self.thread_part(map);
        self.with_constant(thread, map.mask(), constant)
    }

    /// The XOR of a number, whose bits are in a mask, and a constant.
    pub(super) fn with_constant(&mut self, number: Num, mask: u32, constant: u32) -> Num {
        let crossed = constant & mask;
        let num = match crossed {
            0 => number,
            _ => self.crossed(number, crossed),
        };
        let Num::Int { base, offset } = num else { unreachable!("a linear map gives an integer") };
        if let Some(reg) = base {
            self.emit.set_divisor(reg, 1 << mask.trailing_zeros());
        }
        Num::Int { base, offset: offset + i64::from(constant & !mask) }
    }

    /// The XOR with a constant. It is one instruction where it is used; computed before a loop, each constant of an
    /// unrolled body would hold a register.
    fn crossed(&mut self, number: Num, constant: u32) -> Num {
        let before = self.emit.place(Pures::Near);
        let crossed = self.integer(BinaryOp::Xor, DType::U32, number, Num::int(constant.into()));
        self.emit.place(before);
        crossed
    }

    fn thread_part(&mut self, map: &ThreadMap) -> Num {
        let thread = self.thread();
        self.image(map, thread)
    }

    /// The value of a linear map at a number that has no more bits than it takes.
    pub(super) fn image(&mut self, map: &ThreadMap, number: Num) -> Num {
        let all = (1_u32 << map.columns.len()) - 1;
        let mut sum = Num::int(0);
        for (distance, bits) in map.by_distance() {
            let own = if bits == all { number } else { self.masked(number, bits) };
            let moved = self.shifted(own, distance);
            sum = if sum == Num::int(0) { moved } else { self.integer(BinaryOp::Xor, DType::U32, sum, moved) };
        }
        if let Num::Int { base: Some(reg), .. } = sum {
            self.emit.set_divisor(reg, 1 << map.mask().trailing_zeros().min(20));
        }
        sum
    }

    fn masked(&mut self, number: Num, bits: u32) -> Num {
        self.integer(BinaryOp::And, DType::U32, number, Num::int(bits.into()))
    }

    fn shifted(&mut self, num: Num, distance: i32) -> Num {
        match distance {
            0 => num,
            1.. => self.integer(BinaryOp::Shl, DType::U32, num, Num::int(distance.into())),
            _ => self.integer(BinaryOp::Shr, DType::U32, num, Num::int((-distance).into())),
        }
    }

    pub(super) fn arange(&mut self, ty: &TileType) {
        let layout = ty.layout.expect("arange has a layout");
        let map = ThreadMap::new(&layout, |basis| basis);
        let held = (0..layout.registers()).map(|r| self.linear(&map, layout.apply(r, 0, 0))).collect();
        self.define(held);
    }

    /// A predicate that holds in one of the threads that hold the same element; `true` where no two do.
    pub(super) fn holder(&mut self, layout: &Layout) -> Num {
        self.threads_without(layout.free_lanes() | layout.free_warps() << 5)
    }

    /// A predicate that holds in the threads whose number has none of these bits.
    pub(super) fn threads_without(&mut self, bits: u32) -> Num {
        if bits == 0 {
            return Num::Bool(true);
        }
        let thread = self.thread();
        let own = self.masked(thread, bits);
        Num::Reg(self.setp(crate::ptx::Compare::Eq, Type::U32, own, Num::int(0)))
    }

    /// A predicate that holds in the threads where these bits of the number have an odd sum.
    pub(super) fn thread_parity(&mut self, bits: u32) -> Num {
        let thread = self.thread();
        let mut own = self.masked(thread, bits);
        if bits.count_ones() > 1 {
            let count = Num::base(self.alu(Alu::Popc, Type::B32, Class::B32, &[own]));
            own = self.masked(count, 1);
        }
        Num::Reg(self.setp(crate::ptx::Compare::Ne, Type::U32, own, Num::int(0)))
    }
}
