//! Element types: what one element of a tile, or one scalar argument, can be.

use half::{bf16, f16};

use crate::float8::{F8E4M3, F8E5M2};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F8E4M3,
    F8E5M2,
    F16,
    BF16,
    F32,
    F64,
}

impl DType {
    /// Its name, as Rust spells it.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::F8E4M3 => "f8e4m3",
            DType::F8E5M2 => "f8e5m2",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// Bytes that one element takes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            DType::Bool | DType::I8 | DType::U8 | DType::F8E4M3 | DType::F8E5M2 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 => 8,
        }
    }

    /// Bits that one element takes in memory.
    pub const fn bits(self) -> u32 {
        self.bytes() * 8
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        self.is_narrow_float() || matches!(self, DType::F32 | DType::F64)
    }

    /// Whether it is a floating-point type that is computed with in `f32`.
    pub const fn is_narrow_float(self) -> bool {
        matches!(self, DType::F8E4M3 | DType::F8E5M2 | DType::F16 | DType::BF16)
    }

    /// Whether it is an integer type; `bool` is none.
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, DType::Bool)
    }

    /// Whether it is an integer with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// Whether the two are the same type.
    pub const fn is(self, other: DType) -> bool {
        self as u8 == other as u8
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that elements of tiles and arguments of kernels can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element type",
    note = "elements are bool, i8 to i64, u8 to u64, F8E4M3, F8E5M2, f16, bf16, f32 and f64"
)]
pub trait Element:
    core::fmt::Debug + sealed::Sealed + Copy + Send + Sync + Default + cudarc::driver::DeviceRepr + 'static
{
    /// The type as a value.
    const DTYPE: DType;

    /// Appends the element's bytes, little-endian.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads an element from its little-endian bytes, [`DType::bytes`] of them.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                <$rust>::from_le_bytes(own)
            }
        }
    )*};
}

elements! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    F8E4M3 => F8E4M3, F8E5M2 => F8E5M2, f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
}

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

/// A scalar argument of a kernel, at launch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool(bool),
    I32(i32),
    I64(i64),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
}
