#!/usr/bin/env python3
"""Runs eps restore on measurements that numpy makes from the first images of a data set.

    benchmarks/restore_outside.py IMAGES COUNT FOLDER     (needs python3-numpy and build/eps)

Prints chi2 with the noise stated, the PSNR of a sample, and the noise that eps restore estimates.
"""
import json
import subprocess
import sys

import numpy as np

images, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SIGMA = 0.05


def eps(*arguments):
    subprocess.run(["build/eps", *arguments], check=True, stdout=subprocess.DEVNULL)


# One step of any method suffices: eps run writes the images as an array.
eps("run", "eps", "--model", "faces64-eps", "--task", "identity", "--images", images, "--count",
    str(count), "--steps", "1", "--samples", "1", "--out", f"{folder}/images")
truth = np.load(f"{folder}/images/truth.npy").astype(float)
random = np.random.default_rng(11)

taps = np.exp(-np.arange(-5, 6) ** 2 / (2 * 0.75 ** 2))
kernel = np.outer(taps, taps) / taps.sum() ** 2
np.save(f"{folder}/kernel.npy", kernel)
padded = np.zeros((64, 64))
padded[:11, :11] = kernel
response = np.fft.fft2(np.roll(padded, (-5, -5), (0, 1)))


def measure(kind, x, name):
    """Returns A x and the options of eps restore that name A."""
    if kind == "random inpainting":
        mask = random.uniform(size=(64, 64)) > 0.7
        np.save(f"{name}-mask.npy", mask.astype(np.uint8))
        return x * mask, ["--mask", f"{name}-mask.npy"]
    if kind == "gaussian deblurring":
        return np.fft.ifft2(np.fft.fft2(x) * response).real, ["--kernel", f"{folder}/kernel.npy"]
    return x.reshape(3, 16, 4, 16, 4).mean((2, 4)), ["--downscale", "4"]


print("| | chi2, noise stated | PSNR of a sample | estimated noise |\n|---|---|---|---|")
for number, kind in enumerate(["random inpainting", "gaussian deblurring", "super resolution 4x"]):
    chi2, psnr, noise = [], [], []
    for n, x in enumerate(truth):
        name = f"{folder}/{number}-{n}"
        clean, options = measure(kind, x, name)
        np.save(f"{name}.npy", clean + SIGMA * random.standard_normal(clean.shape))
        eps("restore", f"{name}.npy", *options, "--noise", f"sigma={SIGMA}", "--samples", "4",
            "--out", f"{name}-stated")
        eps("restore", f"{name}.npy", *options, "--samples", "1", "--steps", "1", "--out",
            f"{name}-estimated")
        chi2.append(json.load(open(f"{name}-stated/restore.json"))["chi2"])
        noise.append(json.load(open(f"{name}-estimated/restore.json"))["noise"]["sigma"])
        error = ((np.load(f"{name}-stated/samples.npy") - x) ** 2).mean((1, 2, 3))
        psnr.append((10 * np.log10(4 / error)).mean())
    print(f"| {kind} | {min(chi2):.2f} to {max(chi2):.2f} | {np.mean(psnr):.2f} "
          f"| {min(noise):.4f} to {max(noise):.4f} |", flush=True)
