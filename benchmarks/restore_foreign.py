#!/usr/bin/env python3
"""Runs eps restore on measurements that other programs make from held-out images.

    benchmarks/restore_foreign.py IMAGES COUNT FOLDER [--samples N] [--steps N] [--model NETWORK] [--device D]
        [--jobs N] [--csv FILE] [--wrong] [--make-only | --made] [KIND...]

needs python3-numpy, python3-scipy, python3-pil, python3-opencv and build/eps; deepinv's kinds are skipped without
deepinv. `--make-only` ends with the measurements; `--made` finds them in FOLDER, and needs NumPy alone.

Prints, for each kind of measurement made with OpenCV, Pillow, SciPy, NumPy and deepinv and for its counterpart made by
eps itself: chi2, the PSNR of the mean, and the share of the true pixels in the 90% intervals, with standard errors over
images; apart, the same share of the pixels that are not measured, where there are such (the frame beyond a valid blur,
the missing colours of a mosaic). The noise is NumPy's, of standard deviation 0.05, and is stated. The CSV has a row for
each kind, with the paired difference of the PSNR, and the root mean square error of the mean in the outermost pixels
and the deviation that the samples give it: restore_foreign.csv in FOLDER unless it is named.

With `--wrong` each measurement is declared as something else. Then the columns are how many of the images have a finding,
how many of these name the true cause, chi2 and the PSNR of the mean: restore_wrong.csv.
"""
import argparse
import csv
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

SIGMA = 0.05
MOSAIC = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2))  # row, column, colour

parser = argparse.ArgumentParser()
parser.add_argument("images")
parser.add_argument("count", type=int)
parser.add_argument("folder")
parser.add_argument("kinds", nargs="*")
parser.add_argument("--samples", default="8")
parser.add_argument("--steps", default="20")
parser.add_argument("--model", default="faces64-eps")
parser.add_argument("--device", default="auto")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--csv")
parser.add_argument("--wrong", action="store_true")
parser.add_argument("--make-only", action="store_true")
parser.add_argument("--made", action="store_true")
options = parser.parse_intermixed_args()
if options.make_only and options.made:
    parser.error("--make-only and --made exclude each other")
if int(options.samples) < 2:
    parser.error(f"--samples {options.samples}: an interval needs 2 at least")
folder = options.folder
COMMANDS = f"{folder}/{'wrong' if options.wrong else 'right'}.json"


def eps(*arguments):
    done = subprocess.run(["build/eps", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"build/eps {' '.join(arguments)}: {done.stderr}")


def make():
    """Writes the measurements, and right.json or wrong.json: what restores each of them, and simulates and restores
    its counterpart."""
    import cv2
    import scipy.ndimage
    import scipy.sparse
    from PIL import Image
    try:
        import deepinv
        import torch
    except ImportError as error:
        deepinv = None
        print(f"deepinv's kinds are skipped: {error}", file=sys.stderr)

    random = np.random.default_rng(17)
    # One step of any method suffices: eps run writes the images as an array.
    eps("run", "eps", "--model", "faces64-eps", "--task", "identity", "--images", options.images, "--count",
        str(options.count), "--steps", "1", "--samples", "1", "--out", f"{folder}/images")
    truth = np.load(f"{folder}/images/truth.npy").astype(float)

    bend = np.zeros((7, 7))
    bend[3, 1:6] = 1
    bend[1:4, 5] = 1
    bend /= bend.sum()
    np.save(f"{folder}/bend.npy", bend)
    kernel = ["--kernel", f"{folder}/bend.npy"]
    three = np.outer([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])
    np.save(f"{folder}/three.npy", three)

    def each_channel(x, function):
        return np.stack([function(channel) for channel in x])

    def resized(filter_, factor):
        def one(channel):
            size = (64 // factor, 64 // factor)
            return np.array(Image.fromarray(channel.astype(np.float32)).resize(size, filter_), dtype=float)
        return lambda x: each_channel(x, one)

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

    def filter2d(x):
        return each_channel(x, lambda c: cv2.filter2D(c, -1, bend))

    def convolves(circular):
        """Returns whether an impulse becomes the kernel itself, not its mirror image."""
        impulse = np.zeros((3, 64, 64))
        impulse[:, 32, 32] = 1
        answer = circular(impulse)[0, 29:36, 29:36]
        return np.abs(answer - bend).max() < np.abs(answer - bend[::-1, ::-1]).max()

    def deepinv_kinds():
        """Returns the kinds of deepinv, whose Blur convolves (0.5) or correlates, as torch does, by version. Its
        Downsampling keeps every fourth pixel of a blur, which no operator of eps is."""
        def blur(padding):
            physics = deepinv.physics.Blur(filter=torch.from_numpy(bend)[None, None].float(), padding=padding)

            def apply(x):
                with torch.no_grad():
                    return physics.A(torch.from_numpy(x)[None].float())[0].double().numpy()
            return apply

        how = kernel + ([] if convolves(blur("circular")) else ["--flip-kernel"])
        circular = ["--border", "circular"]
        return {"deepinv Blur, valid": (blur("valid"), how, kernel + ["--border", "valid"]),
                "deepinv Blur, circular": (blur("circular"), how + circular, kernel + circular)}

    matrix = blur_matrix()
    reflected = ["--border", "reflect101"]
    circular = kernel + ["--border", "circular"]
    # The program's function, what eps is told of it, and the laboratory's operator beside it.
    kinds = {
        "cv2.filter2D (border unknown)": (filter2d, kernel + ["--flip-kernel"], kernel + ["--border", "valid"]),
        "cv2.filter2D, --border reflect101": (filter2d, kernel + ["--flip-kernel"] + reflected, circular),
        "cv2.GaussianBlur": (lambda x: each_channel(x, lambda c: cv2.GaussianBlur(c, (9, 9), 1.2)),
                             ["--operator", "blur_gaussian:std=1.2,size=9,border=reflect101"],
                             ["--operator", "blur_gaussian:std=1.2,size=9"]),
        "Pillow BICUBIC": (resized(Image.BICUBIC, 4), ["--downscale", "4,bicubic"], ["--downscale", "4"]),
        "Pillow LANCZOS": (resized(Image.LANCZOS, 4), ["--downscale", "4,lanczos"], ["--downscale", "4"]),
        "cv2.resize INTER_CUBIC": (
            lambda x: each_channel(x, lambda c: cv2.resize(c, (32, 32), interpolation=cv2.INTER_CUBIC)),
            ["--operator", "downscale:factor=2,filter=bicubic,antialias=0"], ["--downscale", "2"]),
        "Bayer mosaic": (mosaic, ["--operator", "bayer:pattern=rggb"],
                         ["--operator", "inpaint_random:missing=0.6667"]),
        "SciPy sparse matrix": (lambda x: np.concatenate([matrix @ c.ravel() for c in x]),
                                ["--operator", f"matrix:file={folder}/blur.npz"],
                                ["--operator", f"blur_kernel:file={folder}/three.npy | inpaint_random:missing=0.2676"]),
    }
    if deepinv:
        kinds.update(deepinv_kinds())
    # The same operator by eps measures as much; a circular blur measures the pixels at the edge better.
    kinds["cv2.filter2D, reflect101, beside the same by eps"] = (
        filter2d, kernel + ["--flip-kernel"] + reflected, kernel + reflected)

    def smooth(std):
        return lambda x: each_channel(x, lambda c: cv2.GaussianBlur(c, (13, 13), std))

    def in_linear_light(x):
        linear = smooth(1.5)(((x + 1) / 2) ** 2.2)
        return 2 * np.maximum(linear, 0) ** (1 / 2.2) - 1

    def corners_aligned(x):
        return each_channel(x, lambda c: scipy.ndimage.zoom(scipy.ndimage.gaussian_filter(c, 1.6), 0.25, order=3))

    # The program's function and what eps is told of it, which is wrong.
    wrong = {
        "cv2.filter2D, as a circular blur": (filter2d, kernel + ["--flip-kernel", "--border", "circular"]),
        "cv2.filter2D, as a convolution": (filter2d, kernel),
        "cv2.GaussianBlur, as a circular blur": (smooth(1.5), ["--gaussian", "1.5", "--border", "circular"]),
        "Gaussian blur of 1.5, as 2.5": (smooth(1.5), ["--gaussian", "2.5"]),
        "Gaussian blur of 1.5, as 0.8": (smooth(1.5), ["--gaussian", "0.8"]),
        "Gaussian blur in linear light, as one of sRGB": (in_linear_light, ["--gaussian", "1.5"]),
        "every fourth pixel, as means of 4 x 4": (lambda x: x[:, ::4, ::4], ["--downscale", "4"]),
        "cv2.resize INTER_CUBIC, as means of 4 x 4": (
            lambda x: each_channel(x, lambda c: cv2.resize(c, (16, 16), interpolation=cv2.INTER_CUBIC)),
            ["--downscale", "4"]),
        "scipy.ndimage.zoom, as Pillow's bicubic": (corners_aligned, ["--downscale", "4,bicubic"]),
        "Pillow BICUBIC, as means of 4 x 4": (resized(Image.BICUBIC, 4), ["--downscale", "4"]),
        "Pillow LANCZOS, as means of 4 x 4": (resized(Image.LANCZOS, 4), ["--downscale", "4"]),
    }
    commands = {}
    for number, (kind, (measure, how, *counterpart)) in enumerate((wrong if options.wrong else kinds).items()):
        commands[kind] = []
        for i, x in enumerate(truth):
            name = f"{folder}/{number}-{i}"
            clean = measure(x)
            np.save(f"{name}.npy", (clean + SIGMA * random.standard_normal(clean.shape)).astype(np.float32))
            commands[kind].append({"restored": [f"{name}.npy", *how, "--out", f"{name}-restored"]})
            if counterpart:
                Image.fromarray(np.round((x.transpose(1, 2, 0) + 1) * 127.5).astype(np.uint8)).save(f"{name}.png")
                commands[kind][-1]["laboratory"] = [f"{name}.png", "--simulate", *counterpart[0], "--seed", str(i),
                                                    "--out", f"{name}-laboratory"]
    with open(COMMANDS, "w") as file:
        json.dump(commands, file, indent=1)


def beyond_frame(x):
    """Returns where a valid blur with the bend measures no pixel."""
    outside = np.ones_like(x, dtype=bool)
    outside[:, 3:-3, 3:-3] = False
    return outside


def other_colours(x):
    """Returns where a mosaic leaves a colour out."""
    missing = np.ones_like(x, dtype=bool)
    for row, column, colour in MOSAIC:
        missing[colour, row::2, column::2] = False
    return missing


# The pixels of which the measurement has nothing, by kind.
UNMEASURED = {
    "cv2.filter2D (border unknown)": beyond_frame,
    "deepinv Blur, valid": beyond_frame,
    "Bayer mosaic": other_colours,
}


# What a finding must say to name the true cause, by wrong kind.
CAUSES = {
    "cv2.filter2D, as a circular blur": "did not wrap around",
    "cv2.filter2D, as a convolution": "flipped",
    "cv2.GaussianBlur, as a circular blur": "did not wrap around",
    "Gaussian blur of 1.5, as 2.5": "too wide",
    "Gaussian blur of 1.5, as 0.8": "too narrow",
    "Gaussian blur in linear light, as one of sRGB": "linear light",
    "every fourth pixel, as means of 4 x 4": "filter is another",
    "cv2.resize INTER_CUBIC, as means of 4 x 4": "filter is another",
    "scipy.ndimage.zoom, as Pillow's bicubic": "pixel grid",
}


def judge(path, x, unmeasured=None):
    report = json.load(open(f"{path}/restore.json"))
    mean, (low, high) = np.load(f"{path}/mean.npy"), np.load(f"{path}/interval.npy")
    psnr = 10 * np.log10(4 / np.mean((mean - x) ** 2))
    held = (x >= low) & (x <= high)
    apart = held[unmeasured(x)].mean() if unmeasured else np.nan
    # The mean of S samples errs by the variance of the truth plus 1/S of that of the samples.
    samples = np.load(f"{path}/samples.npy")
    variance = samples.var(0, ddof=1) * (1 + 1 / len(samples))
    edge = np.ones_like(x, dtype=bool)
    edge[:, 1:-1, 1:-1] = False
    return [report["chi2"], psnr, held.mean(), apart, np.mean((mean - x)[edge] ** 2), variance[edge].mean(),
            report.get("findings", [])]


def mean_and_error(values):
    values = np.array(values)
    error = values.std(0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return values.mean(0), error


if not options.made:
    make()
if options.make_only:
    sys.exit()
commands = json.load(open(COMMANDS))
truth = np.load(f"{folder}/images/truth.npy").astype(float)
unknown = set(options.kinds) - set(commands)
if unknown:
    sys.exit(f"unknown kinds {', '.join(unknown)}; there are {', '.join(commands)}")
kinds = options.kinds or list(commands)
common = ["--noise", f"sigma={SIGMA}", "--samples", options.samples, "--steps", options.steps, "--model",
          options.model, "--device", options.device]
with ThreadPoolExecutor(options.jobs) as pool:
    wanted = [arguments for kind in kinds for image in commands[kind] for arguments in image.values()]
    list(pool.map(lambda arguments: eps("restore", *arguments, *common), wanted))

if options.wrong:
    header = ["kind", "images", "findings", "named", "chi2", "chi2_se", "psnr_of_mean", "psnr_of_mean_se"]
    table = []
    print(f"{'kind':48} {'images':>7} {'findings':>8} {'named':>6} {'chi2':>15} {'PSNR of mean':>16}")
    for kind in kinds:
        number = list(commands).index(kind)
        values = [judge(f"{folder}/{number}-{i}-restored", x) for i, x in enumerate(truth)]
        (chi2, psnr), (chi2_se, psnr_se) = mean_and_error([value[:2] for value in values])
        findings = [" ".join(value[-1]) for value in values if value[-1]]
        named = sum(kind in CAUSES and CAUSES[kind] in finding for finding in findings)
        table.append([kind, len(truth), len(findings), named if kind in CAUSES else ""]
                     + [f"{v:.2f}" for v in (chi2, chi2_se, psnr, psnr_se)])
        print(f"{kind:48} {len(truth):7d} {len(findings):8d} {named:6d} {chi2:7.3f} ± {chi2_se:5.3f} "
              f"{psnr:9.2f} ± {psnr_se:4.2f}", flush=True)
    with open(options.csv or f"{folder}/restore_wrong.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *table])
    sys.exit()

COLUMNS = {"chi2": 2, "psnr_of_mean": 2, "coverage_90": 3, "coverage_90_unmeasured": 3}  # and their digits
header = ["kind", "images", *[name for column in COLUMNS for name in (column, f"{column}_se")], "findings",
          "edge_error", "edge_deviation"]
header += [f"counterpart_{name}" for name in header[2:]] + ["psnr_difference", "psnr_difference_se"]
table = []
print(f"{'kind':36} {'chi2':>14} {'PSNR of mean':>16} {'in 90%':>15} {'unmeasured':>15} findings")
for kind in kinds:
    number = list(commands).index(kind)
    table.append([kind, len(truth)])
    psnr = {}
    for which, unmeasured in (("restored", UNMEASURED.get(kind)), ("laboratory", None)):
        values = [judge(f"{folder}/{number}-{i}-{which}", x, unmeasured) for i, x in enumerate(truth)]
        psnr[which] = np.array([value[1] for value in values])
        mean, error = mean_and_error([value[:4] for value in values])
        findings = sum(len(value[-1]) > 0 for value in values)
        edge = np.sqrt(np.mean([value[4:6] for value in values], 0))
        table[-1] += ["" if np.isnan(v) else f"{v:.{digits}f}"
                      for digits, *pair in zip(COLUMNS.values(), mean, error) for v in pair]
        table[-1] += [findings, *(f"{v:.3f}" for v in edge)]
        apart = "" if np.isnan(mean[3]) else f"{mean[3]:7.3f} ± {error[3]:5.3f}"
        print(f"{kind if which == 'restored' else '  its counterpart by eps':36} {mean[0]:6.3f} ± {error[0]:5.3f} "
              f"{mean[1]:8.2f} ± {error[1]:4.2f} {mean[2]:7.3f} ± {error[2]:5.3f} {apart:>15} {findings:3d}",
              flush=True)
    difference, error = mean_and_error((psnr["restored"] - psnr["laboratory"])[:, None])
    table[-1] += [f"{difference[0]:.2f}", f"{error[0]:.2f}"]
    print(f"{'  difference':51} {difference[0]:8.2f} ± {error[0]:4.2f}", flush=True)
with open(options.csv or f"{folder}/restore_foreign.csv", "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *table])
