//! What kind of work an instruction is, by its name.
//!
//! `HMMA.884.F32.F32.STEP0` is one step of a matrix product that sums in f32, `LDS.U.128` a load of 16 bytes a lane from
//! shared memory. The profile says what each class costs. A name that isn't listed here is one of the many of the integer and
//! logic unit.

use super::has_modifier;
use std::fmt;

/// A class of instructions that cost the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A step of a matrix product that sums in single precision.
    MatrixF32,
    /// A step of a matrix product that sums in half precision.
    MatrixF16,
    /// Half precision arithmetic.
    Half,
    /// Double precision arithmetic.
    Double,
    /// Single precision arithmetic.
    Float,
    /// Integer multiplication with a 32-bit result.
    Multiply,
    /// Integer multiplication with a 64-bit result.
    MultiplyWide,
    /// Integer, logic, comparisons, selections and moves.
    Alu,
    /// Special functions.
    Special,
    /// Conversions between types.
    Convert,
    /// Counts of bits.
    Bits,
    /// A shuffle between lanes.
    Shuffle,
    /// A barrier of the block.
    Barrier,
    /// Branches and what belongs to them.
    Branch,
    /// What goes through no pipe.
    Other,
    /// An access to memory.
    Access(Memory, Width),
}

/// Which memory, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// Load from shared memory.
    SharedLoad,
    /// Store to shared memory.
    SharedStore,
    /// Load from global or local memory.
    GlobalLoad,
    /// Store to global or local memory.
    GlobalStore,
    /// Atomic update.
    Atomic,
}

/// Bytes that an access moves for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// At most 4.
    Four,
    /// 8.
    Eight,
    /// 16.
    Sixteen,
}

/// The work that code is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Steps of matrix products.
    Matrix,
    /// Single precision arithmetic.
    Float,
}

impl Work {
    /// Matrix steps where there is one, else single precision arithmetic.
    pub fn of(classes: impl IntoIterator<Item = Class>) -> Self {
        if classes.into_iter().any(Class::is_matrix) { Work::Matrix } else { Work::Float }
    }

    /// Whether instructions of a class do this work.
    pub fn is_done_by(self, class: Class) -> bool {
        match self {
            Work::Matrix => class.is_matrix(),
            Work::Float => class == Class::Float,
        }
    }
}

impl Width {
    /// As a number of bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Four => 4,
            Width::Eight => 8,
            Width::Sixteen => 16,
        }
    }

    fn of(opcode: &str) -> Self {
        match (has_modifier(opcode, "128"), has_modifier(opcode, "64")) {
            (true, _) => Width::Sixteen,
            (_, true) => Width::Eight,
            _ => Width::Four,
        }
    }
}

impl Class {
    /// The class of an instruction's name with its modifiers.
    pub fn of(opcode: &str) -> Self {
        let base = opcode.split('.').next().unwrap_or_default();
        match base {
            "HMMA" => matrix(opcode),
            "HADD2" | "HFMA2" | "HMUL2" | "HSET2" | "HSETP2" | "HADD2_32I" | "HFMA2_32I" | "HMUL2_32I" => Class::Half,
            "FFMA" | "FMUL" | "FADD" | "FFMA32I" | "FMUL32I" | "FADD32I" => Class::Float,
            "DADD" | "DMUL" | "DFMA" | "DSETP" => Class::Double,
            "IMAD" | "IDP" | "IMUL" if opcode.contains(".WIDE") || opcode.contains(".HI") => Class::MultiplyWide,
            "IMAD" | "IDP" | "IMUL" => Class::Multiply,
            "MUFU" => Class::Special,
            "F2F" | "F2I" | "I2F" | "I2I" | "FRND" => Class::Convert,
            "POPC" | "FLO" | "BREV" => Class::Bits,
            "SHFL" => Class::Shuffle,
            "BAR" => Class::Barrier,
            _ => memory(base).map_or_else(|| control(base), |memory| Class::Access(memory, Width::of(opcode))),
        }
    }

    /// Whether it's part of a matrix product.
    pub const fn is_matrix(self) -> bool {
        matches!(self, Class::MatrixF32 | Class::MatrixF16)
    }

    /// Whether it loads from shared memory or stores to it.
    pub const fn is_shared(self) -> bool {
        matches!(self, Class::Access(Memory::SharedLoad | Memory::SharedStore, _))
    }

    /// Bytes that a warp moves to or from global memory.
    pub const fn global_bytes(self) -> u32 {
        match self {
            Class::Access(Memory::GlobalLoad | Memory::GlobalStore, width) => 32 * width.bytes(),
            _ => 0,
        }
    }
}

/// The types of a matrix product stand after its shape: result, then summand.
fn matrix(opcode: &str) -> Class {
    let mut types = opcode.split('.').skip(2);
    match (types.next(), types.next()) {
        (Some("F16"), Some("F16")) => Class::MatrixF16,
        _ => Class::MatrixF32,
    }
}

fn memory(base: &str) -> Option<Memory> {
    Some(match base {
        "LDS" => Memory::SharedLoad,
        "STS" => Memory::SharedStore,
        "LDG" | "LD" | "LDL" => Memory::GlobalLoad,
        "STG" | "ST" | "STL" => Memory::GlobalStore,
        "ATOM" | "ATOMG" | "ATOMS" | "RED" => Memory::Atomic,
        _ => return None,
    })
}

fn control(base: &str) -> Class {
    match base {
        "BRA" | "BRX" | "JMP" | "EXIT" | "RET" | "CALL" | "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC" | "YIELD" => {
            Class::Branch
        }
        "S2R" | "CS2R" | "NOP" | "DEPBAR" | "MEMBAR" | "ERRBAR" | "LDC" | "B2R" | "R2B" | "S2UR" | "CCTL" | "BMOV"
        | "NANOSLEEP" => Class::Other,
        _ => Class::Alu,
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Class::MatrixF32 => "matrix step, f32",
            Class::MatrixF16 => "matrix step, f16",
            Class::Half => "half",
            Class::Double => "double",
            Class::Float => "float",
            Class::Multiply => "multiply",
            Class::MultiplyWide => "multiply, wide",
            Class::Alu => "integer and logic",
            Class::Special => "special function",
            Class::Convert => "conversion",
            Class::Bits => "bit count",
            Class::Shuffle => "shuffle",
            Class::Barrier => "barrier",
            Class::Branch => "branch",
            Class::Other => "other",
            Class::Access(memory, width) => return write!(f, "{memory}, {} bytes", width.bytes()),
        };
        f.write_str(name)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Memory::SharedLoad => "shared load",
            Memory::SharedStore => "shared store",
            Memory::GlobalLoad => "global load",
            Memory::GlobalStore => "global store",
            Memory::Atomic => "atomic",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_classes() {
        for (opcode, class) in [
            ("HMMA.884.F32.F32.STEP0", Class::MatrixF32),
            ("HMMA.884.F16.F16.STEP1", Class::MatrixF16),
            ("HMMA.884.F32.F16.STEP1", Class::MatrixF32),
            ("HADD2.F32", Class::Half),
            ("FFMA.FTZ", Class::Float),
            ("IMAD.MOV.U32", Class::Multiply),
            ("IMAD.WIDE.U32", Class::MultiplyWide),
            ("IMAD.HI.U32", Class::MultiplyWide),
            ("F2F.F16.F32", Class::Convert),
            ("MUFU.EX2", Class::Special),
            ("LOP3.LUT", Class::Alu),
            ("PRMT", Class::Alu),
            ("BAR.SYNC", Class::Barrier),
            ("LDS.U.128", Class::Access(Memory::SharedLoad, Width::Sixteen)),
            ("STS.64", Class::Access(Memory::SharedStore, Width::Eight)),
            ("LDG.E.U16.SYS", Class::Access(Memory::GlobalLoad, Width::Four)),
            ("LDL.64", Class::Access(Memory::GlobalLoad, Width::Eight)),
            ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", Class::Access(Memory::Atomic, Width::Four)),
            ("CS2R.32", Class::Other),
        ] {
            assert_eq!(Class::of(opcode), class, "{opcode}");
        }
        assert_eq!(Class::of("STG.E.128.SYS").global_bytes(), 512);
        assert_eq!(Class::of("STS.128").global_bytes(), 0);
    }
}
