//! The words of every error, each from the call that an author would make.

use quadpair_layouts::mma::Descriptor;
use quadpair_layouts::{
    Bound, Error, Layout, Mma, Quadpairs, Shape, SharedLayout, blocked, convert, linear, nvmma_shared, padded,
    row_major, shared_linear, swizzled, tensor_memory, typing,
};

const LANES: [[usize; 2]; 5] = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];
const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);

/// A tile of 32 x 32 in one warp.
fn tile() -> Layout {
    blocked([32, 32], [1, 4], [4, 8], [1, 1], [1, 0])
}

#[track_caller]
fn says(error: Option<Error>, words: &str) {
    assert_eq!(error.expect("the call is wrong").to_string(), words);
}

#[track_caller]
fn fails<T>(result: Result<T, Error>, words: &str) {
    says(result.err(), words);
}

#[test]
fn sizes() {
    let extent = "extent 96 of dimension 1 is no power of two; the next are 64 and 128";
    says(Shape::new([64, 96]).fault(), extent);
    says(blocked([64, 96], [1, 1], [4, 8], [1, 1], [1, 0]).fault(), extent);
    says(row_major([64, 96]).fault(), extent);
    says(UNIT.a([64, 96]).fault(), extent);
    says(Shape::new([0]).fault(), "extent 0 of dimension 0 is no power of two");
    says(Shape::new([1; 9]).fault(), "9 dimensions; at most 8 are possible");
    says(Shape::new([1 << 20, 32]).fault(), "2^25 elements; at most 2^24 are possible");
}

#[test]
fn parameters() {
    let per_thread = blocked([64, 32], [1, 3], [4, 8], [1, 1], [1, 0]);
    says(per_thread.fault(), "per_thread is 3, which is no power of two; the next are 2 and 4");
    let warps = blocked([64, 32], [1, 1], [4, 8], [6, 1], [1, 0]);
    says(warps.fault(), "warps is 6, which is no power of two; the next are 4 and 8");
    let unit = Mma::m8n8k4(Quadpairs::TwoByTwo, [3, 1]);
    says(unit.accumulator([64, 32]).fault(), "warps is 3, which is no power of two; the next are 2 and 4");
    says(tile().operand_a(12).fault(), "k is 12, which is no power of two; the next are 8 and 16");
    says(tile().operand_b(0).fault(), "k is 0, which is no power of two");
    let vec = swizzled([32, 32], 6, 1, 4, [1, 0]);
    says(vec.fault(), "vec is 6, which is no power of two; the next are 4 and 8");
    let huge = blocked([64, 32], [1, 1 << 30], [4, 8], [1, 1], [1, 0]);
    says(huge.fault(), "per_thread is 1073741824, more than any tile has");
}

#[test]
fn threads() {
    let lanes = blocked([64, 32], [1, 1], [8, 8], [1, 1], [1, 0]);
    says(lanes.fault(), "the lanes multiply to 64; a warp has 32");
    says(linear([4, 8], &[], &LANES[..4], &[]).fault(), "4 lane bases; 32 lanes have 5");
    let warps = blocked([64, 32], [1, 1], [4, 8], [8, 8], [1, 0]);
    says(warps.fault(), "64 warps; a block has at most 32");
    let registers = blocked([1024, 256], [1, 1], [4, 8], [1, 1], [1, 0]);
    let words = "a thread would hold 2^13 elements; at most 2^12 are possible: take more warps or a smaller tile";
    says(registers.fault(), words);
    says(tile().operand_a(8192).fault(), words);
}

#[test]
fn dimensions() {
    says(tile().slice(2).fault(), "there is no dimension 2; there are 2, from 0");
    says(tile().collapse(5).fault(), "there is no dimension 5; there are 2, from 0");
    says(tile().expand_dims(3).fault(), "there is no dimension 3; there are 3, from 0");
    says(tile().permute([0, 2]).fault(), "there is no dimension 2; there are 2, from 0");
    says(tile().permute([1, 1]).fault(), "the order names dimension 1 twice; each must occur once");
    says(tile().permute([0, 1, 2]).fault(), "the order has 3 entries for 2 dimensions");
    says(tile().slice(0).operand_a(4).fault(), "a tile of 2 dimensions is wanted; this one has 1");
    fails(typing::reduce(&tile(), 2), "there is no dimension 2; there are 2, from 0");
}

#[test]
fn bases() {
    let outside = linear([4, 8], &[[0, 8]], &LANES, &[]);
    says(outside.fault(), "register bit 0 moves by 8 along dimension 1, whose extent is 8");
    let outside = linear([4, 8], &[], &LANES, &[[0, 0], [4, 0]]);
    says(outside.fault(), "warp bit 1 moves by 4 along dimension 0, whose extent is 4");
    let unheld = linear([8, 8], &[], &LANES, &[]);
    says(unheld.fault(), "no thread holds element (4, 0) of [8, 8]; the bases must reach every element");
}

#[test]
fn tiles() {
    says(tile().reshape([32, 16]).fault(), "[32, 32] has 1024 elements, [32, 16] has 512");
    fails(
        typing::elementwise(&tile(), &tile().reshape([16, 64])),
        "[32, 32] and [16, 64] do not broadcast: extents must be equal, or 1",
    );
    let words = "[32, 32] does not broadcast to [32, 1]";
    fails(typing::broadcast(&tile(), &tile().slice(1).expand_dims(1)), words);
    let words = "[32, 32] cannot be converted to a layout of [1024]";
    fails(typing::convert(&tile(), &tile().reshape([1024])), words);
    let two = blocked([32, 32], [1, 4], [4, 8], [2, 1], [1, 0]);
    let words = "one tile lives in 1 warps, the other in 2; every tile of a kernel lives in all its warps";
    fails(typing::elementwise(&tile(), &two), words);
    fails(typing::convert(&tile(), &two), words);
    fails(convert::plan(&tile(), &two, 16), words);
}

#[test]
fn differences() {
    let turned = tile().permute([1, 0]);
    let words = "the layouts differ: lane bit 0 moves by (0, 4) here and by (4, 0) there; \
                 convert one side with convert_layout";
    fails(typing::elementwise(&tile(), &turned), words);
    // What exists on one side only, and what moves on one side only.
    let long = linear([4, 16], &[[0, 8]], &LANES, &[]);
    let zero = linear([4, 16], &[[0, 8], [0, 1]], &[[0, 0], [0, 2], [0, 4], [1, 0], [2, 0]], &[]);
    let words = "the layouts differ: lane bit 0 moves by (0, 1) here and moves nothing there; \
                 convert one side with convert_layout";
    fails(typing::elementwise(&long, &zero), words);
    let more = linear([4, 16], &[[0, 8], [0, 1]], &LANES, &[]);
    let words = "the layouts differ: register bit 1 does not exist here and moves by (0, 1) there; \
                 convert one side with convert_layout";
    fails(typing::elementwise(&long, &more), words);
}

#[test]
fn conversions_beyond_a_bound() {
    let refusal = |from: &Layout, to: &Layout, bound| {
        let plan = convert::plan_within(from, to, 32, bound).unwrap();
        assert!(!bound.allows(&plan));
        plan.refusal(bound, from, to).to_string()
    };
    let turned = tile().permute([1, 0]);
    let words = "the conversion must leave every element in its thread; lane bit 0 moves by (0, 4) here and by (4, 0) \
                 there, so words move through shared memory, within warps: 40 shared-memory accesses, 64 wavefronts, \
                 4096 bytes of shared memory, 1 synchronization of the warp; let both layouts give each thread the same \
                 elements, or use convert_layout, which moves them";
    assert_eq!(refusal(&tile(), &turned, Bound::Registers), words);
    let narrow = |lanes: &[[usize; 2]]| linear([4, 8], &[], lanes, &[]);
    let (rows, columns) = (narrow(&LANES), narrow(&[[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]]));
    let words = "the conversion must use at most 0 shuffles and no shared memory; lane bit 0 moves by (0, 1) here and by \
                 (1, 0) there, so words move between lanes: 1 shuffle; allow 1 shuffle, or let each thread keep more of \
                 its elements";
    assert_eq!(refusal(&rows, &columns, Bound::Shuffles(0)), words);
    let (rows, columns) =
        (blocked([32, 32], [1, 4], [4, 8], [2, 1], [1, 0]), blocked([32, 32], [1, 4], [4, 8], [1, 2], [1, 0]));
    for (bound, must) in [
        (Bound::NoSharedMemory, "use no shared memory"),
        (Bound::NoBarrier, "use no barrier of the block"),
        (Bound::Shuffles(8), "use at most 8 shuffles and no shared memory"),
    ] {
        let words = "warp bit 0 moves by (4, 0) here and by (0, 0) there, to elements that another warp has here, so words move through shared memory: 12 \
                     shared-memory accesses, 48 wavefronts, 4096 bytes of shared memory, 1 barrier of the block; let both \
                     layouts give each warp the same elements, or use convert_layout";
        assert_eq!(refusal(&rows, &columns, bound), format!("the conversion must {must}; {words}"));
    }
}

#[test]
fn broadcasts() {
    let rows = tile().permute([1, 0]).slice(1).expand_dims(1);
    let words = "the threads do not hold what the larger tile's layout needs: \
                 lane bit 0 moves by (4, 0) here and moves nothing there; \
                 take the smaller tile in the slice of the larger one's layout, or convert it";
    fails(typing::elementwise(&rows, &tile()), words);
    fails(typing::broadcast(&rows, &tile()), words);
    let (rows, columns) = (tile().slice(1).compact().expand_dims(1), tile().slice(0).expand_dims(0));
    let words = "both sides broadcast, but come from different layouts: 8 and 32 elements a thread; \
                 slice both from one layout, or use broadcast_to";
    fails(typing::elementwise(&rows, &columns), words);
}

#[test]
fn combinations_along_an_axis() {
    fails(typing::reduce(&tile(), 2), "there is no dimension 2; there are 2, from 0");
    fails(typing::scan(&tile(), 2), "there is no dimension 2; there are 2, from 0");
    fails(typing::together(&tile(), &tile().slice(1).expand_dims(1)), "[32, 32] together with [32, 1]");
}

#[test]
fn products() {
    let (a, b, c) = (UNIT.a([64, 8]), UNIT.b([8, 32]), UNIT.accumulator([64, 32]));
    let words = "a is [64, 8], b [64, 8], the accumulator [64, 32]; [M, K] times [K, N] into [M, N] is wanted";
    fails(typing::mma(&a, &a, &c), words);
    let words = "k is 2; the unit multiplies 4 at once: pad k with zeros";
    fails(typing::mma(&UNIT.a([64, 2]), &UNIT.b([2, 32]), &c), words);
    let one = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]);
    fails(
        typing::mma(&a, &one.b([8, 32]), &c),
        "one tile lives in 1 warps, the other in 4; every tile of a kernel lives in all its warps",
    );
    // The other arrangement of the quadpairs: the accumulator decides.
    let other = Mma::m8n8k4(Quadpairs::FourByOne, [4, 1]);
    let words = "in a [64, 8] lane bit 3 moves by (16, 0); the product needs (0, 0) there: \
                 take a in the layout `a` or `a_col` of the accumulator's Mma";
    fails(typing::mma(&other.a([64, 8]), &b, &c), words);
    let words = "in b [8, 32] lane bit 3 moves by (0, 0); the product needs (0, 8) there: \
                 take b in the layout `b` or `b_row` of the accumulator's Mma";
    fails(typing::mma(&a, &other.b([8, 32]), &c), words);
    let words = "in the accumulator [64, 32] lane bit 1 moves by (1, 8); \
                 the product needs a move along dimension 1 only there: \
                 take the accumulator in the layout `accumulator` of an Mma";
    let mixed = linear(
        [64, 32],
        &[[2, 0], [0, 1], [0, 2], [0, 4]],
        &[[32, 0], [1, 8], [8, 0], [0, 16], [4, 0]],
        &[[16, 0], [0, 8]],
    );
    fails(typing::mma(&a, &b, &mixed), words);
}

#[test]
fn products_of_several_units() {
    let unit = Mma::m16n8k16([4, 1]);
    let (a, b, c) = (unit.a([64, 16]), unit.b([16, 32]), unit.accumulator([64, 32]));
    // The unit that most operands are made for is the one that is told of.
    let words = "in a [64, 16] lane bit 0 moves by (1, 0); the product needs a move along dimension 1 only there: \
                 take a in the layout `a` or `a_col` of the accumulator's Mma";
    fails(typing::mma(&UNIT.a([64, 16]), &b, &c), words);
    let words = "in the accumulator [64, 32] lane bit 0 moves by (0, 2); \
                 the product needs a move along dimension 0 only there: \
                 take the accumulator in the layout `accumulator` of an Mma";
    fails(typing::mma(&UNIT.a([64, 16]), &UNIT.b([16, 32]), &c), words);
    let words = "k is 4; the unit multiplies 8 at once: pad k with zeros";
    fails(typing::mma(&unit.a([64, 4]), &unit.b([4, 32]), &c), words);
    let words = "no matrix unit multiplies elements of 64 bits; take dot, or convert the operands";
    fails(typing::mma_of(64, 32, &a, &b, &c), words);
    let words = "m16n8k16 takes a only with k in a thread's neighbouring registers: take the layout `a`";
    says(unit.a_col([64, 16]).fault(), words);
    let words = "m16n8k16 has no operand with 32 neighbours along k in a thread; \
                 `a` and `b` have as many as the unit takes";
    says(unit.dot_operand([64, 16], 1, 32).fault(), words);
    says(unit.dot_operand([64, 16], 2, 2).fault(), "there is no operand 2; a is operand 0, b operand 1");
    let words = "four warps along m share an instruction of wgmma; here are 2: take 4 or a multiple";
    says(Mma::wgmma(64, [2, 1]).accumulator([64, 64]).fault(), words);
    let words = "an instruction of wgmma has 8 to 256 columns, not 512; a wider tile takes several";
    says(Mma::wgmma(512, [4, 1]).accumulator([64, 512]).fault(), words);
}

#[test]
fn warps_of_products() {
    // The row bits that the warps should move are in registers, and bits of k in the warps.
    let (a, b, c) = (UNIT.a([64, 8]), UNIT.b([8, 32]), UNIT.accumulator([64, 32]));
    let (lanes, rows) = ([0, 1, 2, 3, 4].map(|i| a.lane_basis(i)), [0, 1].map(|i| a.warp_basis(i)));
    let a = Layout::from_bases(a.shape(), &[rows[0], rows[1], 4], lanes, &[1, 2]);
    let words = "in a [64, 8] warp bit 0 moves by (0, 1); the product needs (16, 1) there: \
                 take a in the layout `a` or `a_col` of the accumulator's Mma";
    fails(typing::mma(&a, &b, &c), words);
}

#[test]
fn products_by_multiply_adds() {
    let (c, tall) = (tile(), blocked([32, 32], [2, 4], [4, 8], [1, 1], [1, 0]));
    let narrow = blocked([32, 32], [1, 1], [4, 8], [1, 1], [1, 0]);
    let words = "in a [32, 4] lane bit 3 moves by (1, 0); the product needs (2, 0) there: \
                 take a in the layout `operand_a` of the accumulator's";
    fails(typing::dot(&c.operand_a(4), &tall.operand_b(4), &tall), words);
    let words = "in b [4, 32] lane bit 0 moves by (0, 1); the product needs (0, 4) there: \
                 take b in the layout `operand_b` of the accumulator's";
    fails(typing::dot(&c.operand_a(4), &narrow.operand_b(4), &c), words);
    assert!(typing::dot(&c.operand_a(4), &c.operand_b(4), &c).is_ok());
}

/// Lanes 0 and 1 agree on which half of k they hold, but then each has only that half.
#[test]
fn registers_that_lack_what_a_product_needs() {
    let columns = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]];
    let halves = [[1, 1], [0, 2], [0, 4], [0, 8], [0, 16]];
    let first = [[0, 1], [0, 0], [0, 0], [0, 0], [0, 0]];
    let b = linear([2, 32], &[[1, 0]], &halves, &[]);
    let words = "a thread's registers of a reach 1 of the 2 elements along k; the product needs all: \
                 take a in the layout `operand_a` of the accumulator's";
    fails(typing::dot(&linear([1, 2], &[], &first, &[]), &b, &linear([1, 32], &[], &columns, &[])), words);
    // The second row comes with the other half only.
    let words = "in a [2, 2] a thread's registers do not reach the elements that the product needs, such as (1, 0): \
                 take a in the layout `operand_a` of the accumulator's";
    let c = linear([2, 32], &[[1, 0]], &columns, &[]);
    fails(typing::dot(&linear([2, 2], &[[1, 1]], &first, &[]), &b, &c), words);
}

#[test]
fn memory() {
    let memory = row_major([32, 64]);
    says(memory.slice(1, 48, 32).fault(), "32 indices from 48 on are not inside the extent 64");
    says(memory.slice(1, 64, 1).fault(), "1 indices from 64 on are not inside the extent 64");
    says(memory.slice(0, 4, 8).fault(), "start 4 is no multiple of the length 8");
    says(memory.slice(0, 0, 3).fault(), "the length of a slice is 3, which is no power of two; the next are 2 and 4");
    says(memory.slice(2, 0, 1).fault(), "there is no dimension 2; there are 2, from 0");
    says(memory.reshape([64, 64]).fault(), "[32, 64] cannot be reshaped to [64, 64]");
    let words =
        "the 4 indices of dimension 0 do not lie at one distance: only a slice with a comptime start is possible";
    fails(swizzled([4, 32], 8, 1, 4, [1, 0]).index_stride(), words);
    let words = "2 offset bases for 2^3 elements; each element must have one offset";
    says(shared_linear([2, 4], &[[0, 1], [0, 2]]).fault(), words);
    let words = "3 offset bases for 2^3 elements; each element must have one offset";
    says(shared_linear([2, 4], &[[0, 1], [0, 2], [0, 3]]).fault(), words);
    let outside = shared_linear([2, 4], &[[0, 1], [0, 2], [2, 0]]);
    says(outside.fault(), "offset bit 2 moves by 2 along dimension 0, whose extent is 2");
    let words = "[32, 32] is stored, loaded is [64, 32]";
    let larger = blocked([64, 32], [1, 4], [4, 8], [1, 1], [1, 0]);
    says(SharedLayout::between(&tile(), &larger, 16).fault(), words);
}

#[test]
fn padding_and_patterns() {
    let pairs = |pairs: &[(usize, usize)]| padded([32, 32], pairs, [1, 0]).fault();
    says(pairs(&[(32, 3)]), "a padding is 3, which is no power of two; the next are 2 and 4");
    says(pairs(&[(32, 1), (32, 2)]), "two paddings after each 32 elements; take one");
    says(pairs(&[(1, 1); 5]), "5 pairs of an interval and a padding; at most 4 are possible");
    says(row_major([4]).aligned(8).fault(), "memory cannot be aligned to 8 bytes; 16 to 1024 are possible");
    let words = "extent 32 of dimension 1 is less than the 64 of the layout's pattern; take a smaller pattern";
    says(nvmma_shared([64, 32], 128, 16, false).fault(), words);
    let words = "no swizzle of 16 bytes; there are 0 for none, 32, 64 and 128";
    says(nvmma_shared([64, 32], 16, 16, false).fault(), words);
    let descriptor = |memory: SharedLayout| Descriptor::of(&memory, 16);
    let words = "element (1, 0) lies at offset 64, where no swizzle of wgmma puts it; take nvmma_shared";
    fails(descriptor(row_major([64, 64])), words);
    fails(
        descriptor(nvmma_shared([64, 64], 128, 16, false).with_padding(&[(1024, 8)])),
        "wgmma is not possible in padded memory; take a swizzle",
    );
    let words = "dimension 1 has extent 128; one descriptor of this swizzle reaches 64";
    fails(descriptor(nvmma_shared([64, 128], 128, 16, false)), words);
    let words = "a block of tensor memory has 64 or 128 rows, not 32";
    says(tensor_memory([128, 64], [32, 64], 1).fault(), words);
    let words = "warp bit 0 moves by the flat index 64, which is beyond the tile's last element";
    says(Layout::from_bases(Shape::new([2, 16]), &[], [1, 2, 4, 8, 16], &[64]).fault(), words);
}

#[test]
fn the_first_error_of_a_chain_is_the_one_that_is_told() {
    let words = "extent 96 of dimension 1 is no power of two; the next are 64 and 128";
    let chain = blocked([64, 96], [1, 1], [4, 8], [1, 1], [1, 0]).permute([0, 0]).slice(7).operand_a(3);
    says(chain.fault(), words);
    assert_eq!(chain.to_string(), format!("invalid: {words}"));
    for error in [
        typing::elementwise(&tile(), &chain).err(),
        typing::elementwise(&chain, &tile()).err(),
        typing::broadcast(&tile(), &chain).err(),
        typing::reduce(&chain, 0).err(),
        typing::convert(&chain, &tile()).err(),
        typing::mma(&tile(), &chain, &tile()).err(),
        typing::dot(&tile(), &tile(), &chain).err(),
        convert::plan(&tile(), &chain, 16).err(),
        SharedLayout::between(&chain, &tile(), 16).fault(),
    ] {
        says(error, words);
    }
    let view = row_major([64, 64]).slice(0, 1, 2).permute([0, 0]).reshape([3]);
    says(view.fault(), "start 1 is no multiple of the length 2");
}
