"""Times the binding: calls of A(x) against the same in C++, and eps.restore against the program.

Usage: python_bench.py CALL_BENCH [RUNS]. CALL_BENCH is build/release/benchmarks/call_bench, linked to the same
libtorch. Both sides run in turns, with one thread for the calls; the program's times are those in its restore.json.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch

import eps

SPECS = ("identity", "super_resolution:factor=4", "inpaint_random:missing=0.7", "blur_gaussian:std=2,size=9")


def median(values: list) -> float:
    return sorted(values)[len(values) // 2]


def python_microseconds(spec: str) -> float:
    A, x = eps.operator(spec, (3, 64, 64)), torch.rand(1, 3, 64, 64)
    parts = []
    for _ in range(50):
        begin = time.perf_counter()
        for _ in range(40):
            A(x)
        parts.append((time.perf_counter() - begin) / 40 * 1e6)
    return min(parts)


def call_overhead(call_bench: str, runs: int) -> None:
    ours = {spec: [] for spec in SPECS}
    theirs = {spec: [] for spec in SPECS}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for _ in range(runs):
        lines = subprocess.run([call_bench, *SPECS], check=True, capture_output=True, text=True).stdout
        for line in lines.splitlines():
            spec, taken = line.rsplit(" ", 1)
            theirs[spec].append(float(taken))
        for spec in SPECS:
            ours[spec].append(python_microseconds(spec))
    torch.set_num_threads(threads)
    for spec in SPECS:
        a, b = min(ours[spec]), min(theirs[spec])
        print(f"A(x) of {spec}: Python {a:.1f} us, C++ {b:.1f} us, difference {a - b:.1f} us")


def restore_overhead(runs: int) -> None:
    network = eps.load("faces64-eps", device="cpu")
    image = eps.find_in_models("faces64-images/07.png")
    spec = "super_resolution:factor=4"
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            out = os.path.join(folder, str(run))
            subprocess.run(
                [sys.executable, "-m", "eps", "restore", image, "--simulate", "--operator", spec,
                 "--model", "faces64-eps", "--samples", "4", "--steps", "5", "--out", out,
                 "--threads", str(torch.get_num_threads())],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            with open(f"{out}/restore.json") as file:
                theirs.append(json.load(file)["seconds"])
            result = eps.restore(image, spec, simulate=True, samples=4, steps=5, model=network)
            ours.append(result.report["seconds"])
    print(
        f"sampling: program {min(theirs):.2f} s, eps.restore {min(ours):.2f} s, "
        f"ratio {min(ours) / min(theirs):.3f} (medians {median(ours) / median(theirs):.3f}) of {runs} runs"
    )


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    call_overhead(sys.argv[1], count)
    restore_overhead(count)
