//! Named layouts against Triton's own library: the golden files of `oracle/named.py`, line by line.
//!
//! Each line has the parameters of a layout and its bases there; the same parameters must give the same bases here.
//! Registers that move nothing are left out on both sides. `oracle/named.py` says how to make the files again.

use quadpair_layouts::{
    Layout, Mma, Shape, SharedLayout, banks, blocked, nvmma_default, nvmma_shared, padded, swizzled, tensor_memory,
};

/// A line: the parameters' fields and the lists of bases.
struct Case<'t> {
    line: &'t str,
    fields: Vec<&'t str>,
    bases: Vec<Vec<u32>>,
}

impl<'t> Case<'t> {
    fn parse(line: &'t str) -> Case<'t> {
        let (parameters, bases) = line.split_once(" =").unwrap_or_else(|| panic!("{line}: no ` =`"));
        let list = |list: &str| list.split_whitespace().map(|basis| u32::from_str_radix(basis, 16).unwrap()).collect();
        Case { line, fields: parameters.split(' ').collect(), bases: bases.split('|').map(list).collect() }
    }

    /// The field's numbers, such as the extents of a shape.
    fn numbers(&self, field: usize) -> Vec<usize> {
        self.fields[field].split('x').map(|number| number.parse().unwrap()).collect()
    }

    fn array<const N: usize>(&self, field: usize) -> [usize; N] {
        self.numbers(field).try_into().unwrap_or_else(|_| panic!("{}: field {field}", self.line))
    }

    fn number(&self, field: usize) -> usize {
        self.array::<1>(field)[0]
    }

    /// The library's register layout, for a shape.
    fn registers(&self, shape: Shape) -> Layout {
        let [registers, lanes, warps] = &self.bases[..] else { panic!("{}: three lists", self.line) };
        let lanes = lanes[..].try_into().unwrap_or_else(|_| panic!("{}: five lanes", self.line));
        let registers: Vec<u32> = registers.iter().copied().filter(|&basis| basis != 0).collect();
        Layout::from_bases(shape, &registers, lanes, warps)
    }

    /// Whether a register layout is the library's.
    fn same(&self, own: &Layout) -> bool {
        own.fault().is_none() && own.same_tile(&self.registers(own.shape()))
    }

    /// Whether a shared layout has the library's element at each offset that is a power of two.
    fn same_memory(&self, own: &SharedLayout) -> bool {
        let bases = &self.bases[0];
        let at = |(i, &basis): (usize, &u32)| own.linear_offset(basis) == 1 << i;
        own.fault().is_none() && bases.len() == own.shape().bits() && bases.iter().enumerate().all(at)
    }
}

/// The block layout that fields 0 to 4 describe.
fn blocked_of(case: &Case<'_>) -> Layout {
    fn of<const N: usize>(case: &Case<'_>) -> Layout {
        blocked::<N>(case.array(0), case.array(1), case.array(2), case.array(3), case.array(4))
    }
    match case.numbers(0).len() {
        1 => of::<1>(case),
        2 => of::<2>(case),
        3 => of::<3>(case),
        _ => of::<4>(case),
    }
}

/// The arrangement that fields 1 and 2 describe.
fn unit_of(case: &Case<'_>) -> Mma {
    match case.fields[1].split_once(':') {
        None => Mma::m16n8k16(case.array(2)),
        Some((_, columns)) => Mma::wgmma(columns.parse().unwrap(), case.array(2)),
    }
}

/// The swizzle that four fields describe.
fn swizzled_of(case: &Case<'_>, first: usize) -> SharedLayout {
    fn of<const N: usize>(case: &Case<'_>, i: usize) -> SharedLayout {
        swizzled::<N>(case.array(0), case.number(i), case.number(i + 1), case.number(i + 2), case.array(i + 3))
    }
    match case.numbers(0).len() {
        1 => of::<1>(case, first),
        2 => of::<2>(case, first),
        _ => of::<3>(case, first),
    }
}

/// Compares every line of a file. Asserted at the end, so that a failure tells how many there are.
fn compare(text: &str, count: usize, same: impl Fn(&Case<'_>) -> bool) -> usize {
    let different: Vec<&str> = text.lines().filter(|line| !same(&Case::parse(line))).collect();
    assert!(
        different.is_empty(),
        "{} differ, such as\n{}",
        different.len(),
        different[..different.len().min(8)].join("\n")
    );
    assert_eq!(text.lines().count(), count);
    count
}

macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../oracle/named/", $name, ".txt"))
    };
}

fn registers() -> usize {
    let blocks = compare(golden!("blocked"), 2400, |case| case.same(&blocked_of(case)));
    let slices = compare(golden!("sliced"), 1500, |case| case.same(&blocked_of(case).slice(case.number(5))));
    let products = compare(golden!("mma"), 1200, |case| case.same(&unit_of(case).accumulator(case.array(0))));
    let rows = compare(golden!("mma_sliced"), 600, |case| {
        case.same(&unit_of(case).accumulator(case.array(0)).slice(case.number(3)))
    });
    let operands = compare(golden!("dot_operand"), 1500, |case| {
        case.same(&unit_of(case).dot_operand(case.array(0), case.number(3), case.number(4)))
    });
    blocks + slices + products + rows + operands
}

/// Operands of products by fused multiply-adds. Here k always comes first in a thread's registers, there the order of the
/// accumulator says; so registers are compared in any order.
fn operands_of_blocks() -> usize {
    let sorted = |layout: &Layout| {
        let layout = layout.compact();
        let mut registers: Vec<u32> = (0..layout.register_bits()).map(|i| layout.register_basis(i)).collect();
        registers.sort_unstable();
        (registers, layout.columns()[layout.register_bits()..].to_vec())
    };
    compare(golden!("dot_blocked"), 900, |case| {
        let (accumulator, k) = (blocked_of(case), case.number(6));
        let own = if case.number(5) == 0 { accumulator.operand_a(k) } else { accumulator.operand_b(k) };
        own.fault().is_none() && sorted(&own) == sorted(&case.registers(own.shape()))
    })
}

fn memory() -> usize {
    let swizzles = compare(golden!("swizzled"), 1500, |case| case.same_memory(&swizzled_of(case, 1)));
    let chunks = compare(golden!("nvmma_shared"), 700, |case| {
        let (swizzle, bits, transposed) = (case.number(1), case.number(2), case.number(3) == 1);
        let own = match case.numbers(0).len() {
            2 => nvmma_shared::<2>(case.array(0), swizzle, bits, transposed),
            _ => nvmma_shared::<3>(case.array(0), swizzle, bits, transposed),
        };
        case.same_memory(&own) && own.alignment() as usize == case.number(4)
    });
    let defaults = compare(golden!("nvmma_default"), 300, |case| {
        let (bits, transposed, swizzle) = (case.number(1), case.number(2) == 1, case.bases[0][0] as usize);
        match case.numbers(0).len() {
            1 => {
                nvmma_default::<1>(case.array(0), bits, transposed)
                    == nvmma_shared(case.array::<1>(0), swizzle, bits, transposed)
            }
            2 => {
                nvmma_default::<2>(case.array(0), bits, transposed)
                    == nvmma_shared(case.array::<2>(0), swizzle, bits, transposed)
            }
            _ => {
                nvmma_default::<3>(case.array(0), bits, transposed)
                    == nvmma_shared(case.array::<3>(0), swizzle, bits, transposed)
            }
        }
    });
    let gaps = compare(golden!("padded"), 300, |case| {
        case.same_memory(&match case.numbers(0).len() {
            1 => padded::<1>(case.array(0), &[(32, 4)], case.array(1)),
            2 => padded::<2>(case.array(0), &[(32, 4)], case.array(1)),
            _ => padded::<3>(case.array(0), &[(32, 4)], case.array(1)),
        })
    });
    let tensors = compare(golden!("tensor_memory"), 144, |case| {
        let own = tensor_memory(case.array(0), case.array(1), case.number(2));
        own.fault().is_none() && own.rows() == case.bases[0] && own.columns() == case.bases[1]
    });
    swizzles + chunks + defaults + gaps + tensors
}

/// Extra wavefronts of each access: of a block layout to a swizzle, of an accumulator to the memory of wgmma.
fn conflicts() -> usize {
    let extra = |tile: &Layout, memory: &SharedLayout, bits| banks::load(tile, memory, bits as u32).conflict() - 1;
    let blocks = compare(golden!("conflicts"), 1200, |case| {
        extra(&blocked_of(case), &swizzled_of(case, 5), case.number(9)) == case.bases[0][0]
    });
    let units = compare(golden!("conflicts_of_units"), 400, |case| {
        let (bits, tile) = (case.number(4), unit_of(case).accumulator(case.array(0)));
        extra(&tile, &nvmma_shared::<2>(case.array(0), case.number(3), bits, false), bits) == case.bases[0][0]
    });
    blocks + units
}

#[test]
fn register_layouts_are_the_library_s() {
    assert_eq!(registers() + operands_of_blocks(), 8100);
}

#[test]
fn shared_layouts_are_the_library_s() {
    assert_eq!(memory(), 2944);
}

#[test]
fn bank_conflicts_are_the_library_s() {
    assert_eq!(conflicts(), 1600);
}

/// Where the library counts no conflict (it says 0 of this one): lane bit 0 moves by a line of 128 bytes and by a half of a
/// word, so that two lanes want two words of each of 16 banks.
#[test]
fn lanes_that_differ_by_a_line_and_inside_a_word_conflict() {
    let tile = blocked([32, 4], [2, 2], [16, 2], [1, 1], [1, 0]);
    let memory = swizzled([32, 4], 1, 2, 4, [0, 1]);
    let moved = |lane: usize| 2 * memory.offset(tile.apply(0, lane, 0));
    assert_eq!((moved(1), moved(2)), (130, 4));
    let addresses = std::array::from_fn(|lane| Some(moved(lane)));
    assert_eq!((banks::wavefronts(&addresses, 2), banks::load(&tile, &memory, 16).conflict()), (2, 2));
}
