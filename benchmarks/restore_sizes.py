#!/usr/bin/env python3
"""Times eps restore on pictures of several sizes: seconds of the whole process and its peak memory.

    benchmarks/restore_sizes.py models/photos-images/nyc.png runs/sizes.csv

needs python3-numpy, python3-pil and build/eps. PICTURE, mirrored as often as it takes, gives pictures of all sizes; noise
of 12 grey levels is added to them and stated. The rows are

    mean       the posterior mean by one evaluation (--quick) of squares of 256 to 4096 pixels a side; growth is the
               exponent of the time, or of the memory, in the number of pixels, from the row before
    samples    768 x 512 pixels with the samples and steps that eps restore has by itself
    missing    likewise, with 70% of the pixels missing
    scratches  two scratches, 6 pixels wide and 600 long, on 12 million pixels; likewise

OUT.csv has a row for each. Other work on the machine makes times longer.
"""
import argparse
import csv
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

SIDES = (256, 512, 1024, 2048, 4096)
COLUMNS = ("kind", "width", "height", "seconds", "growth", "megabytes", "memory_growth")


def enlarged(picture, width, height):
    """Returns the picture mirrored to this size, with noise, in 8 bits."""
    rows = [(0, size - picture.shape[axis]) if size > picture.shape[axis] else (0, 0)
            for axis, size in ((0, height), (1, width))]
    whole = np.pad(picture, [*rows, (0, 0)], mode="symmetric")[:height, :width]
    noisy = whole + 12 * np.random.default_rng(1).standard_normal(whole.shape)
    return np.round(np.clip(noisy, 0, 255)).astype(np.uint8)


def holes(kind, width, height):
    """Returns a mask, white where the picture is measured."""
    mask = np.full((height, width), 255, np.uint8)
    if kind == "missing":
        mask[np.random.default_rng(2).random(mask.shape) < 0.7] = 0
    else:
        mask[height // 3:height // 3 + 600, width // 4:width // 4 + 6] = 0
        mask[2 * height // 3:2 * height // 3 + 6, width // 2:width // 2 + 600] = 0
    return mask


def run(command):
    """Returns the seconds and the peak memory, in millions of bytes, of a process that must succeed."""
    start = time.perf_counter()
    try:
        pid = os.posix_spawnp(command[0], command, os.environ,
                              file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, used.ru_maxrss * 1024 / 1e6


def measure(options, picture, kind, width, height, *how):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        Image.fromarray(enlarged(picture, width, height)).save(scratch / "y.png", compress_level=1)
        if "--mask" in how:
            Image.fromarray(holes(kind, width, height)).save(scratch / "mask.png")
        how = [str(scratch / "mask.png") if word == "MASK" else word for word in how]
        return run([options.eps, "restore", str(scratch / "y.png"), "--noise", "12", *how, "--model", options.model,
                    "--device", options.device, "--out", str(scratch / "out")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("out", metavar="OUT.csv")
    parser.add_argument("--model", default="photos-eps-small", help="a name of eps list models, or a file")
    parser.add_argument("--eps", default=str(Path(__file__).resolve().parents[1] / "build/eps"), help="the program")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    try:
        picture = np.asarray(Image.open(options.picture).convert("RGB")).astype(float)
    except OSError as error:
        sys.exit(f"{options.picture}: {error}")
    rows, before = [], None
    for side in SIDES:
        seconds, megabytes = measure(options, picture, "mean", side, side, "--denoise", "--quick")
        exponent = lambda now, then: math.log(now / then) / math.log(4)
        growth = [exponent(seconds, before[0]), exponent(megabytes, before[1])] if before else [None, None]
        rows.append(["mean", side, side, seconds, growth[0], megabytes, growth[1]])
        before = seconds, megabytes
    for kind, width, height, how in (("samples", 768, 512, ["--denoise"]),
                                     ("missing", 768, 512, ["--mask", "MASK"]),
                                     ("scratches", 4000, 3000, ["--mask", "MASK"])):
        seconds, megabytes = measure(options, picture, kind, width, height, *how)
        rows.append([kind, width, height, seconds, None, megabytes, None])
    number = lambda value: "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    scratch = f"{options.out}.tmp"
    with open(scratch, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *([row[0], *map(number, row[1:])] for row in rows)])
    os.replace(scratch, options.out)
    print(Path(options.out).read_text(), end="")


if __name__ == "__main__":
    main()
