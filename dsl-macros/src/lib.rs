//! The macros of quadpair: `#[kernel]`, `#[device]`, `#[derive(Aggregate)]` and `instances!`.
//!
//! A kernel is ordinary-looking Rust in which some values are known while the crate compiles (*comptime*: tile sizes,
//! layouts) and some only while the kernel runs (*run-time*: tiles, pointers, scalars). The macros tell the two apart by
//! syntax alone and rewrite every operation on a run-time value into a call that takes the kernel under construction:
//!
//! ```text
//! let s = mma(a, b, zeros(..)) * scale;      // the author's
//! let s = {                                  // what rustc compiles
//!     let v1 = { let v0 = zeros(trace, ..); mma(trace, a, b, v0) };
//!     operators::mul(trace, Operand::Tile(v1), Operand::Tile(scale))
//! };
//! ```
//!
//! The result is one `const fn`. Evaluated in a `const` it is the check that `cargo check` reports; called at run time it
//! records the kernel. A comptime expression keeps the author's tokens, and each call keeps the author's place, so that
//! a broken rule is shown under the expression that broke it.
//!
//! The modules, in the order of work: `parse` reads an item into the types of `ast`; `binding` remembers which names are
//! run-time; `expand` rewrites bodies and prints items, by the names in `tables`; `spans` keeps places; `errors` has all
//! the wording.

mod ast;
mod binding;
mod errors;
mod expand;
mod parse;
mod spans;
mod tables;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Turns a function into a kernel.
///
/// `#[kernel(grid = [e0, e1, e2])]` says how many blocks to launch: one to three `u32` expressions over the scalar
/// arguments and the comptime parameters. Parameters marked `#[comptime]` are fixed per instance; the others are
/// `Ptr<T>`, `PtrMut<T>`, `Option<Ptr<T>>`, a scalar (`bool i32 i64 u32 u64 f32 f64`) or an array of scalars.
///
/// For `fn softmax` it makes the `const fn softmax` that traces the body, `struct Softmax` with the comptime parameters,
/// `struct SoftmaxArgs` with the run-time arguments, and `impl Kernel for Softmax`.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::kernel::expand(attribute.into(), item.into()).into()
}

/// Turns a function into one that kernels can call.
///
/// Parameters are run-time values (`Tile`, `Shared`, arrays, tuples and structs of them) unless marked `#[comptime]`;
/// `self` is comptime. So is what `#[comptime] let` binds: a comptime field of a run-time struct. The function becomes `const` and takes the kernel under construction first, which calls inside
/// kernels pass by themselves.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::device::expand(attribute.into(), item.into()).into()
}

/// Makes a struct of tiles an aggregate: run-time loops carry it, run-time branches merge it and functions of elements take
/// it as a whole. Fields are tiles, arrays and tuples of tiles, shared-memory views, other aggregates, and comptime numbers,
/// truth values and layouts.
#[proc_macro_derive(Aggregate)]
pub fn aggregate(item: TokenStream) -> TokenStream {
    expand::aggregate::expand(item.into()).into()
}

/// Declares instances of kernels: `pub NAME = Kernel::<f16> { parameter: value };`, each a `static` that `cargo check`
/// verifies; with `#[target(sm_70)]` in front also that the architecture has what the kernel uses.
#[proc_macro]
pub fn instances(input: TokenStream) -> TokenStream {
    expand::instances::expand(input.into()).into()
}
