//! The kernel under construction: operations are typed and, where there is room, kept.

use core::panic::Location;

use quadpair_layouts::{Error, Layout, Text};

use crate::element::{DType, Element};
use crate::ir::{Op, OpKind, Pointer, TileType, Value};
use crate::lang::region::not_arithmetic;
use crate::lang::{Architecture, Tile};

/// The kernel under construction. Kernels don't name it: the macros pass it along.
pub struct Trace<'a> {
    name: &'static str,
    ops: &'a mut [Op],
    count: usize,
    values: u32,
    parameters: u32,
    allocations: u32,
    warps: Option<usize>,
    strict: bool,
    /// Open branches that each warp takes for itself.
    one_warp: usize,
    /// The architecture that the kernel is checked for.
    target: Option<Architecture>,
    /// Whose function of elements is being traced.
    function: Option<&'static str>,
    fault: Option<Broken>,
}

/// The first broken rule, while there is no allocation.
#[derive(Clone, Copy)]
struct Broken {
    text: Text,
    at: &'static Location<'static>,
}

/// A rule of the language that a kernel breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The kernel, with its comptime parameters where they are known.
    pub kernel: String,
    /// What is wrong, and what would be right.
    pub text: String,
    /// The author's expression.
    pub at: &'static Location<'static>,
}

impl core::fmt::Display for TraceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.kernel, self.text)
    }
}

impl core::error::Error for TraceError {}

/// What a finished trace amounts to.
pub(crate) struct Finished {
    pub ops: usize,
    pub warps: usize,
}

impl<'a> Trace<'a> {
    /// A trace that keeps the first `ops.len()` operations and counts all.
    pub(crate) const fn new(name: &'static str, ops: &'a mut [Op]) -> Self {
        let (count, values, parameters, allocations) = (0, 0, 0, 0);
        Trace {
            name,
            ops,
            count,
            values,
            parameters,
            allocations,
            warps: None,
            strict: false,
            one_warp: 0,
            target: None,
            function: None,
            fault: None,
        }
    }

    /// A trace that keeps nothing and panics at the first broken rule, for constant evaluation. What the architecture
    /// lacks, if one is given, is a broken rule too.
    pub const fn checking(name: &'static str, target: Option<Architecture>) -> Trace<'static> {
        let mut trace = Trace::new(name, &mut []);
        trace.strict = true;
        trace.target = target;
        trace
    }

    /// Ends a check; everything that can fail has panicked before.
    pub const fn finish(self) {}

    pub(crate) fn finished(self) -> Result<Finished, TraceError> {
        match self.fault {
            Some(Broken { text, at }) => {
                Err(TraceError { kernel: self.name.to_owned(), text: text.as_str().to_owned(), at })
            }
            // A kernel of scalars only has no layout that would say how many warps run it.
            None => Ok(Finished { ops: self.count, warps: self.warps.unwrap_or(1) }),
        }
    }

    /// Declares the next run-time parameter, a pointer.
    #[track_caller]
    pub const fn pointer<T: Element>(&mut self, name: &'static str, writable: bool) -> Tile {
        let pointer = if writable { Pointer::Write } else { Pointer::Read };
        self.parameter(name, TileType { dtype: T::DTYPE, pointer, layout: None })
    }

    /// Declares the next run-time parameter, a scalar.
    #[track_caller]
    pub const fn scalar<T: Element>(&mut self, name: &'static str) -> Tile {
        self.parameter(name, TileType::scalar(T::DTYPE))
    }

    #[track_caller]
    const fn parameter(&mut self, name: &'static str, ty: TileType) -> Tile {
        let index = self.parameters;
        self.parameters += 1;
        self.emit(OpKind::Parameter { name, index }, ty)
    }

    /// Records an operation with a result.
    #[track_caller]
    pub(crate) const fn emit(&mut self, kind: OpKind, ty: TileType) -> Tile {
        self.fits_a_function(&kind, &ty);
        if self.fault.is_some() {
            return Tile { value: Value(0), ty };
        }
        if let Some(layout) = &ty.layout {
            self.agree_on_warps(layout);
        }
        self.alone(&kind);
        let value = Value(self.values);
        self.values += 1;
        self.keep(Op { kind, result: Some(ty), at: Location::caller() });
        Tile { value, ty }
    }

    /// Records an operation with no result.
    #[track_caller]
    pub(crate) const fn effect(&mut self, kind: OpKind) {
        self.fits_a_function(&kind, &TileType::scalar(DType::Bool));
        self.alone(&kind);
        if self.fault.is_none() {
            self.keep(Op { kind, result: None, at: Location::caller() });
        }
    }

    /// Enters the function of this operation: until it ends there is only arithmetic on elements.
    pub(crate) const fn enter_function(&mut self, of: &'static str) {
        self.function = Some(of);
    }

    /// Leaves the function.
    pub(crate) const fn leave_function(&mut self) {
        self.function = None;
    }

    #[track_caller]
    const fn fits_a_function(&mut self, kind: &OpKind, ty: &TileType) {
        let Some(of) = self.function else { return };
        let text = Text::new(of).push(": ");
        if matches!(kind, OpKind::Element(_) | OpKind::Give(_)) {
            return;
        }
        if !kind.is_elementwise() {
            self.fail(text.push("its function is arithmetic on elements; ").push(not_arithmetic(kind)));
        } else if let Some(layout) = &ty.layout {
            let text = text.push("its function is arithmetic on elements, this is a tile ").push(ty.dtype.name());
            let text = text.push(" ").shape(&layout.shape());
            self.fail(text.push("; make the tile an operand, and the function takes its elements"));
        }
    }

    /// Enters a branch that other warps may not take.
    pub(crate) const fn enter_one_warp(&mut self) {
        self.one_warp += 1;
    }

    /// Whether other warps may not be here.
    pub(crate) const fn in_one_warp(&self) -> bool {
        self.one_warp > 0
    }

    /// Leaves it.
    pub(crate) const fn leave_one_warp(&mut self) {
        self.one_warp -= 1;
    }

    #[track_caller]
    const fn alone(&mut self, kind: &OpKind) {
        if self.one_warp > 0
            && let Some(name) = kind.meets_other_warps()
        {
            self.comes_alone(name);
        }
    }

    /// Reports an operation for which warps must come together where they may not.
    #[track_caller]
    pub(crate) const fn comes_alone(&mut self, name: &str) {
        let text = Text::new(name).push(": inside `if warp_any(..)` other warps may not come along");
        self.fail(text.push("; bring it before or behind the `if`"));
    }

    const fn keep(&mut self, op: Op) {
        if self.count < self.ops.len() {
            self.ops[self.count] = op;
        }
        self.count += 1;
    }

    #[track_caller]
    const fn agree_on_warps(&mut self, layout: &Layout) {
        match self.warps {
            None => self.warps = Some(layout.warps()),
            Some(warps) if warps == layout.warps() => {}
            Some(warps) => {
                let text = Text::new("layout: this one is for ").number(layout.warps());
                let text = text.push(" warps, the kernel's first is for ").number(warps);
                self.fail(text.push("; every tile of a kernel lives in all its warps"));
            }
        }
    }

    pub(crate) const fn next_allocation(&mut self) -> u32 {
        self.allocations += 1;
        self.allocations - 1
    }

    /// Whether a rule has been broken; what follows has no meaning then.
    pub(crate) const fn failed(&self) -> bool {
        self.fault.is_some()
    }

    /// The architecture that the kernel is checked for, or one that has everything.
    pub(crate) const fn sm(&self) -> u32 {
        match self.target {
            Some(target) => target.sm,
            None => u32::MAX,
        }
    }

    /// Breaks the check of a kernel for an architecture that lacks something.
    #[track_caller]
    pub(crate) const fn needs(&mut self, op: &str, what: &str, first_sm: u32) {
        if let Some(Architecture { sm, .. }) = self.target
            && sm < first_sm
        {
            let text = Text::new(op).push(": ").push(what).push(" needs sm_").number(first_sm as usize);
            self.fail(text.push(" or later; this instance is for sm_").number(sm as usize));
        }
    }

    /// Breaks the check of a kernel for another architecture than the one that has something.
    #[track_caller]
    pub(crate) const fn needs_exactly(&mut self, op: &str, what: &str, sm: u32) {
        if let Some(target) = self.target
            && !(target.specific && target.sm == sm)
        {
            let text = Text::new(op).push(": ").push(what).push(" needs sm_").number(sm as usize);
            let text = text.push("a; this instance is for sm_").number(target.sm as usize);
            self.fail(text.push(if target.specific { "a" } else { "" }));
        }
    }

    /// Reports a broken rule: in constant evaluation as a panic, else as the trace's result.
    #[track_caller]
    pub(crate) const fn fail(&mut self, text: Text) {
        if self.strict {
            panic!("{}", text.as_str());
        }
        if self.fault.is_none() {
            self.fault = Some(Broken { text, at: Location::caller() });
        }
    }

    /// Unwraps a typing rule's answer; on an error reports it and gives the stand-in.
    #[track_caller]
    pub(crate) const fn rule(&mut self, op: &str, answer: Result<Layout, Error>, stand_in: Layout) -> Layout {
        match answer {
            Ok(layout) => layout,
            Err(error) => {
                self.broken(op, error);
                stand_in
            }
        }
    }

    /// Reports what the layout algebra found, under the operation's name.
    #[track_caller]
    pub(crate) const fn broken(&mut self, op: &str, error: Error) {
        self.fail(Text::new(op).push(": ").push(error.text().as_str()));
    }

    /// Takes a layout that an author gives, if it is one.
    #[track_caller]
    pub(crate) const fn given(&mut self, op: &str, layout: Layout) -> Layout {
        let answer = layout.check();
        self.rule(op, answer, layout)
    }

    /// A scalar constant.
    #[track_caller]
    pub(crate) const fn integer(&mut self, dtype: DType, value: i64) -> Tile {
        self.emit(OpKind::Integer(value), TileType::scalar(dtype))
    }

    /// A scalar constant.
    #[track_caller]
    pub(crate) const fn float(&mut self, dtype: DType, value: f64) -> Tile {
        self.emit(OpKind::Float(value), TileType::scalar(dtype))
    }
}
