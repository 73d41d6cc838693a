//! Items as the macros see them: a kernel with its parameters told apart, and an instance.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Block, Expr, ExprStruct, Generics, Pat, Type, Visibility};

/// A `#[kernel]` function.
pub struct Kernel {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub name: Ident,
    pub generics: Generics,
    pub parameters: Vec<Parameter>,
    /// Blocks to launch: one to three expressions.
    pub grid: Vec<Expr>,
    pub body: Block,
}

/// A parameter of a kernel.
pub struct Parameter {
    pub attributes: Vec<Attribute>,
    /// The pattern as written: the name, perhaps `mut`.
    pub pattern: Pat,
    pub name: Ident,
    pub ty: Type,
    pub kind: Kind,
}

/// What a parameter is.
pub enum Kind {
    /// Fixed per instance.
    Comptime,
    /// `Ptr<T>` with its element type.
    Pointer(Type),
    /// `Option<Ptr<T>>`.
    PointerOption(Type),
    /// `PtrMut<T>`.
    PointerMut(Type),
    /// A scalar.
    Scalar(Scalar),
    /// An array of scalars.
    Array(Scalar, usize),
}

/// A scalar type: Rust's name of it and the variant of `quadpair::Scalar`.
pub struct Scalar {
    pub ty: Ident,
    pub variant: Ident,
}

/// An architecture: 90 for `sm_90`, and with `specific` for `sm_90a`.
pub struct Target {
    pub sm: u32,
    pub specific: bool,
}

/// An entry of `instances!`.
pub struct Instance {
    pub attributes: Vec<Attribute>,
    /// The architecture that it is checked for: `#[target(sm_70)]`.
    pub target: Option<Target>,
    pub visibility: Visibility,
    pub name: Ident,
    pub value: ExprStruct,
}

impl Kernel {
    pub fn comptime(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.is_comptime())
    }

    pub fn run_time(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| !parameter.is_comptime())
    }
}

impl Parameter {
    pub fn is_comptime(&self) -> bool {
        matches!(self.kind, Kind::Comptime)
    }

    /// Whether it is passed as memory.
    pub fn is_pointer(&self) -> bool {
        matches!(self.kind, Kind::Pointer(_) | Kind::PointerOption(_) | Kind::PointerMut(_))
    }

    /// The author's doc comment, or else the sentence given.
    pub fn docs(&self, otherwise: &str) -> TokenStream {
        docs(&self.attributes).unwrap_or_else(|| quote::quote!(#[doc = #otherwise]))
    }
}

/// The doc comments among attributes, if there are any.
pub fn docs(attributes: &[Attribute]) -> Option<TokenStream> {
    let docs: Vec<_> = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
    (!docs.is_empty()).then(|| quote::quote!(#(#docs)*))
}
