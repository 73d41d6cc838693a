//! PTX as data, with one printer and one parser.

mod ast;
mod parse;
mod print;
mod promise;

pub use ast::*;
pub(crate) use parse::bytes_of;
pub use parse::{ParseError, parse, parse_body};
pub use print::{print, register_name};
pub use promise::Promise;
