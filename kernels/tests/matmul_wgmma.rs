//! Matrix products on wgmma, on the simulator, against sums in float64: orders, sizes, types, tiles, operands that can't be
//! copied, and terms.

#[path = "common/products.rs"]
mod products;

use half::{bf16, f16};
use products::ORDERS;
use quadpair::Target;
use quadpair_kernels::matmul::{MatmulTile, Order};
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::Unit;

/// A chip that has the unit, and room for every tile.
const CHIP: Target = Target { sm: 90, specific: true, isa: (8, 0), shared_bytes: 227 * 1024, threads: 1024 };

/// 64 x 64 in four warps, three tiles in memory.
const TILE: MatmulTile = MatmulTile {
    unit: Unit::Wgmma,
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
fn check<T: Real, U: Real>(t: MatmulTile, size: [usize; 3]) {
    products::check::<T, U>(CHIP, t, size);
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
fn operands_that_can_not_be_copied_are_loaded_and_stored() {
    for order in ORDERS {
        for aligned in [[false, true, true], [true, false, true], [false; 3]] {
            let size = if aligned == [false; 3] { [71, 73, 137] } else { [72, 72, 136] };
            check::<f16, f16>(MatmulTile { order, aligned, ..TILE }, size);
        }
    }
}

#[test]
fn terms_are_added() {
    for (accumulate, bias) in [(true, false), (false, true), (true, true)] {
        check::<f16, f16>(MatmulTile { accumulate, bias, ..TILE }, [72, 40, 72]);
        check::<bf16, bf16>(MatmulTile { accumulate, bias, aligned: [true, true, false], ..TILE }, [72, 40, 72]);
    }
}

/// Four warps multiply more than one 64 rows, warps lie along both sides, and the widest instruction.
#[test]
fn every_number_of_stages_and_shape() {
    for order in ORDERS {
        check::<f16, f16>(MatmulTile { order, stages: 2, block_m: 128, ..TILE }, [136, 72, 72]);
        check::<f16, f16>(MatmulTile { order, stages: 4, block_n: 128, warps: 8, ..TILE }, [72, 136, 168]);
        check::<f16, f16>(
            MatmulTile { order, stages: 2, block_m: 128, block_n: 256, block_k: 64, warps: 8, ..TILE },
            [136, 256, 136],
        );
    }
    check::<f16, f16>(MatmulTile { block_m: 256, block_n: 128, block_k: 64, warps: 8, ..TILE }, [256, 128, 136]);
    check::<bf16, bf16>(MatmulTile { block_k: 128, stages: 2, ..TILE }, [64, 64, 264]);
}

/// Bands end where C does: each block is computed once whatever the number of rows and columns of blocks.
#[test]
fn bands_cover_every_block() {
    check::<f16, f16>(TILE, [64 * 33 + 1, 136, 8]);
}
