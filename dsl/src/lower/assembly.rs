//! Inline assembly: an author's PTX over packs of elements.
//!
//! The text goes through the parser like any other PTX, with `$0`, `$1`, … replaced by the registers of the pack: so a
//! mistake in it is found here, with its line, and what is emitted is data like everything else.

use std::ops::Range;
use std::panic::Location;

use super::bytes::PER_WORD;
use super::num::Num;
use super::scalar::class_of;
use super::{Held, LowerError, Lowering};
use crate::element::DType;
use crate::ir::{Asm, OpKind, TileType, Value};
use crate::ptx::{self, Class, Reg, Statement};

impl Lowering<'_> {
    pub(super) fn assembly(
        &mut self,
        asm: &Asm,
        ty: &TileType,
        at: &'static Location<'static>,
    ) -> Result<(), LowerError> {
        let results = &asm.results[..asm.result_count as usize];
        let mut held = vec![Vec::new(); results.len()];
        let needed = !asm.pure || self.is_used(Value(self.values.len() as u32));
        let args: Vec<(DType, Vec<Num>)> = asm.args[..asm.arg_count as usize]
            .iter()
            .map(|&arg| (self.function.type_of(arg).dtype, self.spread(arg, ty)))
            .collect();
        for first in (0..args[0].1.len()).step_by(asm.pack as usize) {
            let pack = first..first + asm.pack as usize;
            if !needed {
                // Nobody looks at these.
                held.iter_mut().for_each(|held| held.extend(pack.clone().map(|_| Num::int(0))));
                continue;
            }
            let own: Vec<Vec<Reg>> = results.iter().map(|&dtype| self.result_registers(dtype, pack.len())).collect();
            self.call(asm.text, &own, &args, pack.clone(), at)?;
            for ((held, own), &dtype) in held.iter_mut().zip(&own).zip(results) {
                held.extend(self.elements(dtype, pack.len(), own));
            }
        }
        let mut held = held.into_iter();
        self.define(held.next().expect("typing asks for a result"));
        let first = Value(self.values.len() as u32 - 1);
        self.further_results.insert(first, held.map(Held::from).collect());
        Ok(())
    }

    /// The statements of one pack.
    fn call(
        &mut self,
        text: &str,
        results: &[Vec<Reg>],
        args: &[(DType, Vec<Num>)],
        pack: Range<usize>,
        at: &'static Location<'static>,
    ) -> Result<(), LowerError> {
        let mut registers = results.concat();
        for (dtype, nums) in args {
            registers.extend(self.operand_registers(*dtype, &nums[pack.clone()]));
        }
        for statement in self.parsed(text, &registers, at)? {
            if let Statement::Instruction { guard, op } = statement {
                self.emit.push_guarded(guard, op);
            }
        }
        Ok(())
    }

    pub(super) fn assembly_result(&mut self, first: Value, position: u32) {
        let held = Held::clone(&self.further_results[&first][position as usize - 1]);
        self.values.push(held);
    }

    /// Whether any operation wants a value of an inline assembly, or another of its results.
    fn is_used(&self, first: Value) -> bool {
        let (mut wanted, mut number) = (vec![first], 0);
        self.function.ops.iter().any(|op| {
            let own = Value(number);
            number += u32::from(op.result.is_some());
            match op.kind {
                OpKind::AsmResult(of, _) if of == first => {
                    wanted.push(own);
                    false
                }
                _ => op.kind.operands().iter().any(|value| wanted.contains(value)),
            }
        })
    }

    fn result_registers(&mut self, dtype: DType, pack: usize) -> Vec<Reg> {
        let shared = elements_per_register(dtype, pack);
        let class = if shared > 1 { Class::B32 } else { class_of(dtype) };
        (0..pack.div_ceil(shared)).map(|_| self.emit.fresh(class)).collect()
    }

    /// A pack's elements in registers.
    fn operand_registers(&mut self, dtype: DType, nums: &[Num]) -> Vec<Reg> {
        match elements_per_register(dtype, nums.len()) {
            1 => nums.iter().map(|&num| self.reg(num, class_of(dtype))).collect(),
            PER_WORD => self.words_of_bytes(nums),
            _ => {
                let pair = |pair: &[Num]| (pair[0], pair.get(1).copied().unwrap_or(Num::float(0.0)));
                nums.chunks(2).map(pair).map(|(low, high)| self.pack(dtype, low, high)).collect()
            }
        }
    }

    fn elements(&mut self, dtype: DType, pack: usize, regs: &[Reg]) -> Vec<Num> {
        match elements_per_register(dtype, pack) {
            // The text may leave anything above a narrow integer's own bits.
            1 => regs.iter().map(|&reg| self.wrapped(dtype, Num::of(reg))).collect(),
            PER_WORD => self.bytes_of_words(dtype, regs),
            _ => {
                let halves = regs.iter().flat_map(|&pack| [false, true].map(|high| Num::Half { pack, high }));
                halves.take(pack).collect()
            }
        }
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

/// How many elements of a pack share a 32-bit register.
fn elements_per_register(dtype: DType, pack: usize) -> usize {
    match dtype {
        DType::F16 | DType::BF16 => 2,
        DType::Bool => 1,
        _ if dtype.bytes() == 1 && pack.is_multiple_of(PER_WORD) => PER_WORD,
        _ => 1,
    }
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
