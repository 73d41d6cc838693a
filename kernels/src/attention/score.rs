//! From products of Q and K to scores, and from scores to exponents.
//!
//! Without a bias a product times the factor is a score in powers of two, and an exponent is one multiply-add. With a bias
//! scores stay as they are until the reference is added: a bias may be the lowest finite number, which no factor may scale.

use super::kernel::Given;
use super::place::Part;
use super::tile::FlashTile;
use quadpair::prelude::*;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LN_2: f32 = std::f32::consts::LN_2;

/// What makes scores of products.
#[derive(Clone, Copy)]
pub(super) struct Scoring {
    /// Where the bias of each row lies behind the last key, and the distance between keys.
    pub(super) bias: Tile,
    pub(super) bias_stride: Tile,
    /// Whether there is such a row.
    pub(super) row_inside: Tile,
    /// What a product of Q and K is multiplied by: it gives a score, of powers of two where there is no bias.
    pub(super) factor: Tile,
}

/// Scores of products with these keys.
#[device]
pub(super) fn biased(s: Tile, scoring: Scoring, key: Tile, #[comptime] edge: bool) -> Tile {
    let place = scoring.bias.expand_dims(1) + key as i64 * scoring.bias_stride;
    let inside = scoring.row_inside.expand_dims(1);
    let bias = load_masked(place, if edge { inside & (key < 0) } else { inside & (key < 1) }, 0.0);
    fma(s, scoring.factor, bias as f32)
}

/// What is added to a score, for it to be relative to the largest one.
#[device]
pub(super) fn reference_to(largest: Tile, scoring: Scoring, #[comptime] t: FlashTile) -> Tile {
    if t.bias { -largest } else { -largest * scoring.factor }
}

/// Scores in powers of two, relative to a reference.
#[device]
pub(super) fn exponent(score: Tile, reference: Tile, scoring: Scoring, #[comptime] t: FlashTile) -> Tile {
    if t.bias { (score + reference) * LOG2_E } else { fma(score, scoring.factor, reference) }
}

/// What a sum falls by when the reference does.
#[device]
pub(super) fn fall(from: Tile, to: Tile, #[comptime] t: FlashTile) -> Tile {
    exp2(minimum(if t.bias { (to - from) * LOG2_E } else { to - from }, 0.0))
}

/// The logarithm of a sum of exponentials relative to a reference.
#[device]
pub(super) fn log_sum(sum: Tile, reference: Tile, #[comptime] t: FlashTile) -> Tile {
    if t.bias { log2(sum) * LN_2 - reference } else { (log2(sum) - reference) * LN_2 }
}

/// The scoring of a block's part.
#[device]
pub(super) fn scoring(given: Given, part: Part, #[comptime] t: FlashTile) -> Scoring {
    let Part { first_row, head, entry, first_key, keys, .. } = part;
    let stride = given.bias_stride;
    let row = first_row + arange(t.scores().slice(1));
    Scoring {
        bias: if t.bias {
            let start = given.bias + entry as i64 * stride[0] + head as i64 * stride[1];
            start + (row as i64 * stride[2] + (first_key + keys) as i64 * stride[3])
        } else {
            row
        },
        bias_stride: stride[3],
        row_inside: row < given.n_q,
        factor: given.factor,
    }
}
