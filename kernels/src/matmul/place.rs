//! Where a block's elements of C lie, and what becomes of them: factors, what C was, the bias, and the store.

use super::tile::MatmulTile;
use crate::tile::row_aligned;
use quadpair::prelude::*;

/// A block's elements of C.
#[derive(Clone, Copy, Aggregate)]
pub struct Place {
    address: Tile,
    inside: Tile,
    /// Their columns.
    column: Tile,
    /// How many columns there are.
    n: Tile,
}

/// The elements of C for the rows and columns from `first` on, as the accumulator has them.
#[device]
pub fn place(c: Tile, stride: Tile, first: [Tile; 2], size: [Tile; 3], #[comptime] t: MatmulTile) -> Place {
    place_in(c, stride, first, size, t, t.accumulator())
}

#[device]
fn place_in(
    c: Tile,
    stride: Tile,
    first: [Tile; 2],
    [m, n, _]: [Tile; 3],
    #[comptime] t: MatmulTile,
    #[comptime] layout: Layout,
) -> Place {
    let [c, stride, n] =
        [row_aligned(c, t.aligned[2]), row_aligned(stride, t.aligned[2]), row_aligned(n, t.aligned[2])];
    let row = first[0] + arange(layout.slice(1)).expand_dims(1);
    let column = first[1] + arange(layout.slice(0)).expand_dims(0);
    let address = c + row as i64 * stride as i64 + column as i64;
    Place { address, inside: (row < m) & (column < n), column, n }
}

/// `alpha x + beta C`.
#[device]
pub fn scaled(x: Tile, place: Place, alpha: Tile, beta: Tile, #[comptime] t: MatmulTile) -> Tile {
    let x = x * alpha;
    if t.accumulate { x + load_masked(place.address, place.inside, 0.0) as f32 * beta } else { x }
}

/// The bias of each column.
#[device]
pub fn column_bias(bias: Tile, place: Place) -> Tile {
    load_masked(bias + place.column as i64, place.column < place.n, 0.0) as f32
}

/// Stores a block's elements of C, whose place is that of the accumulator.
#[device]
pub fn write<U: Element>(
    x: Tile,
    place: Place,
    c: Tile,
    stride: Tile,
    first: [Tile; 2],
    size: [Tile; 3],
    #[comptime] t: MatmulTile,
) {
    let x = x.to::<U>();
    if let Some(layout) = t.stored(U::DTYPE.bits()) {
        let place = place_in(c, stride, first, size, t, layout);
        store_masked(place.address, x.convert_layout_within(layout, Bound::NoSharedMemory), place.inside);
    } else {
        store_masked(place.address, x, place.inside);
    }
}
