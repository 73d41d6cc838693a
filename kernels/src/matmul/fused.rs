//! What becomes of a product's elements before they are stored: a device function of the caller's, inside the kernel.
//!
//! ```
//! use quadpair::prelude::*;
//! use quadpair_kernels::{matmul::Matmul, matmul_with};
//!
//! /// `max(x + bias, 0)`, where there is a bias.
//! #[device]
//! fn relu(x: Tile, bias: Option<Tile>) -> Tile {
//!     match bias {
//!         Some(bias) => maximum(x + bias, 0.0),
//!         None => maximum(x, 0.0),
//!     }
//! }
//!
//! matmul_with! {
//!     /// Products whose negative elements become 0.
//!     pub mod relu_product = relu;
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let volta = quadpair_profiles::Profile::by_name("volta")?;
//!     let matmul = Matmul::<f16, f16, relu_product::Fused>::new(&volta, Default::default())?;
//!     assert_eq!(matmul.name(&Default::default()), "matmul_relu_product_m8n8k4_128x128x32_f16_f16");
//!     Ok(())
//! }
//! ```
//!
//! Rust has no traits with `const` methods, so a kernel can't call a function that it is generic over: [`matmul_with`](crate::matmul_with) makes
//! a kernel of each function. All it does is in [`device`](super::device).

use super::MatmulTile;
use quadpair::{Backend, Element, Kernel};

/// A kernel with an epilogue of its own; [`matmul_with`](crate::matmul_with) makes them.
pub trait Epilogue: 'static {
    /// What programs have in their names for it; that of `plain` is left out.
    const NAME: &'static str;
    /// The kernel, for operands and results of these types.
    type Kernel<T: Element, U: Element>: Kernel;
    /// The kernel with its comptime parameters.
    fn kernel<T: Element, U: Element>(t: MatmulTile) -> Self::Kernel<T, U>;
    /// Its arguments.
    fn args<'a, B: Backend, T: Element, U: Element>(
        given: Arguments<'a, B, T, U>,
    ) -> <Self::Kernel<T, U> as Kernel>::Args<'a, B>;
}

/// What every such kernel is given.
pub struct Arguments<'a, B: Backend, T: Element, U: Element> {
    /// The left operand.
    pub a: B::Ref<'a, T>,
    /// The right operand.
    pub b: B::Ref<'a, T>,
    /// The result.
    pub c: B::Mut<'a, U>,
    /// A number for each column.
    pub bias: Option<B::Ref<'a, U>>,
    /// Products of matrices.
    pub batch: i32,
    /// Rows of A and C.
    pub m: i32,
    /// Columns of B and C.
    pub n: i32,
    /// Columns of A, rows of B.
    pub k: i32,
    /// From a row (or column) of A, B and C in memory to the next, in elements.
    pub stride: [i32; 3],
    /// From a matrix of A, B and C to the next, in elements.
    pub batch_stride: [i64; 3],
    /// The factor of the product.
    pub alpha: f32,
    /// The factor of what C was.
    pub beta: f32,
}

/// Makes a matrix product with an epilogue: `matmul_with! { pub mod name = function; }`.
///
/// The function is a `#[device]` one that takes `alpha A B + beta C`, an f32 tile `[rows, columns]`, and the bias, an f32
/// tile `[1, columns]`, if the call has one; it gives what is stored. `name::Fused` is the type parameter of
/// [`Matmul`](crate::matmul::Matmul).
#[macro_export]
macro_rules! matmul_with {
    ($(#[$attribute:meta])* $vis:vis mod $name:ident = $epilogue:ident;) => {
        $(#[$attribute])*
        #[allow(missing_docs, reason = "made by a macro")]
        $vis mod $name {
            use super::$epilogue;
            use $crate::matmul::{Arguments, Epilogue, MatmulTile, device};
            use ::quadpair::prelude::*;

            /// `C = f(alpha A B + beta C, bias)` for each matrix of a batch.
            #[kernel(grid = [(n as usize).div_ceil(t.block_n), (m as usize).div_ceil(t.block_m), batch as usize])]
            pub fn matmul<T: Element, U: Element>(
                a: Ptr<T>,
                b: Ptr<T>,
                c: PtrMut<U>,
                bias: Option<Ptr<U>>,
                batch: i32,
                m: i32,
                n: i32,
                k: i32,
                stride: [i32; 3],
                batch_stride: [i64; 3],
                alpha: f32,
                beta: f32,
                #[comptime] t: MatmulTile,
            ) {
                let size = [m, n, k];
                let first = device::first(size, t);
                let start = device::starts([a, b, c], batch_stride, t);
                let acc = device::accumulate::<T>([start[0], start[1]], [stride[0], stride[1]], first, size, t);
                let place = device::place(start[2], stride[2], first, size, t);
                let x = device::scaled(acc, place, alpha, beta, t);
                let bias = if t.bias { Some(device::column_bias(bias, place)) } else { None };
                device::write::<U>($epilogue(x, bias), place, start[2], stride[2], first, size, t);
            }

            /// The product with this epilogue.
            #[derive(Clone, Copy, Debug)]
            pub struct Fused;

            impl Epilogue for Fused {
                const NAME: &'static str = stringify!($name);
                type Kernel<T: Element, U: Element> = Matmul<T, U>;

                fn kernel<T: Element, U: Element>(t: MatmulTile) -> Matmul<T, U> {
                    Matmul { t, types: ::core::marker::PhantomData }
                }

                fn args<'a, B: ::quadpair::Backend, T: Element, U: Element>(
                    given: Arguments<'a, B, T, U>,
                ) -> MatmulArgs<'a, B, T, U> {
                    let Arguments { a, b, c, bias, batch, m, n, k, stride, batch_stride, alpha, beta } = given;
                    MatmulArgs { a, b, c, bias, batch, m, n, k, stride, batch_stride, alpha, beta }
                }
            }
        }
    };
}
