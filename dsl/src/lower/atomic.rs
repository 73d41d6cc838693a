//! Atomic operations: one instruction for each element, or a loop where the chip has none for the type.
//!
//! The holder of an element does the operation (see `holders.rs` for how the others learn of its result). What the chip
//! has no instruction for becomes compare-and-swap: guess what is in memory, write the result for that guess, and guess
//! what was found if the guess was wrong.
//!
//! ```text
//!     mov old, 0
//! LOOP:
//!     next = old op value
//!     atom.cas found, [address], old, next
//!     again = found != old;  mov old, found
//!     @again bra LOOP
//! ```

use super::Lowering;
use super::access::Place;
use super::holders::held_once;
use super::num::Num;
use super::scalar::class_of;
use crate::element::DType;
use crate::ir::{self, AtomicOp, BinaryOp, Value};
use crate::ptx::{Address, Atomic, Class, Compare, Guard, Op, Operand, Reg, Space, Type};

/// An atomic operation on elements of a memory.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub atomic: ir::Atomic,
    pub space: Space,
    pub dtype: DType,
    /// Whether someone wants the old values.
    pub wanted: bool,
}

impl Lowering<'_> {
    pub(super) fn atomic(&mut self, atomic: ir::Atomic, pointer: Value, args: [Option<Value>; 2], mask: Option<Value>) {
        let ty = *self.function.type_of(pointer);
        let layout = self.spread_over(&ty);
        let gives = atomic.op != AtomicOp::Store;
        let update = Update { atomic, space: Space::Global, dtype: ty.dtype, wanted: gives && self.is_wanted() };
        let pointers = self.held(pointer);
        let args: Vec<Vec<Num>> = args.into_iter().flatten().map(|arg| self.spread(arg, &ty)).collect();
        let masks = self.held_masks(&layout, mask.map(|mask| self.spread(mask, &ty)));
        if atomic.order.releases() {
            self.barrier();
        }
        let mut old = pointers.to_vec();
        for r in held_once(&layout) {
            let place = self.place(r, pointers[r], Class::B64, masks[r]);
            let own: Vec<Num> = args.iter().map(|arg| arg[r]).collect();
            old[r] = self.update(&update, &place, &own);
        }
        if update.wanted {
            old = self.held_by_all(&layout, ty.dtype, &old);
        }
        if atomic.order.acquires() {
            self.barrier();
        }
        if gives {
            self.define(old);
        }
    }

    /// For each register a predicate that holds in the holder of its element, where the mask does.
    pub(super) fn held_masks(&mut self, layout: &quadpair_layouts::Layout, mask: Option<Vec<Num>>) -> Vec<Num> {
        let holder = self.holder(layout);
        match mask {
            None => vec![holder; layout.registers()],
            Some(given) => given.into_iter().map(|own| self.binary(BinaryOp::And, DType::Bool, own, holder)).collect(),
        }
    }

    /// Does the operation on one element and gives what was there before, 0 where the mask of the place doesn't hold.
    pub(super) fn update(&mut self, update: &Update, place: &Place, args: &[Num]) -> Num {
        match (update.atomic.op, self.instruction(update)) {
            (AtomicOp::Load, _) => self.atomic_load(update, place),
            (AtomicOp::Store, _) => {
                self.atomic_store(update, place, args[0]);
                args[0]
            }
            (_, Some((op, ty))) => self.single_update(update, place, op, ty, args),
            _ => self.update_loop(update, place, args[0]),
        }
    }

    /// The instruction that does an operation, if the target has one.
    fn instruction(&self, update: &Update) -> Option<(Atomic, Type)> {
        let dtype = update.dtype;
        let bits = bits_of(dtype);
        let whole = dtype.bytes() >= 4;
        let op = match update.atomic.op {
            AtomicOp::Add => match dtype {
                DType::F16 | DType::F32 | DType::F64 => return Some((Atomic::Add, super::scalar::type_of(dtype))),
                DType::BF16 if self.target.sm >= 90 && self.target.isa >= (7, 8) => {
                    return Some((Atomic::Add, Type::BF16));
                }
                _ if dtype.is_float() || !whole => return None,
                // Sums are the same with and without sign, and 64 bits have only the latter.
                _ => return Some((Atomic::Add, if dtype.bytes() == 8 { Type::U64 } else { Type::U32 })),
            },
            AtomicOp::Min | AtomicOp::Max if dtype.is_float() || !whole => return None,
            AtomicOp::Min => return Some((Atomic::Min, super::scalar::type_of(dtype))),
            AtomicOp::Max => return Some((Atomic::Max, super::scalar::type_of(dtype))),
            AtomicOp::CompareExchange => return Some((Atomic::Cas, bits)),
            AtomicOp::And => Atomic::And,
            AtomicOp::Or => Atomic::Or,
            AtomicOp::Xor => Atomic::Xor,
            AtomicOp::Exchange => Atomic::Exch,
            AtomicOp::Load | AtomicOp::Store => return None,
        };
        whole.then_some((op, bits))
    }

    fn single_update(&mut self, update: &Update, place: &Place, op: Atomic, ty: Type, args: &[Num]) -> Num {
        let untyped = matches!(ty, Type::B16 | Type::B32 | Type::B64);
        let args: Vec<Reg> = args
            .iter()
            .map(|&arg| match untyped {
                true => self.bits_reg(update.dtype, arg),
                false if class_of(update.dtype) == Class::B16 => self.half_reg(update.dtype, arg),
                false => self.reg(arg, class_of(update.dtype)),
            })
            .collect();
        let reduction = !matches!(op, Atomic::Exch | Atomic::Cas) && !update.atomic.order.acquires();
        let class = args[0].class;
        let dst = (update.wanted || !reduction).then(|| self.emit.fresh(class));
        let guard = self.guard_of(place.mask);
        if let (Some(dst), Some(_), true) = (dst, guard, update.wanted) {
            self.zero(dst);
        }
        self.push_atomic(update, place, guard, (op, ty), dst, args);
        match dst {
            Some(dst) if untyped => self.of_bits(update.dtype, dst),
            Some(dst) => Num::of(dst),
            None => Num::int(0),
        }
    }

    fn push_atomic(
        &mut self,
        update: &Update,
        place: &Place,
        guard: Option<Guard>,
        (op, ty): (Atomic, Type),
        dst: Option<Reg>,
        args: Vec<Reg>,
    ) {
        let (order, scope) = (update.atomic.order, update.atomic.scope);
        let order = (order != ir::Order::Relaxed).then_some(order.name());
        // Shared memory has no other scope than the block.
        let scope = (scope != ir::Scope::Gpu && update.space == Space::Global).then_some(scope.name());
        let qualifiers = order.into_iter().chain(scope).map(str::to_owned).collect();
        let args = args.into_iter().map(Operand::Reg).collect();
        let address = address_of(place);
        self.promise_bound(place.bound, guard);
        self.emit.push_guarded(guard, Op::Atom { op, qualifiers, space: update.space, ty, dst, address, args });
    }

    fn update_loop(&mut self, update: &Update, place: &Place, value: Num) -> Num {
        let (dtype, bits) = (update.dtype, bits_of(update.dtype));
        let old = self.emit.fresh(bits_class(dtype));
        self.zero(old);
        let guard = self.guard_of(place.mask);
        let (again, end) = (self.emit.label(), self.emit.label());
        self.emit.open(true);
        self.emit.survives(old);
        let before = self.of_bits(dtype, old);
        let next = self.combined(update.atomic.op, dtype, before, value);
        let next = self.bits_reg(dtype, next);
        let found = self.emit.fresh(old.class);
        self.push_atomic(update, place, None, (Atomic::Cas, bits), Some(found), vec![old, next]);
        let wrong = self.differs(found, old);
        self.emit.push(Op::Mov { ty: bits, dst: old, src: Operand::Reg(found) });
        let wrong = Guard { reg: wrong, negated: false };
        self.emit.push_guarded(Some(wrong), Op::Bra { target: again, uniform: false });
        let body = self.emit.close();
        if let Some(guard) = guard {
            let skip = Guard { negated: !guard.negated, ..guard };
            self.emit.push_guarded(Some(skip), Op::Bra { target: end, uniform: false });
        }
        self.emit.mark(again);
        self.emit.extend(body);
        self.emit.mark(end);
        self.emit.survives(old);
        self.of_bits(dtype, old)
    }

    fn combined(&mut self, op: AtomicOp, dtype: DType, old: Num, value: Num) -> Num {
        let op = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => return value,
        };
        self.binary(op, dtype, old, value)
    }

    fn differs(&mut self, a: Reg, b: Reg) -> Reg {
        let [a, b] = [a, b].map(|reg| match reg.class {
            Class::B16 => self.cvt(Type::U32, Type::U16, None, Class::B32, reg),
            _ => reg,
        });
        let ty = if a.class == Class::B64 { Type::U64 } else { Type::U32 };
        self.setp(Compare::Ne, ty, Num::base(a), Num::base(b))
    }

    fn atomic_load(&mut self, update: &Update, place: &Place) -> Num {
        let dst = self.emit.fresh(bits_class(update.dtype));
        let guard = self.guard_of(place.mask);
        if guard.is_some() {
            self.zero(dst);
        }
        let (ty, address) = (bits_of(update.dtype), address_of(place));
        let qualifiers = ordered(update);
        self.emit.push_guarded(guard, Op::Ld { space: update.space, qualifiers, ty, dst: vec![dst], address });
        self.of_bits(update.dtype, dst)
    }

    fn atomic_store(&mut self, update: &Update, place: &Place, value: Num) {
        let src = vec![Operand::Reg(self.bits_reg(update.dtype, value))];
        let guard = self.guard_of(place.mask);
        let (ty, address) = (bits_of(update.dtype), address_of(place));
        let qualifiers = ordered(update);
        self.emit.push_guarded(guard, Op::St { space: update.space, qualifiers, ty, src, address });
    }

    fn zero(&mut self, dst: Reg) {
        let src = match dst.class {
            Class::F32 => Operand::F32(0),
            Class::F64 => Operand::F64(0),
            _ => Operand::Int(0),
        };
        self.emit.push(Op::Mov { ty: super::scalar::bits_of(dst.class), dst, src });
    }

    /// An element's bits in a register without type.
    fn bits_reg(&mut self, dtype: DType, num: Num) -> Reg {
        match dtype {
            DType::F16 | DType::BF16 => self.half_reg(dtype, num),
            DType::I16 | DType::U16 => {
                let wide = self.reg(num, Class::B32);
                self.cvt(Type::U16, Type::U32, None, Class::B16, wide)
            }
            DType::F32 | DType::F64 => {
                let own = self.reg(num, class_of(dtype));
                self.recast(own, bits_class(dtype))
            }
            _ => self.reg(num, class_of(dtype)),
        }
    }

    /// The element whose bits a register has.
    fn of_bits(&mut self, dtype: DType, reg: Reg) -> Num {
        match dtype {
            DType::F16 | DType::BF16 => Num::Reg(reg),
            DType::I16 => Num::base(self.cvt(Type::S32, Type::S16, None, Class::B32, reg)),
            DType::U16 => Num::base(self.cvt(Type::U32, Type::U16, None, Class::B32, reg)),
            DType::F32 | DType::F64 => Num::Reg(self.recast(reg, class_of(dtype))),
            _ => Num::base(reg),
        }
    }
}

fn address_of(place: &Place) -> Address {
    Address { base: Operand::Reg(place.base), offset: place.offset }
}

/// Order and scope of a load or a store, which go without saying for none.
fn ordered(update: &Update) -> Vec<String> {
    vec![update.atomic.order.name().to_owned(), update.atomic.scope.name().to_owned()]
}

fn bits_of(dtype: DType) -> Type {
    match dtype.bytes() {
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}

fn bits_class(dtype: DType) -> Class {
    match dtype.bytes() {
        2 => Class::B16,
        4 => Class::B32,
        _ => Class::B64,
    }
}
