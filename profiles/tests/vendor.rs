//! The shipped profiles against the vendor's tables.

use quadpair_profiles::{Limits, Profile};

const KIB: u32 = 1024;

/// The CUDA programming guide's table of technical specifications, by compute capability: resident warps of a
/// multiprocessor, and KiB of shared memory of a multiprocessor and of a block. The rest is the same for all of them.
const CHIPS: [(&str, u32, u32, u32); 12] = [
    ("7.0", 64, 96, 96),
    ("7.2", 64, 96, 96),
    ("7.5", 32, 64, 64),
    ("8.0", 64, 164, 163),
    ("8.6", 48, 100, 99),
    ("8.7", 48, 164, 163),
    ("8.9", 48, 100, 99),
    ("9.0", 64, 228, 227),
    ("10.0", 64, 228, 227),
    ("10.3", 64, 228, 227),
    ("12.0", 48, 100, 99),
    ("12.1", 48, 100, 99),
];

/// The PTX ISA's release notes: the version that brought each target.
const TARGETS: [(&str, (u32, u32)); 7] = [
    ("sm_70", (6, 0)),
    ("sm_75", (6, 3)),
    ("sm_80", (7, 0)),
    ("sm_89", (7, 8)),
    ("sm_90", (7, 8)),
    ("sm_90a", (8, 0)),
    ("sm_100", (8, 6)),
];

fn chip(name: &str) -> Limits {
    let &(_, warps, shared, of_a_block) = CHIPS.iter().find(|chip| chip.0 == name).expect(name);
    Limits {
        threads_per_block: 1024,
        registers_per_thread: 255,
        registers_per_multiprocessor: 64 * KIB,
        warps_per_multiprocessor: warps,
        shared_per_block: of_a_block * KIB,
        shared_per_multiprocessor: shared * KIB,
    }
}

#[test]
fn limits_are_what_every_listed_chip_has() {
    for profile in Profile::shipped() {
        let chips: Vec<Limits> = profile.compute_capabilities.iter().map(|name| chip(name)).collect();
        let least = |of: fn(&Limits) -> u32| chips.iter().map(of).min().expect("a profile lists a chip");
        let expected = Limits {
            threads_per_block: least(|chip| chip.threads_per_block),
            registers_per_thread: least(|chip| chip.registers_per_thread),
            registers_per_multiprocessor: least(|chip| chip.registers_per_multiprocessor),
            warps_per_multiprocessor: least(|chip| chip.warps_per_multiprocessor),
            shared_per_block: least(|chip| chip.shared_per_block),
            shared_per_multiprocessor: least(|chip| chip.shared_per_multiprocessor),
        };
        assert_eq!(profile.limits, expected, "{}", profile.name);
    }
}

#[test]
fn the_ptx_version_knows_the_target_and_the_oldest_chip_runs_it() {
    for profile in Profile::shipped() {
        let (_, brought) = TARGETS.iter().find(|target| target.0 == profile.ptx.target).expect(&profile.name);
        assert!(profile.ptx.version() >= *brought, "{}", profile.name);
        // A text of the target is for the oldest chip listed: "7.0" and sm_70.
        let oldest = profile.compute_capabilities[0].replace('.', "");
        assert_eq!(format!("sm_{oldest}"), profile.ptx.target.trim_end_matches('a'));
    }
}

#[test]
fn every_unit_has_tiles_for_head_dims_up_to_256_and_any_number_of_rows() {
    for profile in Profile::shipped() {
        for unit in profile.matrix_units.iter().map(|unit| &unit.shape[..]).chain(["fma"]) {
            for head_dim in 1..=256 {
                let tile = profile.flash_tile(unit, head_dim, usize::MAX);
                assert!(tile.is_some_and(|tile| tile.head_dim_le >= head_dim), "{} {unit} {head_dim}", profile.name);
            }
        }
    }
}
