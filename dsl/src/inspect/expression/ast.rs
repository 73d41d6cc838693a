//! An expression as data, and its printed form.
//!
//! `blocked([1,8],[8,4],[4,1],[1,0])on[64,32].slice(1)` is a chain of two calls. It prints with one space after each comma
//! and around `on`; the printed form parses to the same expression.

use std::fmt;

use super::error::Span;

/// A layout expression: a constructor, then views of what it gives.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) text: String,
    pub(super) chain: Chain,
}

#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub first: Head,
    pub views: Vec<Call>,
}

/// What a chain begins with.
#[derive(Clone, Debug)]
pub(super) enum Head {
    Call(Call),
    /// `FLASH_96:scores`: the layout of a kernel's value.
    Kernel {
        instance: String,
        value: String,
        at: Span,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub name: String,
    /// Where the name stands, and where the whole call.
    pub name_at: Span,
    pub at: Span,
    /// `None` where there are no parentheses.
    pub arguments: Option<Vec<Argument>>,
    /// The list after `on`.
    pub on: Option<Argument>,
}

#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub node: Node,
    pub at: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Number(usize),
    Word(String),
    List(Vec<Argument>),
    Chain(Box<Chain>),
}

impl Chain {
    pub fn at(&self) -> Span {
        let first = match &self.first {
            Head::Call(call) => call.at,
            Head::Kernel { at, .. } => *at,
        };
        self.views.last().map_or(first, |view| first.to(view.at))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chain.fmt(f)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.first {
            Head::Call(call) => call.fmt(f)?,
            Head::Kernel { instance, value, .. } => write!(f, "{instance}:{value}")?,
        }
        self.views.iter().try_for_each(|view| write!(f, ".{view}"))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(arguments) = &self.arguments {
            write!(f, "({})", listed(arguments))?;
        }
        self.on.as_ref().map_or(Ok(()), |on| write!(f, " on {on}"))
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Node::Number(number) => number.fmt(f),
            Node::Word(word) => f.write_str(word),
            Node::List(list) => write!(f, "[{}]", listed(list)),
            Node::Chain(chain) => chain.fmt(f),
        }
    }
}

fn listed(arguments: &[Argument]) -> String {
    arguments.iter().map(Argument::to_string).collect::<Vec<_>>().join(", ")
}
