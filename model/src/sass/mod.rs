//! Assembled code: instructions with what they are, what they wait for and where they jump.
//!
//! [`decode`] reads the disassembler's text, [`control`] the scheduling that the assembler wrote into each instruction,
//! [`class`] says what kind of work an instruction is, [`loops`] finds the loop that a kernel spends its time in.

pub mod class;
pub mod control;
pub mod decode;
pub mod loops;

use self::class::Class;
use self::control::Control;

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its place in the code, in bytes.
    pub address: u32,
    /// The predicate that guards it, such as `@!P0`, if one does.
    pub guard: Option<String>,
    /// Its name with modifiers, such as `LDS.U.128`.
    pub opcode: String,
    /// Its operands as they are written.
    pub operands: Vec<String>,
    /// What it waits for and signals.
    pub control: Control,
    /// What kind of work it is.
    pub class: Class,
    /// The instruction that it can jump to.
    pub target: Option<usize>,
}

impl Instruction {
    /// Its name without modifiers: the `LDS` of `LDS.U.128`.
    pub fn base(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Whether its name has a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        has_modifier(&self.opcode, modifier)
    }

    /// Whether it's guarded by what is never true: it only fills a slot.
    pub fn is_never(&self) -> bool {
        self.guard.as_deref() == Some("@!PT")
    }

    /// Its text without control.
    pub fn text(&self) -> String {
        let guard = self.guard.as_ref().map_or(String::new(), |guard| format!("{guard} "));
        let operands = self.operands.join(", ");
        format!("{guard}{} {operands}", self.opcode).trim_end().to_owned()
    }
}

/// Whether an instruction's name has a modifier, as `LDS.U.128` has `128`.
fn has_modifier(opcode: &str, modifier: &str) -> bool {
    opcode.split('.').skip(1).any(|own| own == modifier)
}
