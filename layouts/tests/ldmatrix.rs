//! Loads of whole matrices against the instruction done by hand: each lane's address, each row handed out.

use quadpair_layouts::{
    Layout, MatrixLoad, Mma, Quadpairs, SharedLayout, banks, blocked, linear, nvmma_shared, padded, row_major, swizzled,
};

/// Does the load's instructions: every register must get the element that the layout says.
fn check(load: &MatrixLoad, tile: &Layout, memory: &SharedLayout, bytes: u32) {
    let bases = load.lane_bases();
    let mut wavefronts = 0;
    for warp in 0..tile.warps() {
        let mut instructions = 0;
        let mut got = vec![None; tile.registers() * 32];
        let free = (0..tile.register_bits()).filter(|&i| tile.register_basis(i) == 0).fold(0, |all, i| all | 1 << i);
        for register in (0..tile.registers()).filter(|r| r & (load.moved() as usize | free) == 0) {
            // Each lane's address, of the first element of a row.
            let address = |lane: usize| {
                let moved = (0..5).filter(|i| lane >> i & 1 == 1).fold(0, |sum, i| sum ^ bases[i]);
                memory.offset(tile.apply(register, 0, warp) ^ moved) * bytes
            };
            let given: Vec<u32> = (0..8 * load.matrices).map(address).collect();
            assert!(given.iter().all(|address| address % 16 == 0), "rows are aligned");
            let active = std::array::from_fn(|lane| given.get(lane).copied());
            wavefronts = if warp == 0 { wavefronts + banks::wavefronts(&active, 16) } else { wavefronts };
            instructions += 1;
            for (matrix, lane) in (0..load.matrices).flat_map(|matrix| (0..32).map(move |lane| (matrix, lane))) {
                for element in 0..load.pack {
                    let (row, column) = match load.transposed {
                        false => (lane / 4, lane % 4 * load.pack + element),
                        true => (lane % 4 * 2 + element, lane / 4),
                    };
                    let place = given[8 * matrix + row] / bytes + column as u32;
                    got[(register | load.register(matrix, element)) * 32 + lane] = Some(place);
                }
            }
        }
        for (register, lane) in (0..tile.registers()).flat_map(|r| (0..32).map(move |lane| (r, lane))) {
            if register & free == 0 {
                let wanted = memory.offset(tile.apply(register, lane, warp));
                assert_eq!(got[register * 32 + lane], Some(wanted), "register {register} of lane {lane}");
            }
        }
        assert_eq!(instructions, load.access.instructions);
    }
    assert_eq!((wavefronts, load.access.vector), (load.access.wavefronts, load.matrices * load.pack));
}

/// Memory of a `[rows, columns]` tile: rows in it, or columns.
fn memories(shape: [usize; 2]) -> Vec<SharedLayout> {
    let [rows, columns] = shape;
    let phases = |row: usize| (row / 8).clamp(1, 8);
    let mut all = vec![row_major(shape), padded(shape, &[(columns, 8)], [1, 0]), padded(shape, &[(rows, 8)], [0, 1])];
    all.push(row_major([columns, rows]).permute([1, 0]));
    all.push(swizzled(shape, 8, 1, phases(columns), [1, 0]));
    all.push(swizzled(shape, 8, 1, phases(rows), [0, 1]));
    all
}

#[test]
fn operands_of_the_units_of_16_rows_come_as_matrices() {
    let mut found = [0; 2];
    for (make, k) in
        [(Mma::m16n8k8 as fn([usize; 2]) -> Mma, 8), (Mma::m16n8k8, 32), (Mma::m16n8k16, 16), (Mma::m16n8k16, 64)]
    {
        for warps in [[1, 1], [4, 1], [2, 2], [1, 4]] {
            let unit = make(warps);
            for tile in [unit.a([64, k]), unit.b([k, 32]), unit.a([32, k])] {
                for memory in memories([tile.shape().extent(0), tile.shape().extent(1)]) {
                    let load = MatrixLoad::of(&tile, &memory, 16).expect("an operand is a fragment of matrices");
                    check(&load, &tile, &memory, 2);
                    found[load.transposed as usize] += 1;
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 50), "{found:?}");
}

#[test]
fn swizzles_and_gaps_keep_rows_apart() {
    let unit = Mma::m16n8k16([4, 1]);
    let (a, b) = (unit.a([64, 64]), unit.b([64, 64]));
    let load = |tile: &Layout, memory: SharedLayout| MatrixLoad::of(tile, &memory, 16).unwrap().access;
    assert_eq!(load(&a, row_major([64, 64])).conflict(), 8);
    for memory in [
        swizzled([64, 64], 8, 1, 8, [1, 0]),
        padded([64, 64], &[(64, 8)], [1, 0]),
        nvmma_shared([64, 64], 128, 16, false),
    ] {
        assert!(load(&a, memory).is_conflict_free() && load(&b, memory).is_conflict_free());
    }
    assert_eq!((load(&a, row_major([64, 64])).instructions, load(&b, row_major([64, 64])).instructions), (4, 16));
}

/// The words of an instruction are a thread's registers in a row, as the unit takes a fragment: swizzled or not, nothing is
/// moved between the load and the product.
#[test]
fn words_come_in_the_order_of_registers() {
    let unit = Mma::m16n8k16([1, 1]);
    for memory in [swizzled([16, 32], 8, 2, 4, [1, 0]), row_major([16, 32])] {
        let load = MatrixLoad::of(&unit.a([16, 32]), &memory, 16).unwrap();
        assert_eq!([0, 1, 2, 3].map(|matrix| load.register(matrix, 0)), [0, 2, 4, 6]);
        assert_eq!(load.lane_bases()[3..], [8 << 5, 8]);
    }
}

#[test]
fn other_widths_come_straight_only() {
    let unit = Mma::m16n8k32([2, 1]);
    let (a, memory) = (unit.a([32, 64]), swizzled([32, 64], 16, 2, 4, [1, 0]));
    check(&MatrixLoad::of(&a, &memory, 8).unwrap(), &a, &memory, 1);
    let singles = Mma::m16n8k8_tf32([2, 1]).a([32, 32]);
    let memory = swizzled([32, 32], 4, 1, 8, [1, 0]);
    check(&MatrixLoad::of(&singles, &memory, 32).unwrap(), &singles, &memory, 4);
    assert_eq!(MatrixLoad::of(&unit.b([64, 32]), &row_major([64, 32]), 8), None);
    assert_eq!(MatrixLoad::of(&singles, &memory, 64), None);
}

#[test]
fn what_is_no_matrix_is_loaded_by_its_lanes() {
    let a = Mma::m16n8k16([4, 1]).a([64, 64]);
    let none = |tile: &Layout, memory: &SharedLayout| assert_eq!(MatrixLoad::of(tile, memory, 16), None);
    // Rows that are torn apart, or no multiple of 16 bytes apart.
    none(&a, &swizzled([64, 64], 4, 1, 8, [1, 0]));
    none(&a, &padded([64, 64], &[(64, 4)], [1, 0]));
    none(&a, &padded([64, 64], &[(4, 8)], [1, 0]));
    // Other fragments: Volta's, and those of a thread's own rows.
    none(&Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).a([64, 64]), &row_major([64, 64]));
    none(&blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]), &row_major([64, 64]));
    // A lane of a row too few.
    let lanes = [[0, 2], [0, 0], [1, 0], [2, 0], [4, 0]];
    none(&linear([8, 4], &[[0, 1]], &lanes, &[]), &row_major([8, 4]));
    let narrow = linear([8, 8], &[[0, 1]], &[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], &[]);
    assert!(MatrixLoad::of(&narrow, &row_major([8, 32]).slice(1, 8, 8), 16).is_some_and(|load| load.matrices == 1));
}
