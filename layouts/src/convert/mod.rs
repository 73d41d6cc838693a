//! Conversions: what it takes to bring a tile from one layout to another.
//!
//! Four cases, from cheap to dear:
//!
//! | kind | what moves | example: `[64, 32]` |
//! |---|---|---|
//! | `Nothing` | the maps are the same | |
//! | `Registers` | registers change their names | registers `(0, 1) (1, 0)` to `(1, 0) (0, 1)` |
//! | `Shuffles` | words go from lane to lane, within a warp | lanes `(0, 1) (1, 0)` to `(1, 0) (0, 1)` |
//! | `Shared` | words go through shared memory | `(0, 1)` is a warp's bit here and a lane's there |
//!
//! A [`Conversion`] is a plain value with its [`Cost`], so that a kernel can demand at build time what it may be: see
//! [`Bound`]. Where shuffles and shared memory are both possible, the smaller [weight](Cost::weight) decides.
//!
//! | file | what it is |
//! |---|---|
//! | `words` | narrow elements packed in registers |
//! | `exchange` | which lane sends what to which lane, in as few shuffles as possible |
//! | `passes` | selections by the thread's number |
//! | `staged` | layouts of shared memory with wide accesses on both sides |
//! | `cost`, `bound` | what it costs, and what it may |

mod bound;
mod cost;
mod exchange;
mod passes;
mod staged;
mod words;

pub use self::bound::Bound;
pub use self::cost::Cost;
pub use self::exchange::Exchange;
pub use self::passes::{Pass, Passes};
pub use self::staged::Staged;
pub use self::words::{THREAD_BITS, Words};

use self::words::Packing;
use crate::banks;
use crate::error::Error;
use crate::layout::{Bit, Layout};
use crate::text::Text;

/// How a conversion is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)]
pub enum ConversionKind {
    /// Both layouts are the same.
    Nothing,
    /// Every element stays in its thread: an exchange without shuffles.
    Registers(Exchange),
    /// Every element stays in its warp, by shuffles.
    Shuffles(Exchange),
    /// Through shared memory.
    Shared(Staged),
}

/// How a conversion is done and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// How.
    pub kind: ConversionKind,
    /// At what cost.
    pub cost: Cost,
    within_warps: bool,
}

impl Conversion {
    /// Whether every element stays in its thread.
    pub const fn is_trivial(&self) -> bool {
        matches!(self.kind, ConversionKind::Nothing | ConversionKind::Registers(_))
    }

    /// Whether every element stays in its warp.
    pub const fn is_within_warps(&self) -> bool {
        self.within_warps
    }

    /// What the plan does and costs: `words move between lanes: 2 shuffles, 6 selections`.
    pub const fn text(&self) -> Text {
        let text = Text::new(match self.kind {
            ConversionKind::Nothing => "nothing moves: ",
            ConversionKind::Registers(_) => "registers change their names: ",
            ConversionKind::Shuffles(_) => "words move between lanes: ",
            ConversionKind::Shared(_) if self.within_warps => "words move through shared memory, within warps: ",
            ConversionKind::Shared(_) => "words move through shared memory: ",
        });
        self.cost.write(text)
    }

    /// Why a bound forbids the plan, and what would keep it.
    pub const fn refusal(&self, bound: Bound, from: &Layout, to: &Layout) -> Text {
        let text = bound.write(Text::new("the conversion ")).push("; ");
        let text = match (bound, exchange::crossing(from, to)) {
            (Bound::Registers, _) | (_, None) => text.difference(from, to),
            (_, Some(i)) => write_crossing(text, i, from, to),
        };
        bound.write_remedy(text.push(", so ").push(self.text().as_str()).push("; "), self)
    }
}

/// Appends that column `i` of the target moves to another warp's elements.
const fn write_crossing(text: Text, i: usize, from: &Layout, to: &Layout) -> Text {
    let (shape, mut text) = (to.shape(), to.bit(i).write(text).push(" moves by "));
    if let Bit::Warp(warp) = to.bit(i) {
        text = text.element(from.warp_basis(warp as usize), &shape).push(" here and by ");
    }
    text.element(to.columns()[i], &shape).push(" there, to elements that another warp has here")
}

impl core::fmt::Display for Conversion {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text().as_str())
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
/// assert_eq!((columns.cost.shared_bytes, columns.cost.barriers), (4096, 0));
/// ```
///
/// # Errors
/// An invalid layout, another shape, another number of warps.
pub const fn plan(from: &Layout, to: &Layout, element_bits: u32) -> Result<Conversion, Error> {
    plan_within(from, to, element_bits, Bound::Any)
}

/// Plans a conversion within a bound: the cheapest that it [allows](Bound::allows), or if it allows none, one that comes
/// near.
///
/// ```
/// use quadpair_layouts::convert::{self, Bound};
/// use quadpair_layouts::blocked;
/// let rows = blocked([32, 32], [1, 4], [4, 8], [1, 1], [1, 0]);
/// let forced = convert::plan_within(&rows, &rows.permute([1, 0]), 32, Bound::NoSharedMemory).unwrap();
/// assert_eq!((forced.cost.shared_bytes, forced.cost.shuffles), (0, 31));
/// ```
///
/// # Errors
/// An invalid layout, another shape, another number of warps.
pub const fn plan_within(from: &Layout, to: &Layout, element_bits: u32, bound: Bound) -> Result<Conversion, Error> {
    if let Err(error) = crate::typing::convert(from, to) {
        return Err(error);
    }
    if from.same_tile(to) {
        return Ok(Conversion { kind: ConversionKind::Nothing, cost: Cost::NONE, within_warps: true });
    }
    let by_lanes = by_lanes(from, to, element_bits);
    if let Some(plan) = by_lanes
        && plan.is_trivial()
    {
        return Ok(plan);
    }
    let (staged, cost) = Staged::cheapest(from, to, element_bits);
    if let Some(error) = staged.memory().fault() {
        return Err(error);
    }
    let shared = Conversion { kind: ConversionKind::Shared(staged), cost, within_warps: by_lanes.is_some() };
    match by_lanes {
        Some(plan) if bound.prefers(&plan, &shared) => Ok(plan),
        _ => Ok(shared),
    }
}

/// The plan without shared memory, if no element leaves its warp.
const fn by_lanes(from: &Layout, to: &Layout, element_bits: u32) -> Option<Conversion> {
    let Some(plain) = Exchange::new(&Words::new(from, to, element_bits, Packing::None)) else {
        return None;
    };
    if plain.shuffles() == 0 {
        let cost = Cost { selects: plain.selects(), ..Cost::NONE };
        return Some(Conversion { kind: ConversionKind::Registers(plain), cost, within_warps: true });
    }
    let words = Words::new(from, to, element_bits, Packing::Common);
    let Some(exchange) = Exchange::new(&words) else {
        return None;
    };
    let registers = if element_bits > 32 { 2 } else { 1 };
    let cost = Cost {
        shuffles: exchange.shuffles() * registers,
        selects: exchange.selects() * registers,
        permutations: words.permutations(element_bits, to.registers()),
        ..Cost::NONE
    };
    Some(Conversion { kind: ConversionKind::Shuffles(exchange), cost, within_warps: true })
}

/// Bits that an element has in memory and in a word: truth values have a byte.
const fn stored_bits(element_bits: u32) -> u32 {
    banks::element_bytes(element_bits) * 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::{blocked, linear};

    const LANES: [[usize; 2]; 5] = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];

    fn cost_of(from: &Layout, to: &Layout, bits: u32) -> Cost {
        plan(from, to, bits).unwrap().cost
    }

    #[test]
    fn the_same_map_is_nothing_and_other_registers_are_names() {
        let a = linear([8, 16], &[[4, 0], [0, 8]], &LANES, &[]);
        let b = linear([8, 16], &[[4, 8], [0, 0], [0, 8]], &LANES, &[]);
        let kind = |from, to| plan(from, to, 16).unwrap().kind;
        assert_eq!(kind(&a, &a), ConversionKind::Nothing);
        assert!(matches!((kind(&a, &b), kind(&b, &a)), (ConversionKind::Registers(_), ConversionKind::Registers(_))));
        assert_eq!((cost_of(&a, &b, 16), cost_of(&b, &a, 16)), (Cost::NONE, Cost::NONE));
    }

    #[test]
    fn duplicates_can_make_a_conversion_trivial_one_way() {
        // Every lane holds all 32 rows; the other layout gives each lane one: halvings by five bits.
        let whole = linear([32], &[[1], [2], [4], [8], [16]], &[[0]; 5], &[]);
        let one = linear([32], &[], &[[1], [2], [4], [8], [16]], &[]);
        assert_eq!(cost_of(&whole, &one, 32), Cost { selects: 31, ..Cost::NONE });
        assert!(!plan(&one, &whole, 32).unwrap().is_trivial());
    }

    #[test]
    fn lanes_that_change_places_shuffle_every_word() {
        let a = linear([8, 16], &[[4, 0], [0, 8]], &LANES, &[]);
        let turned = linear([8, 16], &[[4, 0], [0, 8]], &[[0, 2], [0, 1], [0, 4], [1, 0], [2, 0]], &[]);
        assert_eq!(cost_of(&a, &turned, 32), Cost { shuffles: 4, ..Cost::NONE });
        assert_eq!(cost_of(&a, &turned, 64), Cost { shuffles: 8, ..Cost::NONE });
        assert_eq!(cost_of(&a, &turned, 16), Cost { shuffles: 2, permutations: 2, ..Cost::NONE });
        assert_eq!(cost_of(&a, &turned, 8), Cost { shuffles: 1, permutations: 7, ..Cost::NONE });
    }

    #[test]
    fn an_operand_of_the_matrix_unit_comes_from_its_accumulator_by_shuffles() {
        // Each quadpair sends half of its words to its other lanes, then all of them to the one beside it.
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
        let (c, a) = (mma.accumulator([64, 16]), mma.a([64, 16]));
        let cost = Cost { shuffles: 6, selects: 14, permutations: 4, ..Cost::NONE };
        assert_eq!(cost_of(&c, &a, 16), cost);
    }

    #[test]
    fn memory_of_a_warp_needs_no_barrier() {
        let rows = blocked([128, 32], [1, 32], [32, 1], [4, 1], [1, 0]);
        let columns = blocked([128, 32], [32, 1], [1, 32], [4, 1], [0, 1]);
        let own = plan(&rows, &columns, 32).unwrap();
        assert!(matches!(own.kind, ConversionKind::Shared(staged) if staged.is_by_warp()), "{own}");
        assert_eq!((own.cost.barriers, own.cost.warp_syncs, own.cost.shared_bytes), (0, 1, 128 * 32 * 4));
        let crossed = plan(&rows, &blocked([128, 32], [32, 1], [4, 8], [1, 4], [0, 1]), 32).unwrap();
        assert_eq!((crossed.cost.barriers, crossed.cost.warp_syncs), (1, 0));
    }

    #[test]
    fn a_bound_decides_between_plans() {
        let rows = blocked([32, 32], [1, 1], [1, 32], [1, 1], [1, 0]);
        let columns = rows.permute([1, 0]);
        let within = |bound| plan_within(&rows, &columns, 32, bound).unwrap();
        assert!(matches!(within(Bound::Any).kind, ConversionKind::Shared(_)));
        let shuffled = within(Bound::NoSharedMemory);
        assert_eq!(shuffled.cost.shuffles, 31);
        assert!(Bound::Shuffles(31).allows(&within(Bound::Shuffles(31))));
        // What no plan keeps gives one that says what is wrong.
        assert_eq!(within(Bound::Shuffles(30)), shuffled);
        assert_eq!(within(Bound::Registers), within(Bound::Any));
    }

    #[test]
    fn plans_are_made_while_rust_compiles() {
        const PLAN: Result<Conversion, Error> = plan(
            &blocked([64, 64], [1, 8], [8, 4], [2, 1], [1, 0]),
            &blocked([64, 64], [8, 1], [4, 8], [1, 2], [0, 1]),
            16,
        );
        assert_eq!(PLAN.unwrap().cost.accesses, 24);
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
