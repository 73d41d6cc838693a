//! Reads the text of `nvdisasm -hex`.
//!
//! An instruction takes two lines: address, text and lower word, then the upper word, which has the control. Labels stand on
//! lines of their own, before what they name:
//!
//! ```text
//! .L_1:
//!         /*0030*/      @P0 BRA `(.L_1) ;      /* 0xfffffff000000947 */
//!                                              /* 0x000fea000383ffff */
//! ```
//!
//! How wide the gaps are doesn't matter. Other lines are of no interest.

use super::Instruction;
use super::class::Class;
use super::control::Control;
use std::collections::HashMap;

/// The instructions of a text, in its order.
pub fn decode(text: &str) -> Vec<Instruction> {
    let mut code: Vec<Instruction> = Vec::new();
    let mut labels: HashMap<&str, usize> = HashMap::new();
    let mut pending: Option<(u32, &str)> = None;
    for line in text.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, code.len());
        } else if let Some(first) = first_line(line) {
            pending = Some(first);
        } else if let Some((upper, (address, body))) = comment(line).and_then(word).zip(pending.take()) {
            code.push(instruction(address, body, Control::of(upper)));
        }
    }
    for one in &mut code {
        one.target = one.operands.last().and_then(|last| label(last)).and_then(|name| labels.get(name)).copied();
    }
    code.iter_mut().filter(|one| !jumps(one.base())).for_each(|one| one.target = None);
    code
}

/// Address and text of a line that begins an instruction.
fn first_line(line: &str) -> Option<(u32, &str)> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address, 16).ok()?;
    let (body, _) = rest.split_once("/*")?;
    Some((address, body.trim().trim_end_matches(';').trim_end()))
}

/// What stands in a line that is a comment alone.
fn comment(line: &str) -> Option<&str> {
    Some(line.strip_prefix("/*")?.strip_suffix("*/")?.trim())
}

fn word(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn instruction(address: u32, body: &str, control: Control) -> Instruction {
    let (guard, rest) = match body.starts_with('@') {
        true => {
            body.split_once(char::is_whitespace).map_or((Some(body), ""), |(guard, rest)| (Some(guard), rest.trim()))
        }
        false => (None, body),
    };
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let operands = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty());
    Instruction {
        address,
        guard: guard.map(str::to_owned),
        opcode: opcode.to_owned(),
        operands: operands.map(str::to_owned).collect(),
        control,
        class: Class::of(opcode),
        target: None,
    }
}

/// The label in an operand: the `.L_1` of `` `(.L_1) ``.
fn label(operand: &str) -> Option<&str> {
    operand.strip_prefix("`(")?.strip_suffix(')')
}

/// Whether an instruction's label is where it goes, rather than where the warp comes together again.
fn jumps(base: &str) -> bool {
    matches!(base, "BRA" | "BRX")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
\t.section\t.text.k,\"ax\",@progbits
k:
.text.k:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;   /* 0x00000a00ff017624 */
                                                                             /* 0x000fe400078e00ff */
.L_x_1:
        /*0010*/              @!P0 LDS.U.128 R4, [R2.X4+0x10] ;              /* 0x0000000000477919 */
                                                                             /* 0x000e220000002600 */
        /*0020*/                   BSSY B0, `(.L_x_2) ;                      /* 0x0000000000477919 */
                                                                             /* 0x000e220000002600 */
        /*0030*/               @P0 BRA `(.L_x_1) ;                           /* 0xfffffff000000947 */
                                                                             /* 0x001fea000383ffff */
.L_x_2:
        /*0040*/                   EXIT ;                                    /* 0x000000000000794d */
                                                                             /* 0x000fea0003800000 */
.L_x_3:
";

    #[test]
    fn instructions_have_guard_operands_control_and_target() {
        let code = decode(TEXT);
        let texts: Vec<String> = code.iter().map(Instruction::text).collect();
        let expected = [
            "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]",
            "@!P0 LDS.U.128 R4, [R2.X4+0x10]",
            "BSSY B0, `(.L_x_2)",
            "@P0 BRA `(.L_x_1)",
            "EXIT",
        ];
        assert_eq!(texts, expected);
        assert_eq!(code.iter().map(|one| one.address).collect::<Vec<_>>(), [0, 0x10, 0x20, 0x30, 0x40]);
        assert_eq!(code.iter().map(|one| one.target).collect::<Vec<_>>(), [None, None, None, Some(1), None]);
        assert_eq!((code[1].base(), code[1].has("128"), code[1].has("64")), ("LDS", true, false));
        assert_eq!((code[1].control.write, code[3].control.wait), (Some(0), 1));
    }

    #[test]
    fn a_text_that_is_cut_has_the_instructions_before() {
        for end in 0..TEXT.len() {
            assert!(decode(&TEXT[..end]).len() <= 5);
        }
        assert!(decode("").is_empty());
    }
}
