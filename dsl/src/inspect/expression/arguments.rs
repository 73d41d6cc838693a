//! The arguments of one call, evaluated, and what they are turned into.
//!
//! A function's signature says what it takes: `take` gives the next argument as a number, a list of as many numbers as
//! the rank, a list of such lists, an arrangement of quadpairs or a layout, or says that it isn't one.

use quadpair_layouts::{Layout, MAX_RANK, Quadpairs, SharedLayout};

use super::error::{Fault, Span};
use super::evaluate::Value;

/// An argument's value.
#[derive(Clone, Debug)]
pub(super) enum Given {
    Number(usize),
    Word(String),
    List(Vec<Given>),
    Value(Value),
}

/// The arguments of a call, taken in order.
pub(super) struct Arguments<'a> {
    /// The function's name, and where the call stands.
    pub name: &'a str,
    pub at: Span,
    pub given: Vec<(Given, Span)>,
    pub next: usize,
}

impl Arguments<'_> {
    /// The next argument.
    pub fn take<T: Take>(&mut self, parameter: &str) -> Result<T, Fault> {
        let Some((given, at)) = self.given.get(self.next) else {
            return Err(Fault::new(self.at, format!("{parameter} is missing")));
        };
        self.next += 1;
        T::take(given)
            .ok_or_else(|| Fault::new(*at, format!("{parameter} of `{}` has to be {}", self.name, T::wants())))
    }

    /// The rank: how long the first list is.
    pub fn rank(&self) -> Result<usize, Fault> {
        let list = self.given.iter().find_map(|(given, _)| match given {
            Given::List(list) => Some(list.len()),
            _ => None,
        });
        list.ok_or_else(|| Fault::new(self.at, format!("`{}` needs a list, such as [64, 32]", self.name)))
    }

    /// The fault of a list that is longer than any shape.
    pub fn too_many_dimensions(&self, rank: usize) -> Fault {
        Fault::new(self.at, format!("{rank} dimensions are too many; a tile has at most {MAX_RANK}"))
    }
}

/// What an argument can be taken as.
pub(super) trait Take: Sized {
    fn take(given: &Given) -> Option<Self>;
    /// What it has to be, for messages.
    fn wants() -> String;
}

impl Take for usize {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn wants() -> String {
        "a number".to_owned()
    }
}

impl Take for u32 {
    fn take(given: &Given) -> Option<Self> {
        usize::take(given)?.try_into().ok()
    }

    fn wants() -> String {
        "a number below 2^32".to_owned()
    }
}

impl Take for bool {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::Word(word) => word.parse().ok(),
            _ => None,
        }
    }

    fn wants() -> String {
        "true or false".to_owned()
    }
}

impl<T: Take> Take for Vec<T> {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::List(list) => list.iter().map(T::take).collect(),
            _ => None,
        }
    }

    fn wants() -> String {
        format!("a list, each of it {}", T::wants())
    }
}

impl<T: Take, const N: usize> Take for [T; N] {
    fn take(given: &Given) -> Option<Self> {
        Vec::take(given)?.try_into().ok()
    }

    fn wants() -> String {
        match N {
            1 => "a list of 1 number".to_owned(),
            _ => format!("a list of {N} numbers"),
        }
    }
}

impl Take for Quadpairs {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::Word(word) => Quadpairs::named(word),
            _ => None,
        }
    }

    fn wants() -> String {
        "4x1, 2x2 or 1x4".to_owned()
    }
}

impl Take for Layout {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::Value(Value::Registers(layout)) => Some(*layout),
            _ => None,
        }
    }

    fn wants() -> String {
        "a layout of registers".to_owned()
    }
}

impl Take for SharedLayout {
    fn take(given: &Given) -> Option<Self> {
        match given {
            Given::Value(Value::Shared(layout)) => Some(*layout),
            _ => None,
        }
    }

    fn wants() -> String {
        "a layout of shared memory".to_owned()
    }
}
