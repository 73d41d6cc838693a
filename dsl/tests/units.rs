//! Products on matrix units that a target lacks, or whose instruction cannot be written.

use half::f16;
use quadpair::lower::LowerError;
use quadpair::prelude::*;
use quadpair::{KernelError, Target};
use quadpair_profiles::Profile;

const UNIT: Mma = Mma::m16n8k16([1, 1]);

/// A product of two tiles of ones.
#[kernel(grid = [1])]
pub fn deep(out: PtrMut<f32>, #[comptime] columns: usize) {
    let a = full::<f16>(UNIT.a([16, 16]), f16::ONE);
    let b = full::<f16>(UNIT.b([16, columns]), f16::ONE);
    let layout = UNIT.accumulator([16, columns]);
    let c = mma(a, b, zeros::<f32>(layout));
    store(out + (arange(layout.slice(1)).expand_dims(1) * columns + arange(layout.slice(0)).expand_dims(0)), c);
}

instances! {
    DEEP = Deep { columns: 8 };
}

fn refused(profile: &str) -> LowerError {
    match DEEP.program(Target::from(&Profile::by_name(profile).unwrap())) {
        Err(KernelError::Lower(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unit_that_the_target_lacks_is_named() {
    let words = "DEEP uses m16n8k16, which needs sm_80 or later; the target is sm_70";
    assert_eq!(refused("volta").to_string(), words);
}

#[test]
fn a_unit_whose_instruction_cannot_be_written_is_named() {
    let words = "DEEP uses m16n8k16, whose instruction cannot be written; take the layouts of m8n8k4, or dot";
    assert_eq!(refused("ampere").to_string(), words);
}
