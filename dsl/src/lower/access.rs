//! Vector accesses: which elements of a thread one instruction moves.
//!
//! Elements that share a base register and a predicate and whose offsets follow one another go together, in the widest
//! instruction that their alignment allows. Nothing here looks at a layout: contiguity is seen in the addresses.

use super::bytes::PER_WORD;
use super::emit::divisor_of_constant;
use super::num::Num;
use crate::element::DType;
use crate::ptx::{Class, Reg, Type};

/// Where one element lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Which of the thread's elements.
    pub index: usize,
    /// Register part of the address.
    pub base: Reg,
    /// Constant part, in bytes.
    pub offset: i64,
    /// A power of two that divides the register.
    pub divisor: u32,
    /// Where it may be touched.
    pub mask: Num,
    /// The index that the address was made of, and what it is below: the simulator holds the program to it.
    pub bound: Option<(Reg, u32)>,
}

/// Elements that one instruction moves.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where the first lies.
    pub first: Place,
    /// Which elements, in the order of their addresses.
    pub indices: Vec<usize>,
}

/// Bytes that the widest access moves.
const WIDEST: u32 = 16;

/// Groups elements into as few instructions as alignment allows, in the order of their first elements.
pub(super) fn runs(mut places: Vec<Place>, bytes: u32) -> Vec<Run> {
    let order: Vec<(Reg, Num)> = places.iter().map(|p| (p.base, p.mask)).collect();
    let rank = |p: &Place| order.iter().position(|&(base, mask)| base == p.base && mask == p.mask);
    places.sort_by_key(|p| (rank(p), p.offset));
    let mut runs = Vec::new();
    let mut rest = places.as_slice();
    while let Some(first) = rest.first() {
        let width = width(rest, bytes);
        let (now, later) = rest.split_at(width);
        runs.push(Run { first: *first, indices: now.iter().map(|p| p.index).collect() });
        rest = later;
    }
    runs
}

/// How many of the leading elements one instruction can move.
fn width(places: &[Place], bytes: u32) -> usize {
    let first = &places[0];
    let aligned = first.divisor.min(divisor_of_constant(first.offset)).min(WIDEST);
    let mut width = (aligned / bytes).max(1) as usize;
    while width > 1 && !follows(places, width, bytes) {
        width /= 2;
    }
    width
}

fn follows(places: &[Place], width: usize, bytes: u32) -> bool {
    let first = &places[0];
    places.len() >= width
        && places[..width].iter().enumerate().all(|(i, p)| {
            let next = first.offset + i as i64 * i64::from(bytes);
            p.base == first.base && p.mask == first.mask && p.offset == next
        })
}

/// The registers of an access of `elements` elements: type, class and count.
pub(super) fn registers(dtype: DType, elements: usize) -> (Type, Class, usize) {
    match dtype.bytes() {
        1 if elements >= PER_WORD => (Type::B32, Class::B32, elements / PER_WORD),
        // PTX has no 8-bit registers: the bytes travel in 32 bits, extended.
        1 => (if dtype.is_signed() { Type::S8 } else { Type::U8 }, Class::B32, elements),
        2 if elements == 1 && dtype.is_float() => (Type::B16, Class::B16, 1),
        2 if elements == 1 => (if dtype.is_signed() { Type::S16 } else { Type::U16 }, Class::B32, 1),
        2 => (Type::B32, Class::B32, elements / 2),
        4 if dtype == DType::F32 => (Type::F32, Class::F32, elements),
        4 => (Type::B32, Class::B32, elements),
        _ if dtype == DType::F64 => (Type::F64, Class::F64, elements),
        _ => (Type::B64, Class::B64, elements),
    }
}
