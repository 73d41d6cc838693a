//! Conversions: what it takes to bring a tile from one layout to another.

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
    const FREE: Cost = Cost { shared_bytes: 0, wavefronts: 0, barriers: 0 };

    /// Whether every element stays in its thread.
    pub const fn is_trivial(&self) -> bool {
        !matches!(self.kind, ConversionKind::Shared(_))
    }
}

/// Plans the conversion of a tile with elements of so many bits.
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
        return Ok(Conversion { kind: ConversionKind::Registers, cost: Conversion::FREE });
    }
    let memory = SharedLayout::between(from, to, element_bits);
    if let Some(error) = memory.fault() {
        return Err(error);
    }
    let wavefronts = banks::store(from, &memory, element_bits).wavefronts + banks::load(to, &memory, element_bits).wavefronts;
    let cost = Cost { shared_bytes: memory.size() * element_bits / 8, wavefronts, barriers: 2 };
    Ok(Conversion { kind: ConversionKind::Shared(memory), cost })
}

/// Whether every thread already holds each element that it shall hold.
const fn stays_in_thread(from: &Layout, to: &Layout) -> bool {
    let span = from.register_span();
    let mut i = 0;
    while i < to.register_bits() {
        if !span.contains(to.register_basis(i)) {
            return false;
        }
        i += 1;
    }
    i = 0;
    while i < LANE_BITS {
        if !span.contains(from.lane_basis(i) ^ to.lane_basis(i)) {
            return false;
        }
        i += 1;
    }
    i = 0;
    while i < from.warp_bits() {
        if !span.contains(from.warp_basis(i) ^ to.warp_basis(i)) {
            return false;
        }
        i += 1;
    }
    true
}
