//! One element: what registers and instructions hold and compute it.
//!
//! | file | what it decides |
//! |---|---|
//! | `operand` | how an element gets into a register or an immediate |
//! | `instruction` | the modifiers of an instruction |
//! | `elementwise` | which instructions an operator is, for each type |
//! | `integer` | constants, offsets, divisors and widths of integers |
//! | `multiple` | numbers at equal distances, each made of the one before |
//! | `constant` | floating-point constants in their types |
//! | `narrow` | floats narrower than 32 bits, as `f32` and back |
//! | `cast` | conversions between types |
//! | `pairs` | two `f32` rounded to halves at once |
//! | `bitcast` | the same bits as another type |
//! | `address` | pointers moved by elements |

mod address;
mod bitcast;
mod cast;
mod constant;
mod elementwise;
mod instruction;
mod integer;
mod multiple;
mod narrow;
mod operand;
mod pairs;

pub(in crate::lower) use self::constant::constant;
pub(in crate::lower) use self::multiple::Multiple;
use crate::element::DType;
use crate::ptx::{Class, Type};

/// The register class of an element type. Narrow integers, and the bits of floats of 8 bits, are kept, extended, in 32.
pub(in crate::lower) fn class_of(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Pred,
        DType::F16 | DType::BF16 => Class::B16,
        DType::F32 => Class::F32,
        DType::F64 => Class::F64,
        DType::I64 | DType::U64 => Class::B64,
        _ => Class::B32,
    }
}

/// The type that arithmetic on an element type has.
pub(in crate::lower) fn type_of(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Pred,
        DType::F16 => Type::F16,
        DType::BF16 => Type::BF16,
        DType::F32 => Type::F32,
        DType::F64 => Type::F64,
        DType::I64 => Type::S64,
        DType::U64 => Type::U64,
        DType::I8 | DType::I16 | DType::I32 => Type::S32,
        DType::F8E4M3 | DType::F8E5M2 | DType::U8 | DType::U16 | DType::U32 => Type::U32,
    }
}

/// The untyped type of a class.
pub(in crate::lower) fn bits_of(class: Class) -> Type {
    match class {
        Class::Pred => Type::Pred,
        Class::B16 => Type::B16,
        Class::B32 => Type::B32,
        Class::B64 => Type::B64,
        Class::F32 => Type::F32,
        Class::F64 => Type::F64,
    }
}
