//! What can be wrong with an item, in words.
//!
//! Errors are collected, so that one build shows all of them. Each says what is not possible and what to write instead,
//! at the smallest wrong token.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The errors of one item.
#[derive(Default)]
pub struct Errors(Option<Error>);

impl Errors {
    /// Adds an error at a piece of source.
    pub fn at(&mut self, source: &impl ToTokens, message: impl ToString) {
        self.push(Error::new_spanned(source, message.to_string()));
    }

    /// Adds an error at a place.
    pub fn at_span(&mut self, span: Span, message: impl ToString) {
        self.push(Error::new(span, message.to_string()));
    }

    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The errors as tokens that make rustc report them, if there are any.
    pub fn tokens(&self) -> Option<TokenStream> {
        self.0.as_ref().map(Error::to_compile_error)
    }
}

pub const RETURN: &str = "a kernel cannot return early: put the rest into the branches of an `if`";
pub const QUESTION: &str = "`?` would return early, which a kernel cannot";
pub const UNSAFE: &str = "no `unsafe` inside a kernel: every operation of the language is safe";
pub const ASYNC: &str = "a kernel cannot wait: asynchronous copies are operations, not futures";
pub const CLOSURE: &str = "a closure in a kernel is the function of `reduce`, `associative_scan` or `map_elementwise`: write a `#[device]` function";
pub const LAZY_AND: &str = "`&&` cannot skip its right side at run time: use `&`";
pub const LAZY_OR: &str = "`||` cannot skip its right side at run time: use `|`";
pub const WHILE: &str =
    "a `while` loop needs a comptime condition: at run time, use `for` over a range and `select` or `if`";
pub const WARP_ANY: &str = "`warp_any(..)` differs between warps: it is the whole condition of an `if`";
pub const RANGE: &str = "a `for` loop runs over `a..b` or `(a..b).step_by(c)`";
pub const RANGE_INCLUSIVE: &str = "a `for` loop excludes its end: write `a..b + 1`";
pub const LOOP_PATTERN: &str = "the index of a `for` loop is one name or `_`";
pub const PIPELINED: &str = "a pipelined loop is `for (i, item) in pipelined(range, |i| ..)`: \
    between range and function may stand how many items are loaded ahead";
pub const PIPELINED_PAIR: &str = "two ranges have two indices: `(outer, inner)`";
pub const PIPELINED_RANGES: &str = "of two ranges the first is run-time and the second comptime: \
    two comptime ranges are one, and only the outer one can be run-time";
pub const PIPELINED_DEPTH: &str =
    "how many items are loaded ahead is comptime: it decides what is traced before the loop";
pub const INDEX: &str = "a Rust array is indexed by comptime values only: a run-time index needs shared memory";
pub const MATCH_LITERAL: &str =
    "a run-time value cannot be matched with a literal: compare with `==` in an `if` or `select`";
pub const GUARD: &str = "the guard of a match arm must be comptime: put a run-time `if` into the arm";
pub const CALLEE: &str = "a function that takes run-time values is called by its name";
pub const MACRO_ARGUMENT: &str = "a macro cannot take run-time values: they have none while the kernel is traced (to check them, use `device_assert`)";
pub const BRANCH: &str =
    "the other branches' values are run-time: make this one with `scalar(..)` or `full(..)`, or use `select`";
pub const DEVICE_COMPTIME: &str =
    "a function of comptime parameters only is plain Rust: make it a `const fn` without #[device]";
pub const SELF_MUT: &str = "a #[device] function cannot change `self` in place: return the new value";
pub const PARAMETER_NAME: &str = "a parameter of a kernel is one name";
pub const KERNEL_SELF: &str = "a kernel is a free function: pass what it needs as a #[comptime] parameter";
pub const KERNEL_RETURN: &str = "a kernel returns nothing: store its result through a `PtrMut`";
pub const KERNEL_LIFETIME: &str = "a kernel has no lifetime parameters: comptime parameters are `'static`";
pub const QUALIFIER: &str = "a kernel or device function has no such qualifier";
pub const GRID: &str = "say how many blocks to launch: `#[kernel(grid = [blocks])]`, one to three `u32` expressions";
pub const ARRAY_LENGTH: &str = "the length of an array of scalars is an integer literal";
pub const POINTER: &str = "a pointer names its element type: `Ptr<f16>`";
pub const OPTIONAL: &str = "only `Ptr<T>` can be optional";
pub const AGGREGATE: &str = "an aggregate is a struct of tiles, arrays and tuples of them, and other aggregates";
pub const DEVICE_ARGUMENT: &str = "#[device] takes no arguments";
pub const TARGET: &str = "an instance is checked for an architecture that is written like `#[target(sm_70)]`";
pub const INSTANCE: &str =
    "an instance is a kernel's struct with its comptime parameters: `pub NAME = Kernel { tile: .. };`";

/// A parameter of a kernel that is neither comptime nor of a run-time type.
pub fn parameter_type(ty: &impl ToTokens) -> String {
    let name = ty.to_token_stream().to_string().replace(' ', "");
    format!(
        "`{name}` cannot be passed at run time: write Ptr<T>, PtrMut<T>, Option<Ptr<T>>, bool, i32, i64, u32, u64, f32, f64 \
         or an array of scalars, or mark the parameter #[comptime]"
    )
}

/// A comptime variable gets a run-time value.
pub fn starts_comptime(name: &str) -> String {
    format!("`{name}` starts comptime and cannot take a run-time value: start it with `scalar(..)` or `full(..)`")
}

/// A comptime variable changes where the body is traced once but runs any number of times.
pub fn changes_at_run_time(name: &str, control: &str) -> String {
    format!(
        "`{name}` is comptime and cannot change inside a run-time {control}, which is traced once: \
         start it with `scalar(..)` or `full(..)`"
    )
}

/// A jump out of run-time control flow.
pub fn jump(keyword: &str, control: &str) -> String {
    format!("`{keyword}` cannot leave a run-time {control}: use `select` or an `if` around the rest")
}

/// A function that combines, or maps, with other parameters.
pub fn parameters(name: &impl ToTokens, wanted: usize) -> String {
    let name = name.to_token_stream();
    match wanted {
        1 => format!("`{name}` takes a function of an element, or of one for each member of a tuple: `|x, y| ..`"),
        _ => format!("`{name}` takes a function of two: what is combined so far and what comes next, `|a, b| ..`"),
    }
}

/// A function of elements whose operand is comptime.
pub fn nothing_at_run_time(name: &impl ToTokens) -> String {
    format!("`{}` works on tiles, and this is comptime", name.to_token_stream())
}

/// A function of elements that assigns to a variable of outside.
pub fn changes_outside(name: &str) -> String {
    format!(
        "`{name}` is outside the function of elements, which cannot change it: make it part of what the function gives"
    )
}
