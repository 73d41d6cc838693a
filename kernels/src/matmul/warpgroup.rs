//! A block's sums on the unit that reads A and B from shared memory by itself, wgmma.
//!
//! There is nothing to load: once a tile is there, one operation multiplies all of it, and the unit works on its own while
//! the warps see to the copies of another:
//!
//! ```text
//! copies        tile 3 ───────────────┐ tile 4 ───────────────┐
//!             ▼ barrier               ▼ barrier               ▼
//! issued      tile 0                  tile 1                  tile 2
//! multiplied     tile 0 ───────────      tile 1 ───────────      tile 2
//! ```
//!
//! At a barrier products are done, so that the slot of the last one is free: copies are `stages - 1` tiles ahead. Each slot
//! is an allocation of its own, by which it is known that copies into one go on beside a product that reads another.

use super::source::{Source, arrive, fetch};
use super::tile::{MOST_STAGES, MatmulTile};
use quadpair::prelude::*;

/// A tile of each operand sets out for a slot if there is one, else 0 does; the sources that are given back are at the tile
/// behind.
#[device]
pub(super) fn send(
    [a, b]: [Source; 2],
    [a_slots, b_slots]: [[Shared; MOST_STAGES]; 2],
    there: Tile,
    #[comptime] slot: usize,
    #[comptime] t: MatmulTile,
) -> [Source; 2] {
    let (mut a, mut b) = (a, b);
    arrive(fetch(a, there, a_slots[slot], 0, t), a_slots[slot]);
    arrive(fetch(b, there, b_slots[slot], 1, t), b_slots[slot]);
    commit_group();
    a.next = a.next + a.along * t.block_k;
    b.next = b.next + b.along * t.block_k;
    [a, b]
}

/// The sums of all tiles, of which the first is on its way.
#[device]
pub(super) fn sums(
    [a, b]: [Source; 2],
    slots: [[Shared; MOST_STAGES]; 2],
    tiles: Tile,
    #[comptime] t: MatmulTile,
) -> Tile {
    let ahead = t.ahead();
    let (mut a, mut b) = (a, b);
    for slot in 1..ahead {
        [a, b] = send([a, b], slots, tiles > slot as i32, slot, t);
    }
    let [a_slots, b_slots] = slots;
    let mut acc = zeros::<f32>(t.accumulator());
    for tile in (0..tiles).step_by(t.stages) {
        for slot in 0..t.stages {
            wait_group(ahead - 1);
            barrier();
            let [left, right] = [a_slots[slot].permute(t.dims(0)), b_slots[slot].permute(t.dims(1))];
            acc = left.warpgroup_mma(right, acc);
            [a, b] = send([a, b], slots, tile + slot + ahead < tiles, (slot + ahead) % t.stages, t);
        }
    }
    acc
}
