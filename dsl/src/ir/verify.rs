//! The verifier. After it, lowering can index freely. It checks that
//!
//! - every operand is a value defined before, in a bracket that is still open;
//! - brackets match: `For` with `EndFor`, `If` with one `Else` and `EndIf`;
//! - `Carry` stands at the head of a loop, `Yield` at its end for each `Carry` in order, `Merge` right before `EndIf`;
//! - `Element` stands at the head of an `Apply`, `Give` at its end, and only elementwise arithmetic on scalars between;
//! - what a function that combines takes, twice, and gives is one list of types;
//! - what a loop yields and a branch merges has the type that it came in with;
//! - operations that give a value have a result type, the others have none.

use thiserror::Error;

use super::{Apply, Asm, Atomic, AtomicOp, Factor, Function, Indexed, Op, OpKind, Value};
use crate::element::DType;

/// A fault in a function: which operation, and what is wrong with it.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("operation {position} ({at}): {what}")]
pub struct VerifyError {
    /// Its position in the list.
    pub position: usize,
    /// The author's line.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

/// What is open, and how many values were visible when it was opened.
struct Open {
    kind: &'static str,
    visible: usize,
    carried: Vec<Value>,
    yielded: usize,
    /// Of an `else`: the values of the true side, which only a merge may use.
    other_side: Vec<Value>,
    merged: usize,
    /// Of a function of elements: what it is applied to.
    apply: Option<Apply>,
    elements: Vec<DType>,
}

impl Open {
    fn new(kind: &'static str, visible: usize) -> Self {
        Open {
            kind,
            visible,
            carried: Vec::new(),
            yielded: 0,
            other_side: Vec::new(),
            merged: 0,
            apply: None,
            elements: Vec::new(),
        }
    }
}

impl Function {
    /// Checks the list of operations.
    ///
    /// # Errors
    /// Everything that is wrong, in order.
    pub fn verify(&self) -> Result<(), Vec<VerifyError>> {
        let mut verifier =
            Verifier { function: self, visible: Vec::new(), open: Vec::new(), errors: Vec::new(), next_value: 0 };
        for (position, op) in self.ops.iter().enumerate() {
            verifier.operation(position, op);
            if op.result.is_some() {
                verifier.visible.push(Value(verifier.next_value));
                verifier.next_value += 1;
            }
        }
        if let Some(open) = verifier.open.last() {
            verifier.errors.push(VerifyError {
                position: self.ops.len(),
                at: self.name.to_owned(),
                what: format!("{} is never closed", open.kind),
            });
        }
        if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
    }
}

struct Verifier<'f> {
    function: &'f Function,
    visible: Vec<Value>,
    open: Vec<Open>,
    errors: Vec<VerifyError>,
    next_value: u32,
}

impl Verifier<'_> {
    fn operation(&mut self, position: usize, op: &Op) {
        let mut wrong = Vec::new();
        let merge = matches!(op.kind, OpKind::Merge(..));
        let other_side = self.open.last().filter(|_| merge).map_or(&[][..], |open| &open.other_side);
        for value in op.kind.operands() {
            if !self.visible.contains(&value) && !other_side.contains(&value) {
                wrong.push(format!("v{} is not visible here", value.index()));
            }
        }
        if op.result.is_some() != op.kind.gives_a_value() {
            wrong.push("a result where none belongs, or none where one does".to_owned());
        }
        wrong.extend(self.brackets(op));
        let at = op.at.to_string();
        self.errors.extend(wrong.into_iter().map(|what| VerifyError { position, at: at.clone(), what }));
    }

    fn brackets(&mut self, op: &Op) -> Option<String> {
        let visible = self.visible.len();
        if self.open.last().is_some_and(|open| open.apply.is_some()) {
            return self.of_a_function(op);
        }
        match op.kind {
            OpKind::Apply(apply) => self.open.push(Open { apply: Some(apply), ..Open::new("apply", visible) }),
            OpKind::Element(_) | OpKind::Give(_) => return Some("outside a function of elements".to_owned()),
            OpKind::EndApply => return self.close("apply"),
            OpKind::For { .. } => self.open.push(Open::new("for", visible)),
            OpKind::If(_) | OpKind::IfAny(_) => self.open.push(Open::new("if", visible)),
            OpKind::Carry(_) => return self.carry(),
            OpKind::Yield { carried, next } => return self.yielded(carried, next),
            OpKind::Else => return self.other_side(),
            OpKind::Merge(a, b) => return self.merge(a, b),
            OpKind::EndIf => return self.close("else"),
            OpKind::EndFor => return self.close("for"),
            _ => {}
        }
        None
    }

    /// An operation inside a function of elements.
    fn of_a_function(&mut self, op: &Op) -> Option<String> {
        let open = self.open.last_mut()?;
        let given = |value| self.function.type_of(value).dtype;
        match op.kind {
            OpKind::Element(of) if open.merged == 0 && open.visible + open.elements.len() == self.visible.len() => {
                open.elements.push(given(of));
                None
            }
            OpKind::Give(value) => {
                let wanted = open.elements.get(open.merged).copied();
                open.merged += 1;
                let same = open.apply == Some(Apply::Map) || wanted == Some(given(value));
                (!same).then(|| format!("v{} is given where the operand is of another type", value.index()))
            }
            OpKind::EndApply if open.apply == Some(Apply::Map) || open.elements.len() == 2 * open.merged => {
                self.close("apply")
            }
            OpKind::EndApply => Some("the function takes and gives different numbers of values".to_owned()),
            _ if open.merged > 0 => Some("stands behind what the function gives".to_owned()),
            _ if op.kind.is_elementwise() && op.result.is_some_and(|ty| ty.layout.is_none()) => None,
            _ => Some("is no arithmetic on elements, inside a function of elements".to_owned()),
        }
    }

    fn carry(&mut self) -> Option<String> {
        let name = Value(self.next_value);
        match self.open.last_mut() {
            Some(open) if open.kind == "for" => {
                open.carried.push(name);
                None
            }
            _ => Some("carry outside a loop".to_owned()),
        }
    }

    fn yielded(&mut self, carried: Value, next: Value) -> Option<String> {
        let (from, to) = (self.function.type_of(carried), self.function.type_of(next));
        if from.dtype != to.dtype || from.pointer != to.pointer {
            return Some(format!("v{} is yielded as another type", carried.index()));
        }
        match self.open.last_mut() {
            Some(open) if open.carried.get(open.yielded) == Some(&carried) => {
                open.yielded += 1;
                None
            }
            _ => Some(format!("v{} is not what the loop yields next", carried.index())),
        }
    }

    fn merge(&mut self, a: Value, b: Value) -> Option<String> {
        if self.function.type_of(a).dtype != self.function.type_of(b).dtype {
            return Some("merges two types".to_owned());
        }
        match self.open.last_mut() {
            Some(open) if open.kind == "else" => {
                open.merged += 1;
                None
            }
            _ => Some("merge outside the false side of a branch".to_owned()),
        }
    }

    /// Turns from the true side of a branch to the false one.
    fn other_side(&mut self) -> Option<String> {
        let open = match self.open.pop() {
            Some(open) if open.kind == "if" => open,
            _ => return Some("else outside a branch".to_owned()),
        };
        let other_side = self.visible.split_off(open.visible);
        self.open.push(Open { other_side, ..Open::new("else", open.visible) });
        None
    }

    /// Closes a bracket; its values go out of sight, but for the results that stand right before its end.
    fn close(&mut self, kind: &'static str) -> Option<String> {
        let Some(open) = self.open.pop() else { return Some(format!("closes {kind}, which is not open")) };
        if open.kind != kind {
            return Some(format!("closes {kind} where {} is open", open.kind));
        }
        if open.carried.len() != open.yielded {
            return Some(format!("{} of {} carried values are yielded", open.yielded, open.carried.len()));
        }
        let results = self.visible.split_off(self.visible.len() - open.yielded - open.merged);
        self.visible.truncate(open.visible);
        self.visible.extend(results);
        None
    }
}

impl Indexed {
    fn values(&self) -> impl Iterator<Item = Value> {
        self.memory.offset.into_iter().chain([self.index])
    }
}

impl OpKind {
    /// The values that it uses.
    pub fn operands(&self) -> Vec<Value> {
        match *self {
            OpKind::None
            | OpKind::Parameter { .. }
            | OpKind::Integer(_)
            | OpKind::Float(_)
            | OpKind::ProgramId(_)
            | OpKind::NumPrograms(_)
            | OpKind::NumWarps
            | OpKind::Arange
            | OpKind::Barrier
            | OpKind::BlocksAtOnce(_)
            | OpKind::CommitGroup
            | OpKind::WaitGroup(_)
            | OpKind::EndFor
            | OpKind::Else
            | OpKind::EndIf
            | OpKind::Apply(_)
            | OpKind::EndApply => Vec::new(),
            OpKind::Splat(a)
            | OpKind::Unary(_, a)
            | OpKind::Cast(a)
            | OpKind::Bitcast(a)
            | OpKind::MultipleOf(a, _)
            | OpKind::Runs { of: a, .. }
            | OpKind::Assume(a)
            | OpKind::Relabel(a)
            | OpKind::Half(a, _)
            | OpKind::Part(a, _)
            | OpKind::AsmResult(a, _)
            | OpKind::UnpackFp4(a)
            | OpKind::Broadcast(a)
            | OpKind::Element(a)
            | OpKind::Give(a)
            | OpKind::Convert(a, _)
            | OpKind::Assert(a, _)
            | OpKind::Histogram(a)
            | OpKind::Bound(a, _)
            | OpKind::Carry(a)
            | OpKind::If(a)
            | OpKind::IfAny(a) => vec![a],
            OpKind::Binary(_, a, b) | OpKind::Compare(_, a, b) | OpKind::Join(a, b) | OpKind::Merge(a, b) => {
                vec![a, b]
            }
            OpKind::Select(a, b, c) | OpKind::Fma(a, b, c) | OpKind::Mma(a, b, c) | OpKind::Dot(a, b, c) => {
                vec![a, b, c]
            }
            OpKind::Load { pointer, mask, other, .. } => [Some(pointer), mask, other].into_iter().flatten().collect(),
            OpKind::Store { pointer, value, mask, .. } => {
                [Some(pointer), Some(value), mask].into_iter().flatten().collect()
            }
            OpKind::Atomic { pointer, args, mask, .. } => {
                [Some(pointer), args[0], args[1], mask].into_iter().flatten().collect()
            }
            OpKind::Allocate(memory) | OpKind::SharedLoad(memory) => memory.offset.into_iter().collect(),
            OpKind::SharedStore(memory, value) => memory.offset.into_iter().chain([value]).collect(),
            OpKind::AsyncCopy { memory, pointer, mask } => {
                memory.offset.into_iter().chain([pointer]).chain(mask).collect()
            }
            OpKind::WarpgroupMma(a, b, c) => {
                let left = match a {
                    Factor::Tile(a) => Some(a),
                    Factor::Memory(memory) => memory.offset,
                };
                left.into_iter().chain(b.offset).chain([c]).collect()
            }
            OpKind::Asm(asm) => asm.args[..asm.arg_count as usize].to_vec(),
            OpKind::Gather { source, index, .. } => vec![source, index],
            OpKind::SharedGather(place) => place.values().collect(),
            OpKind::SharedScatter(place, values) => place.values().chain([values]).collect(),
            OpKind::SharedAtomic { place, values, mask, .. } => place.values().chain([values]).chain(mask).collect(),
            OpKind::Print { args, count, .. } => args[..count as usize].to_vec(),
            OpKind::For { lo, hi, step } => vec![lo, hi, step],
            OpKind::Yield { carried, next } => vec![carried, next],
        }
    }

    /// Whether it gives a value.
    pub fn gives_a_value(&self) -> bool {
        !matches!(
            self,
            OpKind::None
                | OpKind::Store { .. }
                | OpKind::Atomic { atomic: Atomic { op: AtomicOp::Store, .. }, .. }
                | OpKind::Allocate(_)
                | OpKind::SharedStore(..)
                | OpKind::SharedScatter(..)
                | OpKind::Bound(..)
                | OpKind::AsyncCopy { .. }
                | OpKind::BlocksAtOnce(_)
                | OpKind::CommitGroup
                | OpKind::WaitGroup(_)
                | OpKind::Barrier
                | OpKind::Assert(..)
                | OpKind::Assume(_)
                | OpKind::Print { .. }
                | OpKind::EndFor
                | OpKind::If(_)
                | OpKind::IfAny(_)
                | OpKind::Else
                | OpKind::EndIf
                | OpKind::Apply(_)
                | OpKind::EndApply
        )
    }

    /// Whether its result is made of its operands' elements, one by one, and of nothing else.
    pub const fn is_elementwise(&self) -> bool {
        matches!(
            self,
            OpKind::Integer(_)
                | OpKind::Float(_)
                | OpKind::ProgramId(_)
                | OpKind::NumPrograms(_)
                | OpKind::Unary(..)
                | OpKind::Binary(..)
                | OpKind::Compare(..)
                | OpKind::Select(..)
                | OpKind::Fma(..)
                | OpKind::Cast(_)
                | OpKind::MultipleOf(..)
                | OpKind::Bitcast(_)
                | OpKind::NumWarps
                | OpKind::Asm(Asm { pure: true, .. })
                | OpKind::AsmResult(..)
        )
    }
}
