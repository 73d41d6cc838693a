//! Whole expansions, one fixture a subject: `fixtures/NAME.rs` goes in, `snapshots/NAME.snap` is expected.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, File, Item, Meta};

use crate::expand;

/// What rustc would see of a file of kernels.
fn expanded(source: &str) -> String {
    let file: File = syn::parse_str(source).expect("a fixture is Rust");
    let items: TokenStream = file.items.into_iter().map(expand_item).collect();
    let file: File = syn::parse2(items).expect("an expansion is Rust");
    prettyplease::unparse(&file)
}

fn expand_item(mut item: Item) -> TokenStream {
    match &mut item {
        Item::Macro(call) if call.mac.path.is_ident("instances") => expand::instances::expand(call.mac.tokens.clone()),
        Item::Fn(function) => match take_attribute(&mut function.attrs) {
            Some((name, arguments)) if name == "kernel" => expand::kernel::expand(arguments, item.to_token_stream()),
            Some((_, arguments)) => expand::device::expand(arguments, item.to_token_stream()),
            None => item.to_token_stream(),
        },
        // Those of a fixture derive it.
        Item::Struct(_) | Item::Enum(_) => expand::aggregate::expand(item.to_token_stream()),
        _ => item.to_token_stream(),
    }
}

/// Removes the attribute to expand: its name and arguments.
fn take_attribute(attributes: &mut Vec<Attribute>) -> Option<(String, TokenStream)> {
    let at = attributes.iter().position(|a| a.path().is_ident("kernel") || a.path().is_ident("device"))?;
    let attribute = attributes.remove(at);
    let arguments = match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    Some((attribute.path().to_token_stream().to_string(), arguments))
}

fn check(name: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/");
    let source = std::fs::read_to_string(format!("{path}{name}.rs")).expect("the fixture exists");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, expanded(&source)));
}

macro_rules! fixtures {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

fixtures! { calls operators operands loops pipelines carried branches plain device items instances mistakes signatures functions aggregates }

/// The messages of a file of kernels, in order.
fn messages(source: &str) -> Vec<String> {
    let file: File = syn::parse_str(source).expect("a test is Rust");
    let tokens: TokenStream = file.items.into_iter().map(expand_item).collect();
    let mut found = Vec::new();
    collect_messages(tokens, &mut found);
    found
}

/// Literals after `compile_error !`.
fn collect_messages(tokens: TokenStream, found: &mut Vec<String>) {
    let mut is_error = false;
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Ident(name) => is_error = name == "compile_error",
            proc_macro2::TokenTree::Group(group) if is_error => {
                found.push(group.stream().to_string().trim_matches('"').to_string());
                is_error = false;
            }
            proc_macro2::TokenTree::Group(group) => collect_messages(group.stream(), found),
            _ => {}
        }
    }
}

/// All mistakes of an item are told at once, and none twice.
#[test]
fn mistakes_are_collected() {
    let told = messages("#[device] fn f(x: Tile) -> Tile { let mut n = 0; if x { n = 1; } for i in [x] {} x? }");
    let expected = [
        "`n` is comptime and cannot change inside a run-time `if`, which is traced once: \
         start it with `scalar(..)` or `full(..)`",
        crate::errors::RANGE,
        crate::errors::QUESTION,
    ];
    assert_eq!(told, expected);
}

/// A comptime expression keeps the author's tokens, whatever is around it.
#[test]
fn comptime_tokens_stay() {
    let comptime = quote!(t.rows([1 << 3, n / 2]).fold(Some(n)).with::<{ 4 }>());
    let item = syn::parse_quote! {
        #[device]
        fn f(x: Tile, #[comptime] t: T, #[comptime] n: usize) -> Tile { x.convert_layout(#comptime) }
    };
    let expansion = expand_item(item).to_string();
    assert!(expansion.contains(&comptime.to_string()), "{expansion}");
}
