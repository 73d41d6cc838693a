//! Staging: conversions through shared memory.
//!
//! Every thread stores its words, waits for the others, and loads those that it wants. Two things make that cheap beyond
//! a [layout of the memory](SharedLayout::between) without bank conflicts.
//!
//! *Wide accesses on both sides.* A word has the narrow elements that both layouts' registers share, or, where they share
//! none, elements of the storing thread: then a loading thread takes whole words and picks its element from each. Of the
//! words, those that both sides hold in registers go at once on both; the side with more accesses takes further words at
//! once, 16 bytes in all. Of these ways the cheapest is taken; a conflict can be part of it.
//!
//! Words have the numbers of registers in `store` and `load`, which are chosen when the memory is: words that lie side by
//! side have numbers that differ in the lowest bits.
//!
//! *Waiting for the warp only.* Where no element leaves its warp each warp has a memory of its own: the layouts are written
//! anew in the words that a warp's lanes and registers reach from its first word on.

use super::cost::Cost;
use super::exchange::within_warps;
use super::words::{Packing, Words};
use crate::banks;
use crate::f2::Span;
use crate::layout::{Builder, LANE_BITS, Layout, MAX_REGISTER_BITS};
use crate::shape::Shape;
use crate::shared::{SharedLayout, Wide};

/// A conversion through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staged {
    words: Words,
    store: Side,
    load: Side,
    memory: SharedLayout,
    word_bits: u32,
    by_warp: bool,
}

impl Staged {
    /// The cheapest of the ways to pack and to lie side by side.
    pub(super) const fn cheapest(from: &Layout, to: &Layout, element_bits: u32) -> (Staged, Cost) {
        let plain = Words::new(from, to, element_bits, Packing::None);
        let (mut best, mut cost) = Staged::of_words(&plain, to, element_bits);
        let mut elements = 1;
        let (mut i, packings) = (0, [Packing::Common, Packing::Source]);
        while i < packings.len() {
            let words = Words::new(from, to, element_bits, packings[i]);
            if words.elements() > elements {
                elements = words.elements();
                let (other, its) = Staged::of_words(&words, to, element_bits);
                if its.weight() < cost.weight() {
                    (best, cost) = (other, its);
                }
            }
            i += 1;
        }
        (best, cost)
    }

    const fn of_words(words: &Words, to: &Layout, element_bits: u32) -> (Staged, Cost) {
        let by_warp = within_warps(&words.from, &words.to);
        let (store, load) = if by_warp { own_parts(&words.from, &words.to) } else { (words.from, words.to) };
        let word_bits = super::stored_bits(element_bits) * words.elements() as u32;
        let (store, load) = (Side::new(&store), Side::new(&load));
        let own = Staged { words: *words, store, load, memory: SharedLayout::flat(&Shape::SCALAR), word_bits, by_warp };
        let mut best = own.lying(Wide::Neither);
        let mut cost = best.cost(element_bits, to.registers());
        let (mut i, sides) = (0, [Wide::Store, Wide::Load]);
        while i < sides.len() {
            let other = own.lying(sides[i]);
            let its = other.cost(element_bits, to.registers());
            if other.memory.fault().is_none() && its.weight() < cost.weight() {
                (best, cost) = (other, its);
            }
            i += 1;
        }
        (best, cost)
    }

    /// With a memory in which so much lies side by side.
    const fn lying(&self, wide: Wide) -> Staged {
        let memory = SharedLayout::staged(&self.store.layout, &self.load.layout, self.word_bits, wide);
        Staged { memory, store: self.store.lying(&memory), load: self.load.lying(&memory), ..*self }
    }

    const fn cost(&self, element_bits: u32, registers: usize) -> Cost {
        let (stored, loaded) = (self.stored(), self.loaded());
        Cost {
            permutations: self.words.permutations(element_bits, registers) + self.permutations(&stored, &loaded),
            accesses: stored.instructions + loaded.instructions,
            wavefronts: stored.wavefronts + loaded.wavefronts,
            shared_bytes: self.copy_bytes() * if self.by_warp { self.store.layout.warps() as u32 } else { 1 },
            warp_syncs: self.by_warp as u32,
            barriers: !self.by_warp as u32,
            ..Cost::NONE
        }
    }

    /// Byte permutations of wide accesses to narrow words, at most.
    const fn permutations(&self, stored: &banks::Access, loaded: &banks::Access) -> u32 {
        let (elements, narrow) = (32 / self.word_bits as usize, self.word_bits < 32);
        let packed = if narrow && stored.vector >= elements { self.words.sources() } else { 0 };
        let taken_apart = if narrow && loaded.vector >= elements { self.words.targets() } else { 0 };
        (packed + taken_apart) as u32
    }

    /// How the words are stored.
    pub const fn stored(&self) -> banks::Access {
        banks::store(&self.store.layout, &self.memory, self.word_bits)
    }

    /// How they are loaded.
    pub const fn loaded(&self) -> banks::Access {
        banks::load(&self.load.layout, &self.memory, self.word_bits)
    }

    /// The packing of elements in words.
    pub const fn words(&self) -> &Words {
        &self.words
    }

    /// Bits of a word.
    pub const fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// Bytes of the memory; where each warp has its own, of one.
    pub const fn copy_bytes(&self) -> u32 {
        let bytes = self.memory.size() * self.word_bits / 8;
        if bytes < banks::WIDEST { banks::WIDEST } else { bytes }
    }

    /// Where each word lies.
    pub const fn memory(&self) -> &SharedLayout {
        &self.memory
    }

    /// The layout that the words are stored in.
    pub const fn store(&self) -> &Layout {
        &self.store.layout
    }

    /// The layout that they are loaded in.
    pub const fn load(&self) -> &Layout {
        &self.load.layout
    }

    /// The word that a register of the stored layout is.
    pub const fn stored_word(&self, register: usize) -> usize {
        self.store.word(register)
    }

    /// The word that a register of the loaded layout is.
    pub const fn loaded_word(&self, register: usize) -> usize {
        self.load.word(register)
    }

    /// Whether each warp has a memory of its own, so that it waits for no other.
    pub const fn is_by_warp(&self) -> bool {
        self.by_warp
    }
}

/// The words as one side accesses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    layout: Layout,
    /// By bit of the register's number: the word.
    words: [u16; MAX_REGISTER_BITS],
}

impl Side {
    const fn new(layout: &Layout) -> Side {
        let (mut words, mut i) = ([0; MAX_REGISTER_BITS], 0);
        while i < MAX_REGISTER_BITS {
            words[i] = 1 << i;
            i += 1;
        }
        Side { layout: *layout, words }
    }

    const fn word(&self, register: usize) -> usize {
        let (mut word, mut i) = (0, 0);
        while i < MAX_REGISTER_BITS {
            word ^= if register >> i & 1 == 1 { self.words[i] as usize } else { 0 };
            i += 1;
        }
        word
    }

    /// The same words in other registers: those that lie at offsets 1, 2, 4, … first, the others at multiples of them.
    const fn lying(&self, memory: &SharedLayout) -> Side {
        let (mut sums, free, mut i) = (Span::new(), self.layout.free_registers(), 0);
        while i < self.layout.register_bits() {
            if free >> i & 1 == 0 {
                sums.insert(memory.offset(self.layout.register_basis(i)), 1 << i);
            }
            i += 1;
        }
        let mut own = Renumbered { side: self, words: [0; MAX_REGISTER_BITS], count: 0, seen: Span::new() };
        let mut side_by_side = 0;
        while let Some(sum) = sums.solve(1 << side_by_side)
            && side_by_side < self.layout.register_bits()
        {
            own.add(sum);
            side_by_side += 1;
        }
        own.rest(memory, side_by_side, !free);
        own.rest(memory, side_by_side, free);
        own.finish()
    }
}

/// A side whose registers are being numbered anew.
struct Renumbered<'a> {
    side: &'a Side,
    words: [u16; MAX_REGISTER_BITS],
    count: usize,
    seen: Span,
}

impl Renumbered<'_> {
    const fn add(&mut self, word: u32) {
        if self.seen.insert(word, 0) {
            self.words[self.count] = word as u16;
            self.count += 1;
        }
    }

    /// Adds those of the registers in `which` that are left, moved by the ones that lie side by side.
    const fn rest(&mut self, memory: &SharedLayout, side_by_side: usize, which: u32) {
        let layout = &self.side.layout;
        let mut i = 0;
        while i < layout.register_bits() {
            let (mut word, offset, mut bit) = (1 << i, memory.offset(layout.register_basis(i)), 0);
            while bit < side_by_side {
                word ^= if offset >> bit & 1 == 1 { self.words[bit] as u32 } else { 0 };
                bit += 1;
            }
            if which >> i & 1 == 1 {
                self.add(word);
            }
            i += 1;
        }
    }

    const fn finish(&self) -> Side {
        let layout = &self.side.layout;
        let (mut builder, mut i) = (Builder::new(layout.shape()), 0);
        while i < layout.register_bits() {
            builder.register(layout.apply(self.words[i] as usize, 0, 0));
            i += 1;
        }
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < LANE_BITS {
            lanes[i] = layout.lane_basis(i);
            i += 1;
        }
        builder.lanes(lanes);
        i = 0;
        while i < layout.warp_bits() {
            builder.warp(layout.warp_basis(i));
            i += 1;
        }
        Side { layout: builder.layout, words: self.words }
    }
}

/// Both layouts in what a warp's lanes and registers reach from its first word on.
const fn own_parts(from: &Layout, to: &Layout) -> (Layout, Layout) {
    let (mut span, mut bits, mut i) = (Span::new(), 0, 0);
    while i < from.register_bits() + LANE_BITS {
        if span.insert(from.columns()[i], 1 << bits) {
            bits += 1;
        }
        i += 1;
    }
    (own_part(from, from, &span, bits), own_part(to, from, &span, bits))
}

const fn own_part(tile: &Layout, from: &Layout, span: &Span, bits: usize) -> Layout {
    let mut builder = Builder::new(Shape::new([1 << bits]));
    let mut i = 0;
    while i < tile.register_bits() {
        builder.register(coordinates(span, tile.register_basis(i)));
        i += 1;
    }
    let mut lanes = [0; LANE_BITS];
    i = 0;
    while i < LANE_BITS {
        lanes[i] = coordinates(span, tile.lane_basis(i));
        i += 1;
    }
    builder.lanes(lanes);
    i = 0;
    while i < from.warp_bits() {
        builder.warp(coordinates(span, tile.warp_basis(i) ^ from.warp_basis(i)));
        i += 1;
    }
    builder.layout
}

const fn coordinates(span: &Span, word: u32) -> u32 {
    match span.solve(word) {
        Some(coordinates) => coordinates,
        None => 0,
    }
}
