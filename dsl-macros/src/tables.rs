//! The names that the rewriting knows.
//!
//! Everything else follows from syntax: a call with a run-time argument is traced whatever its name is. Only calls
//! without one need a table, `zeros(..)` say, and so do the places where a plain number stands for a tile, as in
//! `maximum(x, 0.0)`.

/// Functions that make run-time values from comptime ones, or have effects without taking any value.
const GENERATORS: &[&str] = &[
    "program_id",
    "num_programs",
    "num_warps",
    "arange",
    "arange_between",
    "full",
    "zeros",
    "ones",
    "scalar",
    "shared",
    "barrier",
    "commit_group",
    "blocks_at_once",
    "wait_group",
    "load",
    "load_masked",
    "store",
    "store_masked",
    "maximum",
    "minimum",
    "select",
    "fma",
    "exp2",
    "log2",
    "mma",
    "dot",
    "inline_asm",
    "inline_asm_elementwise",
    "device_assert",
    "static_assert",
];

/// Methods of run-time values whose results are comptime: they read a type, so they take no trace.
const ACCESSORS: &[&str] = &["layout", "shape", "dtype", "len", "bytes"];

/// Arguments of functions that may be a tile or a number.
const FUNCTION_OPERANDS: &[(&str, &[usize])] = &[
    ("maximum", &[0, 1]),
    ("minimum", &[0, 1]),
    ("select", &[1, 2]),
    ("fma", &[0, 1, 2]),
    ("full", &[1]),
    ("full_like", &[1]),
    ("scalar", &[0]),
    ("load_masked", &[2]),
    ("maximum_nan", &[0, 1]),
    ("minimum_nan", &[0, 1]),
    ("clamp", &[0, 1, 2]),
    ("mulhi", &[0, 1]),
    ("fdiv", &[0, 1]),
    ("div_rn", &[0, 1]),
    ("cdiv", &[0, 1]),
    ("atomic_add", &[1]),
    ("atomic_add_with", &[1]),
    ("atomic_min", &[1]),
    ("atomic_min_with", &[1]),
    ("atomic_max", &[1]),
    ("atomic_max_with", &[1]),
    ("atomic_and", &[1]),
    ("atomic_and_with", &[1]),
    ("atomic_or", &[1]),
    ("atomic_or_with", &[1]),
    ("atomic_xor", &[1]),
    ("atomic_xor_with", &[1]),
    ("atomic_xchg", &[1]),
    ("atomic_xchg_with", &[1]),
    ("atomic_store", &[1]),
    ("atomic_store_with", &[1]),
    ("atomic_cas", &[1, 2]),
    ("atomic_cas_with", &[1, 2]),
];

/// A function, or method, whose last argument is a function of elements.
#[derive(Clone, Copy)]
pub struct Taker {
    /// How many arguments it has: first what the function is applied to, last the function.
    pub arguments: usize,
    /// How many aggregates the function takes.
    pub parameters: usize,
    /// Whether the function gives what it takes.
    pub combines: bool,
}

const COMBINING: Taker = Taker { arguments: 3, parameters: 2, combines: true };
const MAPPING: Taker = Taker { arguments: 2, parameters: 1, combines: false };

/// What takes a function of elements.
const TAKERS: &[(&str, Taker)] = &[
    ("reduce", COMBINING),
    ("associative_scan", COMBINING),
    ("associative_scan_reverse", COMBINING),
    ("map_elementwise", MAPPING),
];

impl Taker {
    /// What this function or method is, if it takes a function of elements.
    pub fn named(name: &str) -> Option<Taker> {
        TAKERS.iter().find(|(own, _)| *own == name).map(|(_, taker)| *taker)
    }
}

/// Arguments of methods that may be a tile or a number.
const METHOD_OPERANDS: &[(&str, &[usize])] = &[("mask", &[1])];

/// Whether the argument of this method at this position may be a tile or a number.
pub fn is_method_operand(method: &str, position: usize) -> bool {
    METHOD_OPERANDS.iter().any(|(name, positions)| *name == method && positions.contains(&position))
}

/// Functions whose arguments from a position on are run-time values, as many as the author likes.
const VARIADIC: &[(&str, usize)] = &[("device_print", 1)];

/// The position from which on the arguments of this function are one array of run-time values.
pub fn variadic_from(function: &str) -> Option<usize> {
    VARIADIC.iter().find(|(name, _)| *name == function).map(|(_, position)| *position)
}

/// What a loop that loads ahead runs over.
pub const PIPELINED: &str = "pipelined";

/// The condition of an `if` that each warp decides for itself.
pub const WARP_ANY: &str = "warp_any";

/// Whether calls of this function are traced whatever the arguments are.
pub fn is_generator(function: &str) -> bool {
    GENERATORS.contains(&function)
}

/// Whether this method of a run-time value gives a comptime one.
pub fn is_accessor(method: &str) -> bool {
    ACCESSORS.contains(&method)
}

/// Whether the argument of this function at this position may be a tile or a number.
pub fn is_operand(function: &str, position: usize) -> bool {
    FUNCTION_OPERANDS.iter().any(|(name, positions)| *name == function && positions.contains(&position))
}
