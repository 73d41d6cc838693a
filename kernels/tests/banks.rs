//! Attention's accesses to shared memory on the simulator: at every head dim and on every matrix unit, a warp's access takes
//! no more wavefronts than its bytes need.

mod common;

use common::{Random, profile_with};
use half::f16;
use quadpair_kernels::attention::{AttentionConfig, Inputs, attend_host};
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_kernels::view::View;

/// More rows and keys than the smallest tiles have, and no multiple of any.
const SHAPE: [usize; 3] = [1, 1, 70];

fn check(unit: Unit) {
    let profile = profile_with(unit);
    for head_dim in (8..=256).step_by(8) {
        let [batch, heads, rows] = SHAPE;
        let shape = [batch, heads, rows, head_dim];
        let [q, k, v] = [1, 2, 3].map(|seed| Random(seed).numbers::<f16>(2.0, shape.iter().product()));
        let [q, k, v] = [&q, &k, &v].map(|data| View::contiguous(&data[..], shape));
        let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(head_dim) };
        let attended = attend_host::<f16, f32>(&profile, config, Inputs::new(q, k, v)).unwrap();
        let counters = attended.report.counters.expect("the simulator counts");
        assert!(counters.shared_wavefronts > 0);
        assert_eq!(counters.shared_wavefronts, counters.shared_ideal, "{unit}, head dim {head_dim}");
    }
}

#[test]
fn no_conflicts_on_m8n8k4() {
    check(Unit::M8N8K4);
}

#[test]
fn no_conflicts_on_m16n8k8() {
    check(Unit::M16N8K8);
}

#[test]
fn no_conflicts_on_m16n8k16() {
    check(Unit::M16N8K16);
}

#[test]
fn no_conflicts_on_wgmma() {
    check(Unit::Wgmma);
}
