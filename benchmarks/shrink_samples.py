#!/usr/bin/env python3
"""Prints each metric for samples x shrunk towards their mean m: m + f (x - m), f <= 1.

    benchmarks/shrink_samples.py FOLDER LPIPS INCEPTION     (needs python3-numpy and build/eps)

FOLDER comes from eps run, with several samples of each image; LPIPS and INCEPTION are weights from
eps convert. A metric that prefers f < 1 rewards samples with too little spread.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

if len(sys.argv) != 4:
    print("shrink_samples.py: FOLDER LPIPS INCEPTION are wanted", file=sys.stderr)
    sys.exit(2)
folder, lpips, inception = sys.argv[1:4]
for path in (f"{folder}/samples.npy", f"{folder}/truth.npy", lpips, inception):
    if not os.path.isfile(path):
        print(f"shrink_samples.py: {path}: no such file", file=sys.stderr)
        sys.exit(2)
METRICS = ["psnr", "lpips", "fid_768", "crps_fair", "energy_score", "spread_skill"]

samples = np.load(f"{folder}/samples.npy")
mean = samples.mean(0)
print("| f |", " | ".join(METRICS), "|")
print("|---|" + "---|" * len(METRICS))
with tempfile.TemporaryDirectory() as scratch:
    for factor in (1, 0.9, 0.8, 0.7, 0.5):
        shrunk = np.clip(mean + factor * (samples - mean), -1, 1).astype(np.float32)
        np.save(f"{scratch}/shrunk.npy", shrunk)
        subprocess.run(["build/eps", "metrics", "--samples", f"{scratch}/shrunk.npy", "--truth",
                        f"{folder}/truth.npy", "--lpips", lpips, "--inception", inception,
                        "--metrics", *METRICS, "--json", f"{scratch}/shrunk.json"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(f"{scratch}/shrunk.json", encoding="utf-8") as file:
            values = json.load(file)["metrics"]
        print("|", factor, "|", " | ".join(f"{values[m]['value']:.4g}" for m in METRICS), "|")
