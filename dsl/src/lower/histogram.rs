//! Histograms: counters in shared memory that every element adds one to.

use quadpair_layouts::SharedLayout;

use super::Lowering;
use super::atomic::Update;
use super::holders::held_once;
use super::num::Num;
use super::scalar::type_of;
use crate::element::DType;
use crate::ir::{Atomic, AtomicOp, BinaryOp, Order, Scope, TileType, Value};
use crate::ptx::{Class, Compare, Space};

impl Lowering<'_> {
    pub(super) fn histogram(&mut self, value: Value, ty: &TileType) {
        let bins = ty.layout.expect("typing gives a histogram a layout");
        let from = self.spread_over(self.function.type_of(value));
        let counts = SharedLayout::flat(&bins.shape());
        let window = self.scratch(DType::I32, counts, counts.size() * DType::I32.bytes());
        let (zeros, mask) = (vec![Num::int(0); bins.registers()], self.holder(&bins));
        self.store_to(&window, &bins, &zeros, mask);
        self.barrier();
        let masks = self.held_masks(&from, None);
        let elements = self.held(value);
        for r in held_once(&from) {
            self.count(elements[r], masks[r], window.start, counts.size());
        }
        self.barrier();
        let held = self.load_from(&window, &bins);
        self.define(held);
    }

    /// Adds one for an element, if there is a counter for it.
    fn count(&mut self, element: Num, mask: Num, start: Num, bins: u32) {
        // As a number without sign a negative element is too large.
        let inside = match element {
            Num::Int { base: None, offset } => Num::Bool((0..i64::from(bins)).contains(&offset)),
            _ => Num::Reg(self.setp(Compare::Lt, type_of(DType::U32), element, Num::int(bins.into()))),
        };
        let mask = self.binary(BinaryOp::And, DType::Bool, inside, mask);
        if mask == Num::Bool(false) {
            return;
        }
        let scaled = self.integer(BinaryOp::Shl, DType::U32, element, Num::int(2));
        let address = self.integer(BinaryOp::Add, DType::U32, start, scaled);
        let place = self.place(0, address, Class::B32, mask);
        let atomic = Atomic { op: AtomicOp::Add, order: Order::Relaxed, scope: Scope::Block };
        let update = Update { atomic, space: Space::Shared, dtype: DType::I32, wanted: false };
        self.update(&update, &place, &[Num::int(1)]);
    }
}
