//! What is wrong with an expression, and where: the text with the wrong characters underlined.
//!
//! ```text
//! a `)` or `,` is expected here
//!   blocked([1, 8], [8, 4] on [64, 32]
//!                          ^^
//! ```

use std::fmt;

/// A stretch of an expression's text, in bytes; empty at the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}

/// A message and the place that it is about.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub at: Span,
    pub message: String,
}

impl Fault {
    pub fn new(at: Span, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into() }
    }

    pub fn of(self, text: &str) -> ExpressionError {
        ExpressionError { text: text.to_owned(), at: self.at, message: self.message }
    }
}

/// What is wrong with a layout expression. Its display has three lines: what is wrong, the expression, and a caret under
/// each wrong character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    text: String,
    at: Span,
    message: String,
}

impl ExpressionError {
    /// What is wrong, and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The wrong bytes of the text; empty, at its end, where something is missing.
    pub fn at(&self) -> std::ops::Range<usize> {
        self.at.start..self.at.end
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
        let before = self.text[..self.at.start].chars().count();
        let under = self.text[self.at.start..self.at.end].chars().count().max(1);
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {}", shown(&self.text))?;
        write!(f, "  {:before$}{}", "", "^".repeat(under))
    }
}

impl std::error::Error for ExpressionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_characters_whatever_their_bytes() {
        let fault = Fault::new(Span { start: 5, end: 8 }, "what?");
        assert_eq!(fault.of("ä\tü€x").to_string(), "what?\n  ä ü€x\n     ^");
        let end = Fault::new(Span { start: 2, end: 2 }, "more");
        assert_eq!(end.of("ab").to_string(), "more\n  ab\n    ^");
    }
}
