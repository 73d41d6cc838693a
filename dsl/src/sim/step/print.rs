//! What kernels call to print and to stop: `vprintf` and `__assertfail`.
//!
//! A format is a text in global memory. Its arguments lie one after the other in memory of the thread, each at a multiple
//! of its bytes, as C passes them: `%d` takes 4, `%lld`, `%g` and the address of a `%s` take 8. What is understood of a
//! conversion is its width, precision and the flags `-` and `0`.

use super::local;
use crate::sim::machine::{Block, Stop};
use crate::sim::memory::LOCAL_WINDOW;
use crate::sim::program::Slot;
use crate::sim::report::FaultKind;
use crate::sim::warp::{Warp, lanes};

/// Prints a line for each running lane, in their order.
pub(super) fn print(block: &mut Block<'_>, warp: &Warp, format: Slot, arguments: Slot, mask: u32) -> Result<(), Stop> {
    for lane in lanes(mask) {
        let stop = |what: String| Stop::new(lane as u32, FaultKind::Unsupported { what });
        let text = text_at(block, warp.long(format)[lane]).ok_or_else(|| stop("a format that isn't a text".into()))?;
        let start = warp.long(arguments)[lane].wrapping_sub(LOCAL_WINDOW);
        let mut list = Arguments { block, warp, lane, next: start };
        let line = formatted(&text, &mut list).map_err(|what| stop(format!("{what} in the format {text:?}")))?;
        block.printed += &line;
    }
    Ok(())
}

/// A failed assertion stops the program, with its message.
pub(super) fn assertion(block: &Block<'_>, warp: &Warp, message: Slot, mask: u32) -> Stop {
    let lane = mask.trailing_zeros();
    let message = text_at(block, warp.long(message)[lane as usize]);
    Stop::new(lane, FaultKind::Trap { message })
}

/// A text in global memory, up to the 0 at its end.
fn text_at(block: &Block<'_>, mut address: u64) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let (buffer, offset) = block.launch.memory.find(address, 1)?;
        match buffer.read(offset, 1) as u8 {
            0 => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            byte => bytes.push(byte),
        }
        address += 1;
    }
}

/// The arguments that are left.
struct Arguments<'a, 'b> {
    block: &'a Block<'b>,
    warp: &'a Warp,
    lane: usize,
    /// The place of the next, in the thread's memory.
    next: u64,
}

impl Arguments<'_, '_> {
    fn take(&mut self, bytes: u32) -> Result<u64, String> {
        let at = self.next.checked_next_multiple_of(bytes.into()).ok_or("no arguments")?;
        if at.saturating_add(bytes.into()) > self.block.launch.program.local.into() {
            return Err("more arguments than there are".into());
        }
        self.next = at + u64::from(bytes);
        Ok(local::read(self.block, self.warp, self.lane, at as usize, bytes as usize))
    }
}

/// What stands between `%` and the letter.
#[derive(Default)]
struct Conversion {
    left: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

fn formatted(format: &str, list: &mut Arguments<'_, '_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        let (conversion, letter, after) = parse(&rest[percent + 1..])?;
        rest = after;
        out.push_str(&if letter == '%' { "%".to_owned() } else { converted(&conversion, letter, list)? });
    }
    Ok(out + rest)
}

/// Reads a conversion; also what follows it.
fn parse(text: &str) -> Result<(Conversion, char, &str), String> {
    let mut own = Conversion::default();
    let mut rest = text;
    while let Some(flag @ ('-' | '0')) = rest.chars().next() {
        own.left |= flag == '-';
        own.zeros |= flag == '0';
        rest = &rest[1..];
    }
    (own.width, rest) = number(rest);
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = number(after);
        (own.precision, rest) = (Some(precision), after);
    }
    let letters = rest.trim_start_matches('l');
    own.long = letters.len() < rest.len();
    let letter = letters.chars().next().ok_or("a `%` at the end")?;
    Ok((own, letter, &letters[letter.len_utf8()..]))
}

fn number(text: &str) -> (usize, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (text[..digits].parse().unwrap_or(0), &text[digits..])
}

fn converted(own: &Conversion, letter: char, list: &mut Arguments<'_, '_>) -> Result<String, String> {
    let bytes = if own.long { 8 } else { 4 };
    let text = match letter {
        'd' | 'i' => match list.take(bytes)? {
            value if own.long => value.cast_signed().to_string(),
            value => (value as i32).to_string(),
        },
        'u' => list.take(bytes)?.to_string(),
        'x' => format!("{:x}", list.take(bytes)?),
        'f' | 'e' | 'g' => float(f64::from_bits(list.take(8)?), letter, own.precision.unwrap_or(6)),
        's' => text_at(list.block, list.take(8)?).ok_or("a `%s` that isn't a text")?,
        _ => return Err(format!("`%{letter}`")),
    };
    Ok(padded(text, own))
}

fn padded(text: String, own: &Conversion) -> String {
    let missing = own.width.saturating_sub(text.chars().count());
    if own.left {
        text + &" ".repeat(missing)
    } else if own.zeros {
        let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
        format!("{sign}{}{digits}", "0".repeat(missing))
    } else {
        " ".repeat(missing) + &text
    }
}

/// A number as `%f`, `%e` or `%g` spell it.
fn float(value: f64, letter: char, precision: usize) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    match letter {
        'f' => format!("{value:.precision$}"),
        'e' => exponential(value, precision),
        _ => general(value, precision.max(1)),
    }
}

fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// So many significant digits, without zeros at the end; with an exponent where the number is large or small.
fn general(value: f64, digits: usize) -> String {
    let rounded = format!("{value:.*e}", digits - 1);
    let exponent: i64 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= digits as i64 {
        let text = exponential(value, digits - 1);
        let (number, exponent) = text.split_once('e').unwrap_or((&text, ""));
        return format!("{}e{exponent}", without_zeros(number));
    }
    without_zeros(&format!("{value:.*}", (digits as i64 - 1 - exponent) as usize)).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelt_as_c_does() {
        let general = [1.5, 0.1, 100_000.0, 1e6, 123_456.7, 0.0001, 0.000_01, -2.5e-10, 0.0, 3.0, 1_234_567.0];
        let expected =
            ["1.5", "0.1", "100000", "1e+06", "123457", "0.0001", "1e-05", "-2.5e-10", "0", "3", "1.23457e+06"];
        assert_eq!(general.map(|value| float(value, 'g', 6)), expected);
        assert_eq!(float(2.5, 'f', 6), "2.500000");
        assert_eq!(float(-1234.5, 'e', 2), "-1.23e+03");
        assert_eq!([f64::NAN, f64::NEG_INFINITY].map(|value| float(value, 'g', 6)), ["nan", "-inf"]);
    }

    #[test]
    fn widths_pad() {
        let pad = |format: &str, text: &str| padded(text.into(), &parse(format).unwrap().0);
        assert_eq!(
            [pad("5d", "-7"), pad("-5d", "-7"), pad("05d", "-7"), pad("2d", "123")],
            ["   -7", "-7   ", "-0007", "123"]
        );
        assert!(parse("5").is_err());
    }
}
