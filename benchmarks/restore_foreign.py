#!/usr/bin/env python3
"""Runs eps restore on measurements that other programs make from held-out images.

    benchmarks/restore_foreign.py IMAGES COUNT FOLDER [--samples N] [--steps N] [--csv FILE] [KIND...]

needs python3-numpy, python3-scipy, python3-pil, python3-opencv and build/eps; deepinv's kinds are skipped without
deepinv. Prints, for each kind of measurement made with OpenCV, Pillow, SciPy, NumPy and deepinv and for its counterpart
made by eps itself: chi2, the PSNR of the mean, and the share of the true pixels in the 90% intervals, with standard
errors over images; apart, the same share of the pixels that are not measured, where there are such (the frame beyond a
valid blur, the missing colours of a mosaic). The noise is NumPy's, of standard deviation 0.05, and is stated. The CSV
has a row for each kind: restore_foreign.csv in FOLDER unless it is named.
"""
import argparse
import csv
import json
import subprocess
import sys

import cv2
import numpy as np
import scipy.sparse
from PIL import Image

try:
    import deepinv
    import torch
except ImportError as error:
    deepinv = None
    print(f"deepinv's kinds are skipped: {error}", file=sys.stderr)

parser = argparse.ArgumentParser()
parser.add_argument("images")
parser.add_argument("count", type=int)
parser.add_argument("folder")
parser.add_argument("kinds", nargs="*")
parser.add_argument("--samples", default="8")
parser.add_argument("--steps", default="20")
parser.add_argument("--csv")
options = parser.parse_intermixed_args()
images, count, folder = options.images, options.count, options.folder
SIGMA = 0.05
random = np.random.default_rng(17)


def eps(*arguments):
    subprocess.run(["build/eps", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


# One step of any method suffices: eps run writes the images as an array.
eps("run", "eps", "--model", "faces64-eps", "--task", "identity", "--images", images, "--count", str(count),
    "--steps", "1", "--samples", "1", "--out", f"{folder}/images")
truth = np.load(f"{folder}/images/truth.npy").astype(float)

taps = np.exp(-np.arange(-4, 5) ** 2 / (2 * 1.2 ** 2))
bend = np.zeros((7, 7))
bend[3, 1:6] = 1
bend[1:4, 5] = 1
bend /= bend.sum()
np.save(f"{folder}/bend.npy", bend)


def each_channel(x, function):
    return np.stack([function(channel) for channel in x])


def resized(filter_, factor):
    def one(channel):
        size = (64 // factor, 64 // factor)
        return np.array(Image.fromarray(channel.astype(np.float32)).resize(size, filter_), dtype=float)
    return lambda x: each_channel(x, one)


MOSAIC = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2))  # row, column, colour


def mosaic(x):
    y = np.empty((1, 64, 64))
    for row, column, colour in MOSAIC:
        y[0, row::2, column::2] = x[colour, row::2, column::2]
    return y


def blur_matrix():
    line = scipy.sparse.diags([0.25, 0.5, 0.25], [-1, 0, 1], shape=(64, 64)).tolil()
    line[0, 0] = line[63, 63] = 0.75
    plane = scipy.sparse.kron(line.tocsr(), line.tocsr())
    kept = np.sort(np.random.default_rng(3).permutation(4096)[:3000])
    matrix = plane.tocsr()[kept]
    scipy.sparse.save_npz(f"{folder}/blur.npz", matrix)
    return matrix


def deepinv_kinds():
    """Returns the kinds of deepinv, whose Blur convolves (0.5) or correlates, as torch does, by version. Its Downsampling
    keeps every fourth pixel of a blur, which no operator of eps is."""
    if deepinv is None:
        return {}

    def applied(physics):
        def apply(x):
            with torch.no_grad():
                return physics.A(torch.from_numpy(x)[None].float())[0].double().numpy()
        return apply

    def blur(padding):
        return applied(deepinv.physics.Blur(filter=torch.from_numpy(bend)[None, None].float(), padding=padding))

    how = [kernel, f"{folder}/bend.npy"] + ([] if convolves(blur("circular")) else ["--flip-kernel"])
    return {
        "deepinv Blur, valid": (blur("valid"), how),
        "deepinv Blur, circular": (blur("circular"), how + ["--border", "circular"]),
    }


def convolves(circular):
    """Returns whether an impulse becomes the kernel itself, not its mirror image."""
    impulse = np.zeros((3, 64, 64))
    impulse[:, 32, 32] = 1
    answer = circular(impulse)[0, 29:36, 29:36]
    return np.abs(answer - bend).max() < np.abs(answer - bend[::-1, ::-1]).max()


matrix = blur_matrix()
kernel = "--kernel"
KINDS = {
    "cv2.filter2D (border unknown)": (lambda x: each_channel(x, lambda c: cv2.filter2D(c, -1, bend)),
                                      [kernel, f"{folder}/bend.npy", "--flip-kernel"]),
    "cv2.filter2D, --border reflect101": (lambda x: each_channel(x, lambda c: cv2.filter2D(c, -1, bend)),
                                          [kernel, f"{folder}/bend.npy", "--flip-kernel", "--border", "reflect101"]),
    "cv2.GaussianBlur": (lambda x: each_channel(x, lambda c: cv2.GaussianBlur(c, (9, 9), 1.2)),
                         ["--operator", "blur_gaussian:std=1.2,size=9,border=reflect101"]),
    "Pillow BICUBIC": (resized(Image.BICUBIC, 4), ["--downscale", "4,bicubic"]),
    "Pillow LANCZOS": (resized(Image.LANCZOS, 4), ["--downscale", "4,lanczos"]),
    "cv2.resize INTER_CUBIC": (
        lambda x: each_channel(x, lambda c: cv2.resize(c, (32, 32), interpolation=cv2.INTER_CUBIC)),
        ["--operator", "downscale:factor=2,filter=bicubic,antialias=0"]),
    "Bayer mosaic": (mosaic, ["--operator", "bayer:pattern=rggb"]),
    "SciPy sparse matrix": (lambda x: np.concatenate([matrix @ c.ravel() for c in x]),
                            ["--operator", f"matrix:file={folder}/blur.npz"]),
}
KINDS.update(deepinv_kinds())
LABORATORY = {
    "deepinv Blur, valid": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "deepinv Blur, circular": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "cv2.filter2D (border unknown)": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "cv2.filter2D, --border reflect101": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "cv2.GaussianBlur": ["--operator", "blur_gaussian:std=1.2,size=9"],
    "Pillow BICUBIC": ["--downscale", "4"],
    "Pillow LANCZOS": ["--downscale", "4"],
    "cv2.resize INTER_CUBIC": ["--downscale", "2"],
    "Bayer mosaic": ["--operator", "inpaint_random:missing=0.6667"],
    "SciPy sparse matrix": ["--operator", "blur_gaussian:std=0.7,size=5"],
}


def beyond_frame(x):
    """Returns where a valid blur with the bend measures no pixel: 1 of such, of the shape of x."""
    outside = np.ones_like(x)
    outside[:, 3:-3, 3:-3] = 0
    return outside


def other_colours(x):
    """Returns where a mosaic leaves a colour out, likewise."""
    missing = np.ones_like(x)
    for row, column, colour in MOSAIC:
        missing[colour, row::2, column::2] = 0
    return missing


# The pixels of which the measurement has nothing, by kind.
UNMEASURED = {
    "cv2.filter2D (border unknown)": beyond_frame,
    "deepinv Blur, valid": beyond_frame,
    "Bayer mosaic": other_colours,
}


def judge(path, x, unmeasured=None):
    report = json.load(open(f"{path}/restore.json"))
    mean, (low, high) = np.load(f"{path}/mean.npy"), np.load(f"{path}/interval.npy")
    psnr = 10 * np.log10(4 / np.mean((mean - x) ** 2))
    held = (x >= low) & (x <= high)
    apart = held[unmeasured(x).astype(bool)].mean() if unmeasured else np.nan
    return [report["chi2"], psnr, held.mean(), apart, len(report.get("findings", []))]


def mean_and_error(values):
    values = np.array(values)
    error = values.std(0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return values.mean(0), error


COLUMNS = ["chi2", "psnr", "coverage", "coverage_unmeasured"]
header = ["kind", "images", *[name for column in COLUMNS for name in (column, f"{column}_se")], "findings"]
header += [f"counterpart_{name}" for name in header[2:]]
table = []
print(f"{'kind':36} {'chi2':>14} {'PSNR of mean':>16} {'in 90%':>15} {'unmeasured':>15} findings")
for kind in options.kinds or KINDS:
    make, how = KINDS[kind]
    rows = {"": [], "laboratory": []}
    for i, x in enumerate(truth):
        clean = make(x)
        name = f"{folder}/{list(KINDS).index(kind)}-{i}"
        np.save(f"{name}.npy", (clean + SIGMA * random.standard_normal(clean.shape)).astype(np.float32))
        Image.fromarray(np.round((x.transpose(1, 2, 0) + 1) * 127.5).astype(np.uint8)).save(f"{name}.png")
        common = ["--noise", f"sigma={SIGMA}", "--samples", options.samples, "--steps", options.steps]
        eps("restore", f"{name}.npy", *how, *common, "--out", f"{name}-restored")
        rows[""].append(judge(f"{name}-restored", x, UNMEASURED.get(kind)))
        eps("restore", f"{name}.png", "--simulate", *LABORATORY[kind], *common, "--seed", str(i), "--out",
            f"{name}-laboratory")
        rows["laboratory"].append(judge(f"{name}-laboratory", x))
    table.append([kind, len(truth)])
    for label, values in rows.items():
        mean, error = mean_and_error(values)
        findings = int(np.array(values)[:, 4].sum())
        table[-1] += [f"{v:.4f}" for pair in zip(mean[:4], error[:4]) for v in pair] + [findings]
        apart = "" if np.isnan(mean[3]) else f"{mean[3]:7.3f} ± {error[3]:5.3f}"
        print(f"{kind if not label else '  its counterpart by eps':36} {mean[0]:6.3f} ± {error[0]:5.3f} "
              f"{mean[1]:8.2f} ± {error[1]:4.2f} {mean[2]:7.3f} ± {error[2]:5.3f} {apart:>15} {findings:3d}",
              flush=True)
with open(options.csv or f"{folder}/restore_foreign.csv", "w", newline="") as file:
    csv.writer(file).writerows([header, *table])
