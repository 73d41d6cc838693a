//! What the tile IR of a kernel holds: its tiles, what each conversion takes, how shared memory is accessed, what is
//! reduced.
//!
//! The list is the traced kernel's, so a device function that is called twice and a loop over comptime numbers stand there
//! as often as they run. Operations in a run-time loop say which line opens it.

use std::panic::Location;

use quadpair_layouts::{Access, Conversion, Layout, MatrixLoad, SharedLayout, banks, convert};

use super::values;
use crate::element::DType;
use crate::ir::{Apply, Function, Memory, Op, OpKind, TileType, operation};
use crate::lower::ldmatrix::matrix_load;
use crate::runtime::Target;

/// Where an operation comes from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The author's expression.
    pub at: &'static Location<'static>,
    /// The line of the innermost run-time loop around it.
    pub turn_of: Option<u32>,
}

/// A value that is a tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Its number.
    pub value: usize,
    /// Where it comes from.
    pub source: Source,
    /// What makes it.
    pub made_by: String,
    /// Its type.
    pub ty: TileType,
    /// The number of its layout.
    pub layout: usize,
}

/// A conversion of layouts.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The result's number.
    pub value: usize,
    /// Where it comes from.
    pub source: Source,
    /// The numbers of both layouts.
    pub layouts: [usize; 2],
    /// Bits of an element.
    pub element_bits: u32,
    /// How it is done, and at what cost.
    pub plan: Conversion,
}

/// An access to shared memory that the author wrote.
#[derive(Clone, Debug)]
pub struct Accessed {
    /// Where it comes from.
    pub source: Source,
    /// Whether it is a store.
    pub store: bool,
    /// Which allocation.
    pub allocation: u32,
    /// Element type.
    pub dtype: DType,
    /// The number of the tile's layout.
    pub layout: usize,
    /// Where each element of the view lies.
    pub memory: SharedLayout,
    /// Instructions and wavefronts.
    pub access: Access,
    /// How it is loaded as matrices, where it is.
    pub matrices: Option<MatrixLoad>,
}

/// A reduction or a scan.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The first result's number.
    pub value: usize,
    /// Where it comes from.
    pub source: Source,
    /// What it combines, and along which axis.
    pub made_by: String,
    /// The number of the operand's layout.
    pub layout: usize,
}

/// An operation that has a cost of its own.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Step {
    /// A conversion of layouts.
    Converted(Converted),
    /// An access to shared memory.
    Accessed(Accessed),
    /// A reduction or a scan.
    Reduced(Reduced),
}

/// What a kernel holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The different layouts; others give their positions.
    pub layouts: Vec<Layout>,
    /// Every value that is a tile.
    pub tiles: Vec<Tile>,
    /// Conversions, shared accesses and reductions, in order.
    pub steps: Vec<Step>,
}

impl Contents {
    /// What a traced kernel holds, and what it takes on a target.
    pub fn of(function: &Function, target: Target) -> Contents {
        let mut reader = Reader {
            function,
            target,
            layouts: values::layouts(function),
            loops: Vec::new(),
            value: 0,
            tiles: Vec::new(),
            applied: None,
        };
        let mut steps = Vec::new();
        for op in &function.ops {
            steps.extend(reader.read(op));
        }
        Contents { layouts: reader.layouts, tiles: reader.tiles, steps }
    }
}

/// Goes over a kernel's operations.
struct Reader<'f> {
    function: &'f Function,
    target: Target,
    layouts: Vec<Layout>,
    /// The lines of the open loops.
    loops: Vec<u32>,
    /// The number of the next value.
    value: usize,
    tiles: Vec<Tile>,
    /// The function of elements that is open and has given nothing yet.
    applied: Option<Applied>,
}

/// A function of elements.
struct Applied {
    apply: Apply,
    /// The number of the operands' layout.
    layout: Option<usize>,
    operations: Vec<String>,
}

impl Applied {
    /// `reduce max axis 1`; a map costs nothing of its own.
    fn made_by(&self) -> Option<String> {
        let (name, axis) = match self.apply {
            Apply::Map => return None,
            Apply::Reduce { axis, .. } => ("reduce", axis),
            Apply::Scan { axis, reverse: false } => ("scan", axis),
            Apply::Scan { axis, reverse: true } => ("scan from the end", axis),
        };
        let function = match &self.operations[..] {
            [one] => one.split(' ').next().unwrap_or_default().to_owned(),
            more => format!("{} operations", more.len()),
        };
        Some(format!("{name} {function} axis {axis}"))
    }
}

impl Reader<'_> {
    fn read(&mut self, op: &Op) -> Option<Step> {
        if matches!(op.kind, OpKind::EndFor) {
            self.loops.pop();
        }
        let source = Source { at: op.at, turn_of: self.loops.last().copied() };
        self.read_function(op);
        let step = self.step(op, source);
        if let Some(ty) = op.result {
            self.tiles.extend(ty.layout.map(|layout| Tile {
                value: self.value,
                source,
                made_by: operation(op),
                ty,
                layout: self.number(&layout),
            }));
            self.value += 1;
        }
        if matches!(op.kind, OpKind::For { .. }) {
            self.loops.push(op.at.line());
        }
        step
    }

    fn read_function(&mut self, op: &Op) {
        if let OpKind::Apply(apply) = op.kind {
            self.applied = Some(Applied { apply, layout: None, operations: Vec::new() });
        } else if let Some(mut applied) = self.applied.take() {
            match op.kind {
                OpKind::Element(of) => {
                    applied.layout = self.function.type_of(of).layout.map(|layout| self.number(&layout));
                }
                OpKind::Give(_) => {}
                _ => applied.operations.push(operation(op)),
            }
            self.applied = Some(applied);
        }
    }

    fn step(&mut self, op: &Op, source: Source) -> Option<Step> {
        let value = self.value;
        match op.kind {
            OpKind::Convert(from, bound) => {
                let (from, ty) = (self.function.type_of(from).layout?, op.result?);
                let to = ty.layout?;
                let element_bits = ty.stored().bits();
                let plan = convert::plan_within(&from, &to, element_bits, bound).ok()?;
                let layouts = [self.number(&from), self.number(&to)];
                Some(Step::Converted(Converted { value, source, layouts, element_bits, plan }))
            }
            OpKind::SharedStore(memory, stored) => {
                let layout = self.function.type_of(stored).layout?;
                Some(Step::Accessed(self.accessed(source, true, &memory, &layout)))
            }
            OpKind::SharedLoad(memory) => {
                Some(Step::Accessed(self.accessed(source, false, &memory, &op.result?.layout?)))
            }
            OpKind::Give(_) => {
                let applied = self.applied.take()?;
                Some(Step::Reduced(Reduced { value, source, made_by: applied.made_by()?, layout: applied.layout? }))
            }
            _ => None,
        }
    }

    fn accessed(&self, source: Source, store: bool, memory: &Memory, tile: &Layout) -> Accessed {
        let Memory { allocation, dtype, layout, .. } = *memory;
        let matrices = (!store).then(|| matrix_load(memory, tile, self.target)).flatten();
        let by_lanes = || if store { banks::store } else { banks::load }(tile, &layout, dtype.bits());
        let access = matrices.map_or_else(by_lanes, |load| load.access);
        Accessed { source, store, allocation, dtype, layout: self.number(tile), memory: layout, access, matrices }
    }

    fn number(&self, layout: &Layout) -> usize {
        self.layouts.iter().position(|known| known.equals(layout)).unwrap_or(self.layouts.len())
    }
}
