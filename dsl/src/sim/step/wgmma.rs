//! `wgmma.mma_async`: a warp's 16 of 64 rows, of operands that lie in shared memory as descriptors say.
//!
//! Each warp computes its own rows when it comes by: warp `w` has the rows from `16 (w % 4)` on, and reads all of the right
//! operand. Products of halves are exact in singles, and they are added in the order of k, each sum rounded; a chip adds
//! several at once and may differ in the last bits, as with the other units.
//!
//! A descriptor describes lines of 8 elements (16 bytes) along the contiguous dimension. Line `c` of row `s`, with rows of
//! `P` = 32, 64 or 128 bytes in a pattern of 8, lies at
//!
//! ```text
//! x = start + 16 c % P + 16 c / P * leading + s % 8 * P + s / 8 * stride
//! x ^ (x / 128 % (P / 16)) * 16
//! ```
//!
//! and for `P` = 16 with k contiguous as if there were no XOR, with m or n contiguous with the distances exchanged.

use super::round::{one_nan, single};
use crate::sim::machine::{Block, Stop};
use crate::sim::products::Product;
use crate::sim::program::{Slot, WgmmaLeftStep, WgmmaStep};
use crate::sim::race::Accessor;
use crate::sim::report::{Direction, FaultKind};
use crate::sim::warp::{FULL, LANES, Lanes32, Warp};

/// Rows of a warp.
const ROWS: usize = 16;
const DEPTH: usize = 16;
/// Elements of a line.
const LINE: usize = 8;

/// An operand's rows of k.
type Matrix = Vec<[f32; DEPTH]>;

/// Where an operand of `[m or n, k]` lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    leading: u32,
    stride: u32,
    /// Bytes of a pattern's row.
    pattern: u32,
    /// Whether k is contiguous.
    k_major: bool,
}

impl Place {
    fn new(bits: u64, k_major: bool) -> Place {
        let field = |low: u32| (bits >> low & 0x3fff) as u32 * 16;
        let pattern = [16, 128, 64, 32][(bits >> 62) as usize];
        Place { start: field(0), leading: field(16), stride: field(32), pattern, k_major }
    }

    /// The address of a line.
    fn line(&self, row: u32, line: u32) -> u32 {
        let (leading, stride) = match self.pattern == 16 && !self.k_major {
            true => (self.stride, self.leading),
            false => (self.leading, self.stride),
        };
        let along = 16 * line % self.pattern + 16 * line / self.pattern * leading;
        let linear = self.start + along + row % 8 * self.pattern + row / 8 * stride;
        linear ^ (linear / 128 % (self.pattern / 16) * 16)
    }
}

pub(super) fn multiply(block: &mut Block<'_>, warp: &mut Warp, step: &WgmmaStep, mask: u32) -> Result<(), Stop> {
    together(mask)?;
    let adds = warp.predicates[step.adds as usize];
    if adds == FULL {
        may_be_added_to(block, warp, step)?;
    } else if adds != 0 {
        return Err(disagreement("whether to add"));
    }
    let mut words = Vec::new();
    let first = warp.index as usize % 4 * ROWS;
    let a = match &step.a {
        WgmmaLeftStep::Registers(slots) => from_registers(warp, slots, step.bf16),
        WgmmaLeftStep::Memory { descriptor, transposed } => {
            let place = Place::new(uniform(warp, *descriptor)?, !transposed);
            from_memory(block, warp, &place, first, ROWS, step.bf16, &mut words)?
        }
    };
    let place = Place::new(uniform(warp, step.b)?, !step.b_transposed);
    let b = from_memory(block, warp, &place, 0, step.d.len() * 2, step.bf16, &mut words)?;
    for (i, &slot) in step.d.iter().enumerate() {
        let old = if adds == 0 { [0; LANES] } else { *warp.word(slot) };
        let sums: Lanes32 = std::array::from_fn(|lane| {
            let (row, column) = (lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
            let products = a[row].iter().zip(&b[column]).map(|(a, b)| a * b);
            one_nan(products.fold(f32::from_bits(old[lane]), |sum, product| sum + product).to_bits())
        });
        warp.set_word(slot, FULL, &sums);
    }
    for &register in &step.sums {
        warp.written[register as usize] = 0;
    }
    block.shared.begin_reads(&words);
    warp.products.begin(Product { sums: step.sums.clone(), words });
    Ok(())
}

pub(super) fn commit(warp: &mut Warp, mask: u32) -> Result<(), Stop> {
    together(mask)?;
    warp.products.commit();
    Ok(())
}

pub(super) fn wait(block: &mut Block<'_>, warp: &mut Warp, groups: u32, mask: u32) -> Result<(), Stop> {
    together(mask)?;
    let mut ended = Vec::new();
    for product in warp.products.wait(groups) {
        block.shared.end_reads(&product.words);
        for &register in product.sums.iter().filter(|&&register| !warp.products.sum_in(register)) {
            if warp.written[register as usize] != 0 {
                let register = block.launch.program.register_name(register);
                return Err(Stop::new(0, FaultKind::SumUnderWay { register }));
            }
        }
        ended.extend(product.sums);
    }
    for register in ended {
        if !warp.products.sum_in(register) {
            warp.written[register as usize] = FULL;
        }
    }
    Ok(())
}

pub(super) fn proxy_fence(block: &mut Block<'_>, warp: &Warp, mask: u32) -> Result<(), Stop> {
    if mask != warp.members {
        return Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: warp.members }));
    }
    block.shared.fence(warp.index, block.stamp);
    Ok(())
}

fn together(mask: u32) -> Result<(), Stop> {
    match mask {
        FULL => Ok(()),
        _ => Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL })),
    }
}

fn disagreement(what: &str) -> Stop {
    Stop::new(0, FaultKind::Unsupported { what: format!("a product of lanes that don't agree on {what}") })
}

/// What is added to was written, or is another product's sum.
fn may_be_added_to(block: &Block<'_>, warp: &Warp, step: &WgmmaStep) -> Result<(), Stop> {
    let missing = |register: u32| warp.written[register as usize] != FULL && !warp.products.sum_in(register);
    match step.sums.iter().find(|&&register| missing(register)) {
        Some(&register) => {
            let register = block.launch.program.register_name(register);
            Err(Stop::new(0, FaultKind::Unwritten { register }))
        }
        None => Ok(()),
    }
}

fn uniform(warp: &Warp, slot: Slot) -> Result<u64, Stop> {
    let lanes = warp.long(slot);
    if lanes.iter().all(|&bits| bits == lanes[0]) { Ok(lanes[0]) } else { Err(disagreement("a descriptor")) }
}

fn value(bits: u32, bf16: bool) -> f32 {
    if bf16 { f32::from_bits(bits << 16) } else { single(bits) }
}

/// Register `i` has two neighbours along k: of the upper rows where `i` is odd, of the second 8 of k from 2 on.
fn from_registers(warp: &Warp, slots: &[Slot], bf16: bool) -> Matrix {
    let mut matrix = vec![[0.0; DEPTH]; ROWS];
    for (i, &slot) in slots.iter().enumerate() {
        for (lane, word) in warp.word(slot).iter().enumerate() {
            let (row, k) = (lane / 4 + i % 2 * 8, lane % 4 * 2 + i / 2 * 8);
            matrix[row][k] = value(word & 0xffff, bf16);
            matrix[row][k + 1] = value(word >> 16, bf16);
        }
    }
    matrix
}

/// Rows of an operand, from the first on; a multiple of 8.
fn from_memory(
    block: &mut Block<'_>,
    warp: &Warp,
    place: &Place,
    first: usize,
    rows: usize,
    bf16: bool,
    words: &mut Vec<u32>,
) -> Result<Matrix, Stop> {
    let mut matrix = vec![[0.0; DEPTH]; rows];
    for number in 0..rows * DEPTH / LINE {
        let (row, k) = match place.k_major {
            true => (number / 2, number % 2 * LINE),
            false => (number / DEPTH * LINE, number % DEPTH),
        };
        let (slow, line) = if place.k_major { (first + row, k / LINE) } else { (k, (first + row) / LINE) };
        let halves = read_line(block, warp, place.line(slow as u32, line as u32), words)?;
        for (i, &half) in halves.iter().enumerate() {
            let (row, k) = if place.k_major { (row, k + i) } else { (row + i, k) };
            matrix[row][k] = value(half, bf16);
        }
    }
    Ok(matrix)
}

fn read_line(block: &mut Block<'_>, warp: &Warp, address: u32, words: &mut Vec<u32>) -> Result<[u32; LINE], Stop> {
    let direction = Direction::Read;
    if address + 16 > block.shared.bytes {
        let (address, size) = (u64::from(address), block.shared.bytes);
        return Err(Stop::new(0, FaultKind::SharedOutOfBounds { address, bytes: 16, direction, size }));
    }
    let who = Accessor { warp: warp.index, lane: 0, at: warp.pc - 1, stamp: block.stamp };
    let mut halves = [0; LINE];
    for i in 0..LINE / 2 {
        let at = address + 4 * i as u32;
        let word = block.shared.multiplied(at, who);
        let word = word.map_err(|conflict| Stop::new(0, block.shared_fault(conflict, at, 4, warp, 0, direction)))?;
        (halves[2 * i], halves[2 * i + 1]) = (word & 0xffff, word >> 16);
        words.push(at / 4);
    }
    Ok(halves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_where_the_swizzle_has_them() {
        let bits = 1 << 62 | 64 << 32 | 1 << 16 | 64;
        let place = Place::new(bits, true);
        // From byte 1024 on: row 3 has its lines XORed with 3, row 9 is the second pattern's second.
        assert_eq!(
            [place.line(3, 0), place.line(3, 1), place.line(9, 0)],
            [1024 + 384 + 48, 1024 + 384 + 32, 2048 + 144]
        );
        let place = Place::new(8 << 16 | 32 << 32, false);
        assert_eq!([place.line(0, 1), place.line(9, 0)], [512, 128 + 16]);
    }
}
