//! Conversions: what it takes to bring a tile from one layout to another.
//!
//! Three cases, from cheap to dear. The maps are the same: nothing. Each thread already holds what it shall hold:
//! registers change their names, as in `[64, 32]` with registers `(0, 1) (1, 0)` to `(1, 0) (0, 1)`. Otherwise elements
//! move between threads through shared memory, in a layout that is [made for both](SharedLayout::between).
//!
//! A [`Conversion`] is a plain value, so that a kernel can demand at build time that it costs nothing.

use crate::banks;
use crate::error::Error;
use crate::layout::{LANE_BITS, Layout};
use crate::shared::SharedLayout;

/// How a conversion is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)]
pub enum ConversionKind {
    /// Both layouts are the same.
    Nothing,
    /// Every element stays in its thread: registers change their names.
    Registers,
    /// Through shared memory in this layout.
    Shared(SharedLayout),
}

/// What a conversion costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Selections a thread: where threads that hold the same elements have them in other registers.
    pub selects: u32,
    /// Bytes of shared memory for the whole block.
    pub shared_bytes: u32,
    /// Shared-memory wavefronts a warp, stores and loads.
    pub wavefronts: u32,
    /// Barriers of the block.
    pub barriers: u32,
}

/// How a conversion is done and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// How.
    pub kind: ConversionKind,
    /// At what cost.
    pub cost: Cost,
}

impl Conversion {
    const FREE: Cost = Cost { selects: 0, shared_bytes: 0, wavefronts: 0, barriers: 0 };

    /// Whether every element stays in its thread.
    pub const fn is_trivial(&self) -> bool {
        !matches!(self.kind, ConversionKind::Shared(_))
    }
}

/// Plans the conversion of a tile with elements of so many bits.
///
/// ```
/// use quadpair_layouts::{blocked, convert};
/// let rows = blocked([32, 32], [1, 4], [4, 8], [1, 1], [1, 0]);
/// let again = rows.reshape([4, 8, 32]).permute([1, 0, 2]).permute([1, 0, 2]).reshape([32, 32]);
/// assert!(convert::plan(&rows, &again, 16).unwrap().is_trivial());
/// let columns = convert::plan(&rows, &rows.permute([1, 0]), 32).unwrap();
/// assert_eq!((columns.cost.shared_bytes, columns.cost.barriers), (4096, 2));
/// ```
///
/// # Errors
/// An invalid layout, another shape, another number of warps.
pub const fn plan(from: &Layout, to: &Layout, element_bits: u32) -> Result<Conversion, Error> {
    if let Err(error) = crate::typing::convert(from, to) {
        return Err(error);
    }
    if from.same_tile(to) {
        return Ok(Conversion { kind: ConversionKind::Nothing, cost: Conversion::FREE });
    }
    if stays_in_thread(from, to) {
        let cost = Cost { selects: selects(from, to), ..Conversion::FREE };
        return Ok(Conversion { kind: ConversionKind::Registers, cost });
    }
    let memory = SharedLayout::between(from, to, element_bits);
    if let Some(error) = memory.fault() {
        return Err(error);
    }
    let (store, load) = (banks::store(from, &memory, element_bits), banks::load(to, &memory, element_bits));
    let shared_bytes = memory.size() * banks::element_bytes(element_bits);
    let cost = Cost { selects: 0, shared_bytes, wavefronts: store.wavefronts + load.wavefronts, barriers: 2 };
    Ok(Conversion { kind: ConversionKind::Shared(memory), cost })
}

/// Whether every thread already holds each element that it shall hold.
///
/// A thread holds the sums of its first element and of what its registers move by. So it must hold what the other
/// layout's registers move by, and the difference of both first elements, for which each bit of the thread's number counts
/// alone.
const fn stays_in_thread(from: &Layout, to: &Layout) -> bool {
    let (span, mut i) = (from.register_span(), 0);
    while i < to.register_bits() {
        if !span.contains(to.register_basis(i)) {
            return false;
        }
        i += 1;
    }
    i = 0;
    while i < LANE_BITS + from.warp_bits() {
        if !span.contains(moved(from, to, i)) {
            return false;
        }
        i += 1;
    }
    true
}

/// How far the first elements of both layouts are apart in the thread whose number is `1 << bit`.
const fn moved(from: &Layout, to: &Layout, bit: usize) -> u32 {
    from.columns()[from.register_bits() + bit] ^ to.columns()[to.register_bits() + bit]
}

/// For each bit of the thread's number that decides which register has an element, one selection a register.
const fn selects(from: &Layout, to: &Layout) -> u32 {
    let (mut bits, mut i) = (0, 0);
    while i < LANE_BITS + from.warp_bits() {
        bits += (moved(from, to, i) != 0) as u32;
        i += 1;
    }
    bits * from.registers() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::{blocked, linear};

    const LANES: [[usize; 2]; 5] = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];

    #[test]
    fn the_same_map_is_nothing_and_other_registers_are_names() {
        let a = linear([8, 16], &[[4, 0], [0, 8]], &LANES, &[]);
        let b = linear([8, 16], &[[4, 8], [0, 0], [0, 8]], &LANES, &[]);
        let free = Conversion { kind: ConversionKind::Nothing, cost: Cost::default() };
        assert_eq!(plan(&a, &a, 16), Ok(free));
        assert_eq!(plan(&a, &b, 16), Ok(Conversion { kind: ConversionKind::Registers, ..free }));
        assert_eq!(plan(&b, &a, 16), Ok(Conversion { kind: ConversionKind::Registers, ..free }));
    }

    #[test]
    fn duplicates_can_make_a_conversion_trivial_one_way() {
        // Every lane holds all 32 rows; the other layout gives each lane one.
        let whole = linear([32], &[[1], [2], [4], [8], [16]], &[[0]; 5], &[]);
        let one = linear([32], &[], &[[1], [2], [4], [8], [16]], &[]);
        let there = plan(&whole, &one, 32).unwrap();
        assert_eq!((there.kind, there.cost.selects), (ConversionKind::Registers, 5 * 32));
        assert!(!plan(&one, &whole, 32).unwrap().is_trivial());
    }

    #[test]
    fn shared_memory_has_no_conflicts_and_the_size_of_the_tile() {
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
        let (c, a) = (mma.accumulator([64, 32]), mma.a([64, 32]));
        let plan = plan(&c, &a, 16).unwrap();
        let ConversionKind::Shared(memory) = plan.kind else { panic!("the layouts differ in their lanes") };
        let (store, load) = (banks::store(&c, &memory, 16), banks::load(&a, &memory, 16));
        assert!(store.is_conflict_free() && load.is_conflict_free());
        assert_eq!(plan.cost.wavefronts, store.wavefronts + load.wavefronts);
        assert_eq!((plan.cost.shared_bytes, plan.cost.barriers), (64 * 32 * 2, 2));
    }

    #[test]
    fn faults_are_named() {
        let a = blocked([32, 32], [1, 1], [8, 4], [2, 1], [1, 0]);
        let warps = blocked([32, 32], [1, 1], [8, 4], [4, 1], [1, 0]);
        assert_eq!(plan(&a, &warps, 16), Err(Error::Warps { from: 2, to: 4 }));
        assert!(matches!(plan(&a, &a.reshape([1024]), 16), Err(Error::Shapes { .. })));
        let fault = a.slice(2);
        assert_eq!(plan(&fault, &a, 16), Err(fault.fault().unwrap()));
        assert_eq!(plan(&a, &fault, 16), Err(fault.fault().unwrap()));
    }
}
