//! What partners tell one another: between lanes by shuffles, between warps through shared memory.

use std::collections::HashMap;

use quadpair_layouts::{Layout, SharedLayout};

use super::Lowering;
use super::axis::{Axis, Group};
use super::num::Num;
use super::shared::Window;
use crate::element::DType;
use crate::ir::{BinaryOp, UnaryOp};
use crate::ptx::{Class, Op, Operand, Reg, Shuffle};

/// What a place holds: an element of each operand.
pub(super) type Row = Vec<Num>;

impl Lowering<'_> {
    /// What the partner of each register of this thread holds in a round that stays in the warp.
    pub(super) fn partners(&mut self, axis: &Axis, round: usize, dtypes: &[DType], rows: &[Row]) -> Vec<Row> {
        let partner = axis.rounds[round];
        let mut moved: Vec<HashMap<Num, Num>> = vec![HashMap::new(); dtypes.len()];
        let mut one = |own: &mut Self, (i, &num): (usize, &Num)| match partner.lanes {
            0 => num,
            lanes => *moved[i].entry(num).or_insert_with(|| own.of_lane(dtypes[i], num, lanes.into())),
        };
        (0..rows.len())
            .map(|r| rows[r ^ partner.registers].iter().enumerate().map(|num| one(self, num)).collect())
            .collect()
    }

    /// Whether the place that a register of this thread is has the right side in a round.
    pub(super) fn side(&mut self, axis: &Axis, round: usize, register: usize, reverse: bool) -> Num {
        let flipped = axis.register_side(round, register) ^ reverse;
        let columns = axis.thread_sides(round);
        let bits = (0..columns.len()).filter(|&i| columns[i] == 1).map(|i| 1 << i).sum();
        let side = if bits == 0 { Num::Bool(false) } else { self.thread_parity(bits) };
        if flipped { self.unary(UnaryOp::Not, DType::Bool, side) } else { side }
    }

    pub(super) fn shuffle(&mut self, src: Reg, mask: i64) -> Reg {
        let dst = self.emit.fresh(Class::B32);
        self.emit.push(Op::Shfl {
            mode: Shuffle::Butterfly,
            dst,
            in_range: None,
            src: Operand::Reg(src),
            lane: Operand::Int(mask),
            clamp: Operand::Int(31),
            mask: Operand::Int(-1),
        });
        dst
    }

    /// What all places hold that a register of this thread meets in a group of rounds between warps, by their order: for
    /// each place in the group, the rows of all registers. Each thread writes what it has, then reads what it needs.
    pub(super) fn between_warps(
        &mut self,
        axis: &Axis,
        group: &Group,
        dtypes: &[DType],
        rows: &[Row],
    ) -> Vec<Vec<Row>> {
        let (before, after) = (axis.before(group), axis.after(group));
        let windows = self.windows(&before, dtypes);
        let mask = self.holder(&before);
        for (i, window) in windows.iter().enumerate() {
            let values: Vec<Num> = rows.iter().map(|row| row[i]).collect();
            self.store_to(window, &before, &values, mask);
        }
        self.barrier();
        (0..1 << group.count).map(|position| self.rows_at(&windows, &after, position)).collect()
    }

    /// Shared memory for a tile of each element type.
    fn windows(&mut self, tile: &Layout, dtypes: &[DType]) -> Vec<Window> {
        let layout = SharedLayout::flat(&tile.shape());
        let bytes = |dtype: &DType| (layout.size() * dtype.bytes()).next_multiple_of(super::SHARED_ALIGN);
        let mut start = self.scratch(dtypes[0], layout, dtypes.iter().map(bytes).sum()).start;
        let mut windows = Vec::new();
        for dtype in dtypes {
            windows.push(Window { dtype: *dtype, layout, start });
            start = self.integer(BinaryOp::Add, DType::U32, start, Num::int(bytes(dtype).into()));
        }
        windows
    }

    /// The part of each window that has this index in the first dimension.
    fn rows_at(&mut self, windows: &[Window], part: &Layout, index: usize) -> Vec<Row> {
        let layout = SharedLayout::flat(&part.shape());
        let mut rows = vec![Row::new(); part.registers()];
        for window in windows {
            let offset = index as i64 * i64::from(layout.size() * window.dtype.bytes());
            let start = self.integer(BinaryOp::Add, DType::U32, window.start, Num::int(offset));
            let held = self.load_from(&Window { dtype: window.dtype, layout, start }, part);
            rows.iter_mut().zip(held).for_each(|(row, num)| row.push(num));
        }
        rows
    }
}
