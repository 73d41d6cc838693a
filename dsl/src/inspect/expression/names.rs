//! The tables of names: what an expression can begin with, and the views of each kind of value.
//!
//! An entry is a line. `entry!(swizzled<N>(shape, vec, per_phase, max_phase, order), "...")` says that the function
//! [`swizzled`], which is generic over the rank, takes arguments called so; their kinds follow from its signature. With a
//! dot before the name it is a method. The rank is the length of the first list.

use quadpair_layouts::{
    Layout, Mma, Quadpairs, SharedLayout, blocked, coalesced, nvmma_default, nvmma_shared, row_major, swizzled,
};

use super::arguments::Arguments;
use super::error::Fault;
use super::evaluate::Value;

/// A name that expressions can use, on a receiver of type `R`; constructors have none.
pub(super) struct Entry<R> {
    /// The name.
    pub name: &'static str,
    /// What its arguments are called. `shape`, where it is the first one, can stand behind `on`.
    pub parameters: &'static [&'static str],
    /// What it gives.
    pub says: &'static str,
    /// Calls it.
    pub make: fn(&R, &mut Arguments<'_>) -> Result<Value, Fault>,
}

/// An expression with a constant `N`, the rank.
macro_rules! at_rank {
    ($arguments:ident, $made:expr) => {
        at_rank!($arguments, $made, 0 1 2 3 4 5 6 7 8)
    };
    ($arguments:ident, $made:expr, $($rank:literal)*) => {
        match $arguments.rank()? {
            $($rank => {
                const N: usize = $rank;
                $made
            })*
            rank => return Err($arguments.too_many_dimensions(rank)),
        }
    };
}

macro_rules! entry {
    ($name:ident($($parameter:ident),*), $says:literal) => {
        Entry {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            says: $says,
            make: |_, arguments| Ok($name($(arguments.take(stringify!($parameter))?),*).into()),
        }
    };
    ($name:ident<N>($($parameter:ident),*), $says:literal) => {
        Entry {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            says: $says,
            make: |_, arguments| {
                Ok(at_rank!(arguments, $name::<N>($(arguments.take(stringify!($parameter))?),*).into()))
            },
        }
    };
    (.$name:ident($($parameter:ident),*), $says:literal) => {
        Entry {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            says: $says,
            make: |own, _arguments| Ok(own.$name($(_arguments.take(stringify!($parameter))?),*).into()),
        }
    };
    (.$name:ident<N>($($parameter:ident),*), $says:literal) => {
        Entry {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            says: $says,
            make: |own, arguments| {
                Ok(at_rank!(arguments, own.$name::<N>($(arguments.take(stringify!($parameter))?),*).into()))
            },
        }
    };
}

/// What an expression can begin with.
pub(super) const CONSTRUCTORS: &[Entry<()>] = &[
    entry!(blocked<N>(shape, per_thread, lanes, warps, order), "registers: blocks of neighbours, tiled by lanes and warps"),
    entry!(linear<N>(shape, registers, lanes, warps), "registers: what each bit of a number moves by"),
    entry!(coalesced<N>(shape, element_bits, warps, contiguous), "registers: whole lines of a row-major matrix"),
    entry!(row_major<N>(shape), "shared memory: row-major, without gaps"),
    entry!(swizzled<N>(shape, vec, per_phase, max_phase, order), "shared memory: vectors, XORed with the row's phase"),
    entry!(shared_linear<N>(shape, offsets), "shared memory: which element lies at offset 1, 2, 4, .."),
    entry!(padded<N>(shape, paddings, order), "shared memory: a gap of p after each i elements, for each [i, p]"),
    entry!(nvmma_shared<N>(shape, swizzle, element_bits, transposed), "shared memory: as wgmma reads it"),
    entry!(nvmma_default<N>(shape, element_bits, transposed), "shared memory: the same with the largest swizzle"),
    entry!(between(from, to, bits), "shared memory: what a conversion between two layouts goes through"),
    entry!(m8n8k4(quadpairs, warps), "Volta's matrix unit; 4x1, 2x2 or 1x4 quadpairs, warps along m and n"),
    entry!(m16n8k8(warps), "Turing's matrix unit, operands of 16 bits"),
    entry!(m16n8k16(warps), "Ampere's matrix unit, operands of 16 bits"),
    entry!(m16n8k8_tf32(warps), "Ampere's matrix unit, tf32 operands"),
    entry!(m16n8k32(warps), "Ampere's matrix unit, operands of 8 bits"),
    entry!(wgmma(n, warps), "Hopper's unit of four warps, n columns an instruction"),
];

/// Views of a tile in registers.
pub(super) const REGISTER_VIEWS: &[Entry<Layout>] = &[
    entry!(.slice(dim), "without a dimension"),
    entry!(.collapse(dim), "with extent 1 in a dimension"),
    entry!(.expand_dims(axis), "with an extent of 1 inserted before a dimension"),
    entry!(.permute<N>(order), "with the dimensions in another order"),
    entry!(.reshape<N>(shape), "the same elements under another shape"),
    entry!(.compact(), "without register bits that move nothing"),
    entry!(.operand_a(k), "the left operand of a product by fused multiply-adds into this"),
    entry!(.operand_b(k), "the right operand"),
];

/// Views of shared memory.
pub(super) const SHARED_VIEWS: &[Entry<SharedLayout>] = &[
    entry!(.slice(dim, start, length), "a stretch of a dimension"),
    entry!(.without_dim0(), "index 0 of dimension 0, without it"),
    entry!(.permute<N>(order), "with the dimensions in another order"),
    entry!(.reshape<N>(shape), "the same elements under another shape"),
];

/// What a matrix unit gives: layouts, and the unit with another arrangement.
pub(super) const UNIT_VIEWS: &[Entry<Mma>] = &[
    entry!(.accumulator(shape), "registers: the accumulator [m, n]"),
    entry!(.accumulator_half(shape), "registers: the accumulator in f16"),
    entry!(.a(shape), "registers: the left operand [m, k], k in neighbouring registers"),
    entry!(.a_col(shape), "registers: the left operand, m in neighbouring registers"),
    entry!(.b(shape), "registers: the right operand [k, n], k in neighbouring registers"),
    entry!(.b_row(shape), "registers: the right operand, n in neighbouring registers"),
    entry!(.dot_operand(shape, index, k_width), "registers: operand 0 or 1, k_width neighbours along k in a thread"),
    entry!(.wide(), "the unit with a thread's columns of two neighbouring instructions side by side"),
    entry!(.interleaved(), "the unit with quadpairs that take turns of four rows and columns"),
    entry!(.staggered(), "the unit with quadpairs that begin k where an accumulator holds it"),
    entry!(.together(), "the unit with each warp's part of a tile in one piece"),
];

// The entries above are called with owned lists and a layout's parts by value.

fn linear<const N: usize>(
    shape: [usize; N],
    registers: Vec<[usize; N]>,
    lanes: Vec<[usize; N]>,
    warps: Vec<[usize; N]>,
) -> Layout {
    quadpair_layouts::linear(shape, &registers, &lanes, &warps)
}

fn shared_linear<const N: usize>(shape: [usize; N], offsets: Vec<[usize; N]>) -> SharedLayout {
    quadpair_layouts::shared_linear(shape, &offsets)
}

fn padded<const N: usize>(shape: [usize; N], paddings: Vec<[usize; 2]>, order: [usize; N]) -> SharedLayout {
    let pairs: Vec<(usize, usize)> = paddings.into_iter().map(|[interval, padding]| (interval, padding)).collect();
    quadpair_layouts::padded(shape, &pairs, order)
}

fn between(from: Layout, to: Layout, bits: u32) -> SharedLayout {
    SharedLayout::between(&from, &to, bits)
}

fn m8n8k4(quadpairs: Quadpairs, warps: [usize; 2]) -> Mma {
    Mma::m8n8k4(quadpairs, warps)
}

fn m16n8k8(warps: [usize; 2]) -> Mma {
    Mma::m16n8k8(warps)
}

fn m16n8k16(warps: [usize; 2]) -> Mma {
    Mma::m16n8k16(warps)
}

fn m16n8k8_tf32(warps: [usize; 2]) -> Mma {
    Mma::m16n8k8_tf32(warps)
}

fn m16n8k32(warps: [usize; 2]) -> Mma {
    Mma::m16n8k32(warps)
}

fn wgmma(n: usize, warps: [usize; 2]) -> Mma {
    Mma::wgmma(n, warps)
}

/// The entry of a name; else what could have been meant.
pub(super) fn find<'t, R>(table: &'t [Entry<R>], name: &str, what: &str) -> Result<&'t Entry<R>, String> {
    table.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = table.iter().map(|entry| entry.name);
        let nearest = names.clone().min_by_key(|known| distance(known, name)).filter(|known| distance(known, name) < 4);
        let known = names.collect::<Vec<_>>().join(", ");
        match nearest {
            Some(nearest) => format!("there is no {what} `{name}`; is it `{nearest}`? There are {known}"),
            None => format!("there is no {what} `{name}`; there are {known}"),
        }
    })
}

/// How many letters must be put in, left out or changed to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let changed = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl<R> Entry<R> {
    /// How a call of it is written.
    fn form(&self) -> String {
        match self.parameters {
            [] => self.name.to_owned(),
            ["shape"] => format!("{} on shape", self.name),
            ["shape", rest @ ..] => format!("{}({}) on shape", self.name, rest.join(", ")),
            all => format!("{}({})", self.name, all.join(", ")),
        }
    }
}

/// Every name in groups: a heading, then how each call is written and what it gives.
pub(super) fn forms() -> Vec<(&'static str, Vec<(String, &'static str)>)> {
    fn lines<R>(table: &[Entry<R>], dot: &str) -> Vec<(String, &'static str)> {
        table.iter().map(|entry| (format!("{dot}{}", entry.form()), entry.says)).collect()
    }
    vec![
        ("Layouts", lines(CONSTRUCTORS, "")),
        ("Views of a matrix unit", lines(UNIT_VIEWS, ".")),
        ("Views of a tile in registers", lines(REGISTER_VIEWS, ".")),
        ("Views of shared memory", lines(SHARED_VIEWS, ".")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_nearest_one() {
        assert_eq!((distance("blocked", "blokced"), distance("", "abc"), distance("a", "a")), (2, 3, 0));
        let missing = find(CONSTRUCTORS, "swizled", "layout").map(|entry| entry.name).unwrap_err();
        assert!(
            missing.starts_with("there is no layout `swizled`; is it `swizzled`? There are blocked, "),
            "{missing}"
        );
        let missing = find(UNIT_VIEWS, "transposed", "layout of a unit").map(|entry| entry.name).unwrap_err();
        assert!(missing.starts_with("there is no layout of a unit `transposed`; there are accumulator, "), "{missing}");
    }

    #[test]
    fn the_shape_stands_behind_on() {
        let forms: Vec<String> = CONSTRUCTORS.iter().map(Entry::form).collect();
        assert_eq!(forms[0], "blocked(per_thread, lanes, warps, order) on shape");
        assert_eq!(forms[3], "row_major on shape");
    }
}
