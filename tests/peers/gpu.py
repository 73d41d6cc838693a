#!/usr/bin/env python3
"""The kernels beside PyTorch's on the same GPU, in the same run, on the same inputs.

    python3 tests/peers/gpu.py target/release/quadpair [--quick] [--unit UNIT]

`quadpair bench --json` gives our times, our errors and the rows that they were taken at. This script makes the same
inputs again, bit by bit (kernels/src/cli/bench/random.rs), times PyTorch's attention (cuDNN, FlashAttention-2 and the
memory-efficient kernel, as scaled_dot_product_attention offers them) and its matrix product (cuBLAS) the same way (events
around each call, inputs larger than the L2 cache that take turns, the median), and computes PyTorch's errors against
float64 at the same rows. Python's calls are slower than ours, so the GPU is kept busy until a burst of them is queued:
their time is in neither's figures. A ratio above 1 means that ours is faster. Needs PyTorch, a GPU and nothing else.
"""
import argparse
import json
import math
import subprocess
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "fa2": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}
WARM_UP, TIMED = 0.1, 0.4  # seconds, as in kernels/src/cli/bench/timing.rs
BURST = 50  # calls
BUSY = 10_000_000  # cycles, some 5 ms


def signed(number):
    """A 64-bit constant as PyTorch's integers hold it."""
    return number - (1 << 64) if number >> 63 else number


def mix(n):
    """SplitMix64; shifts to the right bring zeros in."""
    def shifted(z, by):
        return (z >> by) & ((1 << (64 - by)) - 1)
    z = n * signed(0x9E3779B97F4A7C15)
    z = (z ^ shifted(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * signed(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


def normal(set_number, tensor, *shape, device="cuda"):
    """Tensor number `tensor` of a set of inputs."""
    start = ((8 * set_number + tensor) << 40) + 1
    hashes = mix(torch.arange(start, start + math.prod(shape), device=device))
    total = sum((hashes >> 16 * part) & 0xFFFF for part in range(4))
    scale = torch.tensor(1 / 75674, dtype=torch.float32, device=device)
    return ((2 * total - 262140).to(torch.float32) * scale).to(torch.float16).reshape(shape)


def check_inputs():
    """Fails if the numbers are not those that the Rust side makes and tests."""
    first = [1.4287109375, 0.13916015625, -1.453125, 1.119140625]
    if normal(0, 0, 4).tolist() != first:
        raise SystemExit("these inputs are not those of kernels/src/cli/bench/random.rs")


def sets(bytes_of_a_set):
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return 1 + max(1, math.ceil(2 * l2 / bytes_of_a_set))


def timed(call, inputs):
    """The median time of `call`, in milliseconds; the inputs take turns."""
    def launch(turn):
        call(*inputs[turn % len(inputs)])

    def events(turns):
        pairs = []
        for i, turn in enumerate(turns):
            if i % BURST == 0:
                torch.cuda._sleep(BUSY)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            launch(turn)
            end.record()
            pairs.append((start, end))
        torch.cuda.synchronize()
        return sorted(start.elapsed_time(end) for start, end in pairs)

    launch(0)
    estimate = max(events([1])[0] / 1e3, 1e-6)
    for turn in range(min(400, max(3, int(WARM_UP / estimate)))):
        launch(turn)
    times = events(range(min(400, max(20, int(TIMED / estimate)))))
    return times[round((len(times) - 1) / 2)]


def relative(actual, expected):
    return ((actual - expected).norm() / expected.norm()).item()


def ours(quadpair, *arguments):
    command = [quadpair, "bench", *arguments, "--json"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return [{"causal": found.get("causal", False), **row} for row in found["rows"]]


def exact_rows(row, q, k, v):
    """The checked rows of attention in float64."""
    group = row["heads"] // row["kv_heads"]
    results = []
    for batch, head, query in row["checked"]:
        seen = row["keys"] - row["queries"] + query + 1 if row["causal"] else row["keys"]
        keys, values = (t[batch, head // group, :seen].double() for t in (k, v))
        scores = keys @ q[batch, head, query].double() / math.sqrt(row["head_dim"])
        results.append(torch.softmax(scores, 0) @ values)
    return torch.stack(results)


def attention(row):
    """PyTorch's times and errors on a row of `quadpair bench attention`: (ms, error, or why there is none) by peer."""
    q_shape = row["batch"], row["heads"], row["queries"], row["head_dim"]
    k_shape = row["batch"], row["kv_heads"], row["keys"], row["head_dim"]
    count = sets(2 * (math.prod(q_shape) + 2 * math.prod(k_shape)))
    inputs = [(normal(i, 0, *q_shape), normal(i, 1, *k_shape), normal(i, 2, *k_shape)) for i in range(count)]
    exact = exact_rows(row, *inputs[0])
    shared = row["heads"] != row["kv_heads"]

    def call(q, k, v):
        # Its mask is aligned to the first key, ours to the last: the shapes here have as many queries as keys.
        return scaled_dot_product_attention(q, k, v, is_causal=row["causal"], enable_gqa=shared)

    results = {}
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel(backend):
                out = call(*inputs[0])
                actual = torch.stack([out[tuple(index)] for index in row["checked"]]).double()
                results[name] = timed(call, inputs), relative(actual, exact), None
        except RuntimeError as error:
            results[name] = None, None, str(error).splitlines()[0]
    return results


def matmul(row):
    """cuBLAS' times and errors on a row of `quadpair bench matmul`, with the product in f16 and, as ours, in f32."""
    m, n, k = row["m"], row["n"], row["k"]
    inputs = [(normal(i, 0, m, k), normal(i, 1, k, n)) for i in range(sets(2 * (m * k + k * n)))]
    a, b = inputs[0]
    exact = a[row["checked"]].double() @ b.double()
    calls = {"cublas f16": torch.mm, "cublas f32": lambda a, b: torch.mm(a, b, out_dtype=torch.float32)}
    results = {}
    for name, call in calls.items():
        try:
            actual = call(a, b)[row["checked"]].double()
            results[name] = timed(call, inputs), relative(actual, exact), None
        except (RuntimeError, TypeError) as error:
            results[name] = None, None, str(error).splitlines()[0]
    return results


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def compare(title, rows, name, error, peers, work, unit):
    """Prints a line a row and peer, then the geometric means; `work` gives what a row does, in billions of `unit`."""
    print(f"\n{title}: milliseconds, {unit}, error against float64, our speed over the peer's")
    ratios = {}
    for row in rows:
        amount = work(row)
        print(f"{name(row):34} {'ours':11} {row['median_ms']:9.4f} {amount / row['median_ms']:8.1f} {row[error]:9.2e}")
        for peer, (ms, off, why) in peers(row).items():
            if why:
                print(f"{'':34} {peer:11} {why[:70]}")
                continue
            ratio = ms / row["median_ms"]
            ratios.setdefault(peer, []).append(ratio)
            worse = "" if row[error] <= off else "  our error is larger"
            print(f"{'':34} {peer:11} {ms:9.4f} {amount / ms:8.1f} {off:9.2e} {ratio:6.3f}{worse}", flush=True)
            row.setdefault("peers", {})[peer] = {"median_ms": ms, "relative_error": off, "ratio": ratio}
    for peer, of_peer in ratios.items():
        print(f"{'':34} {peer:11} ratio: geometric mean {mean(of_peer):.3f}, least {min(of_peer):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quadpair")
    parser.add_argument("--quick", action="store_true", help="one small shape of each kind")
    parser.add_argument("--unit", default="auto", help="what multiplies in ours, as quadpair bench has it")
    parser.add_argument("--json", metavar="FILE", help="write all figures to a file")
    options = parser.parse_args()
    prefill = ["--shape", "1x16x1024", "--head-dim", "64"] if options.quick else ["--shape", "4x16x4096,1x16x16384"]
    decode = ["--shape", "8x32/8x1/16384", "--head-dim", "64" if options.quick else "64,128"]
    sizes = ["--size", "1024x1024x1024" if options.quick else "2048x2048x2048,4096x4096x4096,8192x8192x8192"]
    check_inputs()
    # PyTorch explains at length why it leaves out the kernels that it was told to leave out.
    warnings.filterwarnings("ignore", category=UserWarning)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")

    def shape(row):
        name = "{batch}x{heads}/{kv_heads}x{queries}/{keys}, D {head_dim}".format(**row)
        return name + ", causal" if row["causal"] else name

    def flops(row):
        return (2 if row["causal"] else 4) * row["batch"] * row["heads"] * row["queries"] * row["keys"] * row["head_dim"] / 1e9

    def traffic(row):
        vectors = 2 * row["heads"] * row["queries"] + 2 * row["kv_heads"] * row["keys"]
        return (2 * vectors * row["head_dim"] + 4 * row["heads"] * row["queries"]) * row["batch"] / 1e6

    unit = ["--unit", options.unit]
    found = {
        "attention": ours(options.quadpair, "attention", *prefill, *unit),
        "causal attention": ours(options.quadpair, "attention", *prefill, "--causal", *unit),
        "decode": ours(options.quadpair, "attention", *decode, *unit),
        "matmul": ours(options.quadpair, "matmul", *sizes, *unit),
    }
    out_error = "out_relative_error"
    for kind in "attention", "causal attention":
        compare(kind, found[kind], shape, out_error, attention, flops, "TFLOP/s")
    compare("decode", found["decode"], shape, out_error, attention, traffic, "GB/s")
    compare("matmul", found["matmul"], lambda row: "{m}x{n}x{k}".format(**row), "relative_error", matmul,
            lambda row: 2 * row["m"] * row["n"] * row["k"] / 1e9, "TFLOP/s")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main()
