#!/usr/bin/env python3
"""Restores photographs that other programs damaged, as a person would who has the damaged file alone.

    benchmarks/restore_damaged.py PICTURES runs/damaged.csv [--keep FOLDER] [--kinds scratches,noise]

needs python3-numpy, python3-pil, python3-opencv and build/eps; PICTURES is a ZIP archive of clean photographs, or a
folder of them. Every kind of damage is one call of eps restore with a file of 8 bits that Pillow or OpenCV wrote:

    scratches   strokes of a white brush, with a mask painted a little wider by hand
    date        the date that a camera burns into a corner, with its box as the mask
    noise       a sensor's: its variance grows with the light; the noise is estimated
    noise-jpeg  the same, stored as a JPEG of quality 85
    shaken      cv2.filter2D with the curved path of a hand, noise of 2 levels; the kernel is known, as measured
    shaken-85   the same as a JPEG of quality 85, as a phone stores it
    focus       cv2.filter2D with a disk of radius 3, noise of 2 levels
    shrunk      Pillow's bicubic, half the size
    enlarged    a thumbnail: Pillow's Lanczos, a quarter of the size, as a JPEG of quality 85

OUT.csv has a row for each kind and method: the PSNR of what a person has (the damaged picture; enlarged by Pillow's
bicubic where it is smaller), of the mean, both over what was damaged alone, the share of the true pixels in the 90%
interval, chi2, how many pictures have a finding and how many a warning, and seconds. Holes have a row of cv2.inpaint
(Telea), too. Errors are standard errors over pictures. --keep keeps the folders of eps restore.
"""
import argparse
import csv
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

COLUMNS = ["kind", "method", "images", "psnr_before", "psnr_before_se", "psnr_of_mean", "psnr_of_mean_se",
           "coverage_90", "coverage_90_se", "chi2", "chi2_se", "findings", "warnings", "seconds"]


def read_pictures(source):
    """Returns {name: H x W x 3 grey levels, cut to multiples of 4}."""
    source = Path(source)
    if source.is_dir():
        files = {path.stem: path.read_bytes() for path in sorted(source.glob("*.png")) + sorted(source.glob("*.jpg"))}
    else:
        with zipfile.ZipFile(source) as archive:
            files = {Path(name).stem: archive.read(name) for name in sorted(archive.namelist())
                     if name.endswith((".png", ".jpg"))}
    if not files:
        sys.exit(f"{source}: no PNG or JPEG in it")
    pictures = {name: np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) for name, data in files.items()}
    return {name: p[:p.shape[0] // 4 * 4, :p.shape[1] // 4 * 4] for name, p in pictures.items()}


def eight_bits(picture):
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


def save(picture, path, quality=None):
    Image.fromarray(picture).save(path, **({"quality": quality} if quality else {}))
    return path


def scratches(truth, folder, random):
    height, width = truth.shape[:2]
    damaged, mask = Image.fromarray(truth), Image.new("L", (width, height), 255)
    for _ in range(5):
        knots = np.cumsum(np.vstack([random.uniform(0, (width, height)), random.normal(0, width / 12, (6, 2))]), 0)
        line, brush = [tuple(k) for k in knots], int(random.integers(2, 6))
        ImageDraw.Draw(damaged).line(line, fill=(250, 248, 240), width=brush, joint="curve")
        ImageDraw.Draw(mask).line(line, fill=0, width=brush + 4, joint="curve")
    mask.save(folder / "mask.png")
    return save(np.asarray(damaged), folder / "y.png"), ["--mask", folder / "mask.png"]


def date(truth, folder, random):
    height, width = truth.shape[:2]
    words, at, scale = "'26 11 19", (width - width // 3, height - height // 24), width / 700
    damaged = cv2.putText(truth.copy(), words, at, cv2.FONT_HERSHEY_DUPLEX, scale, (255, 140, 30), 2, cv2.LINE_AA)
    (w, h), base = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, scale, 2)
    mask = np.full(truth.shape[:2], 255, np.uint8)
    mask[at[1] - h - 4:at[1] + base + 4, at[0] - 4:at[0] + w + 4] = 0
    save(mask, folder / "mask.png")
    return save(damaged, folder / "y.png"), ["--mask", folder / "mask.png"]


def with_noise_of_a_sensor(truth, random):
    return eight_bits(truth + np.sqrt(16 + 0.9 * truth) * random.standard_normal(truth.shape))


def noise(truth, folder, random):
    return save(with_noise_of_a_sensor(truth, random), folder / "y.png"), ["--denoise"]


def noise_jpeg(truth, folder, random):
    return save(with_noise_of_a_sensor(truth, random), folder / "y.jpg", quality=85), ["--denoise"]


def path_of_a_hand(random, size=19):
    """Returns a smooth random path as a kernel, one octave brighter where the hand is slower."""
    speed = np.cumsum(random.normal(0, 1, (400, 2)), 0)
    path = np.cumsum(speed, 0)
    path = (path - path.min(0)) / np.ptp(path, 0).max() * (size - 4) + 2
    kernel = np.zeros((size, size), np.float32)
    for x, y in path:
        kernel[int(round(y)) % size, int(round(x)) % size] += 1
    kernel = np.asarray(Image.fromarray(eight_bits(255 * kernel / kernel.max())).filter(ImageFilter.GaussianBlur(0.7)))
    return kernel


def blurred(truth, kernel, random):
    kernel = kernel.astype(np.float64) / kernel.sum()
    return eight_bits(cv2.filter2D(truth.astype(np.float64), -1, kernel) + 2 * random.standard_normal(truth.shape))


def shaken_as(name, quality):
    def damage(truth, folder, random):
        kernel = path_of_a_hand(random)
        save(kernel, folder / "kernel.png")
        # filter2D correlates.
        return save(blurred(truth, kernel, random), folder / name, quality), \
            ["--kernel", folder / "kernel.png", "--flip-kernel"]
    return damage


def focus(truth, folder, random):
    y, x = np.mgrid[-4:5, -4:5]
    # The share of a pixel inside the disk, by its distance from the circle.
    kernel = np.clip(3.5 - np.hypot(x, y), 0, 1)
    return save(blurred(truth, kernel, random), folder / "y.png"), ["--defocus", 3]


def reduced(truth, factor, filter_):
    return Image.fromarray(truth).resize((truth.shape[1] // factor, truth.shape[0] // factor), filter_)


def shrunk(truth, folder, random):
    return save(np.asarray(reduced(truth, 2, Image.Resampling.BICUBIC)), folder / "y.png"), ["--downscale", "2,bicubic"]


def enlarged(truth, folder, random):
    small = np.asarray(reduced(truth, 4, Image.Resampling.LANCZOS))
    return save(small, folder / "y.jpg", quality=85), ["--downscale", "4,lanczos"]


KINDS = {"scratches": scratches, "date": date, "noise": noise, "noise-jpeg": noise_jpeg,
         "shaken": shaken_as("y.png", None), "shaken-85": shaken_as("y.jpg", 85), "focus": focus, "shrunk": shrunk,
         "enlarged": enlarged}


def psnr(picture, truth, where):
    return 10 * np.log10(255 ** 2 / np.mean((picture.astype(float) - truth)[where] ** 2))


def restore(options, file, words, folder):
    command = [options.eps, "restore", file, *words, "--model", options.model, "--device", options.device, "--arrays",
               "--out", folder]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads((folder / "restore.json").read_text())


def score(options, kind, truth, folder, random):
    """Damages and restores one picture; returns the scores of eps and, of holes, of OpenCV."""
    file, words = KINDS[kind](truth, folder, random)
    before = Image.open(file)
    if before.size != (truth.shape[1], truth.shape[0]):
        before = before.resize((truth.shape[1], truth.shape[0]), Image.Resampling.BICUBIC)
    before, where = np.asarray(before), np.ones(truth.shape[:2], bool)
    report = restore(options, file, words, folder / "restored")
    mean = np.asarray(Image.open(folder / "restored/mean.png"))
    peer = None
    if "--mask" in words:
        mask = np.asarray(Image.open(folder / "mask.png"))
        where = mask < 128
        filled = cv2.inpaint(before, 255 - mask, 3, cv2.INPAINT_TELEA)
        peer = {"psnr_before": psnr(before, truth, where), "psnr_of_mean": psnr(filled, truth, where)}
    low, high = np.load(folder / "restored/interval.npy")
    x = (2 * (truth / 255) - 1).transpose(2, 0, 1).astype(np.float32)
    held = ((x >= low) & (x <= high))[:, where]
    return {"psnr_before": psnr(before, truth, where), "psnr_of_mean": psnr(mean, truth, where),
            "coverage_90": held.mean(), "chi2": report["chi2"], "findings": bool(report["findings"]),
            "warnings": bool(report["warnings"]), "seconds": report["seconds"]}, peer


def row(kind, method, scores):
    line = {"kind": kind, "method": method, "images": len(scores)}
    for name in ("psnr_before", "psnr_of_mean", "coverage_90", "chi2"):
        values = np.array([s[name] for s in scores if name in s])
        if values.size:
            line[name] = f"{values.mean():.4f}"
        if values.size > 1:
            line[f"{name}_se"] = f"{values.std(ddof=1) / np.sqrt(values.size):.4f}"
    if "seconds" in scores[0]:
        line |= {"findings": sum(s["findings"] for s in scores), "warnings": sum(s["warnings"] for s in scores),
                 "seconds": f"{np.mean([s['seconds'] for s in scores]):.1f}"}
    return line


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", metavar="PICTURES")
    parser.add_argument("out", metavar="OUT.csv", type=Path)
    parser.add_argument("--eps", default=str(Path(__file__).resolve().parents[1] / "build/eps"), help="the program")
    parser.add_argument("--model", default="photos-eps-small")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--images", type=int, help="the first so many pictures")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="a new folder")
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        if kind not in KINDS:
            parser.error(f"--kinds: unknown kind {kind!r}; there are {', '.join(KINDS)}")
    return options


def main():
    options = parse()
    pictures = dict(list(read_pictures(options.pictures).items())[:options.images])
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for kind in options.kinds.split(","):
            scores, peers = [], []
            for number, (name, truth) in enumerate(pictures.items()):
                folder = (options.keep or Path(scratch)) / kind / name
                folder.mkdir(parents=True)
                ours, peer = score(options, kind, truth, folder, np.random.default_rng(number))
                scores.append(ours)
                peers += [peer] if peer else []
            rows += [row(kind, "eps", scores)] + ([row(kind, "cv2.inpaint", peers)] if peers else [])
            for line in rows[-2 if peers else -1:]:
                print("  ".join(f"{name} {value}" for name, value in line.items()), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = options.out.with_suffix(".tmp")
    with open(unfinished, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    unfinished.rename(options.out)


if __name__ == "__main__":
    main()
