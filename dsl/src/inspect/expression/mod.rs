//! Layout expressions: layouts as text, as the `quadpair layout` command takes them.
//!
//! They read as the constructors do in Rust, with the shape in front or behind `on`; views are chained with dots:
//!
//! ```text
//! expression := head { "." call }
//! head       := call | kernel ":" value
//! call       := name [ "(" [ argument { "," argument } ] ")" ] [ "on" list ]
//! argument   := number | word | list | expression
//! list       := "[" [ argument { "," argument } ] "]"
//! ```
//!
//! `f(a, b) on [64, 32]` is the same as `f([64, 32], a, b)`. `FLASH_96:s` is the layout of a kernel's value.
//!
//! ```
//! use quadpair::inspect::expression::{Expression, Value};
//!
//! let rows: Expression = "blocked([1,8],[8,4],[4,1],[1,0]) on [64,32].slice(1)".parse().unwrap();
//! assert_eq!(rows.to_string(), "blocked([1, 8], [8, 4], [4, 1], [1, 0]) on [64, 32].slice(1)");
//! let Value::Registers(layout) = rows.value().unwrap() else { panic!() };
//! assert_eq!(layout.shape().extent(0), 64);
//!
//! let error = "swizzled(8, 1, 4, [1, 0]".parse::<Expression>().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "`,` or `)` is expected here\n  swizzled(8, 1, 4, [1, 0]\n                          ^"
//! );
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `parse`, `ast` | text to data and back |
//! | `names` | the tables of constructors and views: where a named layout is added |
//! | `arguments`, `evaluate` | data to a layout |
//! | `error` | the message with its carets |

mod arguments;
mod ast;
mod error;
mod evaluate;
mod names;
mod parse;

pub use ast::Expression;
pub use error::ExpressionError;
pub use evaluate::{Lookup, Value};

impl std::str::FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        parse::parse(text)
    }
}

impl Expression {
    /// The layout that it stands for; there are no kernels to look values up in.
    ///
    /// # Errors
    /// An unknown name, arguments that don't fit, a layout that is invalid.
    pub fn value(&self) -> Result<Value, ExpressionError> {
        self.value_with(&evaluate::no_kernels)
    }

    /// The layout that it stands for, where `lookup` knows kernels.
    ///
    /// # Errors
    /// An unknown name, arguments that don't fit, a layout that is invalid, what the lookup says.
    pub fn value_with(&self, lookup: Lookup<'_>) -> Result<Value, ExpressionError> {
        evaluate::whole(&self.chain, lookup).map_err(|fault| fault.of(&self.text))
    }
}

/// Every name that expressions can use, in groups: a heading, then how each call is written and what it gives.
pub fn forms() -> Vec<(&'static str, Vec<(String, &'static str)>)> {
    names::forms()
}
