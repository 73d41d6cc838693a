#!/usr/bin/env python3
"""What Triton's own library says of named layouts, as golden files for tests/oracle_named.rs.

    python3 -m venv venv && venv/bin/pip install triton==3.9.0
    venv/bin/python tests/oracle/named.py

writes tests/oracle/named/*.txt, the same files each time. No GPU is needed: Gluon's layouts are made linear by the
library's builder. A layout that the library takes for wrong ends the process, so each kind has a process of its own, and
cases are drawn so that none is.

A line is a case: the kind's parameters, ` = `, and the bases as flat (row-major) indices in hexadecimal; lists are
separated by `|`: registers, lanes, warps; or offsets; or rows, columns. Extents and other lists are joined by `x`.
"""

import multiprocessing
import pathlib
import random

SEED = 20250523
OUT = pathlib.Path(__file__).parent / "named"


def power(rng, most):
    """A power of two up to 2**most."""
    return 1 << rng.randint(0, most)


def split(rng, bits, rank):
    """Powers of two, `rank` of them, that multiply to 2**bits."""
    counts = [0] * rank
    for _ in range(bits):
        counts[rng.randrange(rank)] += 1
    return [1 << count for count in counts]


def extents(rng, most, rank):
    """A shape of several elements: memory of one has no bases."""
    while True:
        shape = [power(rng, most) for _ in range(rank)]
        if max(shape) > 1:
            return shape


def order(rng, rank):
    dims = list(range(rank))
    rng.shuffle(dims)
    return dims


def join(numbers):
    return "x".join(map(str, numbers))


def flat(basis, shape):
    index = 0
    for coordinate, extent in zip(basis, shape):
        index = index * extent + coordinate
    return f"{index:x}"


def lists(shape, *bases):
    return "|".join(" ".join(flat(basis, shape) for basis in group) for group in bases)


class Library:
    """Triton's builder, with a function to build in: bank conflicts are asked for a number of warps."""

    def __init__(self):
        from triton._C import libtriton
        from triton._C.libtriton import gluon_ir, ir

        self.context = ir.context()
        ir.load_dialects(self.context)
        libtriton.nvidia.load_dialects(self.context)
        self.builder = gluon_ir.GluonOpBuilder(self.context)
        self.module = self.builder.create_module()
        self.module.set_attr("ttg.threads-per-warp", self.builder.get_int32_attr(32))
        self.module.set_attr("ttg.num-ctas", self.builder.get_int32_attr(1))
        self.module.set_attr("ttg.target", self.builder.get_string_attr("cuda:90"))
        function = self.builder.get_function_ty([], [])
        self.function = self.builder.get_or_insert_function(self.module, "f", function, "public", False)
        self.module.push_back(self.function)
        self.builder.set_insertion_point_to_start(self.function.add_entry_block())

    def linear(self, layout, shape):
        return self.builder.to_linear_layout(layout._to_ir(self.builder), shape)

    def registers(self, layout, shape):
        linear = self.linear(layout, shape)
        return lists(shape, linear.reg_bases, linear.lane_bases, linear.warp_bases)

    def offsets(self, layout, shape):
        return lists(shape, self.linear(layout, shape).offset_bases)

    def conflicts(self, registers, memory, shape, bits, warps):
        self.module.set_attr("ttg.num-warps", self.builder.get_int32_attr(warps))
        first, second = registers._to_ir(self.builder), memory._to_ir(self.builder)
        return self.builder.get_shared_bank_conflicts(first, second, shape, bits)


def blocked_case(rng, rank, lane_bits=5, most=6):
    """Shape, parameters and the layout of a random block layout."""
    from triton.experimental.gluon.language._layouts import BlockedLayout

    shape = [power(rng, most) for _ in range(rank)]
    each, lanes = split(rng, rng.randint(0, 4), rank), split(rng, lane_bits, rank)
    warps, dims = split(rng, rng.randint(0, 3), rank), order(rng, rank)
    text = f"{join(each)} {join(lanes)} {join(warps)} {join(dims)}"
    return shape, text, BlockedLayout(each, lanes, warps, dims)


def blocked(library, rng):
    rank = rng.randint(1, 4)
    shape, text, layout = blocked_case(rng, rank, most=7 - rank)
    return f"{join(shape)} {text} = {library.registers(layout, shape)}"


def sliced(library, rng):
    """The slice of a block layout: the parent's extents, its parameters, the dimension."""
    from triton.experimental.gluon.language._layouts import SliceLayout

    rank = rng.randint(2, 3)
    shape, text, layout = blocked_case(rng, rank, most=8 - rank)
    dim = rng.randrange(rank)
    own = shape[:dim] + shape[dim + 1:]
    return f"{join(shape)} {text} {dim} = {library.registers(SliceLayout(dim, layout), own)}"


def mma_case(rng):
    """The unit (version and, for 3, columns), the warps and the layout."""
    from triton.experimental.gluon.language._layouts import NVMMADistributedLayout

    if rng.random() < 0.5:
        warps = split(rng, rng.randint(0, 4), 2)
        return f"2 {join(warps)}", NVMMADistributedLayout([2, 0], warps, [16, 8])
    columns, warps = 8 << rng.randint(0, 5), split(rng, rng.randint(0, 2), 2)
    warps[0] *= 4
    return f"3:{columns} {join(warps)}", NVMMADistributedLayout([3, 0], warps, [16, columns, 16])


def mma(library, rng):
    shape = [power(rng, 8), power(rng, 8)]
    text, layout = mma_case(rng)
    return f"{join(shape)} {text} = {library.registers(layout, shape)}"


def mma_sliced(library, rng):
    from triton.experimental.gluon.language._layouts import SliceLayout

    shape, dim = [power(rng, 8), power(rng, 8)], rng.randrange(2)
    text, layout = mma_case(rng)
    return f"{join(shape)} {text} {dim} = {library.registers(SliceLayout(dim, layout), [shape[1 - dim]])}"


def dot_operand(library, rng):
    """An operand of a matrix unit. wgmma has only its left one in registers."""
    from triton.experimental.gluon.language._layouts import DotOperandLayout

    shape = [power(rng, 8), power(rng, 8)]
    text, layout = mma_case(rng)
    index = rng.randrange(2) if layout.version[0] == 2 else 0
    width = power(rng, 3) if layout.version[0] == 2 else power(rng, 2)
    operand = DotOperandLayout(index, layout, width)
    return f"{join(shape)} {text} {index} {width} = {library.registers(operand, shape)}"


def dot_blocked(library, rng):
    """An operand of a product by fused multiply-adds: the accumulator's extents and parameters, the operand, k."""
    from triton.experimental.gluon.language._layouts import DotOperandLayout

    shape, text, layout = blocked_case(rng, 2)
    index, k = rng.randrange(2), power(rng, 4)
    own = [shape[0], k] if index == 0 else [k, shape[1]]
    operand = DotOperandLayout(index, layout, 0)
    return f"{join(shape)} {text} {index} {k} = {library.registers(operand, own)}"


def swizzled_case(rng, rank, most):
    from triton.experimental.gluon.language._layouts import SwizzledSharedLayout

    shape, dims = extents(rng, most, rank), order(rng, rank)
    vec, per_phase, max_phase = power(rng, 4), power(rng, 3), power(rng, 4)
    # The library requires that vectors and phases fit the fastest dimension.
    inner = shape[dims[0]]
    vec = min(vec, inner)
    max_phase = min(max_phase, inner // vec)
    text = f"{vec} {per_phase} {max_phase} {join(dims)}"
    return shape, text, SwizzledSharedLayout(vec, per_phase, max_phase, dims)


def swizzled(library, rng):
    rank = rng.randint(1, 3)
    shape, text, layout = swizzled_case(rng, rank, 6)
    return f"{join(shape)} {text} = {library.offsets(layout, shape)}"


def nvmma_shared(library, rng):
    """Matrices, and taller tiles that are not transposed: of three dimensions the library transposes another way."""
    from triton.experimental.gluon.language._layouts import NVMMASharedLayout

    rank = rng.randint(2, 3)
    transposed = rank == 2 and rng.random() < 0.5
    swizzle, bits = rng.choice([0, 32, 64, 128]), rng.choice([8, 16, 32, 64])
    row = swizzle * 8 // bits
    inner, rows = max(row, 1) * power(rng, 3), 8 * power(rng, 4)
    shape = split(rng, rows.bit_length() - 1, rank - 1) + [inner]
    if transposed:
        shape.reverse()
    layout = NVMMASharedLayout(swizzle, bits, rank, transposed)
    alignment = library.linear(layout, shape).alignment
    return f"{join(shape)} {swizzle} {bits} {int(transposed)} {alignment} = {library.offsets(layout, shape)}"


def nvmma_default(library, rng):
    """Which swizzle is the largest that fits."""
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language._layouts import NVMMASharedLayout

    dtype = rng.choice([gl.int8, gl.float16, gl.float32, gl.int64])
    shape = [power(rng, 7) for _ in range(rng.randint(1, 3))]
    transposed = len(shape) == 2 and rng.random() < 0.5
    layout = NVMMASharedLayout.get_default_for(shape, dtype, transposed)
    return f"{join(shape)} {dtype.primitive_bitwidth} {int(transposed)} = {layout.swizzle_byte_width:x}"


def padded(library, rng):
    """The part of a padded layout that is linear."""
    from triton.experimental.gluon.language._layouts import PaddedSharedLayout

    rank = rng.randint(1, 3)
    shape, dims = extents(rng, 6, rank), order(rng, rank)
    layout = PaddedSharedLayout.with_identity_for([[32, 4]], shape, dims)
    return f"{join(shape)} {join(dims)} = {lists(shape, layout.offset_bases)}"


def tensor_memory(library, rng):
    from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout

    stride, n = power(rng, 2), 8 * power(rng, 3)
    m = rng.choice([64, 128])
    shape = [m * power(rng, 1), n * power(rng, 2)]
    linear = library.linear(TensorMemoryLayout([m, n], stride), shape)
    return f"{join(shape)} {m}x{n} {stride} = {lists(shape, linear.rows, linear.cols)}"


def conflicts(library, rng):
    """Extra wavefronts an access, for tiles that no two threads have an element of and that fill all banks.

    A swizzle moves words or more. Inside of words the library counts too few: lanes that differ by a line and by a place in
    the word want two words of one bank, but it takes them for two banks. That is tests/oracle_named.rs' to show.
    """
    from triton.experimental.gluon.language._layouts import BlockedLayout

    warps, bits = power(rng, 2), rng.choice([8, 16, 32, 64])
    each, lanes = split(rng, rng.randint(0, 4), 2), split(rng, 5, 2)
    spread, dims, more = split(rng, warps.bit_length() - 1, 2), order(rng, 2), [power(rng, 1), power(rng, 1)]
    shape = [a * b * c * d for a, b, c, d in zip(each, lanes, spread, more)]
    if shape[0] * shape[1] * bits < 8 * 128:
        return conflicts(library, rng)
    registers = BlockedLayout(each, lanes, spread, dims)
    _, _, memory = swizzled_case(rng, 2, 6)
    vec = min(memory.vec, shape[memory.order[0]])
    max_phase = min(memory.max_phase, shape[memory.order[0]] // vec) if vec * bits >= 32 else 1
    memory = type(memory)(vec, memory.per_phase, max_phase, memory.order)
    extra = library.conflicts(registers, memory, shape, bits, warps)
    text = f"{join(each)} {join(lanes)} {join(spread)} {join(dims)}"
    swizzle = f"{memory.vec} {memory.per_phase} {memory.max_phase} {join(memory.order)}"
    return f"{join(shape)} {text} {swizzle} {bits} = {extra:x}"


def conflicts_of_units(library, rng):
    """The same for accumulators, in the memory of wgmma."""
    from triton.experimental.gluon.language._layouts import NVMMASharedLayout

    text, layout = mma_case(rng)
    rows, columns = 16 * layout.warps_per_cta[0], layout.instr_shape[1] * layout.warps_per_cta[1]
    shape = [rows * power(rng, 1), max(columns * power(rng, 2), 32)]
    bits = rng.choice([16, 32])
    swizzle = rng.choice([bytes for bytes in [0, 32, 64, 128] if bytes * 8 <= shape[1] * bits])
    warps = layout.warps_per_cta[0] * layout.warps_per_cta[1]
    extra = library.conflicts(layout, NVMMASharedLayout(swizzle, bits, 2), shape, bits, warps)
    return f"{join(shape)} {text} {swizzle} {bits} = {extra:x}"


KINDS = [
    (blocked, 2400),
    (sliced, 1500),
    (mma, 1200),
    (mma_sliced, 600),
    (dot_operand, 1500),
    (dot_blocked, 900),
    (swizzled, 1500),
    (nvmma_shared, 700),
    (nvmma_default, 300),
    (padded, 300),
    (tensor_memory, 200),
    (conflicts, 1200),
    (conflicts_of_units, 400),
]


def write(name, count):
    """Draws cases until `count` different ones are there."""
    make, library, rng = globals()[name], Library(), random.Random(f"{SEED} {name}")
    lines = {}
    for _ in range(40 * count):
        line = make(library, rng)
        lines[line] = None
        if len(lines) == count:
            break
    (OUT / f"{name}.txt").write_text("".join(line + "\n" for line in lines))
    print(name, len(lines))


def main():
    OUT.mkdir(exist_ok=True)
    processes = multiprocessing.get_context("spawn")
    for kind, count in KINDS:
        process = processes.Process(target=write, args=(kind.__name__, count))
        process.start()
        process.join()
        if process.exitcode != 0:
            raise SystemExit(f"{kind.__name__}: the library ended the process with {process.exitcode}")


if __name__ == "__main__":
    main()
