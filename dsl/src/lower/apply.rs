//! Functions of elements: the body of a reduction, scan or map, done for each application.
//!
//! The body is a list of operations on scalars. To apply it, its parameters get the arguments' `Num`s and its operations are
//! lowered as they would be anywhere else; what they define is forgotten afterwards. An application to the same
//! arguments gives the same results, so it is done once.

use std::collections::HashMap;
use std::panic::Location;
use std::rc::Rc;

use quadpair_layouts::Layout;

use super::exchange::Row;
use super::num::Num;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{Apply, Op, OpKind, TileType, Value};

/// A function of elements.
pub(super) struct Function<'f> {
    apply: Apply,
    at: &'static Location<'static>,
    /// What each parameter is an element of.
    operands: Vec<Value>,
    body: &'f [Op],
    /// The values that it gives, and the types of the tiles of them.
    gives: Vec<(Value, TileType)>,
    done: HashMap<Row, Row>,
}

impl<'f> Function<'f> {
    /// Reads a function from its opening to its end.
    fn read(ops: &'f [Op]) -> Self {
        let OpKind::Apply(apply) = ops[0].kind else { unreachable!("the verifier matches brackets") };
        let operand = |op: &Op| if let OpKind::Element(of) = op.kind { Some(of) } else { None };
        let operands: Vec<Value> = ops[1..].iter().map_while(operand).collect();
        let given = |op: &Op| if let OpKind::Give(value) = op.kind { op.result.map(|ty| (value, ty)) } else { None };
        let gives: Vec<(Value, TileType)> = ops.iter().filter_map(given).collect();
        let body = &ops[1 + operands.len()..ops.len() - gives.len()];
        Function { apply, at: ops[0].at, operands, body, gives, done: HashMap::new() }
    }

    /// The element types of what it gives.
    pub fn dtypes(&self) -> Vec<DType> {
        self.gives.iter().map(|(_, ty)| ty.dtype).collect()
    }
}

impl<'f> Lowering<'f> {
    /// Does what the function that ends here is for.
    pub(super) fn end_apply(&mut self, first: usize) -> Result<(), LowerError> {
        let mut function = Function::read(&self.function.ops[first..self.position]);
        let own = self.values.len();
        let rows = match function.apply {
            Apply::Map => self.map_elements(&mut function)?,
            Apply::Reduce { axis, commutative } => self.reduce(&mut function, axis as usize, commutative)?,
            Apply::Scan { axis, reverse } => self.scan(&mut function, axis as usize, reverse)?,
        };
        // Values are numbered through the body.
        self.values.resize(own + function.operands.len() + function.body.len(), Rc::new([]));
        for (i, (_, ty)) in function.gives.iter().enumerate() {
            let held: Vec<Num> = rows.iter().map(|row| row[i]).collect();
            self.define(if ty.layout.is_none() { vec![held[0]] } else { held });
        }
        Ok(())
    }

    /// The layout of the operands of a function that combines. They can differ in registers that move nothing: then it is
    /// that with the most.
    pub(super) fn operand_layout(&self, function: &Function<'_>) -> Layout {
        let layouts = function.operands.iter().filter_map(|&value| self.function.type_of(value).layout);
        layouts.max_by_key(Layout::registers).expect("typing lets only tiles be combined along an axis")
    }

    /// What each register holds of the operands of a function that combines.
    pub(super) fn operand_rows(&self, function: &Function<'_>) -> Vec<Row> {
        let whole = TileType::tile(DType::Bool, self.operand_layout(function));
        let operands = &function.operands[..function.gives.len()];
        let held: Vec<Vec<Num>> = operands.iter().map(|&value| self.spread(value, &whole)).collect();
        (0..held[0].len()).map(|r| held.iter().map(|held| held[r]).collect()).collect()
    }

    fn map_elements(&mut self, function: &mut Function<'f>) -> Result<Vec<Row>, LowerError> {
        let Some((_, whole)) = function.gives.first().copied() else { return Ok(Vec::new()) };
        let operands: Vec<Vec<Num>> = function.operands.iter().map(|&value| self.spread(value, &whole)).collect();
        let count = whole.layout.map_or(1, |layout| layout.registers());
        (0..count).map(|r| self.applied(function, operands.iter().map(|held| held[r]).collect())).collect()
    }

    /// `function(left, right)`
    pub(super) fn combine(&mut self, function: &mut Function<'f>, left: &Row, right: &Row) -> Result<Row, LowerError> {
        self.applied(function, [left.as_slice(), right].concat())
    }

    fn applied(&mut self, function: &mut Function<'f>, arguments: Row) -> Result<Row, LowerError> {
        if let Some(done) = function.done.get(&arguments) {
            return Ok(done.clone());
        }
        let (own, position) = (self.values.len(), self.position);
        for &argument in &arguments {
            self.define(vec![argument]);
        }
        for op in function.body {
            self.emit.locate(op.at);
            self.operation(op)?;
        }
        let given: Row = function.gives.iter().map(|&(value, _)| self.scalar_of(value)).collect();
        self.values.truncate(own);
        self.position = position;
        self.emit.locate(function.at);
        function.done.insert(arguments, given.clone());
        Ok(given)
    }
}
