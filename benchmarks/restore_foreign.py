#!/usr/bin/env python3
"""Runs eps restore on measurements that other programs make from held-out images.

    benchmarks/restore_foreign.py IMAGES COUNT FOLDER [KIND...]

needs python3-numpy, python3-scipy, python3-pil, python3-opencv and build/eps. Prints, for each kind of measurement
made with OpenCV, Pillow, SciPy and NumPy and for its counterpart made by eps itself: chi2, the PSNR of the mean, and
the share of the true pixels in the 90% intervals, with standard errors over images. The noise is NumPy's, of standard
deviation 0.05, and is stated.
"""
import json
import subprocess
import sys

import cv2
import numpy as np
import scipy.sparse
from PIL import Image

images, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
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


def mosaic(x):
    y = np.empty((1, 64, 64))
    for row, column, colour in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2)):
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
LABORATORY = {
    "cv2.filter2D (border unknown)": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "cv2.filter2D, --border reflect101": [kernel, f"{folder}/bend.npy", "--border", "circular"],
    "cv2.GaussianBlur": ["--operator", "blur_gaussian:std=1.2,size=9"],
    "Pillow BICUBIC": ["--downscale", "4"],
    "Pillow LANCZOS": ["--downscale", "4"],
    "cv2.resize INTER_CUBIC": ["--downscale", "2"],
    "Bayer mosaic": ["--operator", "inpaint_random:missing=0.6667"],
    "SciPy sparse matrix": ["--operator", "blur_gaussian:std=0.7,size=5"],
}


def judge(path, x):
    report = json.load(open(f"{path}/restore.json"))
    mean, (low, high) = np.load(f"{path}/mean.npy"), np.load(f"{path}/interval.npy")
    psnr = 10 * np.log10(4 / np.mean((mean - x) ** 2))
    return [report["chi2"], psnr, np.mean((x >= low) & (x <= high)), len(report.get("findings", []))]


print(f"{'kind':36} {'chi2':>14} {'PSNR of mean':>16} {'in 90%':>15} findings")
for kind in sys.argv[4:] or KINDS:
    make, options = KINDS[kind]
    rows = {"": [], "laboratory": []}
    for i, x in enumerate(truth):
        clean = make(x)
        name = f"{folder}/{list(KINDS).index(kind)}-{i}"
        np.save(f"{name}.npy", (clean + SIGMA * random.standard_normal(clean.shape)).astype(np.float32))
        Image.fromarray(np.round((x.transpose(1, 2, 0) + 1) * 127.5).astype(np.uint8)).save(f"{name}.png")
        common = ["--noise", f"sigma={SIGMA}", "--samples", "8"]
        eps("restore", f"{name}.npy", *options, *common, "--out", f"{name}-restored")
        rows[""].append(judge(f"{name}-restored", x))
        eps("restore", f"{name}.png", "--simulate", *LABORATORY[kind], *common, "--seed", str(i), "--out",
            f"{name}-laboratory")
        rows["laboratory"].append(judge(f"{name}-laboratory", x))
    for label, values in rows.items():
        values = np.array(values)
        mean, error = values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))
        print(f"{kind if not label else '  its counterpart by eps':36} {mean[0]:6.3f} ± {error[0]:5.3f} "
              f"{mean[1]:8.2f} ± {error[1]:4.2f} {mean[2]:7.3f} ± {error[2]:5.3f} {int(values[:, 3].sum()):3d}",
              flush=True)
