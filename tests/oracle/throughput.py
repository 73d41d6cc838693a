"""Writes figures.txt and the assembled kernels in model/tests/data, for the tests of the throughput model to compare with.

How to run, from this folder, with another implementation of the model and the assembler that it uses:

    python3 throughput.py MODEL.py FOLDER

MODEL.py is given a PTX file and `--range`, and prints one JSON object: registers, spills, blocks, warps (of a
sub-partition), likely, floor and range (percent of peak), bottleneck, instructions (of the main loop), conflicts. FOLDER has
ptxas and nvdisasm of CUDA 12.

The kernels lie in model/tests/data/ptx, some of them packed: `small` and the `written` ones were written by hand, the
others are what this compiler once made. They stay as they are when the compiler changes: what is compared is the model.

Two kernels are kept assembled as well, for a machine without the assembler: ptxas's report, the kernel's parameters, and
the disassembler's text up to the end of the main loop, with its gaps narrowed.
"""

import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "model/tests/data"
ASSEMBLED = {"small", "matmul_64x64x32"}


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def assembled(ptx, tools):
    """The report of ptxas, the head of the kernel, and its instructions up to the last branch backward."""
    cubin = ptx.with_suffix(".cubin")
    report = subprocess.run([tools / "ptxas", "-arch=sm_70", "-v", ptx, "-o", cubin], check=True, capture_output=True, text=True)
    listing = subprocess.run([tools / "nvdisasm", "-hex", "-c", cubin], check=True, capture_output=True, text=True).stdout
    lines = [re.sub(r"\s+", " ", line.strip()) for line in listing.splitlines()]
    begin = next(i for i, line in enumerate(lines) if line.startswith("/*0000*/"))
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    target = lambda line: labels.get(m[1]) if (m := re.search(r"BRA `\(([^)]+)\)", line)) else None
    ends = [i for i, line in enumerate(lines) if (to := target(line)) is not None and to < i - 2]
    head = re.search(r"// launch:.*", ptx.read_text())[0] + "\n" + re.search(r"\.entry[^)]*\)", ptx.read_text())[0]
    used = "\n".join(line for line in report.stderr.splitlines() if "bytes spill" in line or "Used" in line)
    return f"{head}\n{used}\n" + "\n".join(lines[begin : max(ends) + 2]) + "\n"


def main():
    model, tools = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder, open(DATA / "figures.txt", "w") as figures:
        for path in sorted((DATA / "ptx").iterdir()):
            name = path.name.split(".")[0]
            ptx = pathlib.Path(folder) / f"{name}.ptx"
            ptx.write_text(text_of(path))
            line = subprocess.run([sys.executable, model, ptx, "--range"], check=True, capture_output=True, text=True).stdout
            figures.write(f"{name} {line.strip()}\n")
            if name in ASSEMBLED:
                (DATA / f"{name}.sass").write_text(assembled(ptx, tools))


main()
