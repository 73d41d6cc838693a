//! One instruction of one warp: the only place that tells them apart. There is a file for each family.

mod alu;
mod bits;
mod control;
mod convert;
mod copy;
mod float;
mod local;
mod matrix;
mod memory;
mod mma;
mod mma_rows;
mod print;
mod promise;
mod round;
mod shuffle;
mod wgmma;

pub(super) use memory::Patterns;

use super::machine::{Block, Stop};
use super::program::{Instruction, Kind};
use super::report::FaultKind;
use super::warp::Warp;

/// Runs an instruction in the lanes of a mask, at least one.
#[inline]
pub(super) fn step(block: &mut Block<'_>, warp: &mut Warp, instruction: &Instruction, mask: u32) -> Result<(), Stop> {
    match &instruction.kind {
        Kind::Mov { dst, src } => warp.copy(*dst, *src, mask),
        Kind::MovPredicate { dst, src } => warp.set_predicate(*dst, mask, warp.predicates[*src as usize]),
        Kind::Pack { dst, parts, bits } => alu::pack(warp, *dst, parts, *bits, mask),
        Kind::Unpack { parts, src, bits } => alu::unpack(warp, parts, *src, *bits, mask),
        Kind::Alu(step) => return alu::arithmetic(warp, step, mask),
        Kind::Logic { op, dst, args } => alu::logic(warp, *op, *dst, *args, mask),
        Kind::Setp(step) => alu::set_predicate(warp, step, mask),
        Kind::Selp { dst, args, predicate } => alu::select(warp, *dst, *args, *predicate, mask),
        Kind::Cvt(step) => convert::convert(warp, step, mask),
        Kind::CvtPair { bf16, dst, args } => convert::pair(warp, *bf16, *dst, *args, mask),
        Kind::LoadParam { dst, index, offset } => memory::parameter(block, warp, *dst, *index, *offset, mask),
        Kind::Load(step) => return memory::load(block, warp, step, mask),
        Kind::Store(step) => return memory::store(block, warp, step, mask),
        Kind::LoadLocal(step) => return local::load(block, warp, step, mask),
        Kind::StoreLocal(step) => return local::store(block, warp, step, mask),
        Kind::Print { format, arguments, count } => {
            print::print(block, warp, *format, *arguments, mask)?;
            if let Some(count) = count {
                warp.set_bits(*count, mask, &[1; 32]);
            }
        }
        Kind::Assertion { message } => return Err(print::assertion(block, warp, *message, mask)),
        Kind::Atom(step) => return memory::atomic(block, warp, step, mask),
        Kind::Branch { target } => warp.jump(mask, *target),
        Kind::Exit => warp.exit(mask),
        Kind::Trap => return Err(control::trap(block, instruction, mask)),
        Kind::Barrier { id } => return control::barrier(warp, *id, mask),
        Kind::WarpSync { members } => return control::warp_sync(warp, *members, mask),
        Kind::Nothing => {}
        Kind::Shuffle(step) => return shuffle::shuffle(warp, step, mask),
        Kind::Vote { mode, dst, src, members } => return shuffle::vote(warp, *mode, *dst, *src, *members, mask),
        Kind::ActiveMask { dst } => warp.set_word(*dst, mask, &[mask; 32]),
        Kind::Mma(step) => return mma::multiply(warp, step, mask),
        Kind::MmaRows(step) => return mma_rows::multiply(warp, step, mask),
        Kind::LoadMatrix { access, transposed } => return matrix::load(block, warp, access, *transposed, mask),
        Kind::Copy(step) => return copy::begin(block, warp, step, mask),
        Kind::CopyCommit => return copy::commit(block, warp, mask),
        Kind::CopyWait { groups } => return copy::wait(block, warp, *groups, mask),
        Kind::Wgmma(step) => return wgmma::multiply(block, warp, step, mask),
        Kind::WgmmaCommit => return wgmma::commit(warp, mask),
        Kind::WgmmaWait { groups } => return wgmma::wait(block, warp, *groups, mask),
        Kind::ProxyFence => return wgmma::proxy_fence(block, warp, mask),
        Kind::Promise(claim) => return promise::check(warp, claim, mask),
        Kind::Unsupported { what } => {
            return Err(Stop::new(mask.trailing_zeros(), FaultKind::Unsupported { what: what.clone() }));
        }
    }
    Ok(())
}
