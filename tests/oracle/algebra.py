"""Writes algebra.txt: what libtriton's LinearLayout computes, for the test oracle_algebra to compare with.

How to run, from this folder, needing neither torch nor a GPU:

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install triton==3.9.0
    /tmp/oracle/bin/python algebra.py

The random numbers come from a fixed seed, so a second run writes the same file. One line is one case:

    operation operands = result

A map is `inputs>outputs:columns`, dimensions from minor to major as a letter (r register, l lane, w warp, b block,
o offset, x y z axes 0 to 2) with their number of bits, columns with the lowest bits for the first output. All numbers
are hexadecimal.
`r1l2>y2x1:1.4.2` sends lane bit 0 to bit 2 of the output, which is the bit of x.

libtriton ends the process where a precondition is broken, so every case is checked here before it is asked for.
"""

import pathlib
import random
import sys

from triton._C.libtriton.linear_layout import LinearLayout

SEED = 2
CASES = {"then": 2200, "times": 2200, "invert": 900, "pseudoinvert": 1100, "invert_and_compose": 2400, "traits": 1400,
         "apply": 700, "matrix": 150, "distributed": 100, "shared": 60}
HARDWARE, AXES = "rlwb", "xyz"
NAMES = {"r": "register", "l": "lane", "w": "warp", "b": "block", "o": "offset", "x": "dim0", "y": "dim1", "z": "dim2"}
LETTERS = {name: letter for letter, name in NAMES.items()}

rng = random.Random(SEED)


class Map:
    """Input and output dimensions as (letter, bits), and a column for each input bit."""

    def __init__(self, ins, outs, columns):
        self.ins, self.outs, self.columns = ins, outs, columns

    def __str__(self):
        side = lambda dims: "".join(f"{letter}{bits:x}" for letter, bits in dims)
        return f"{side(self.ins)}>{side(self.outs)}:{'.'.join(f'{column:x}' for column in self.columns)}"

    def columns_of(self, letter):
        first = 0
        for other, bits in self.ins:
            if other == letter:
                return self.columns[first:first + bits]
            first += bits
        return None

    def with_outs(self, order):
        """The same map with its output dimensions in another order."""
        columns = [flat(dict(coordinates(column, self.outs)), order) for column in self.columns]
        return Map(self.ins, order, columns)

    def ask(self):
        """The map as libtriton's."""
        bases = []
        for letter, _ in self.ins:
            columns = self.columns_of(letter)
            values = [[value for _, value in coordinates(column, self.outs)] for column in columns]
            bases.append((NAMES[letter], values))
        names, sizes = [NAMES[letter] for letter, _ in self.outs], [1 << bits for _, bits in self.outs]
        return LinearLayout.from_bases(bases, names, sizes, False)


def answer(layout):
    """libtriton's map as ours."""
    outs = [(LETTERS[name], size.bit_length() - 1) for name, size in layout.out_dims]
    ins = [(LETTERS[name], len(bases)) for name, bases in layout.bases]
    letters = [letter for letter, _ in outs]
    columns = [flat(dict(zip(letters, basis)), outs) for _, bases in layout.bases for basis in bases]
    return Map(ins, outs, columns)


def coordinates(index, dims):
    """The index in parts, one for each dimension."""
    parts = []
    for letter, bits in dims:
        parts.append((letter, index & ((1 << bits) - 1)))
        index >>= bits
    return parts


def flat(parts, dims):
    index, shift = 0, 0
    for letter, bits in dims:
        index |= parts.get(letter, 0) << shift
        shift += bits
    return index


def total(dims):
    return sum(bits for _, bits in dims)


def rank(columns):
    """How many columns are independent."""
    leading = {}
    for column in columns:
        while column and column.bit_length() in leading:
            column ^= leading[column.bit_length()]
        if column:
            leading[column.bit_length()] = column
    return len(leading)


def dims(letters, most, bits=None):
    """Some of the letters in some order, with bits of their own or as many as asked for; no bits now and then."""
    chosen = rng.sample(letters, rng.randint(1, min(most, len(letters))))
    if bits is None:
        return [(letter, rng.choice([0, 1, 1, 2, 2, 3])) for letter in chosen]
    cuts = sorted(rng.randint(0, bits) for _ in chosen[1:])
    return [(letter, high - low) for letter, low, high in zip(chosen, [0] + cuts, cuts + [bits])]


def columns(count, bits):
    """Columns of one of three kinds: any; single bits and zeros, as threads have; those with sums, as swizzles have."""
    kind = rng.randrange(3)
    if kind == 0:
        return [rng.getrandbits(bits) if bits else 0 for _ in range(count)]
    result = [1 << i for i in range(bits)][:count] + [0] * max(0, count - bits)
    rng.shuffle(result)
    for _ in range(rng.randint(1, 4) if kind == 2 and count > 1 else 0):
        to, source = rng.sample(range(count), 2)
        result[to] ^= result[source]
    return result


def surjective(ins, outs):
    while True:
        found = columns(total(ins), total(outs))
        if rank(found) == total(outs):
            return Map(ins, outs, found)


def any_map(letters=HARDWARE, most=3):
    ins, outs = dims(letters, most), dims(AXES, 3)
    return Map(ins, outs, columns(total(ins), total(outs)))


def then():
    inner = any_map()
    between = [(letter, bits + rng.choice([0, 0, 0, 1])) for letter, bits in inner.outs]
    rng.shuffle(between)
    outs = dims("orl", 2)
    outer = Map(between, outs, columns(total(between), total(outs)))
    return f"{inner} {outer}", answer(inner.ask().compose(outer.ask()))


def times():
    """Both factors take their dimensions from one order, so that the product has one."""
    orders = rng.sample(HARDWARE, len(HARDWARE)), rng.sample(AXES, len(AXES))
    factors = []
    for _ in range(2):
        ins, outs = (sorted(dims(order, 3), key=lambda dim: order.index(dim[0])) for order in orders)
        factors.append(Map(ins, outs, columns(total(ins), total(outs))))
    return f"{factors[0]} {factors[1]}", answer(factors[0].ask() * factors[1].ask())


def invert():
    ins = dims(rng.choice(["rlwb", "xyz", "orx"]), 3)
    outs = dims("xyz", 3, total(ins))
    one = surjective(ins, outs)
    return str(one), answer(one.ask().invert())


def pseudoinvert():
    while True:
        ins, outs = dims(rng.choice(["rlwb", "xyz", "orx"]), 3), dims("xyz", 3)
        if total(ins) >= total(outs):
            one = surjective(ins, outs)
            return str(one), answer(one.ask().pseudoinvert())


def invert_and_compose():
    """In more than half of the cases the maps have some input dimensions alike."""
    outs = dims(AXES, 3)
    outer = surjective(dims(HARDWARE if rng.random() < 0.7 else "ob", 3, total(outs) + rng.randint(0, 2)), outs)
    ins = dims(HARDWARE, 3)
    image = Map(ins, outs, columns(total(ins), total(outs)))
    if rng.random() < 0.6:
        image = with_alike(image, outer)
    image = image.with_outs(rng.sample(outs, len(outs)))
    return f"{image} {outer}", answer(image.ask().invert_and_compose(outer.ask()))


def with_alike(image, outer):
    """Some input dimensions of the one map taken over from the other."""
    taken = {letter for letter, _ in image.ins if outer.columns_of(letter) is not None and rng.random() < 0.7}
    sources = [(outer if letter in taken else image, letter) for letter, _ in image.ins]
    ins = [(letter, len(source.columns_of(letter))) for source, letter in sources]
    return Map(ins, image.outs, [column for source, letter in sources for column in source.columns_of(letter)])


def traits():
    one = any_map()
    if rng.random() < 0.4:
        one = surjective(one.ins, dims(AXES, 3, rng.randint(0, total(one.ins))))
    asked = one.ask()
    flags = asked.is_surjective(), asked.is_injective(), asked.is_invertible()
    return str(one), "".join(str(int(flag)) for flag in flags)


def apply():
    one, results = any_map(), []
    inputs = [rng.getrandbits(total(one.ins)) if total(one.ins) else 0 for _ in range(8)]
    for index in inputs:
        given = {NAMES[letter]: value for letter, value in coordinates(index, one.ins)}
        results.append(flat({LETTERS[name]: value for name, value in one.ask().apply(given).items()}, one.outs))
    numbers = lambda values: ".".join(f"{value:x}" for value in values)
    return f"{one} {numbers(inputs)}", numbers(results)


def matrix():
    """A row for each output bit, a digit for each input bit, the lowest first."""
    one = any_map()
    if not (total(one.ins) and total(one.outs)):
        return matrix()
    return str(one), ".".join("".join(str(int(bit)) for bit in row) for row in one.ask().get_matrix_view())


def line(view):
    return view.strip().replace(" ", "").replace("\n", "/")


def distributed():
    """From the hardware's side, then from the tensor's; libtriton draws maps of register, lane, warp and block."""
    ins = [(letter, rng.randint(0, most)) for letter, most in zip(HARDWARE, [2, 2, 1, 0])]
    outs = dims(AXES, 2, rng.randint(0, total(ins)))
    one = surjective(ins, sorted(outs)).ask()
    return str(answer(one)), f"{line(one.get_distributed_view(True))} {line(one.get_distributed_view(False))}"


def shared():
    outs = sorted(dims(AXES, 2))
    one = surjective([("o", total(outs)), ("b", 0)], outs).ask()
    return str(answer(one)), f"{line(one.get_shared_view(True))} {line(one.get_shared_view(False))}"


def constructors():
    """Every size once, with all strides and output sizes that are small."""
    for bits in range(6):
        yield f"identity {bits} r x = {answer(LinearLayout.identity_1d(1 << bits, 'register', 'dim0'))}"
        for other in range(4):
            strided = LinearLayout.strided_1d(1 << bits, 1 << other, "lane", "offset")
            zeros = LinearLayout.zeros_1d(1 << bits, "warp", "dim1", 1 << other)
            yield f"strided {bits}.{other} l o = {answer(strided)}"
            yield f"zeros {bits}.{other} w y = {answer(zeros)}"


def main():
    lines = list(constructors())
    for name, count in CASES.items():
        for _ in range(count):
            operands, result = globals()[name]()
            lines.append(f"{name} {operands} = {result}")
    path = pathlib.Path(__file__).with_name("algebra.txt")
    path.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} cases, {path.stat().st_size} bytes in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
