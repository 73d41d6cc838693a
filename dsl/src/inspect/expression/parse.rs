//! From text to an expression, by recursive descent: one function a rule of the grammar.
//!
//! Nesting is limited, so that no text can exhaust the stack; each character is looked at a bounded number of times.

use super::ast::{Argument, Call, Chain, Expression, Head, Node};
use super::error::{ExpressionError, Fault, Span};

/// The most brackets and parentheses that may be open at once.
const DEEPEST: usize = 16;

/// Reads an expression.
///
/// # Errors
/// The first character that can't stand where it does, and what could.
pub(super) fn parse(text: &str) -> Result<Expression, ExpressionError> {
    let mut parser = Parser { text, position: 0, depth: 0 };
    let chain = parser.chain().and_then(|chain| parser.end(&chain).map(|()| chain));
    chain.map(|chain| Expression { text: text.to_owned(), chain }).map_err(|fault| fault.of(text))
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// The next character that isn't a space.
    fn peek(&mut self) -> Option<char> {
        self.skip_spaces();
        self.rest().chars().next()
    }

    /// Takes a character if it is the next one.
    fn take(&mut self, wanted: char) -> Option<Span> {
        let found = self.peek() == Some(wanted);
        found.then(|| self.advance(wanted.len_utf8()))
    }

    fn advance(&mut self, bytes: usize) -> Span {
        let start = self.position;
        self.position += bytes;
        Span { start, end: self.position }
    }

    /// Takes letters, digits and what else belongs to a word.
    fn word(&mut self, others: &str) -> Span {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || others.contains(c);
        let length = self.rest().chars().take_while(|&c| in_word(c)).map(char::len_utf8).sum();
        self.advance(length)
    }

    fn text_at(&self, at: Span) -> &str {
        &self.text[at.start..at.end]
    }

    /// Whether a word stands here, of which none of it is taken.
    fn at_word(&mut self) -> Option<char> {
        self.peek().filter(|&c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// The fault that something else is expected at this place.
    fn expected(&mut self, what: &str) -> Fault {
        self.skip_spaces();
        let start = self.position;
        let at = match (self.at_word(), self.peek()) {
            (Some(_), _) => {
                let word = self.word("");
                self.position = start;
                word
            }
            (None, Some(c)) => Span { start, end: start + c.len_utf8() },
            (None, None) => Span { start, end: start },
        };
        Fault::new(at, format!("{what} is expected here"))
    }

    fn end(&mut self, chain: &Chain) -> Result<(), Fault> {
        let on = match (&chain.first, chain.views.last()) {
            (Head::Call(Call { on: None, .. }), None) | (_, Some(Call { on: None, .. })) => "`on`, ",
            _ => "",
        };
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected(&format!("{on}`.` or the end"))),
        }
    }

    fn chain(&mut self) -> Result<Chain, Fault> {
        let first = self.head()?;
        self.views_of(first)
    }

    fn views_of(&mut self, first: Head) -> Result<Chain, Fault> {
        let mut views = Vec::new();
        while self.take('.').is_some() {
            let name = self.name("the name of a view, as in `.slice(1)`,")?;
            views.push(self.call(name)?);
        }
        Ok(Chain { first, views })
    }

    fn head(&mut self) -> Result<Head, Fault> {
        let name = self.name("the name of a layout, as in `blocked(..)`,")?;
        self.head_named(name)
    }

    fn head_named(&mut self, name: Span) -> Result<Head, Fault> {
        if !self.rest().starts_with(':') {
            return Ok(Head::Call(self.call(name)?));
        }
        self.advance(1);
        let value = self.word("@#");
        if value.start == value.end {
            let what = "a value of the kernel, such as its name, `v12` or `@266` for a line,";
            return Err(self.expected(what));
        }
        let (instance, text) = (self.text_at(name).to_owned(), self.text_at(value).to_owned());
        Ok(Head::Kernel { instance, value: text, at: name.to(value) })
    }

    fn name(&mut self, what: &str) -> Result<Span, Fault> {
        match self.at_word() {
            Some(c) if !c.is_ascii_digit() => Ok(self.word("")),
            _ => Err(self.expected(what)),
        }
    }

    /// What follows a call's name.
    fn call(&mut self, name_at: Span) -> Result<Call, Fault> {
        let name = self.text_at(name_at).to_owned();
        let arguments = match self.take('(') {
            Some(open) => Some(self.arguments(open, ')')?),
            None => None,
        };
        // Behind the arguments, or behind the name where there are none.
        let mut end = Span { start: name_at.start, end: if arguments.is_some() { self.position } else { name_at.end } };
        let on = if self.takes_on() { Some(self.list()?) } else { None };
        if on.is_some() {
            end.end = self.position;
        }
        Ok(Call { name, name_at, at: name_at.to(end), arguments, on })
    }

    /// Takes the word `on` if it is the next one.
    fn takes_on(&mut self) -> bool {
        self.skip_spaces();
        let start = self.position;
        let word = self.word("");
        let found = self.text_at(word) == "on";
        if !found {
            self.position = start;
        }
        found
    }

    /// A list, for `on`.
    fn list(&mut self) -> Result<Argument, Fault> {
        match self.take('[') {
            Some(open) => self.list_from(open),
            None => Err(self.expected("the shape, as in `on [64, 32]`,")),
        }
    }

    fn list_from(&mut self, open: Span) -> Result<Argument, Fault> {
        let list = self.arguments(open, ']')?;
        Ok(Argument { node: Node::List(list), at: Span { start: open.start, end: self.position } })
    }

    /// Arguments up to a closing bracket, which is taken too.
    fn arguments(&mut self, open: Span, close: char) -> Result<Vec<Argument>, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(open, format!("no more than {DEEPEST} brackets can be open at once")));
        }
        let mut arguments = Vec::new();
        if self.take(close).is_none() {
            loop {
                arguments.push(self.argument(close, arguments.is_empty())?);
                if self.take(close).is_some() {
                    break;
                }
                if self.take(',').is_none() {
                    return Err(self.expected(&format!("`,` or `{close}`")));
                }
            }
        }
        self.depth -= 1;
        Ok(arguments)
    }

    fn argument(&mut self, close: char, first: bool) -> Result<Argument, Fault> {
        if let Some(open) = self.take('[') {
            return self.list_from(open);
        }
        if self.at_word().is_none() {
            let or = if first { format!(" or `{close}`") } else { String::new() };
            return Err(self.expected(&format!("a number, a list{or}")));
        }
        let word = self.word("");
        let text = self.text_at(word).to_owned();
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Argument { node: Node::Number(number(&text, word)?), at: word });
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) || !self.chain_goes_on() {
            return Ok(Argument { node: Node::Word(text), at: word });
        }
        let first = self.head_named(word)?;
        let chain = self.views_of(first)?;
        Ok(Argument { at: chain.at(), node: Node::Chain(Box::new(chain)) })
    }

    /// Whether a word is the beginning of an expression.
    fn chain_goes_on(&mut self) -> bool {
        if self.rest().starts_with(':') {
            return true;
        }
        let start = self.position;
        let on = self.takes_on();
        self.position = start;
        on || matches!(self.peek(), Some('(' | '.'))
    }
}

fn number(text: &str, at: Span) -> Result<usize, Fault> {
    text.parse().map_err(|_| Fault::new(at, "this number is larger than any tile"))
}
