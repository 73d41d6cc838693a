//! Scans along an axis: round by round, as a reduction (see `axis`), with what stands before.
//!
//! After each round a place knows the *total* of the block of neighbours that it has met, and the *prefix* of its own
//! element: the total of the block up to it. When two blocks join, those of the right one put the left one's total before
//! their prefixes:
//!
//! ```text
//! elements           a     b     c     d
//! prefixes           a     ab    c     cd        totals  ab  cd
//! after the round    a     ab    abc   abcd      total   abcd
//! ```
//!
//! Nothing is asked of the layout, since rounds ask nothing. From the end, left and right change places.

use super::apply::Function;
use super::axis::{Axis, Group, Via};
use super::exchange::Row;
use super::num::Num;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::BinaryOp;

/// What each register of a thread knows.
struct Known {
    prefixes: Vec<Row>,
    totals: Vec<Row>,
}

impl<'f> Lowering<'f> {
    /// What each register holds of the scanned tile.
    pub(super) fn scan(
        &mut self,
        function: &mut Function<'f>,
        axis: usize,
        reverse: bool,
    ) -> Result<Vec<Row>, LowerError> {
        let axis = Axis::in_order(&self.operand_layout(function), axis);
        let rows = self.operand_rows(function);
        let mut known = Known { prefixes: rows.clone(), totals: rows };
        for group in axis.groups() {
            known = match group.via {
                Via::Registers => self.join_registers(function, &axis, &group, reverse, known)?,
                Via::Lanes => self.join_lanes(function, &axis, group.first, reverse, known)?,
                Via::Warps => self.join_warps(function, &axis, &group, reverse, known)?,
            };
        }
        Ok(known.prefixes)
    }

    /// Blocks in one thread: one after the other.
    fn join_registers(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        group: &Group,
        reverse: bool,
        mut known: Known,
    ) -> Result<Known, LowerError> {
        for r in 0..axis.registers() {
            let mut members = axis.members(group, r);
            if members.iter().any(|&member| member < r) {
                continue;
            }
            if reverse {
                members.reverse();
            }
            let mut before = known.totals[members[0]].clone();
            for &member in &members[1..] {
                known.prefixes[member] = self.combine(function, &before, &known.prefixes[member])?;
                before = self.combine(function, &before, &known.totals[member])?;
            }
            for member in members {
                known.totals[member].clone_from(&before);
            }
        }
        Ok(known)
    }

    /// Blocks in two lanes.
    fn join_lanes(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        round: usize,
        reverse: bool,
        mut known: Known,
    ) -> Result<Known, LowerError> {
        let dtypes = function.dtypes();
        let others = self.partners(axis, round, &dtypes, &known.totals);
        for (r, other) in others.iter().enumerate() {
            let side = self.side(axis, round, r, reverse);
            let longer = self.combine(function, other, &known.prefixes[r])?;
            known.prefixes[r] = self.either(&dtypes, side, &longer, &known.prefixes[r]);
            let (left, right) = self.left_and_right(&dtypes, side, &known.totals[r], other);
            known.totals[r] = self.combine(function, &left, &right)?;
        }
        Ok(known)
    }

    /// Blocks in several warps: every thread goes through the totals of all of them and finds its own among them.
    fn join_warps(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        group: &Group,
        reverse: bool,
        mut known: Known,
    ) -> Result<Known, LowerError> {
        let dtypes = function.dtypes();
        let mut blocks = self.between_warps(axis, group, &dtypes, &known.totals);
        if reverse {
            blocks.reverse();
        }
        for r in 0..axis.registers() {
            let sides: Vec<Num> = (0..group.count).map(|i| self.side(axis, group.first + i, r, reverse)).collect();
            let mut up_to = vec![blocks[0][r].clone()];
            for block in &blocks[1..] {
                let next = self.combine(function, &up_to[up_to.len() - 1], &block[r])?;
                up_to.push(next);
            }
            known.totals[r].clone_from(&up_to[up_to.len() - 1]);
            // The first block has nothing before it: it picks anything, and keeps its prefix.
            up_to.rotate_right(1);
            let before = self.pick(&dtypes, &sides, up_to);
            let longer = self.combine(function, &before, &known.prefixes[r])?;
            let later =
                sides.iter().fold(Num::Bool(false), |any, &side| self.binary(BinaryOp::Or, DType::Bool, any, side));
            known.prefixes[r] = self.either(&dtypes, later, &longer, &known.prefixes[r]);
        }
        Ok(known)
    }

    /// The row whose number has these bits.
    fn pick(&mut self, dtypes: &[DType], bits: &[Num], mut rows: Vec<Row>) -> Row {
        for &bit in bits {
            rows = rows.chunks(2).map(|pair| self.either(dtypes, bit, &pair[1], &pair[0])).collect();
        }
        rows.swap_remove(0)
    }
}
