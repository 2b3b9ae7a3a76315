"""Times the binding: calls of A(x), and eps.restore against the sampling time of the program.

Usage: python_bench.py [RUNS]. The times of the program are those in its restore.json, interleaved with ours.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch

import eps


def median(values: list) -> float:
    return sorted(values)[len(values) // 2]


def call_microseconds() -> None:
    x = torch.rand(1, 3, 64, 64)
    for spec in ("identity", "super_resolution:factor=4", "inpaint_random:missing=0.7"):
        A = eps.operator(spec, (3, 64, 64))
        bare = A._bound.apply  # the C++ call and pybind11's part
        times = {}
        for name, call in (("A(x)", A), ("binding", bare)):
            for _ in range(200):
                call(x)
            parts = []
            for _ in range(50):
                begin = time.perf_counter()
                for _ in range(40):
                    call(x)
                parts.append((time.perf_counter() - begin) / 40 * 1e6)
            times[name] = min(parts)
        print(f"{spec}: A(x) {times['A(x)']:.1f} us, of which Python {times['A(x)'] - times['binding']:.1f} us")


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
    call_microseconds()
    restore_overhead(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
