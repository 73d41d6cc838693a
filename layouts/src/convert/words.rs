//! Words: several narrow elements that travel in one register.
//!
//! A register has 32 bits, so two halves or four bytes can travel together. They must share a thread where they come from,
//! and should where they go to: then they differ by a vector that both layouts' registers span. Let the registers of one
//! layout move by `(0, 1) (2, 0)` and those of the other by `(2, 0) (4, 0)`: rows 0 and 2 of a column are a word.
//!
//! The elements of a word differ by sums of its `packed` vectors. Every element has a *position* in its word, a linear
//! function of the element: the vectors move it, and the source's lanes and warps don't, so that all threads pack alike.
//! Forgetting the position leaves the *word layouts*: the same conversion, of fewer and wider elements. Word `w` has in
//! position `p` the element of register [`source_register(w, p)`](Words::source_register); register `r` of the target
//! takes its element from word [`target_word(r)`](Words::target_word), where the position may also depend on the thread.

use crate::f2::Span;
use crate::layout::{Builder, LANE_BITS, Layout, MAX_REGISTER_BITS, MAX_WARP_BITS};
use crate::shape::Shape;

/// Bits of a thread's number.
pub const THREAD_BITS: usize = LANE_BITS + MAX_WARP_BITS;

/// The most vectors of a word: a word has four bytes.
const MAX_PACKED: usize = 2;

/// Which vectors a word can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// None: every element is a word.
    None,
    /// Those that both layouts' registers span.
    Common,
    /// Those, then others of the source's registers: a thread that wants one element gets the whole word.
    Source,
}

/// How narrow elements are packed, and the layouts of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub(super) from: Layout,
    pub(super) to: Layout,
    packed: u8,
    /// By bit of a word's number: the source register, and its element's position.
    source: [(u16, u8); MAX_REGISTER_BITS],
    /// By vector of the word: the source register.
    vectors: [u16; MAX_PACKED],
    /// By bit of the target register's number: the word, and the position in it.
    target: [(u16, u8); MAX_REGISTER_BITS],
    /// By bit of the thread's number: the position.
    thread: [u8; THREAD_BITS],
}

impl Words {
    pub(super) const fn new(from: &Layout, to: &Layout, element_bits: u32, packing: Packing) -> Words {
        let vectors = Chosen::new(from, to, element_bits, packing);
        let space = Coordinates::new(from, &vectors);
        let nothing = [(0, 0); MAX_REGISTER_BITS];
        let mut words = Words {
            from: Layout::SCALAR,
            to: Layout::SCALAR,
            packed: vectors.packed as u8,
            source: nothing,
            vectors: [vectors.registers[0], vectors.registers[1]],
            target: nothing,
            thread: [0; THREAD_BITS],
        };
        words.pack(from, &space, &vectors);
        words.unpack(to, &space, &vectors);
        words
    }

    /// Numbers the source's words: those that both layouts' registers reach first.
    const fn pack(&mut self, from: &Layout, space: &Coordinates, vectors: &Chosen) {
        let (mut builder, mut seen) = (space.builder(), Span::new());
        let (mut i, mut count) = (0, 0);
        let common = vectors.count - vectors.packed;
        while i < common + from.register_bits() {
            let (registers, basis) = if i < common {
                (vectors.registers[vectors.packed + i], vectors.bases[vectors.packed + i])
            } else {
                (1 << (i - common), from.register_basis(i - common))
            };
            if seen.insert(space.word(basis), 0) {
                builder.register(space.word(basis));
                self.source[count] = (registers, space.position(basis));
                count += 1;
            }
            i += 1;
        }
        self.from = space.threads(builder, from);
    }

    /// Numbers the target's words in the same order, and finds each register's.
    const fn unpack(&mut self, to: &Layout, space: &Coordinates, vectors: &Chosen) {
        let (mut builder, mut seen) = (space.builder(), Span::new());
        let (mut i, mut count) = (0, 0);
        let common = vectors.count - vectors.packed;
        while i < common + to.register_bits() {
            let basis = if i < common { vectors.bases[vectors.packed + i] } else { to.register_basis(i - common) };
            if seen.insert(space.word(basis), 1 << count) {
                builder.register(space.word(basis));
                count += 1;
            }
            i += 1;
        }
        i = 0;
        while i < to.register_bits() {
            let number = match seen.solve(space.word(to.register_basis(i))) {
                Some(number) => number,
                None => 0,
            };
            self.target[i] = (number as u16, space.position(to.register_basis(i)));
            i += 1;
        }
        self.to = space.threads(builder, to);
        i = 0;
        while i < LANE_BITS + to.warp_bits() {
            self.thread[i] = space.position(to.columns()[to.register_bits() + i]);
            i += 1;
        }
    }

    /// Elements of a word.
    pub const fn elements(&self) -> usize {
        1 << self.packed
    }

    /// Words that a thread has before.
    pub const fn sources(&self) -> usize {
        self.from.registers()
    }

    /// Words that a thread has after.
    pub const fn targets(&self) -> usize {
        self.to.registers()
    }

    /// The source register whose element has this position in this word.
    pub const fn source_register(&self, word: usize, position: usize) -> usize {
        let (mut register, mut rest, mut i) = (0, position, 0);
        while i < MAX_REGISTER_BITS {
            if word >> i & 1 == 1 {
                register ^= self.source[i].0 as usize;
                rest ^= self.source[i].1 as usize;
            }
            i += 1;
        }
        i = 0;
        while i < MAX_PACKED {
            register ^= if rest >> i & 1 == 1 { self.vectors[i] as usize } else { 0 };
            i += 1;
        }
        register
    }

    /// The word that has the element of a target register.
    pub const fn target_word(&self, register: usize) -> usize {
        self.target_of(register).0
    }

    /// The position of a target register's element in its word; what [`Self::thread_positions`] gives is added by XOR.
    pub const fn target_position(&self, register: usize) -> usize {
        self.target_of(register).1
    }

    const fn target_of(&self, register: usize) -> (usize, usize) {
        let (mut word, mut position, mut i) = (0, 0, 0);
        while i < MAX_REGISTER_BITS {
            if register >> i & 1 == 1 {
                word ^= self.target[i].0 as usize;
                position ^= self.target[i].1 as usize;
            }
            i += 1;
        }
        (word, position)
    }

    /// What each bit of the thread's number adds to the position, by XOR.
    pub const fn thread_positions(&self) -> &[u8] {
        self.thread.split_at(LANE_BITS + self.to.warp_bits()).0
    }

    /// Whether the position is the same in every thread.
    pub const fn same_in_every_thread(&self) -> bool {
        let (mut moved, mut i) = (0, 0);
        while i < THREAD_BITS {
            moved |= self.thread[i];
            i += 1;
        }
        moved == 0
    }

    /// Byte permutations a thread, at most: those that pack, and those that take a word apart where a thread can't name
    /// its half.
    pub(super) const fn permutations(&self, element_bits: u32, registers: usize) -> u32 {
        let packing = self.sources() * (self.elements() - 1);
        let taken_apart = match (self.packed, element_bits) {
            (0, _) => 0,
            (_, 16) if self.same_in_every_thread() => 0,
            (_, 16) => registers.div_ceil(2),
            _ => registers,
        };
        (packing + taken_apart) as u32
    }
}

/// What both layouts' registers move by, and the source registers that do. The first are the vectors of a word.
struct Chosen {
    bases: [u32; MAX_REGISTER_BITS],
    registers: [u16; MAX_REGISTER_BITS],
    count: usize,
    packed: usize,
    span: Span,
}

impl Chosen {
    const fn new(from: &Layout, to: &Layout, element_bits: u32, packing: Packing) -> Chosen {
        let (bases, registers) = ([0; MAX_REGISTER_BITS], [0; MAX_REGISTER_BITS]);
        let mut chosen = Chosen { bases, registers, count: 0, packed: 0, span: Span::new() };
        chosen.common(from, to);
        let most = match super::stored_bits(element_bits) {
            8 => 2,
            16 => 1,
            _ => 0,
        };
        if matches!(packing, Packing::Source) && chosen.count < most {
            chosen.of_source(from, most);
        }
        if !matches!(packing, Packing::None) {
            chosen.packed = if chosen.count < most { chosen.count } else { most };
        }
        chosen
    }

    const fn take(&mut self, basis: u32, registers: u32) {
        if self.span.insert(basis, 0) {
            self.bases[self.count] = basis;
            self.registers[self.count] = registers as u16;
            self.count += 1;
        }
    }

    /// Sums of the source's own registers that are sums of the target's: those that only low source registers take come
    /// first, since they may lie in one register already.
    const fn common(&mut self, from: &Layout, to: &Layout) {
        // The target's registers count as combination 0, so what is left names the source's.
        let (mut both, own, mut i) = (to.register_span_of(0), from.free_registers(), 0);
        while i < from.register_bits() {
            if own >> i & 1 == 0 {
                match both.solve(from.register_basis(i)) {
                    Some(others) => self.take(from.apply((others ^ 1 << i) as usize, 0, 0), others ^ 1 << i),
                    None => {
                        both.insert(from.register_basis(i), 1 << i);
                    }
                }
            }
            i += 1;
        }
    }

    const fn of_source(&mut self, from: &Layout, most: usize) {
        let (free, mut i) = (from.free_registers(), 0);
        while i < from.register_bits() {
            if free >> i & 1 == 0 && self.count < most {
                self.take(from.register_basis(i), 1 << i);
            }
            i += 1;
        }
    }
}

/// Elements as (position, word): coordinates in which the word's vectors come first, then threads, then registers.
struct Coordinates {
    span: Span,
    packed: usize,
    bits: usize,
}

impl Coordinates {
    const fn new(from: &Layout, vectors: &Chosen) -> Coordinates {
        let mut own = Coordinates { span: Span::new(), packed: vectors.packed, bits: 0 };
        let mut i = 0;
        while i < vectors.packed {
            own.add(vectors.bases[i]);
            i += 1;
        }
        i = from.register_bits();
        while i < from.columns().len() {
            own.add(from.columns()[i]);
            i += 1;
        }
        i = 0;
        while i < from.register_bits() {
            own.add(from.register_basis(i));
            i += 1;
        }
        own
    }

    const fn add(&mut self, basis: u32) {
        if self.span.insert(basis, 1 << self.bits) {
            self.bits += 1;
        }
    }

    const fn of(&self, element: u32) -> u32 {
        match self.span.solve(element) {
            Some(coordinates) => coordinates,
            None => 0,
        }
    }

    const fn word(&self, element: u32) -> u32 {
        self.of(element) >> self.packed
    }

    const fn position(&self, element: u32) -> u8 {
        (self.of(element) & ((1 << self.packed) - 1)) as u8
    }

    const fn builder(&self) -> Builder {
        Builder::new(Shape::new([1 << (self.bits - self.packed)]))
    }

    const fn threads(&self, mut builder: Builder, tile: &Layout) -> Layout {
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < LANE_BITS {
            lanes[i] = self.word(tile.lane_basis(i));
            i += 1;
        }
        builder.lanes(lanes);
        i = 0;
        while i < tile.warp_bits() {
            builder.warp(self.word(tile.warp_basis(i)));
            i += 1;
        }
        builder.layout
    }
}
