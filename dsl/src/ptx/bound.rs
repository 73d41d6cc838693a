//! Bounds of indices, as comments.
//!
//! An index that is too large makes an address that is a valid one of something else, so nobody can see the mistake in
//! the address. The comment `index %r7 < 64` right before an instruction says what its address was made of; hardware
//! doesn't read it, the simulator does.

use super::ast::{Class, Reg};
use super::print::register_name;

/// The comment that an index is below a limit.
pub fn bound_text(index: Reg, limit: u32) -> String {
    format!("index {} < {limit}", register_name(index))
}

/// Reads [`bound_text`].
pub fn read_bound(text: &str) -> Option<(Reg, u32)> {
    let (register, limit) = text.strip_prefix("index %r")?.split_once(" < ")?;
    let index = Reg { class: Class::B32, index: register.parse().ok()? };
    Some((index, limit.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let reg = Reg { class: Class::B32, index: 7 };
        assert_eq!(bound_text(reg, 64), "index %r7 < 64");
        assert_eq!(read_bound("index %r7 < 64"), Some((reg, 64)));
        assert_eq!(["index %rd7 < 64", "index %r7", "an index %r7 < 64"].map(read_bound), [None; 3]);
    }
}
