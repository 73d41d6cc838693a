//! Conversions between layouts, as the layout algebra plans them.

use std::collections::HashMap;

use quadpair_layouts::convert::{self, Exchange, Staged};
use quadpair_layouts::{Conversion, ConversionKind, Layout};

use super::linear::ThreadMap;
use super::num::Num;
use super::shared::Window;
use super::{Lowering, SHARED_ALIGN};
use crate::element::DType;
use crate::ir::{Function, OpKind, TileType, Value};
use crate::ptx::{Op, Operand};

/// The plans of a kernel's conversions.
pub(super) struct Plans {
    /// By the operation's position.
    plans: HashMap<usize, Conversion>,
    /// Bytes that a warp needs for those in which it waits for itself only.
    warp_bytes: u32,
}

impl Plans {
    pub fn of(function: &Function) -> Self {
        let ops = function.ops.iter().enumerate();
        let plans = ops.filter_map(|(i, op)| match (op.kind, op.result) {
            (OpKind::Convert(value, bound), Some(ty)) => {
                let [from, to] = [function.type_of(value), &ty].map(tile);
                let plan = convert::plan_within(&from, &to, ty.stored().bits(), bound);
                Some((i, plan.expect("typing has checked the conversion")))
            }
            _ => None,
        });
        let plans: HashMap<usize, Conversion> = plans.collect();
        let bytes = plans.values().filter_map(|plan| match &plan.kind {
            ConversionKind::Shared(staged) if staged.is_by_warp() => Some(staged.copy_bytes()),
            _ => None,
        });
        let warp_bytes = bytes.max().unwrap_or(0).next_multiple_of(SHARED_ALIGN);
        Plans { plans, warp_bytes }
    }

    /// Bytes that all warps need for conversions in which they don't wait for one another.
    pub fn warps_bytes(&self, function: &Function) -> u32 {
        self.warp_bytes * function.warps as u32
    }
}

fn tile(ty: &TileType) -> Layout {
    ty.layout.expect("typing lets only tiles be converted")
}

impl Lowering<'_> {
    pub(super) fn convert(&mut self, value: Value, ty: &TileType) {
        let (from, to, dtype) = (tile(self.function.type_of(value)), tile(ty), ty.stored());
        let values = self.held(value);
        let plan = self.plans.plans[&self.position];
        let held = match &plan.kind {
            ConversionKind::Nothing => super::spread_registers(&from, &to).into_iter().map(|r| values[r]).collect(),
            ConversionKind::Registers(exchange) => self.rename(exchange, &to, dtype, &values),
            ConversionKind::Shuffles(exchange) => self.between_lanes(exchange, &to, dtype, &values),
            ConversionKind::Shared(staged) => self.through_memory(staged, &to, dtype, &values),
        };
        self.define(held);
    }

    /// Every element stays in its thread.
    fn rename(&mut self, exchange: &Exchange, to: &Layout, dtype: DType, values: &[Num]) -> Vec<Num> {
        let words = exchange.words();
        let own = (0..words.sources()).map(|word| values[words.source_register(word, 0)]).collect();
        let moved = self.exchange(exchange, dtype, own);
        (0..to.registers()).map(|r| moved[words.target_word(r)]).collect()
    }

    /// Every element stays in its warp.
    fn between_lanes(&mut self, exchange: &Exchange, to: &Layout, dtype: DType, values: &[Num]) -> Vec<Num> {
        if dtype.bytes() == 8 {
            let words = exchange.words();
            let wide = (0..words.sources()).map(|word| self.parts(dtype, values[words.source_register(word, 0)]));
            let (low, high) = wide.unzip();
            let [low, high] = [low, high].map(|part| self.exchange(exchange, DType::U32, part));
            let whole: Vec<Num> = low.into_iter().zip(high).map(|(low, high)| self.whole(dtype, low, high)).collect();
            return (0..to.registers()).map(|r| whole[words.target_word(r)]).collect();
        }
        let words = self.packed_words(exchange.words(), dtype, values);
        let moved = self.exchange(exchange, DType::U32, words);
        self.elements_of_words(exchange.words(), to, dtype, &moved)
    }

    /// Through shared memory, which each warp has for itself where no element leaves its warp.
    fn through_memory(&mut self, staged: &Staged, to: &Layout, dtype: DType, values: &[Num]) -> Vec<Num> {
        let words = staged.words();
        let packed = words.elements() > 1;
        let (own, word) = match (packed, staged.word_bits()) {
            (false, _) => ((0..words.sources()).map(|word| values[words.source_register(word, 0)]).collect(), dtype),
            (true, 16) => (self.packed_words(words, dtype, values), DType::U16),
            (true, _) => (self.packed_words(words, dtype, values), DType::U32),
        };
        let loaded = self.stored_and_loaded(staged, word, &own);
        if packed {
            return self.elements_of_words(words, to, dtype, &loaded);
        }
        (0..to.registers()).map(|r| loaded[words.target_word(r)]).collect()
    }

    fn stored_and_loaded(&mut self, staged: &Staged, dtype: DType, words: &[Num]) -> Vec<Num> {
        let store = staged.store();
        let (window, mask) = if staged.is_by_warp() {
            (self.window_of_warp(dtype, staged), self.threads_without(store.free_lanes()))
        } else {
            (self.scratch(dtype, *staged.memory(), staged.copy_bytes()), self.holder(store))
        };
        let stored: Vec<Num> = (0..words.len()).map(|register| words[staged.stored_word(register)]).collect();
        self.store_to(&window, store, &stored, mask);
        if staged.is_by_warp() {
            self.warp_sync()
        } else {
            self.barrier()
        }
        let mut loaded = vec![Num::int(0); staged.words().targets()];
        for (register, num) in self.load_from(&window, staged.load()).into_iter().enumerate() {
            loaded[staged.loaded_word(register)] = num;
        }
        loaded
    }

    /// The warp's own memory, after its lanes that read it before are done.
    fn window_of_warp(&mut self, dtype: DType, staged: &Staged) -> Window {
        if self.warps_memory_used || self.emit.nested() {
            self.warp_sync();
        }
        self.warps_memory_used = true;
        let (first, bytes) = (self.shared_address(self.warps_memory), self.plans.warp_bytes);
        let warps = (0..staged.store().warp_bits()).map(|bit| bytes << bit);
        let own = self.linear(&ThreadMap::from_columns([0; 5].into_iter().chain(warps).collect()), 0);
        let start = self.integer(crate::ir::BinaryOp::Add, DType::U32, first, own);
        Window { dtype, layout: *staged.memory(), start }
    }

    fn warp_sync(&mut self) {
        self.emit.push(Op::WarpSync { mask: Operand::Int(-1) });
    }
}
