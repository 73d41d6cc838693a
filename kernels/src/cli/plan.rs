//! Conversions in words and figures.

use quadpair::layouts::{Conversion, ConversionKind};

/// How a conversion is done.
pub fn way(plan: &Conversion) -> &'static str {
    if matches!(plan.kind, ConversionKind::Nothing) {
        "nothing to do"
    } else if plan.is_trivial() {
        "registers change their names"
    } else if plan.cost.shared_bytes > 0 {
        "through shared memory"
    } else {
        "shuffles between lanes"
    }
}

/// What a conversion costs, figure by figure.
pub fn costs(plan: &Conversion) -> Vec<(&'static str, u32)> {
    let cost = plan.cost;
    vec![
        ("shuffles a thread", cost.shuffles),
        ("selects a thread", cost.selects),
        ("byte permutations a thread", cost.permutations),
        ("shared-memory accesses a thread", cost.accesses),
        ("wavefronts a warp", cost.wavefronts),
        ("bytes of shared memory a block", cost.shared_bytes),
        ("synchronizations of a warp", cost.warp_syncs),
        ("barriers", cost.barriers),
    ]
}
