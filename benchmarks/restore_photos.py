#!/usr/bin/env python3
"""Restores photographs that eps restore --simulate degrades, by 13 operators, and scores samples, mean and intervals.

    benchmarks/restore_photos.py val.zip runs/photos.csv --samples 8 --peers --tune other.zip

needs python3-numpy, python3-pil and build/eps; --peers what there is of OpenCV (opencv-python) and scikit-image. Every
method has the same measurements, by the number of the picture as the seed. The methods are

    eps          samples of the posterior: PSNR of a sample and of their mean, the energy score and CRPS of
                 docs/evaluation.md (fair), the share of the true pixels in the 90% interval (of all pixels, of those
                 that are measured and of the others), spread over skill, chi2, and the pictures with findings
    eps-quick    the posterior mean by one evaluation
    others       with --peers: inpainting by OpenCV (on 8 bits: clipped and rounded) and scikit-image, enlarging by
                 Pillow, deconvolution by scikit-image, demosaicing by OpenCV (on 16 bits, with room for the noise),
                 and total variation; psnr_of_mean is the PSNR of their one estimate

Blurs are those of a camera: the measurement is smaller than the picture, whose border it does not determine. Peers get
it with its edge pixels replicated. All is compared on the whole picture; psnr_inside is the PSNR of the mean where the
measurement has pixels. The parameters of Richardson-Lucy, Wiener and total variation are chosen on the first pictures
of --tune, none of which may be in ARCHIVE; without it they are scikit-image's: 50 iterations, the 0.1 of its examples
and 0.1. Biharmonic inpainting is left out of a task where a picture takes it longer than --limit.

Errors (_se) are standard errors over pictures. Seconds are those of one picture, without starting the program and
reading the network. OUT.csv has a row for each task, noise and method; OUT-pictures.csv the values of each picture,
which are not computed again.
"""
import argparse
import multiprocessing
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

import numpy as np
from PIL import Image

sys.dont_write_bytecode = True  # no __pycache__ beside the benchmarks
from denoise_photos import (Peer, Program, Table, best_parameter, described, mean_and_error, present, psnr,
                            read_pictures, read_tuning, say, strength_of, to_array, to_picture)

BAYER = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2))  # row, column, colour of rggb
MARGIN = 32  # pixels beyond the frame for deconvolution, whose transforms wrap around


@dataclass
class Task:
    operator: str
    peers: tuple = ()
    sigma: Optional[float] = None  # instead of --sigma-y


FILLED = ("telea", "navier-stokes", "biharmonic")
ENLARGED = ("bicubic", "lanczos")
DEBLURRED = ("richardson-lucy", "wiener", "unsupervised-wiener")
TASKS = {
    "random_70": Task("inpaint_random:missing=0.7", FILLED),
    "random_95": Task("inpaint_random:missing=0.95", FILLED),
    "box_64": Task("inpaint_box:height=64,width=64", FILLED),
    "box_128": Task("inpaint_box:height=128,width=128", FILLED),
    "down_2_box": Task("super_resolution:factor=2", ENLARGED),
    "down_4_box": Task("super_resolution:factor=4", ENLARGED),
    "down_2_bicubic": Task("downscale:factor=2,filter=bicubic", ENLARGED),
    "down_4_bicubic": Task("downscale:factor=4,filter=bicubic", ENLARGED),
    "gaussian_1.5": Task("blur_gaussian:std=1.5,size=13,border=valid", DEBLURRED),
    "motion_15": Task("blur_motion:length=15,angle=30,border=valid", DEBLURRED),
    "defocus_3": Task("blur_disk:radius=3,border=valid", DEBLURRED),
    "bayer": Task("bayer", ("opencv-edge-aware",)),
    "denoise_0.1": Task("identity", ("tv",), sigma=0.1),
}

# The numbers of a picture; the columns of a row, and their digits.
SCORES = ["psnr", "psnr_of_mean", "psnr_inside", "energy_score", "crps", "coverage_90", "coverage_90_measured",
          "coverage_90_unmeasured", "variance", "squared_error", "chi2", "finding", "seconds"]
AVERAGED = {"psnr": 3, "psnr_of_mean": 3, "psnr_inside": 3, "energy_score": 4, "crps": 6, "coverage_90": 4,
            "coverage_90_measured": 4, "coverage_90_unmeasured": 4, "spread_skill": 3, "chi2": 3}
COLUMNS = {name + end: digits for name, digits in AVERAGED.items() for end in ("", "_se")}
COLUMNS |= {"findings": 0, "seconds": 3}


@dataclass
class Measurement:
    """What eps restore --simulate wrote: y is C x H x W in [-1, 1], mask (1: measured) and kernel where there are such,
    inside the part of the picture that a valid blur has pixels of."""
    y: np.ndarray
    shape: tuple
    mask: Optional[np.ndarray]
    kernel: Optional[np.ndarray]
    sigma: float

    @property
    def inside(self):
        if self.kernel is None:
            return None
        return tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for k, n in zip(self.kernel.shape, self.y.shape[1:]))


def read_measurement(folder, shape, sigma):
    def optional(name):
        return np.load(folder / name).astype(float) if (folder / name).exists() else None
    y = np.load(folder / "measurement.npy").astype(float)
    return Measurement(y, shape, optional("mask.npy"), optional("kernel.npy"), sigma)


def measured(task, m):
    """Returns where the picture is measured, as 3 x H x W; None if pixels are not measured one by one."""
    if m.mask is not None:
        return np.broadcast_to(m.mask > 0.5, (3, *m.shape))
    if task != "bayer":
        return None
    known = np.zeros((3, *m.shape), dtype=bool)
    for row, column, colour in BAYER:
        known[colour, row::2, column::2] = True
    return known


def energy_score(samples, x):
    """Returns the fair energy score, of pictures in [0, 1]."""
    count = len(samples)
    flat, truth = samples.reshape(count, -1) / 2, x.ravel() / 2
    spread = sum(np.linalg.norm(flat[i] - flat[j]) for i in range(count) for j in range(i))
    return np.mean([np.linalg.norm(s - truth) for s in flat]) - spread / (count * (count - 1))


def crps(samples, x):
    """Returns the fair CRPS of a pixel, averaged, of pictures in [0, 1]."""
    count = len(samples)
    order = 2 * np.arange(1, count + 1) - (count + 1)  # the sum over i < j of |X_i - X_j| has these weights
    distances = np.tensordot(order, np.sort(samples, 0), 1)
    return (np.abs(samples - x).mean(0) - distances / (count * (count - 1))).mean() / 2


def point_scores(picture, truth, m, seconds):
    """Returns the scores of one estimate, in grey levels."""
    scores = dict.fromkeys(SCORES)
    scores |= {"psnr_of_mean": psnr(picture, truth), "seconds": seconds}
    if m.inside:
        scores["psnr_inside"] = psnr(picture[m.inside], truth[m.inside])
    return scores


def sample_scores(folder, report, task, m, truth):
    """Returns the scores of the samples in the folder."""
    samples = np.load(folder / "samples.npy").astype(float)
    low, high = np.load(folder / "interval.npy")
    mean, x = np.load(folder / "mean.npy").astype(float), to_array(truth)
    held = (x.astype(np.float32) >= low) & (x.astype(np.float32) <= high)
    known = measured(task, m)
    scores = point_scores(to_picture(mean), truth, m, report["seconds"])
    return scores | {
        "psnr": np.mean([psnr(to_picture(s), truth) for s in samples]),
        "energy_score": energy_score(samples, x), "crps": crps(samples, x), "coverage_90": held.mean(),
        "coverage_90_measured": None if known is None else held[known].mean(),
        "coverage_90_unmeasured": None if known is None else held[~known].mean(),
        "variance": (1 + 1 / len(samples)) * samples.var(0, ddof=1).mean(),
        "squared_error": ((samples.mean(0) - x) ** 2).mean(),
        "chi2": report["chi2"], "finding": float(bool(report["findings"]))}


def spread_skill(scores):
    """Returns the root of the mean variance over the mean squared error, and its error by the jackknife."""
    parts = np.array([(s["variance"], s["squared_error"]) for s in scores if s["variance"] is not None])
    if not len(parts):
        return None, None
    total, count = parts.sum(0), len(parts)
    ratio = lambda p: np.sqrt(p[..., 0] / p[..., 1])
    if count == 1:
        return ratio(total), None
    return ratio(total), np.sqrt((count - 1) * ratio(total - parts).var())


def summary(scores):
    row = {}
    for name in AVERAGED:
        value = spread_skill(scores) if name == "spread_skill" else mean_and_error([s[name] for s in scores])
        row[name], row[f"{name}_se"] = value
    findings = [s["finding"] for s in scores if s["finding"] is not None]
    return row | {"findings": sum(findings) if findings else None,
                  "seconds": mean_and_error([s["seconds"] for s in scores])[0]}


# Peers: of a measurement, and a parameter if they have one, to H x W x 3 grey levels.

def with_holes(m):
    """Returns the measurement, black where nothing is measured, and where that is."""
    missing = m.mask < 0.5
    return np.where(missing[..., None], 0, to_picture(m.y)), missing


def filled_by_opencv(m, flag):
    import cv2
    picture, missing = with_holes(m)
    eight_bits = np.round(np.clip(picture, 0, 255)).astype(np.uint8)
    return cv2.inpaint(eight_bits, missing.astype(np.uint8), 3, getattr(cv2, flag)).astype(float)


def telea(m):
    return filled_by_opencv(m, "INPAINT_TELEA")


def navier_stokes(m):
    return filled_by_opencv(m, "INPAINT_NS")


def biharmonic(m):
    from skimage.restoration import inpaint_biharmonic
    picture, missing = with_holes(m)
    return 255 * inpaint_biharmonic(np.clip(picture / 255, 0, 1), missing, channel_axis=-1)


def enlarged(m, filter_):
    size = m.shape[::-1]
    return to_picture(np.stack([np.asarray(Image.fromarray(c.astype(np.float32)).resize(size, filter_)) for c in m.y]))


def bicubic(m):
    return enlarged(m, Image.Resampling.BICUBIC)


def lanczos(m):
    return enlarged(m, Image.Resampling.LANCZOS)


def deblurred(m, function):
    """Applies a deconvolution of a channel in [0, 1] to the measurement in its frame."""
    top, left = (s.start for s in m.inside)
    before = np.array([top, left]) + MARGIN
    after = np.array(m.shape) + 2 * MARGIN - before - m.y.shape[1:]
    widths = list(zip(before, after))
    channels = [function(np.clip(np.pad(c, widths, mode="edge") / 2 + 0.5, 0, 1)) for c in m.y]
    return 255 * np.stack(channels, -1)[MARGIN:-MARGIN, MARGIN:-MARGIN]


def richardson_lucy(m, iterations):
    import skimage.restoration
    return deblurred(m, lambda c: skimage.restoration.richardson_lucy(c, m.kernel, num_iter=int(iterations)))


def wiener(m, balance):
    import skimage.restoration
    return deblurred(m, lambda c: skimage.restoration.wiener(c, m.kernel, balance))


def unsupervised_wiener(m):
    import skimage.restoration
    return deblurred(m, lambda c: skimage.restoration.unsupervised_wiener(c, m.kernel, rng=0)[0])


def edge_aware(m):
    """Demosaics with half of 16 bits for [-1, 1], so that the noise is not clipped."""
    import cv2
    mosaic = np.round(np.clip((m.y[0] + 2) / 4, 0, 1) * 65535).astype(np.uint16)
    # OpenCV names a mosaic by its second row and column: BG is rggb.
    colours = cv2.cvtColor(mosaic, cv2.COLOR_BayerBG2RGB_EA).astype(float)
    return (colours / 65535 * 4 - 1) * 127.5


def total_variation(m, weight):
    from skimage.restoration import denoise_tv_chambolle
    return 255 * denoise_tv_chambolle(to_picture(m.y) / 255, weight=weight, channel_axis=-1)


PEERS = {
    "telea": Peer("cv2", telea),
    "navier-stokes": Peer("cv2", navier_stokes),
    "biharmonic": Peer("skimage.restoration:inpaint_biharmonic", biharmonic, slow=True),
    "bicubic": Peer("PIL", bicubic),
    "lanczos": Peer("PIL", lanczos),
    "richardson-lucy": Peer("skimage.restoration:richardson_lucy", richardson_lucy, "iterations", lambda sigma: 50),
    "wiener": Peer("skimage.restoration:wiener", wiener, "balance", lambda sigma: 0.1),
    "unsupervised-wiener": Peer("skimage.restoration:unsupervised_wiener", unsupervised_wiener),
    "opencv-edge-aware": Peer("cv2", edge_aware),
    "tv": Peer("skimage.restoration:denoise_tv_chambolle", total_variation, "weight", lambda sigma: 0.1),
}


def timed(function, *arguments):
    start = time.perf_counter()
    return function(*arguments), time.perf_counter() - start


def send(pipe, name, *arguments):
    PEERS[name].load()
    pipe.send(timed(PEERS[name].function, *arguments))


def limited(limit, name, *arguments):
    """Returns the peer's estimate and its seconds, from a process of its own; None if the limit passes."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send, args=(sender, name, *arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            process.kill()
            return None
        return receiver.recv()
    except EOFError:
        sys.exit(f"{name}: its process ended without an answer")
    finally:
        process.join()


class Benchmark:
    """One task at one noise level, all methods."""

    def __init__(self, options, program, table, name, sigma, peers):
        self.options, self.program, self.table, self.name, self.sigma = options, program, table, name, sigma
        self.task, self.peers = TASKS[name], peers
        self.words = {"eps": described(options, options.model, f"samples={options.samples}",
                                       f"steps={options.steps or 'its own'}"),
                      "eps-quick": described(options, options.model)}

    def key(self, method):
        return self.name, f"{self.sigma:g}", method

    def restore(self, picture, seed, folder, *how):
        """Degrades and restores the picture; returns the folder, the report and the measurement."""
        Image.fromarray(picture.astype(np.uint8)).save(folder / "picture.png")
        out = folder / ("quick" if how == ("--quick",) else "samples")
        report = self.program.restore(folder / "picture.png", "--simulate", "--operator", self.task.operator,
                                      "--noise", f"sigma={self.sigma:g}", "--seed", seed, *how, out=out)
        return out, report, read_measurement(out, picture.shape[:2], self.sigma)

    def choose(self, tuning):
        """Chooses the parameters of peers, unless the table has them."""
        measurements = None
        for method, peer in self.peers.items():
            words = self.table.parameter(self.key(method))
            if words is None and peer.parameter:
                measurements = measurements or self.measure(tuning)
                best = self.best(peer, measurements)
                words = described(self.options, f"{peer.parameter}={best:.4g}")
            self.words[method] = described(self.options) if words is None else words

    def measure(self, tuning):
        pairs = []
        for number, picture in enumerate(tuning.values()):
            with tempfile.TemporaryDirectory() as scratch:
                pairs.append((self.restore(picture, number, Path(scratch), "--quick")[2], picture))
        return pairs

    def best(self, peer, measurements):
        start = peer.start(self.sigma)
        if not measurements:
            return start
        number = round if isinstance(start, int) else float
        return number(best_parameter(
            lambda p: np.mean([psnr(peer.function(m, number(p)), x) for m, x in measurements]), start, 1.5))

    def picture(self, name, picture, seed):
        """Restores a picture by every method whose scores the table does not have."""
        missing = [method for method in self.words if not self.table.has(self.key(method), name)]
        if not missing:
            return
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            if "eps" in missing:
                steps = ["--steps", self.options.steps] if self.options.steps else []
                out, report, m = self.restore(picture, seed, scratch, "--samples", self.options.samples, *steps)
                self.add("eps", name, sample_scores(out, report, self.name, m, picture))
            if missing == ["eps"]:
                return
            out, report, m = self.restore(picture, seed, scratch, "--quick")
            if "eps-quick" in missing:
                mean = to_picture(np.load(out / "mean.npy").astype(float))
                self.add("eps-quick", name, point_scores(mean, picture, m, report["seconds"])
                         | {"chi2": report["chi2"]})
        for method in missing:
            if method in self.peers:
                self.add_peer(method, name, picture, m)

    def add(self, method, name, scores):
        self.table.add(self.key(method), name, self.words[method], scores)

    def add_peer(self, method, name, picture, m):
        peer = self.peers[method]
        work = (m, *strength_of(peer, self.words[method]))
        done = limited(self.options.limit, method, *work) if peer.slow else timed(peer.function, *work)
        if done is None:
            say(f"{self.name}: {method} is left out: {name} takes it more than {self.options.limit:g} s")
            del self.peers[method], self.words[method]
            return
        estimate, seconds = done
        self.add(method, name, point_scores(estimate, picture, m, seconds))

    def run(self, pictures, tuning):
        for method, words in self.words.items():
            self.table.check(self.key(method), words)
        self.choose(tuning)
        for seed, (name, picture) in enumerate(pictures.items()):
            self.picture(name, picture, seed)
        for method in self.words:
            self.table.finish(self.key(method))


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
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--steps", type=int, default=0, help="0: as many as eps restore has by itself")
    parser.add_argument("--tasks", default=",".join(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--sigma-y", default="0.02,0.05", help="noise, in units of [-1, 1]")
    parser.add_argument("--peers", action="store_true", help="classical methods on the same measurements")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a peer may take for a picture")
    parser.add_argument("--tune", metavar="ARCHIVE.zip", help="other pictures, to choose the parameters of peers")
    parser.add_argument("--tune-images", type=int, default=4)
    options = parser.parse_args()
    if options.samples < 2:
        parser.error(f"--samples {options.samples}: an interval needs 2 at least")
    options.tasks = options.tasks.split(",")
    for task in options.tasks:
        if task not in TASKS:
            parser.error(f"--tasks: unknown task {task!r}; there are {', '.join(TASKS)}")
    try:
        options.sigma_y = [float(sigma) for sigma in options.sigma_y.split(",")]
    except ValueError:
        parser.error(f"--sigma-y {options.sigma_y}: numbers are wanted, such as 0.02,0.05")
    return options


def main():
    options = parse()
    pictures = read_pictures(options.archive, options.images, options.crop)
    tuning = read_tuning(options, pictures)
    peers = present(PEERS) if options.peers else {}
    table = Table(options.out, ["task", "sigma_y", "method"], SCORES, COLUMNS, summary)
    program = Program(options)
    for name in options.tasks:
        kept = {peer: peers[peer] for peer in TASKS[name].peers if peer in peers}
        for sigma in [TASKS[name].sigma] if TASKS[name].sigma else options.sigma_y:
            # A peer that is too slow is left out of the noise levels that follow, too.
            Benchmark(options, program, table, name, sigma, kept).run(pictures, tuning)


if __name__ == "__main__":
    main()
