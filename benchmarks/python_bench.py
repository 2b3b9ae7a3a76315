"""Times the binding: calls of A(x) against the same in C++, and eps.restore against the program.

Usage: python_bench.py CALL_BENCH OUT.csv [RUNS]. CALL_BENCH is build/release/benchmarks/call_bench, linked to the same
libtorch. Both sides run in turns, with one thread for the calls; the program's times are those in its restore.json. The
least time of each side counts.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

import torch

import eps

SPECS = ("identity", "super_resolution:factor=4", "inpaint_random:missing=0.7", "blur_gaussian:std=2,size=9")


def python_microseconds(spec: str) -> float:
    A, x = eps.operator(spec, (3, 64, 64)), torch.rand(1, 3, 64, 64)
    parts = []
    for _ in range(50):
        begin = time.perf_counter()
        for _ in range(40):
            A(x)
        parts.append((time.perf_counter() - begin) / 40 * 1e6)
    return min(parts)


def call_overhead(call_bench: str, runs: int) -> list:
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
    return [row(f"A(x) of `{spec}`, us", min(ours[spec]), min(theirs[spec]), 1) for spec in SPECS]


def row(what: str, python: float, cpp: float, digits: int) -> dict:
    return {
        "what": what,
        "Python": f"{python:.{digits}f}",
        "C++": f"{cpp:.{digits}f}",
        "difference": f"{python - cpp:.{digits}f}",
        "ratio": f"{python / cpp:.3f}" if cpp >= 1 else "",
    }


def restore_overhead(runs: int) -> list:
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
    return [row("sampling of `eps.restore`, s", min(ours), min(theirs), 2)]


def main(call_bench: str, out: str, runs: int) -> None:
    rows = call_overhead(call_bench, runs) + restore_overhead(runs)
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for found in rows:
        print(*(f"{key}: {value}" for key, value in found.items()), sep=", ")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5)
