//! Exchanges: conversions within a warp, by shuffles of words between lanes.
//!
//! In one shuffle every lane sends one of its words and takes what some lane sends. Let U be the span of the source's
//! registers and V that of the target's. A thread wants the words T + V, where T is its own first one. Those that differ
//! by U come from one lane, so with m the rank of V beyond U a thread takes from 2^m lanes.
//!
//! The exchange goes in *rounds*, one for each word that a thread gets. A thread adds `place` to the number of the round
//! to know where the word goes, and `send` to the number of the register that it sends: both are linear functions of the
//! thread's number, done by [`Passes`] of selections. Two ways:
//!
//! - *Staying*: if every T lies in the thread's own F + U + V, places are chosen so that in the rounds of V ∩ U each
//!   thread takes a word of its own. They need no shuffle; the other (1 - 2^-m) of the rounds go to the lane whose number
//!   differs by a constant.
//! - *Moving*: else some lane has nothing of what it wants, and each round is a shuffle. Which lane it takes from is linear
//!   in the thread's number, and such that no two threads ask one lane for different words: where the source's lanes can't
//!   give them that fast (a warp that wants only what a few lanes have) there are *extra* rounds.
//!
//! Neither could do with fewer: a lane takes one word a shuffle, and sends one.
//!
//! A staying exchange with a target that holds elements several times can have *late* rounds: they send the words of other
//! rounds once more, to other lanes, and so can send them from their places.
//!
//! A transposition of register bit 0 and lane bit 0, `registers 1; lanes 2` to `registers 2; lanes 1`: U = {1}, V = {2}.
//! Lane 1 wants 1 and 3, and has 2 and 3. It stays: place 1 makes its round 0 the word 3, which it has; in round 1 it sends
//! 2 to lane 0 and gets 1. One shuffle for two words; lane 0 sends register 1, lane 1 register 0.

use super::passes::Passes;
use super::words::{THREAD_BITS, Words};
use crate::f2::Span;
use crate::layout::{LANE_BITS, Layout, MAX_REGISTER_BITS};

/// Bits of a round's number: the word that a thread gets, and extra ones.
const MAX_ROUND_BITS: usize = MAX_REGISTER_BITS + LANE_BITS;

/// Where the bits of a combination begin that are target registers, and lanes.
const TARGETS: usize = MAX_REGISTER_BITS;
const LANES: usize = 2 * MAX_REGISTER_BITS;
const REGISTER_MASK: u32 = (1 << MAX_REGISTER_BITS) - 1;
const LANE_MASK: u32 = (1 << LANE_BITS) - 1;

/// A conversion within a warp, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub(super) words: Words,
    stays: bool,
    bits: u8,
    extra: u8,
    /// Rounds with these bits repeat others in other lanes.
    late: u32,
    /// By bit of the thread's number: the lane that it takes from, what it adds to the register that it sends, and to the
    /// round to get the target word.
    lane: [u8; THREAD_BITS],
    send: [u32; THREAD_BITS],
    place: [u32; THREAD_BITS],
    /// By bit of the round's number: what is added to the lane, and to the register that is sent.
    round_lane: [u8; MAX_ROUND_BITS],
    round_register: [u32; MAX_ROUND_BITS],
}

impl Exchange {
    /// The exchange, if no element leaves its warp.
    pub(super) const fn new(words: &Words) -> Option<Exchange> {
        if !within_warps(&words.from, &words.to) {
            return None;
        }
        let mut own = Exchange {
            words: *words,
            stays: true,
            bits: words.to.register_bits() as u8,
            extra: 0,
            late: 0,
            lane: [0; THREAD_BITS],
            send: [0; THREAD_BITS],
            place: [0; THREAD_BITS],
            round_lane: [0; MAX_ROUND_BITS],
            round_register: [0; MAX_ROUND_BITS],
        };
        if !own.stay() {
            own.stays = false;
            own.go();
        }
        own.rounds();
        if own.stays {
            own.late = own.repeated();
        }
        Some(own)
    }

    /// Finds a place for each thread's own words, if every thread has some.
    const fn stay(&mut self) -> bool {
        let (from, to) = (&self.words.from, &self.words.to);
        let span = registers_of(from, to);
        let mut bit = 0;
        while bit < LANE_BITS + from.warp_bits() {
            let Some(sum) = span.solve(thread_basis(from, bit) ^ thread_basis(to, bit)) else {
                return false;
            };
            self.lane[bit] = if bit < LANE_BITS { 1 << bit } else { 0 };
            self.send[bit] = sum & REGISTER_MASK;
            self.place[bit] = sum >> TARGETS & REGISTER_MASK;
            bit += 1;
        }
        true
    }

    /// Finds a lane for each thread to take from.
    const fn go(&mut self) {
        let mut route = Route::new(&self.words.from, &self.words.to);
        let (to, mut bit) = (&self.words.to, 0);
        while bit < LANE_BITS {
            route.lane(to.lane_basis(bit), bit);
            bit += 1;
        }
        let send = route.send_of_lanes();
        (self.send, self.lane, self.place) = (send, route.lane, route.place);
        while bit < LANE_BITS + to.warp_bits() {
            let moved = thread_basis(&self.words.from, bit) ^ thread_basis(to, bit);
            (self.lane[bit], self.send[bit], self.place[bit]) = route.warp(moved, &send);
            bit += 1;
        }
        self.extra = route.extra_count as u8;
        bit = 0;
        while bit < route.extra_count {
            self.round_register[self.bits as usize + bit] = route.extras[bit];
            bit += 1;
        }
        self.bits += self.extra;
    }

    /// For each bit of a round, the lane to take from, as few as possible, and the register to send.
    const fn rounds(&mut self) {
        let (from, to) = (&self.words.from, &self.words.to);
        let mut span = from.register_span();
        add_lanes(&mut span, from);
        let mut bit = 0;
        while bit < to.register_bits() {
            let sum = match span.solve(to.register_basis(bit)) {
                Some(sum) => sum,
                None => 0,
            };
            let lane = sum >> LANES & LANE_MASK;
            self.round_lane[bit] = lane as u8;
            self.round_register[bit] = sum & REGISTER_MASK ^ xor(&self.send, lane);
            bit += 1;
        }
    }

    /// The round bits that can come late: those that send the register of another round, if no place before them depends
    /// on the lane that they send to, and no place after them on the other bits.
    const fn repeated(&self) -> u32 {
        let (places, mut late, mut bit) = (Passes::of(&self.place), 0, 0);
        while bit < self.bits as usize {
            late |= ((self.round_register[bit] == 0 && self.round_lane[bit] != 0) as u32) << bit;
            bit += 1;
        }
        loop {
            let (before, mut i) = (late, 0);
            while i < places.list().len() {
                let pass = places.list()[i];
                if pass.mask & !late != 0 {
                    late &= !pass.mask & !self.rounds_that_change(pass.threads);
                }
                i += 1;
            }
            if late == before {
                break;
            }
        }
        // A late round must not send what its thread has.
        let all = (1 << self.bits) - 1;
        if self.staying(all) == self.staying(all & !late) { late } else { 0 }
    }

    /// The round bits whose lane has an odd part of some bits of the thread's number.
    const fn rounds_that_change(&self, threads: u32) -> u32 {
        let (mut changing, mut i) = (0, 0);
        while i < self.bits as usize {
            changing |= ((self.round_lane[i] as u32 & threads).count_ones() & 1) << i;
            i += 1;
        }
        changing
    }

    /// How many of the rounds of these bits take no word of another thread.
    const fn staying(&self, rounds: u32) -> u32 {
        let (mut lanes, mut i) = (Span::new(), 0);
        while i < self.bits as usize {
            if rounds >> i & 1 == 1 {
                lanes.insert(self.round_lane[i] as u32, 0);
            }
            i += 1;
        }
        1 << (rounds.count_ones() - lanes.rank() as u32)
    }

    /// The packing of elements in words.
    pub const fn words(&self) -> &Words {
        &self.words
    }

    /// Bits of a round's number. The low ones are those of the target word, the others are extra.
    pub const fn round_bits(&self) -> usize {
        self.bits as usize
    }

    /// Whether a thread's own words stay: then lanes are counted from the thread's own, and a round with lane 0 takes
    /// none.
    pub const fn stays(&self) -> bool {
        self.stays
    }

    /// What a round adds to the lane.
    pub const fn round_lane(&self, round: usize) -> u32 {
        let (mut lane, mut i) = (0, 0);
        while i < MAX_ROUND_BITS {
            lane ^= if round >> i & 1 == 1 { self.round_lane[i] as u32 } else { 0 };
            i += 1;
        }
        lane
    }

    /// The register that a lane sends in a round, before [`sends`](Self::sends).
    pub const fn round_register(&self, round: usize) -> usize {
        xor(&self.round_register, round as u32) as usize
    }

    /// The lane that each bit of the thread's number adds.
    pub const fn lanes(&self) -> &[u8] {
        self.lane.split_at(LANE_BITS + self.words.to.warp_bits()).0
    }

    /// The round bits that come late: a round with some of them takes, from the lane that these add, what the round without
    /// them gave after all places that don't add them.
    pub const fn late(&self) -> u32 {
        self.late
    }

    /// Whether a round takes a word of another thread.
    pub const fn is_shuffle(&self, round: usize) -> bool {
        !self.stays || self.round_lane(round) != 0
    }

    /// Selections of the words to send. Where [`merges`](Self::merges) says so the last one is for shuffled rounds only.
    pub const fn sends(&self) -> Passes {
        let mut passes = Passes::of(&self.send);
        if let Some((send, _)) = self.merged() {
            passes.swap(send, passes.list().len() - 1);
        }
        passes
    }

    /// Selections of the places for words: word w of the target is round w after them. Those of extra rounds come first,
    /// those of late rounds last.
    pub const fn places(&self) -> Passes {
        let mut passes = Passes::of(&self.place);
        if let Some((_, place)) = self.merged() {
            passes.swap(place, 0);
        }
        let (mut front, mut i) = (0, 0);
        while i < passes.list().len() {
            if self.comes_first(passes.list()[i].mask) {
                passes.swap(i, front);
                front += 1;
            }
            i += 1;
        }
        passes
    }

    const fn comes_first(&self, mask: u32) -> bool {
        if self.extra > 0 { mask >> (self.bits - self.extra) != 0 } else { mask & self.late == 0 }
    }

    /// Whether the last of the sends and the first of the places select by the same bits of the thread's number: then a
    /// word that stays is selected once, for its place.
    pub const fn merges(&self) -> bool {
        self.merged().is_some()
    }

    const fn merged(&self) -> Option<(usize, usize)> {
        let (sends, places) = (Passes::of(&self.send), Passes::of(&self.place));
        let mut i = 0;
        while self.stays && i < sends.list().len() {
            if let Some(place) = places.by(sends.list()[i].threads)
                && places.list()[place].mask & self.late == 0
            {
                return Some((i, place));
            }
            i += 1;
        }
        None
    }

    /// Shuffles a thread of one register a word.
    pub(super) const fn shuffles(&self) -> u32 {
        let all = 1 << self.bits;
        if self.stays { all - self.staying(all - 1) } else { all }
    }

    /// Selections a thread of one register a word.
    pub(super) const fn selects(&self) -> u32 {
        let (mut sent, mut targets, mut i) = (Span::new(), Span::new(), 0);
        while i < self.bits as usize {
            sent.insert(self.round_register[i], 0);
            if i < (self.bits - self.extra) as usize {
                targets.insert(1 << i, 0);
            }
            i += 1;
        }
        let sends = self.sends().selections(sent, self.merges() as usize);
        let all = self.places().selections(targets, 0);
        let placed = if self.late == 0 { all } else { self.places_with_late_rounds() };
        placed + sends + if self.merges() { self.sent_by_shuffles(sent.rank()) } else { 0 }
    }

    const fn places_with_late_rounds(&self) -> u32 {
        let (places, mut sum, mut i) = (self.places(), 0, 0);
        while i < places.list().len() {
            let early = places.list()[i].mask & self.late == 0;
            sum += (1 << self.bits) >> if early { self.late.count_ones() } else { 0 };
            i += 1;
        }
        sum
    }

    /// How many of the words that are sent go to another lane: all, or all but those of rounds that stay.
    const fn sent_by_shuffles(&self, sent: usize) -> u32 {
        let early = ((1 << self.bits) - 1) & !self.late;
        // Rounds that send register 0 alone: is one of them a shuffle?
        let (mut span, mut i) = (Span::new(), 0);
        let mut all = false;
        while i < self.bits as usize {
            match span.solve(self.round_register[i]) {
                Some(others) if early >> i & 1 == 1 => {
                    all |= self.round_lane((others ^ 1 << i) as usize) != 0;
                }
                _ => {
                    span.insert(self.round_register[i], 1 << i);
                }
            }
            i += 1;
        }
        if all {
            return 1 << sent;
        }
        (1 << sent) - (1 << self.sent_in_staying_rounds(early))
    }

    /// The rank of the registers that rounds without shuffles send.
    const fn sent_in_staying_rounds(&self, rounds: u32) -> usize {
        let (mut lanes, mut staying, mut i) = (Span::new(), Span::new(), 0);
        while i < self.bits as usize {
            if rounds >> i & 1 == 1 {
                match lanes.solve(self.round_lane[i] as u32) {
                    Some(others) => {
                        staying.insert(xor(&self.round_register, others ^ 1 << i), 0);
                    }
                    None => {
                        lanes.insert(self.round_lane[i] as u32, 1 << i);
                    }
                }
            }
            i += 1;
        }
        staying.rank()
    }
}

/// Whether every warp has before what it has after.
pub(super) const fn within_warps(from: &Layout, to: &Layout) -> bool {
    crossing(from, to).is_none()
}

/// The first column of the target, lanes and warps first, that moves to elements of another warp.
pub(super) const fn crossing(from: &Layout, to: &Layout) -> Option<usize> {
    let mut span = from.register_span();
    add_lanes(&mut span, from);
    let (registers, columns) = (to.register_bits(), to.columns());
    let mut step = 0;
    while step < columns.len() {
        let i = (step + registers) % columns.len();
        let warp = i.checked_sub(registers + LANE_BITS);
        let own = match warp {
            Some(warp) => from.warp_basis(warp),
            None => 0,
        };
        if !span.contains(columns[i] ^ own) {
            return Some(i);
        }
        step += 1;
    }
    None
}

/// What a bit of the thread's number moves by.
const fn thread_basis(layout: &Layout, bit: usize) -> u32 {
    layout.columns()[layout.register_bits() + bit]
}

/// The sum of the values whose bits are set.
const fn xor(values: &[u32], mut bits: u32) -> u32 {
    let mut sum = 0;
    while bits != 0 {
        sum ^= values[bits.trailing_zeros() as usize];
        bits &= bits - 1;
    }
    sum
}

/// The registers of both layouts, the source's preferred.
const fn registers_of(from: &Layout, to: &Layout) -> Span {
    let (mut span, mut i) = (from.register_span(), 0);
    while i < to.register_bits() {
        span.insert(to.register_basis(i), 1 << (TARGETS + i));
        i += 1;
    }
    span
}

const fn add_lanes(span: &mut Span, from: &Layout) {
    let mut i = 0;
    while i < LANE_BITS {
        span.insert(from.lane_basis(i), 1 << (LANES + i));
        i += 1;
    }
}

/// The search for lanes to take from.
///
/// Lane by lane: the thread's first word, moved by target registers, is taken from some lane. Either it is a sum of what
/// earlier lanes take, and comes the same way; or its lane must be no sum of theirs, so that two threads that take from
/// one lane take the same word. Lanes whose sums lie in the registers' spans are the freedom in that choice. If there is
/// none left, the word is that of earlier lanes but for a source register, whose values then go in rounds of their own.
struct Route<'a> {
    from: &'a Layout,
    targets: usize,
    /// The source's lanes, then registers of both: what reaches a word, lanes preferred.
    reach: Span,
    /// Combinations that are zero, for each lane that other lanes and the registers reach.
    loops: [u32; LANE_BITS],
    loop_count: usize,
    /// The lanes that are taken from, as sums of thread bits.
    taken: Span,
    /// The words that are wanted, as sums of rounds and thread bits.
    images: Span,
    /// Source registers that add rounds.
    extras: [u32; LANE_BITS],
    extra_count: usize,
    lane: [u8; THREAD_BITS],
    place: [u32; THREAD_BITS],
    /// By bit of the lane that takes: what the lane it takes from adds to the register.
    sent: [u32; LANE_BITS],
}

/// Where the bits of a combination of [`Route::images`] begin that are thread bits.
const IMAGES: usize = MAX_ROUND_BITS;

impl<'a> Route<'a> {
    const fn new(from: &'a Layout, to: &Layout) -> Route<'a> {
        let (mut reach, mut images, mut i) = (Span::new(), Span::new(), 0);
        add_lanes(&mut reach, from);
        while i < from.register_bits() {
            reach.insert(from.register_basis(i), 1 << i);
            i += 1;
        }
        i = 0;
        while i < to.register_bits() {
            reach.insert(to.register_basis(i), 1 << (TARGETS + i));
            images.insert(to.register_basis(i), 1 << i);
            i += 1;
        }
        let mut route = Route {
            from,
            targets: to.register_bits(),
            reach,
            loops: [0; LANE_BITS],
            loop_count: 0,
            taken: Span::new(),
            images,
            extras: [0; LANE_BITS],
            extra_count: 0,
            lane: [0; THREAD_BITS],
            place: [0; THREAD_BITS],
            sent: [0; LANE_BITS],
        };
        route.find_loops(to);
        route
    }

    const fn find_loops(&mut self, to: &Layout) {
        let (mut span, mut i) = (registers_of(self.from, to), 0);
        while i < LANE_BITS {
            let own = 1 << (LANES + i);
            match span.solve(self.from.lane_basis(i)) {
                Some(sum) => {
                    self.loops[self.loop_count] = sum ^ own;
                    self.loop_count += 1;
                }
                None => {
                    span.insert(self.from.lane_basis(i), own);
                }
            }
            i += 1;
        }
    }

    /// Decides where the threads with this bit of the lane's number take their first word from.
    const fn lane(&mut self, word: u32, bit: usize) {
        if !self.images.contains(word) {
            self.reach_new(word, bit);
        }
        if let Some(sum) = self.images.solve(word) {
            let mut bits = sum >> IMAGES & LANE_MASK;
            self.place[bit] = sum & ((1 << IMAGES) - 1);
            let mut lane = if bits >> bit & 1 == 1 { self.lane[bit] } else { 0 };
            bits &= !(1 << bit);
            while bits != 0 {
                lane ^= self.lane[bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
            self.lane[bit] = lane;
        }
    }

    /// Finds a lane for a word that is no sum of earlier ones, or makes it one by an extra round.
    const fn reach_new(&mut self, word: u32, bit: usize) {
        let sum = match self.reach.solve(word) {
            Some(sum) => self.with_a_free_lane(sum),
            None => 0,
        };
        let (lane, registers) = (sum >> LANES & LANE_MASK, sum & REGISTER_MASK);
        match self.taken.solve(lane) {
            None => {
                self.taken.insert(lane, 1 << bit);
                self.images.insert(word, sum >> TARGETS & REGISTER_MASK | 1 << (IMAGES + bit));
                (self.lane[bit], self.sent[bit]) = (lane as u8, registers);
            }
            Some(others) => {
                let extra = registers ^ xor(&self.sent, others);
                self.images.insert(self.from.apply(extra as usize, 0, 0), 1 << (self.targets + self.extra_count));
                self.extras[self.extra_count] = extra;
                self.extra_count += 1;
            }
        }
    }

    /// The same word through a lane that no other takes from, if there is one.
    const fn with_a_free_lane(&self, sum: u32) -> u32 {
        if !self.taken.contains(sum >> LANES & LANE_MASK) {
            return sum;
        }
        let mut i = 0;
        while i < self.loop_count {
            if !self.taken.contains((sum ^ self.loops[i]) >> LANES & LANE_MASK) {
                return sum ^ self.loops[i];
            }
            i += 1;
        }
        sum
    }

    /// What each bit of the sending lane's number adds to the register.
    const fn send_of_lanes(&self) -> [u32; THREAD_BITS] {
        let (mut span, mut send, mut i) = (self.taken, [0; THREAD_BITS], 0);
        while i < LANE_BITS {
            span.insert(1 << i, 0);
            i += 1;
        }
        i = 0;
        while i < LANE_BITS {
            if let Some(takers) = span.solve(1 << i) {
                send[i] = xor(&self.sent, takers);
            }
            i += 1;
        }
        send
    }

    /// Where the threads with a bit of the warp's number take what they want beyond the others: the lane, what it adds to
    /// the register and the place.
    const fn warp(&self, moved: u32, send: &[u32; THREAD_BITS]) -> (u8, u32, u32) {
        let sum = match self.reach.solve(moved) {
            Some(sum) => sum,
            None => 0,
        };
        let lane = sum >> LANES & LANE_MASK;
        (lane as u8, sum & REGISTER_MASK ^ xor(send, lane), sum >> TARGETS & REGISTER_MASK)
    }
}
