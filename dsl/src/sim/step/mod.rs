//! One instruction of one warp: the only place that tells them apart. There is a file for each family.

mod alu;
mod control;
mod convert;
mod memory;
mod mma;
mod shuffle;

use super::machine::{Block, Stop};
use super::program::{Instruction, Kind};
use super::warp::Warp;

/// Runs an instruction in the lanes of a mask, at least one.
pub(super) fn step(block: &mut Block<'_>, warp: &mut Warp, instruction: &Instruction, mask: u32) -> Result<(), Stop> {
    match &instruction.kind {
        Kind::Mov { dst, src } => warp.copy(*dst, *src, mask),
        Kind::MovPredicate { dst, src } => warp.set_predicate(*dst, mask, warp.predicates[*src as usize]),
        Kind::Pack { dst, parts, bits } => alu::pack(warp, *dst, parts, *bits, mask),
        Kind::Unpack { parts, src, bits } => alu::unpack(warp, parts, *src, *bits, mask),
        Kind::Alu { op, ty, rounding, ftz, sat, dst, args, count } => {
            let how = alu::How { rounding: *rounding, ftz: *ftz, sat: *sat };
            return alu::arithmetic(warp, (*op, *ty), how, *dst, &args[..*count], mask);
        }
        Kind::Logic { op, dst, args } => alu::logic(warp, *op, *dst, *args, mask),
        Kind::Setp { compare, ty, dst, a, b, combine } => {
            alu::set_predicate(warp, *compare, *ty, *dst, [*a, *b], *combine, mask);
        }
        Kind::Selp { dst, a, b, predicate } => alu::select(warp, *dst, [*a, *b], *predicate, mask),
        Kind::Cvt { to, from, rounding, sat, dst, src } => {
            convert::convert(warp, (*to, *from), *rounding, *sat, *dst, *src, mask);
        }
        Kind::LoadParam { dst, index, offset } => memory::parameter(block, warp, *dst, *index, *offset, mask),
        Kind::Load { space, ty, dst, place } => return memory::load(block, warp, *space, *ty, dst, *place, mask),
        Kind::Store { space, ty, src, place } => return memory::store(block, warp, *space, *ty, src, *place, mask),
        Kind::Atom { op, space, ty, dst, place, args } => {
            return memory::atomic(block, warp, (*op, *space, *ty), *dst, *place, args, mask);
        }
        Kind::Branch { target } => warp.jump(mask, *target),
        Kind::Exit => warp.exit(mask),
        Kind::Trap => return Err(control::trap(block, instruction, mask)),
        Kind::Barrier { id } => return control::barrier(warp, *id, mask),
        Kind::WarpSync { mask: lanes } => return control::warp_sync(warp, *lanes, mask),
        Kind::Nothing => {}
        Kind::Shuffle { mode, dst, in_range, src, lane, clamp, mask: lanes } => {
            return shuffle::shuffle(warp, *mode, (*dst, *in_range), [*src, *lane, *clamp, *lanes], mask);
        }
        Kind::Vote { mode, dst, src, mask: lanes } => return shuffle::vote(warp, *mode, *dst, *src, *lanes, mask),
        Kind::ActiveMask { dst } => warp.set_word(*dst, mask, &[mask; 32]),
        Kind::Mma { a_row, b_row, half, d, a, b, c } => {
            return mma::multiply(warp, [*a_row, *b_row], *half, d, (*a, *b), c, mask);
        }
    }
    Ok(())
}
