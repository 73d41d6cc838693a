//! The algebra of labelled maps against libtriton's: every case of `oracle/algebra.txt`, which `oracle/algebra.py`
//! writes and explains. Where several right inverses exist, ours must be libtriton's: both take the input in which bits
//! that are sums of earlier ones are 0, and send to themselves the dimensions that are alike in both maps and apart
//! from others.

use quadpair_layouts::{Dim, LinearMap, Space};

const CASES: &str = include_str!("../oracle/algebra.txt");

#[test]
fn every_case_is_as_in_libtriton() {
    let mut differences = Vec::new();
    for line in CASES.lines() {
        let (question, answer) = line.split_once(" = ").expect("a case has an answer");
        let ours = result(question);
        if ours != answer {
            differences.push(format!("{question}\n  ours   {ours}\n  theirs {answer}"));
        }
    }
    assert_eq!(CASES.lines().count(), 11_264);
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences[..differences.len().min(5)].join("\n")
    );
}

/// What we answer to a case.
fn result(question: &str) -> String {
    let words: Vec<&str> = question.split(' ').collect();
    let map = |i: usize| read(words[i]);
    let dims = || (dim(words[2].as_bytes()[0]), dim(words[3].as_bytes()[0]));
    match words[0] {
        "identity" => write(&LinearMap::identity(numbers(words[1])[0] as usize, dims().0, dims().1)),
        "strided" | "zeros" => {
            let sizes: Vec<usize> = numbers(words[1]).iter().map(|&size| size as usize).collect();
            let (bits, other, (input, output)) = (sizes[0], sizes[1], dims());
            write(&if words[0] == "zeros" {
                LinearMap::zeros(bits, input, output, other)
            } else {
                LinearMap::strided(bits, other, input, output)
            })
        }
        "then" => write(&map(1).then(&map(2))),
        "times" => write(&map(1).times(&map(2))),
        "invert" => write(&map(1).invert()),
        "pseudoinvert" => write(&map(1).pseudoinvert()),
        "invert_and_compose" => write(&map(1).invert_and_compose(&map(2))),
        "traits" => traits(&map(1)),
        "apply" => list(numbers(words[2]).into_iter().map(|input| map(1).apply(input))),
        "matrix" => matrix(&map(1)),
        "distributed" => format!("{} {}", threads(&map(1)), tile(&map(1), &holders)),
        "shared" => format!("{} {}", offsets(&map(1)), tile(&map(1), &places)),
        other => panic!("{other} is no operation"),
    }
}

const LETTERS: [(u8, Dim); 8] = [
    (b'r', Dim::Register),
    (b'l', Dim::Lane),
    (b'w', Dim::Warp),
    (b'b', Dim::Block),
    (b'o', Dim::Offset),
    (b'x', Dim::Axis(0)),
    (b'y', Dim::Axis(1)),
    (b'z', Dim::Axis(2)),
];

fn dim(letter: u8) -> Dim {
    LETTERS.iter().find(|(known, _)| *known == letter).expect("a dimension has a letter").1
}

fn letter(dim: Dim) -> char {
    LETTERS.iter().find(|(_, known)| *known == dim).expect("a dimension has a letter").0 as char
}

/// `r1l2>y2x1:1.4.2`.
fn read(text: &str) -> LinearMap {
    let (ins, rest) = text.split_once('>').expect("a map has two sides");
    let (outs, columns) = rest.split_once(':').expect("a map has columns");
    LinearMap::new(&side(ins), &side(outs), &numbers(columns))
}

fn side(text: &str) -> Vec<(Dim, usize)> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| (dim(pair[0]), (pair[1] as char).to_digit(16).expect("bits are hexadecimal") as usize))
        .collect()
}

fn numbers(text: &str) -> Vec<u32> {
    let number = |text| u32::from_str_radix(text, 16).expect("columns are hexadecimal");
    text.split('.').filter(|text| !text.is_empty()).map(number).collect()
}

fn write(map: &LinearMap) -> String {
    if let Some(error) = map.fault() {
        return error.to_string();
    }
    let side = |space: &Space| -> String {
        space.dims().iter().map(|&dim| format!("{}{:x}", letter(dim), space.bits_of(dim))).collect()
    };
    format!("{}>{}:{}", side(map.ins()), side(map.outs()), list(map.columns().iter().copied()))
}

fn list(values: impl Iterator<Item = u32>) -> String {
    values.map(|value| format!("{value:x}")).collect::<Vec<_>>().join(".")
}

fn traits(map: &LinearMap) -> String {
    [map.is_surjective(), map.is_injective(), map.is_invertible()]
        .map(|flag| if flag { '1' } else { '0' })
        .iter()
        .collect()
}

/// A row for each output bit.
fn matrix(map: &LinearMap) -> String {
    let row = |bit: usize| map.columns().iter().map(|column| (b'0' + (column >> bit & 1) as u8) as char).collect();
    (0..map.outs().bits()).map(row).collect::<Vec<String>>().join(".")
}

fn coordinates(map: &LinearMap, element: u32) -> Vec<String> {
    map.outs().dims().iter().map(|&dim| map.outs().coordinate(element, dim).to_string()).collect()
}

/// For each warp a row for each register, and in it the element of each lane.
fn threads(map: &LinearMap) -> String {
    let count = |dim| 0..1_u32 << map.ins().bits_of(dim);
    let mut rows = Vec::new();
    for warp in count(Dim::Warp) {
        rows.push(format!("Warp{warp}:"));
        for register in count(Dim::Register) {
            let at = |lane| map.ins().index(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)]);
            let element = |lane| format!("({})", coordinates(map, map.apply(at(lane))).join(","));
            rows.push(count(Dim::Lane).map(element).collect::<Vec<_>>().join(","));
        }
    }
    rows.join("/")
}

fn offsets(map: &LinearMap) -> String {
    let line = |offset| format!("Offset:{offset}->({})", coordinates(map, map.apply(offset)).join(","));
    format!("Block:0:/{}", (0..1 << map.ins().bits()).map(line).collect::<Vec<_>>().join("/"))
}

/// The inputs that give an element: `T0:1|T4:1`, thread and register.
fn holders(map: &LinearMap, element: u32) -> String {
    let at = |input, dim| map.ins().coordinate(input, dim);
    let thread = |input| at(input, Dim::Lane) | at(input, Dim::Warp) << map.ins().bits_of(Dim::Lane);
    let inputs = (0..1 << map.ins().bits()).filter(|&input| map.apply(input) == element);
    inputs.map(|input| format!("T{}:{}", thread(input), at(input, Dim::Register))).collect::<Vec<_>>().join("|")
}

/// The element that memory has where a row-major tile would have this one.
fn places(map: &LinearMap, element: u32) -> String {
    let row_major = map
        .outs()
        .dims()
        .iter()
        .fold(0, |offset, &dim| offset << map.outs().bits_of(dim) | map.outs().coordinate(element, dim));
    format!("({})", coordinates(map, map.apply(row_major)).join(":"))
}

/// The elements of a tile of one or two dimensions, row by row.
fn tile(map: &LinearMap, show: &dyn Fn(&LinearMap, u32) -> String) -> String {
    let axes = map.outs().dims();
    let row = |fixed: &[(Dim, u32)], along: Dim| {
        let element = |i| show(map, map.outs().index(&[fixed, &[(along, i)]].concat()));
        format!("[{}]", (0..1 << map.outs().bits_of(along)).map(element).collect::<Vec<_>>().join(","))
    };
    match *axes {
        [only] => row(&[], only),
        [first, second] => {
            let rows = (0..1 << map.outs().bits_of(first)).map(|i| row(&[(first, i)], second));
            format!("[{}]", rows.collect::<Vec<_>>().join("/"))
        }
        _ => panic!("a drawn tile has one or two dimensions"),
    }
}
