"""Compares DiffPIR of eps and of deepinv in one process: the same prior, measurements, steps and metrics.

Usage: python_peers.py OUT.csv [IMAGES [SAMPLES]]. The prior is faces64-prior, the faces are those that come with eps,
sigma_y is 0.05; each package has its own defaults but for the steps. Beside them is EPS by faces64-eps. A row for each task
and method, with standard errors over the images. Needs deepinv.
"""
import csv
import sys
import time

import deepinv
import torch

import eps
from eps.deepinv import Denoiser, Physics

NOISE = 0.05
TASKS = {"super resolution 4x": "super_resolution:factor=4", "random inpainting": "inpaint_random:missing=0.7"}
DIGITS = {"psnr": 2, "psnr_of_mean": 2, "crps_fair": 4, "energy_score_fair": 2, "chi2": 2}


def ours(name: str, network: eps.Network, steps: int):
    method = eps.method(name, steps=steps)
    return lambda y, A, seed, count: method(y, A, NOISE, network, samples=count, seed=seed)


def theirs(prior: eps.Network, make):
    """Returns what draws by deepinv, whose images are in [0, 1]: y' = (y + A 1) / 2, and half the noise."""

    def draw(y, A, seed, count):
        one = torch.ones(1, *A.image_shape, dtype=torch.float64)
        u = ((y[None] + A(one)) / 2).float().to(prior.device)
        method = make(Denoiser(prior, device=prior.device), prior.device)
        physics = Physics(A, noise=NOISE / 2)
        return torch.cat([2 * method(u, physics, seed=count * seed + k) - 1 for k in range(count)])

    return draw


def diffpir(denoiser, device):
    return deepinv.sampling.DiffPIR(
        denoiser, deepinv.optim.data_fidelity.L2(), sigma=NOISE / 2, max_iter=50, device=device
    )


def main(out: str, images: int, count: int) -> None:
    torch.manual_seed(0)
    prior, posterior = eps.load("faces64-prior"), eps.load("faces64-eps")
    methods = {
        ("DiffPIR", "eps", 50): ours("diffpir", prior, 50),
        ("DiffPIR", f"deepinv {deepinv.__version__}", 50): theirs(prior, diffpir),
        ("EPS", "eps", 20): ours("eps", posterior, 20),
    }
    faces = [eps.find_in_models(f"faces64-images/{k:02d}.png") for k in range(1, images + 1)]
    truth = torch.stack([eps.read_image(face).double() for face in faces])
    rows = []
    for task, spec in TASKS.items():
        A = eps.operator(spec, truth.shape[1:])
        y = A.observe(truth, NOISE, seed=0)
        for (name, package, steps), draw in methods.items():
            begin = time.time()
            drawn = [draw(y[k], A, k, count).detach().cpu().double() for k in range(images)]
            samples = torch.stack(drawn, 1).clamp(-1, 1)
            scores = eps.metrics(samples, truth, operator=A, y=y, noise=NOISE)
            scores["psnr_of_mean"] = eps.metrics(samples.mean(0)[None], truth)["psnr"]
            row = {"task": task, "method": name, "package": package, "steps": steps}
            for metric, digits in DIGITS.items():
                value, error = scores[metric]
                row[metric], row[metric + "_se"] = f"{value:.{digits}f}", f"{error:.{digits}f}"
            rows.append(row)
            print(rows[-1], f"{time.time() - begin:.0f} s", flush=True)
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1], *(int(a) for a in sys.argv[2:] + ["4", "4"][len(sys.argv) - 2 :]))
