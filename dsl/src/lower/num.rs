//! What a thread holds of one element while it is lowered.
//!
//! Lowering keeps values symbolic for as long as that saves instructions: an integer is a register plus a constant, so
//! that offsets become immediates of memory instructions; half-precision elements stay packed in the 32-bit register
//! that they were loaded in until an instruction wants one alone.

use crate::ptx::{Class, Operand, Reg};

/// One element, as a thread has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Num {
    /// An integer or an address: a register plus a constant.
    Int {
        /// The register; `None` is zero.
        base: Option<Reg>,
        /// What is added.
        offset: i64,
    },
    /// A constant of a floating-point type, as the bits of its `f64`.
    Float(u64),
    /// A constant truth value.
    Bool(bool),
    /// A float, a half or a predicate in a register of its own.
    Reg(Reg),
    /// Half of a 32-bit register.
    Half {
        /// The register.
        pack: Reg,
        /// Whether it is the upper half.
        high: bool,
    },
}

impl Num {
    /// An integer constant.
    pub fn int(value: i64) -> Num {
        Num::Int { base: None, offset: value }
    }

    /// An integer in a register.
    pub fn base(reg: Reg) -> Num {
        Num::Int { base: Some(reg), offset: 0 }
    }

    /// What a register holds: an integer, or something that has no constant part.
    pub fn of(reg: Reg) -> Num {
        if matches!(reg.class, Class::B32 | Class::B64) { Num::base(reg) } else { Num::Reg(reg) }
    }

    /// A floating-point constant.
    pub fn float(value: f64) -> Num {
        Num::Float(value.to_bits())
    }

    /// The register that it depends on.
    pub fn register(self) -> Option<Reg> {
        match self {
            Num::Int { base, .. } => base,
            Num::Reg(reg) | Num::Half { pack: reg, .. } => Some(reg),
            Num::Float(_) | Num::Bool(_) => None,
        }
    }
}

/// The immediate of a floating-point constant in a register of this class.
pub(super) fn float_immediate(bits: u64, class: Class) -> Operand {
    let value = f64::from_bits(bits);
    match class {
        Class::F64 => Operand::F64(bits),
        _ => Operand::F32((value as f32).to_bits()),
    }
}
