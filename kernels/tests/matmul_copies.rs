//! Matrix products whose tiles are copied asynchronously, on the simulator, against sums in float64: orders, sizes, types,
//! operands of which one can't be copied, and what the accesses cost.

#[path = "common/products.rs"]
mod products;

use half::{bf16, f16};
use products::ORDERS;
use quadpair::Target;
use quadpair::sim::Counters;
use quadpair_kernels::matmul::{MatmulTile, Order};
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::Unit;

/// A chip that has the unit and the copies, and room for every tile.
const CHIP: Target = Target { sm: 80, specific: false, isa: (7, 0), shared_bytes: 227 * 1024, threads: 1024 };

/// 64 x 64 in four warps, three tiles in memory.
const TILE: MatmulTile = MatmulTile {
    unit: Unit::M16N8K16,
    block_m: 64,
    block_n: 64,
    block_k: 32,
    warps: 4,
    stages: 3,
    order: ORDERS[0],
    aligned: [true; 3],
    accumulate: false,
    bias: false,
};

/// Runs a product of this size and checks each element.
fn check<T: Real, U: Real>(t: MatmulTile, size: [usize; 3]) -> Counters {
    products::check::<T, U>(CHIP, t, size)
}

#[test]
fn every_order_and_size() {
    for order in ORDERS {
        for size in [[1, 8, 8], [16, 8, 0], [64, 64, 32], [72, 136, 104], [65, 64, 200]] {
            let aligned = |n: usize| n.next_multiple_of(8);
            // Lines of memory have a multiple of 8 elements.
            let [m, n, k] = size;
            let m = if order[0] == Order::Columns { aligned(m) } else { m };
            check::<f16, f16>(MatmulTile { order, ..TILE }, [m, n, k]);
            check::<bf16, f32>(MatmulTile { order, stages: 4, block_k: 64, ..TILE }, [m, n, k]);
        }
    }
}

#[test]
fn an_operand_that_can_not_be_copied_comes_through_registers() {
    for order in ORDERS {
        for aligned in [[false, true, true], [true, false, true], [false; 3]] {
            check::<f16, f16>(MatmulTile { order, aligned, ..TILE }, [72, 72, 136]);
        }
    }
}

#[test]
fn every_number_of_stages_and_shape() {
    for stages in [2, 3, 4] {
        for (block_m, block_n) in [(64, 128), (128, 64)] {
            check::<f16, f16>(MatmulTile { stages, block_m, block_n, warps: 8, ..TILE }, [72, 136, 168]);
        }
    }
}

/// Bands end where C does: each block is computed once whatever the number of rows and columns of blocks.
#[test]
fn bands_cover_every_block() {
    check::<f16, f16>(TILE, [64 * 33 + 1, 136, 8]);
}

#[test]
fn nothing_waits_for_a_bank_and_nothing_is_packed() {
    for order in ORDERS {
        for (block_m, block_n, block_k) in [(64, 64, 32), (128, 64, 64), (64, 128, 32)] {
            let t = MatmulTile { order, block_m, block_n, block_k, ..TILE };
            let counters = check::<f16, f16>(t, [128, 128, 128]);
            assert_eq!(counters.shared_wavefronts, counters.shared_ideal, "{t:?}");
            assert_eq!(counters.shared_store, 0);
        }
    }
}
