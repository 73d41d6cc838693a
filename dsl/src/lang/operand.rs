//! Sides of an operator: run-time values and the comptime numbers that stand beside them.

use half::{bf16, f16};

use crate::element::DType;
use crate::float8::{F8E4M3, F8E5M2};
use crate::ir::TileType;
use crate::lang::{Tile, Trace};

/// One side of an operator. A comptime number takes the element type of the other side.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A run-time value.
    Tile(Tile),
    /// A comptime integer.
    Int(i64),
    /// A comptime floating-point number.
    Float(f64),
    /// A comptime truth value.
    Bool(bool),
}

impl Operand {
    /// The type this side brings; `None` for a number that takes the other's.
    pub(crate) const fn own_type(&self) -> Option<TileType> {
        match self {
            Operand::Tile(tile) => Some(tile.ty),
            Operand::Bool(_) => Some(TileType::scalar(DType::Bool)),
            Operand::Int(_) | Operand::Float(_) => None,
        }
    }

    /// The run-time value, a constant of the given element type where it is a number.
    #[track_caller]
    pub(crate) const fn tile(self, trace: &mut Trace<'_>, op: &str, dtype: DType) -> Tile {
        match self {
            Operand::Tile(tile) => tile,
            Operand::Bool(value) => trace.integer(DType::Bool, value as i64),
            Operand::Int(value) if dtype.is_float() => trace.float(dtype, value as f64),
            Operand::Int(value) => {
                if !fits(value, dtype) {
                    trace.fail(super::ops::text(op).number_signed(value).push(" does not fit ").push(dtype.name()));
                }
                trace.integer(dtype, value)
            }
            Operand::Float(value) => {
                if !dtype.is_float() {
                    let text = super::ops::text(op).push("a floating-point number beside ").push(dtype.name());
                    trace.fail(text.push("; convert the tile with `as f32`, or write an integer"));
                }
                trace.float(dtype, value)
            }
        }
    }
}

const fn fits(value: i64, dtype: DType) -> bool {
    let bits = dtype.bits();
    match dtype {
        DType::Bool => value == 0 || value == 1,
        DType::U64 => value >= 0,
        DType::I64 => true,
        _ if dtype.is_signed() => value >= -(1 << (bits - 1)) && value < 1 << (bits - 1),
        _ => value >= 0 && value < 1 << bits,
    }
}

/// A comptime value on its way to being an [`Operand`].
#[derive(Clone, Copy, Debug)]
pub struct Lift<T>(pub T);

macro_rules! lift {
    ($($rust:ty => |$x:ident| $operand:expr),* $(,)?) => {$(
        impl Lift<$rust> {
            /// The value as one side of an operator.
            pub const fn operand(self) -> Operand {
                let $x = self.0;
                $operand
            }
        }
    )*};
}

lift! {
    usize => |x| Operand::Int(x as i64),
    u32 => |x| Operand::Int(x as i64),
    u64 => |x| Operand::Int(x as i64),
    i32 => |x| Operand::Int(x as i64),
    i64 => |x| Operand::Int(x),
    f32 => |x| Operand::Float(x as f64),
    f64 => |x| Operand::Float(x),
    f16 => |x| Operand::Float(x.to_f64_const()),
    bf16 => |x| Operand::Float(x.to_f64_const()),
    F8E4M3 => |x| Operand::Float(x.to_f64()),
    F8E5M2 => |x| Operand::Float(x.to_f64()),
    bool => |x| Operand::Bool(x),
    Tile => |x| Operand::Tile(x),
}
