//! Bounds: what a conversion may cost at most.

use super::{Conversion, ConversionKind};
use crate::text::Text;

/// What an author allows a conversion.
///
/// A bound decides between plans: of those that keep it the cheapest is taken, and if none does the build fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Anything.
    Any,
    /// No barrier of the block: elements stay in their warp.
    NoBarrier,
    /// Neither shared memory nor barriers: registers and shuffles.
    NoSharedMemory,
    /// At most so many shuffles a thread, and no shared memory.
    Shuffles(u32),
    /// No element leaves its thread.
    Registers,
}

impl Bound {
    /// Whether a plan keeps the bound.
    pub const fn allows(&self, plan: &Conversion) -> bool {
        let shared = matches!(plan.kind, ConversionKind::Shared(_));
        match *self {
            Bound::Any => true,
            Bound::NoBarrier => plan.cost.barriers == 0,
            Bound::NoSharedMemory => !shared,
            Bound::Shuffles(most) => !shared && plan.cost.shuffles <= most,
            Bound::Registers => !shared && plan.cost.shuffles == 0,
        }
    }

    /// Whether a plan without shared memory is the better: it is allowed and the other isn't, or it weighs no more. Where
    /// neither keeps a bound on shuffles it is what the author wants to hear of.
    pub(super) const fn prefers(&self, plan: &Conversion, shared: &Conversion) -> bool {
        match (self.allows(plan), self.allows(shared)) {
            (false, false) if matches!(self, Bound::Shuffles(_)) => true,
            (true, true) | (false, false) => plan.cost.weight() <= shared.cost.weight(),
            (allowed, _) => allowed,
        }
    }

    /// Appends what a conversion within the bound does: `uses at most 4 shuffles`.
    pub(crate) const fn write(self, text: Text) -> Text {
        match self {
            Bound::Any => text.push("may cost anything"),
            Bound::NoBarrier => text.push("must use no barrier of the block"),
            Bound::NoSharedMemory => text.push("must use no shared memory"),
            Bound::Shuffles(1) => text.push("must use at most 1 shuffle and no shared memory"),
            Bound::Shuffles(most) => {
                text.push("must use at most ").number(most as usize).push(" shuffles and no shared memory")
            }
            Bound::Registers => text.push("must leave every element in its thread"),
        }
    }

    /// Appends how the bound can be kept by a plan that breaks it, or which one would be.
    pub(super) const fn write_remedy(self, text: Text, plan: &Conversion) -> Text {
        match (self, plan.kind) {
            (Bound::Registers, _) => text
                .push("let both layouts give each thread the same elements, or use convert_layout, which moves them"),
            (Bound::Shuffles(_), ConversionKind::Shuffles(_)) => {
                let shuffles = plan.cost.shuffles as usize;
                let text =
                    text.push("allow ").number(shuffles).push(if shuffles == 1 { " shuffle" } else { " shuffles" });
                text.push(", or let each thread keep more of its elements")
            }
            _ => text.push("let both layouts give each warp the same elements, or use convert_layout"),
        }
    }
}
