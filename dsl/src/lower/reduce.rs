//! Reductions along an axis: round by round, partners combine what they have (see `axis`).
//!
//! In one thread a group of rounds is a tree over registers. Between lanes both partners shuffle and combine, each putting
//! the left side first. Between warps each thread reads what all of the group have and combines it as a tree.

use super::apply::Function;
use super::axis::{Axis, Group, Via};
use super::exchange::Row;
use super::num::Num;
use super::{LowerError, Lowering};
use crate::element::DType;

impl<'f> Lowering<'f> {
    /// What each register of the slice holds.
    pub(super) fn reduce(
        &mut self,
        function: &mut Function<'f>,
        axis: usize,
        commutative: bool,
    ) -> Result<Vec<Row>, LowerError> {
        let from = self.operand_layout(function);
        let axis = if commutative { Axis::in_any_order(&from, axis) } else { Axis::in_order(&from, axis) };
        let mut rows = self.operand_rows(function);
        for group in axis.groups() {
            rows = match group.via {
                Via::Registers => self.tree_of_registers(function, &axis, &group, rows)?,
                Via::Lanes => self.butterfly(function, &axis, group.first, rows)?,
                Via::Warps => self.tree_of_warps(function, &axis, &group, rows)?,
            };
        }
        Ok(rows)
    }

    fn tree_of_registers(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        group: &Group,
        mut rows: Vec<Row>,
    ) -> Result<Vec<Row>, LowerError> {
        for r in 0..axis.registers() {
            let members = axis.members(group, r);
            if members.iter().any(|&member| member < r) {
                continue;
            }
            let whole = self.tree(function, members.iter().map(|&member| rows[member].clone()).collect())?;
            for member in members {
                rows[member].clone_from(&whole);
            }
        }
        Ok(rows)
    }

    fn tree_of_warps(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        group: &Group,
        rows: Vec<Row>,
    ) -> Result<Vec<Row>, LowerError> {
        let parts = self.between_warps(axis, group, &function.dtypes(), &rows);
        (0..rows.len()).map(|r| self.tree(function, parts.iter().map(|part| part[r].clone()).collect())).collect()
    }

    /// Combines neighbours, level by level: short chains.
    fn tree(&mut self, function: &mut Function<'f>, mut rows: Vec<Row>) -> Result<Row, LowerError> {
        while rows.len() > 1 {
            rows = rows.chunks(2).map(|pair| self.combine(function, &pair[0], &pair[1])).collect::<Result<_, _>>()?;
        }
        Ok(rows.swap_remove(0))
    }

    fn butterfly(
        &mut self,
        function: &mut Function<'f>,
        axis: &Axis,
        round: usize,
        rows: Vec<Row>,
    ) -> Result<Vec<Row>, LowerError> {
        let dtypes = function.dtypes();
        let others = self.partners(axis, round, &dtypes, &rows);
        (0..rows.len())
            .map(|r| {
                if !axis.keeps_order() {
                    return self.combine(function, &rows[r], &others[r]);
                }
                let side = self.side(axis, round, r, false);
                let (left, right) = self.left_and_right(&dtypes, side, &rows[r], &others[r]);
                self.combine(function, &left, &right)
            })
            .collect()
    }

    /// What a place has and what its partner has, by their order.
    pub(super) fn left_and_right(&mut self, dtypes: &[DType], side: Num, own: &Row, other: &Row) -> (Row, Row) {
        (self.either(dtypes, side, other, own), self.either(dtypes, side, own, other))
    }

    /// The first row where the condition holds, else the second.
    pub(super) fn either(&mut self, dtypes: &[DType], condition: Num, a: &Row, b: &Row) -> Row {
        (0..dtypes.len()).map(|i| self.select(dtypes[i], condition, a[i], b[i])).collect()
    }
}
