//! Inline assembly: an author's PTX over packs of elements.
//!
//! The text goes through the parser like any other PTX, with `$0`, `$1`, … replaced by the registers of the pack: so a
//! mistake in it is found here, with its line, and what is emitted is data like everything else.

use std::panic::Location;

use super::num::Num;
use super::scalar::class_of;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{TileType, Value};
use crate::ptx::{self, Class, Reg, Statement};

impl Lowering<'_> {
    pub(super) fn assembly(
        &mut self,
        text: &str,
        args: &[Value],
        pack: usize,
        ty: &TileType,
        at: &'static Location<'static>,
    ) -> Result<(), LowerError> {
        let operands: Vec<Vec<Num>> = args.iter().map(|&arg| self.spread(arg, ty)).collect();
        let count = operands[0].len();
        let mut held = Vec::with_capacity(count);
        for first in (0..count).step_by(pack) {
            let results = self.result_registers(ty.dtype, pack);
            let mut registers = results.clone();
            for (operand, &value) in operands.iter().zip(args) {
                let dtype = self.function.type_of(value).dtype;
                registers.extend(self.operand_registers(dtype, &operand[first..first + pack]));
            }
            for statement in self.parsed(text, &registers, at)? {
                if let Statement::Instruction { guard, op } = statement {
                    self.emit.push_guarded(guard, op);
                }
            }
            held.extend(self.elements(ty.dtype, pack, &results));
        }
        self.define(held);
        Ok(())
    }

    fn result_registers(&mut self, dtype: DType, pack: usize) -> Vec<Reg> {
        let (class, count) = if paired(dtype) { (Class::B32, pack.div_ceil(2)) } else { (class_of(dtype), pack) };
        (0..count).map(|_| self.emit.fresh(class)).collect()
    }

    /// A pack's elements in registers, halves two to one.
    fn operand_registers(&mut self, dtype: DType, nums: &[Num]) -> Vec<Reg> {
        if !paired(dtype) {
            return nums.iter().map(|&num| self.reg(num, class_of(dtype))).collect();
        }
        let pairs = nums.chunks(2).map(|pair| (pair[0], pair.get(1).copied().unwrap_or(Num::float(0.0))));
        pairs.map(|(low, high)| self.pack(dtype, low, high)).collect()
    }

    fn elements(&mut self, dtype: DType, pack: usize, regs: &[Reg]) -> Vec<Num> {
        if paired(dtype) {
            let halves = regs.iter().flat_map(|&pack| [false, true].map(|high| Num::Half { pack, high }));
            return halves.take(pack).collect();
        }
        regs.iter().copied().map(Num::of).collect()
    }

    /// The text's statements with these registers.
    fn parsed(
        &self,
        text: &str,
        registers: &[Reg],
        at: &'static Location<'static>,
    ) -> Result<Vec<Statement>, LowerError> {
        let wrong = |error: String| LowerError::Assembly { at: at.to_string(), error };
        let body = substitute(text, registers).map_err(wrong)?;
        let statements = ptx::parse_body(&body, self.emit.counts).map_err(|error| wrong(error.to_string()))?;
        // Registers and labels of its own would need names that nothing else here has.
        let jumps = statements.iter().any(|s| matches!(s, Statement::Label(_)));
        if jumps || text.contains(".reg") {
            return Err(wrong("it can have neither registers nor labels of its own".to_owned()));
        }
        Ok(statements)
    }
}

/// Whether two elements share a 32-bit register.
fn paired(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// Replaces `$i` by the name of register i.
fn substitute(text: &str, registers: &[Reg]) -> Result<String, String> {
    let mut pieces = text.split('$');
    let mut body = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.chars().take_while(char::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let register = number.parse::<usize>().ok().and_then(|i| registers.get(i));
        let register =
            register.ok_or_else(|| format!("${number} is no operand; there are $0 to ${}", registers.len() - 1))?;
        body.push_str(&ptx::register_name(*register));
        body.push_str(rest);
    }
    Ok(body)
}
