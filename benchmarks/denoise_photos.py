#!/usr/bin/env python3
"""Denoises colour photographs as the field does with CBSD68: Gaussian noise of 15, 25 and 50 grey levels, not clipped.

    benchmarks/denoise_photos.py cbsd68.zip runs/cbsd68.csv --tune val.zip

needs python3-numpy, python3-pil and build/eps. Peers on the same noise are BM3D (package bm3d), OpenCV's non-local
means (opencv-python) and total variation (scikit-image); one whose package is absent is skipped. Non-local means works
on 8 bits: its input is clipped and rounded. It and total variation have a strength. It is chosen on the first pictures
of --tune, none of which may be in ARCHIVE; without --tune total variation is skipped, and non-local means has
h = 0.65 sigma.

eps-quick is the posterior mean by one evaluation, eps-samples the mean of --samples samples, with the share of the true
pixels in the 90% interval. PSNR is that of the RGB picture, clipped to [0, 255], averaged over pictures; errors are
standard errors over pictures. Seconds are those of one picture, without starting the program and reading the network.

OUT.csv has a row for each method and level, OUT-pictures.csv the values of each picture, for paired differences. Both
are written whole, and what is in OUT-pictures.csv is not computed again.
"""
import argparse
import csv
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np
from PIL import Image, ImageOps

SIGMAS = (15, 25, 50)  # grey levels


def say(words):
    print(words, file=sys.stderr, flush=True)


def read_pictures(archive, most=None, crop=0):
    """Returns {name: H x W x 3 grey levels} of the first pictures in the order of names; crop: of their centre."""
    pictures, name = {}, ""
    try:
        with zipfile.ZipFile(archive) as file:
            names = [n for n in sorted(file.namelist()) if n.lower().endswith((".png", ".jpg", ".jpeg"))]
            for name in names[:most]:
                picture = ImageOps.exif_transpose(Image.open(io.BytesIO(file.read(name)))).convert("RGB")
                # Unsigned bytes would overflow in whatever is computed of them.
                pictures[name] = centre(np.asarray(picture).astype(float), crop, f"{archive}: {name}")
    except (OSError, zipfile.BadZipFile) as error:
        sys.exit(f"{archive}: {name}{': ' if name else ''}{error}")
    if not pictures:
        sys.exit(f"{archive}: no PNG or JPEG in it")
    return pictures


def centre(picture, side, name):
    if not side:
        return picture
    height, width = picture.shape[:2]
    if side > min(height, width):
        sys.exit(f"{name}: {width} x {height} is smaller than --crop {side}")
    top, left = (height - side) // 2, (width - side) // 2
    return picture[top:top + side, left:left + side]


def to_array(picture):
    """Returns H x W x 3 grey levels as eps has them: 3 x H x W in [-1, 1]."""
    return (2 * picture / 255 - 1).transpose(2, 0, 1)


def to_picture(array):
    return (array.transpose(1, 2, 0) + 1) * 127.5


def psnr(picture, truth):
    """Returns the PSNR of grey levels, clipped."""
    return 10 * np.log10(255 ** 2 / np.mean((np.clip(picture, 0, 255) - truth) ** 2))


def mean_and_error(values):
    """Returns the mean of what is known, and its standard error; None where that is too little."""
    values = np.array([v for v in values if v is not None])
    if not values.size:
        return None, None
    return values.mean(), values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else None


class Table:
    """The values of each picture, which are kept, and the rows that follow from them.

    keys: the columns that name a row; scores: the numbers of each picture; summary: what makes the numbers of a row of
    a list of those, and columns: their names and digits."""

    def __init__(self, path, keys, scores, columns, summary):
        self.path, self.keys, self.scores, self.columns, self.summary = Path(path), keys, scores, columns, summary
        self.pictures_path = self.path.with_name(f"{self.path.stem}-pictures.csv")
        self.parameters, self.values, self.rows = {}, {}, []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not self.pictures_path.exists():
            sys.exit(f"{self.path}: its {self.pictures_path.name} is missing")
        for row in self.read(self.pictures_path, [*keys, "picture", *scores, "parameter"]):
            key = tuple(row[k] for k in keys)
            self.parameters[key] = row["parameter"]
            self.values.setdefault(key, {})[row["picture"]] = {s: float(row[s]) if row[s] else None for s in scores}
        for row in self.read(self.path, self.header()):
            self.rows.append(tuple(row[k] for k in keys))

    def header(self):
        return [*self.keys, "images", *self.columns, "parameter"]

    def read(self, path, header):
        if not path.exists():
            return []
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != header:
                sys.exit(f"{path}: its columns are {', '.join(reader.fieldnames or [])}, not {', '.join(header)}")
            return list(reader)

    def write(self, path, rows):
        """Writes the file whole or not at all."""
        scratch = path.with_name(path.name + ".tmp")
        with open(scratch, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        os.replace(scratch, path)

    def has(self, key, picture):
        return picture in self.values.get(key, {})

    def parameter(self, key):
        """Returns what the row was computed with, if it was begun."""
        return self.parameters.get(key)

    def check(self, key, parameter):
        """Ends the program if the file has the row by another parameter."""
        if self.parameters.get(key, parameter) != parameter:
            sys.exit(f"{self.pictures_path}: {' '.join(key)} was computed with {self.parameters[key]!r}, "
                     f"not {parameter!r}; name another OUT.csv")

    def add(self, key, picture, parameter, scores):
        """Keeps the scores of a picture."""
        self.check(key, parameter)
        self.parameters[key] = parameter
        self.values.setdefault(key, {})[picture] = scores
        cell = lambda value: "" if value is None else f"{value:.6g}"
        self.write(self.pictures_path, [[*self.keys, "picture", *self.scores, "parameter"]] + [
            [*key, name, *(cell(scores[s]) for s in self.scores), self.parameters[key]]
            for key, values in self.values.items() for name, scores in values.items()])

    def finish(self, key):
        """Writes the rows, of which one is now complete, and prints that one."""
        if key not in self.rows:
            self.rows.append(key)
        self.write(self.path, [self.header(), *(self.row(key) for key in self.rows)])
        print("  ".join(f"{name} {value}" for name, value in zip(self.header(), self.row(key)) if value != ""),
              flush=True)

    def row(self, key):
        scores = list(self.values[key].values())
        summary = self.summary(scores)
        return [*key, len(scores),
                *("" if summary.get(name) is None else f"{summary[name]:.{digits}f}"
                  for name, digits in self.columns.items()), self.parameters[key]]


class Program:
    """eps restore with the options of this run."""

    def __init__(self, options):
        self.path, self.common = options.eps, ["--model", options.model, "--device", options.device,
                                               "--dtype", options.dtype]
        self.warned = set()

    def restore(self, *arguments, out):
        """Writes the folder, and returns what its restore.json says."""
        command = [self.path, "restore", *map(str, arguments), *self.common, "--out", str(out)]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            sys.exit(f"{self.path}: {error.strerror}")
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip() or f'exit status {done.returncode}'}")
        report = json.loads((Path(out) / "restore.json").read_text())
        for warning in report.get("warnings", []):
            if warning not in self.warned:
                say(f"eps restore warns: {warning}")
                self.warned.add(warning)
        return report


@dataclass
class Peer:
    """Another program's method. needs: "package" or "package:function"; function: of its input and its strength, if it
    has one, to the estimate; start: the strength without tuning, about which it is tuned."""
    needs: str
    function: Callable
    parameter: str = ""
    start: Callable = None
    must_be_tuned: bool = False
    slow: bool = False  # it needs a limit

    def load(self):
        """Imports what it needs, which some packages do at the first use of a function."""
        package, _, function = self.needs.partition(":")
        module = importlib.import_module(package)
        if function:
            getattr(module, function)


def present(peers):
    """Returns the peers whose packages can be imported."""
    kept = {}
    for name, peer in peers.items():
        try:
            peer.load()
            kept[name] = peer
        except (ImportError, AttributeError) as error:
            say(f"{name} is skipped: {error}")
    return kept


def best_parameter(score, start, ratio):
    """Returns the best of the grid start * ratio^k, which grows as long as its best is at an end."""
    known = {0: score(start)}
    while True:
        best = max(known, key=known.get)
        missing = {best - 1, best + 1} - set(known)
        if not missing:
            return start * ratio ** best
        if len(known) > 30:
            sys.exit(f"tuning: no best parameter between {start * ratio ** min(known):g} and "
                     f"{start * ratio ** max(known):g}")
        known.update((k, score(start * ratio ** k)) for k in missing)


def read_tuning(options, pictures):
    """Returns the pictures of --tune; none of them is to be reported."""
    if not options.tune:
        return {}
    tuning = read_pictures(options.tune, options.tune_images, options.crop)
    reported = [picture.tobytes() for picture in pictures.values()]
    for name, picture in tuning.items():
        if picture.tobytes() in reported:
            sys.exit(f"{options.tune}: {name} is also in {options.archive}: parameters are chosen on other pictures")
    return tuning


def bm3d_rgb(noisy, sigma):
    import bm3d
    return 255 * bm3d.bm3d_rgb(noisy / 255, sigma / 255)


def non_local_means(noisy, sigma, strength):
    import cv2
    eight_bits = np.round(np.clip(noisy, 0, 255)).astype(np.uint8)
    bgr = cv2.cvtColor(eight_bits, cv2.COLOR_RGB2BGR)
    clean = cv2.fastNlMeansDenoisingColored(bgr, None, strength, strength, 7, 21)
    return cv2.cvtColor(clean, cv2.COLOR_BGR2RGB).astype(float)


def total_variation(noisy, sigma, weight):
    from skimage.restoration import denoise_tv_chambolle
    return 255 * denoise_tv_chambolle(noisy / 255, weight=weight, channel_axis=-1)


PEERS = {
    "bm3d": Peer("bm3d", bm3d_rgb),
    "opencv-nlm": Peer("cv2", non_local_means, "h", lambda sigma: 0.65 * sigma),
    "tv": Peer("skimage.restoration:denoise_tv_chambolle", total_variation, "weight", lambda sigma: sigma / 255,
               must_be_tuned=True),
}


def with_noise(picture, sigma, name):
    """Returns the picture with noise that depends on its name and the level alone; neither clipped nor rounded."""
    random = np.random.default_rng([sigma, zlib.crc32(name.encode())])
    return picture + sigma * random.standard_normal(picture.shape)


def denoise_by_eps(program, noisy, truth, sigma, how):
    with tempfile.TemporaryDirectory() as scratch:
        np.save(f"{scratch}/y.npy", to_array(noisy).astype(np.float32))
        report = program.restore(f"{scratch}/y.npy", "--denoise", "--noise", sigma, *how, out=f"{scratch}/out")
        mean = to_picture(np.load(f"{scratch}/out/mean.npy").astype(float))
        covered = None
        if "--quick" not in how:
            low, high = np.load(f"{scratch}/out/interval.npy")
            x = to_array(truth).astype(np.float32)
            covered = ((x >= low) & (x <= high)).mean()
    return {"psnr": psnr(mean, truth), "coverage_90": covered, "seconds": report["seconds"]}


def denoise_by_peer(peer, noisy, truth, sigma, parameter):
    start = time.perf_counter()
    clean = peer.function(noisy, sigma, *parameter)
    return {"psnr": psnr(clean, truth), "coverage_90": None, "seconds": time.perf_counter() - start}


def summary(scores):
    mean = {name: mean_and_error([s[name] for s in scores]) for name in scores[0]}
    return {"psnr": mean["psnr"][0], "psnr_se": mean["psnr"][1], "coverage_90": mean["coverage_90"][0],
            "seconds": mean["seconds"][0]}


def tuned(peer, tuning, sigma):
    """Returns the peer's strength: the one that is best on the pictures for tuning."""
    start = peer.start(sigma)
    if not tuning:
        return start
    noisy = {name: with_noise(picture, sigma, name) for name, picture in tuning.items()}
    return best_parameter(
        lambda p: np.mean([psnr(peer.function(noisy[name], sigma, p), x) for name, x in tuning.items()]), start, 1.2)


def fill(table, key, pictures, parameter, score):
    """Computes the row: score(name, picture) of each picture that the table has not."""
    table.check(key, parameter)
    for name, picture in pictures.items():
        if not table.has(key, name):
            table.add(key, name, parameter, score(name, picture))
    table.finish(key)


def described(options, *words):
    """Returns what a row is computed with, besides its key."""
    return " ".join([*words, *([f"crop={options.crop}"] if options.crop else [])])


def strength_of(peer, words):
    """Returns the strength, if the peer has one, of what described() made."""
    return [float(words.split()[0].removeprefix(f"{peer.parameter}="))] if peer.parameter else []


def eps_rows(options, table, pictures, sigma):
    program = Program(options)
    kinds = {"eps-quick": (["--quick"], described(options, options.model))}
    if not options.no_samples:
        kinds["eps-samples"] = (["--samples", options.samples, "--steps", options.steps],
                                described(options, options.model, f"samples={options.samples}",
                                          f"steps={options.steps}"))
    for method, (how, parameter) in kinds.items():
        fill(table, (method, str(sigma)), pictures, parameter, lambda name, x: denoise_by_eps(
            program, with_noise(x, sigma, name), x, sigma, how))


def peer_rows(options, table, peers, pictures, tuning, sigma):
    for method, peer in peers.items():
        key = (method, str(sigma))
        words = table.parameter(key)
        if words is None:
            chosen = [f"{peer.parameter}={tuned(peer, tuning, sigma):.4g}"] if peer.parameter else []
            words = described(options, *chosen)
        strength = strength_of(peer, words)
        fill(table, key, pictures, words, lambda name, x: denoise_by_peer(
            peer, with_noise(x, sigma, name), x, sigma, strength))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", metavar="ARCHIVE.zip", help="clean pictures")
    parser.add_argument("out", metavar="OUT.csv")
    parser.add_argument("--model", default="photos-eps-small", help="a name of eps list models, or a file")
    parser.add_argument("--eps", default=str(Path(__file__).resolve().parents[1] / "build/eps"), help="the program")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", help="arithmetic of the network")
    parser.add_argument("--images", type=int, help="the first so many pictures; all if not given")
    parser.add_argument("--crop", type=int, default=0, help="the centre of each picture, so many pixels; 0: all of it")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--no-samples", action="store_true", help="of eps only the mean by one evaluation")
    parser.add_argument("--sigmas", type=int, nargs="+", default=SIGMAS, help="grey levels")
    parser.add_argument("--no-peers", action="store_true", help="eps alone")
    parser.add_argument("--tune", metavar="ARCHIVE.zip", help="other pictures, to choose the parameters of peers")
    parser.add_argument("--tune-images", type=int, default=8)
    options = parser.parse_args()
    if not options.no_samples and options.samples < 2:
        parser.error(f"--samples {options.samples}: an interval needs 2 at least")
    return options


def main():
    options = parse()
    pictures = read_pictures(options.archive, options.images, options.crop)
    tuning = read_tuning(options, pictures)
    peers = {} if options.no_peers else present(PEERS)
    for name in [name for name, peer in peers.items() if peer.must_be_tuned and not tuning]:
        say(f"{name} is skipped: its {peers.pop(name).parameter} is chosen on other pictures, by --tune")
    table = Table(options.out, ["method", "sigma"], ["psnr", "coverage_90", "seconds"],
                  {"psnr": 3, "psnr_se": 3, "coverage_90": 4, "seconds": 3}, summary)
    for sigma in options.sigmas:
        eps_rows(options, table, pictures, sigma)
        peer_rows(options, table, peers, pictures, tuning, sigma)


if __name__ == "__main__":
    main()
