//! Conversions between layouts, as the layout algebra plans them.

use quadpair_layouts::{ConversionKind, Layout, convert};

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use crate::element::DType;
use crate::ir::{TileType, Value};

impl Lowering<'_> {
    pub(super) fn convert(&mut self, value: Value, ty: &TileType) {
        let from = self.function.type_of(value).layout.expect("typing lets only tiles be converted");
        let to = ty.layout.expect("a converted tile has a layout");
        let dtype = if ty.is_pointer() { DType::U64 } else { ty.dtype };
        let plan = convert::plan(&from, &to, dtype.bits()).expect("typing has checked the conversion");
        let values = self.held(value);
        let held = match plan.kind {
            ConversionKind::Nothing | ConversionKind::Registers => self.rename(&from, &to, dtype, &values),
            ConversionKind::Shared(layout) => {
                let window = self.scratch(dtype, layout, layout.size() * dtype.bytes());
                let mask = self.holder(&from);
                self.store_to(&window, &from, &values, mask);
                self.barrier();
                self.load_from(&window, &to)
            }
        };
        self.define(held);
    }

    /// Every element stays in its thread. Which register has it may depend on the thread, where several threads hold the
    /// same elements: then each bit of the thread's number that matters costs one selection a register.
    fn rename(&mut self, from: &Layout, to: &Layout, dtype: DType, values: &[Num]) -> Vec<Num> {
        let (source, target) = (ThreadMap::new(from, |basis| basis), ThreadMap::new(to, |basis| basis));
        let registers = from.register_span();
        let holding =
            |element| registers.solve(element).expect("the plan says that the thread holds the element") as usize;
        let mut current = values.to_vec();
        for (bit, (a, b)) in source.bits().zip(target.bits()).enumerate() {
            let moved = holding(a ^ b);
            if moved != 0 {
                let predicate = self.thread_bit(bit);
                current =
                    (0..current.len()).map(|r| self.select(dtype, predicate, current[r ^ moved], current[r])).collect();
            }
        }
        (0..to.registers()).map(|r| current[holding(to.apply(r, 0, 0))]).collect()
    }
}
