"""Compares methods on one measurement, EPS with a network of the posterior and others with a prior.

Usage: compare_methods.py [--short]. With deepinv installed, its DiffPIR takes part with the same prior.
Prints a table and writes compare_methods.png.
"""
import sys
import time
from typing import Callable

import torch

import eps

NOISE = 0.05
Draw = Callable[[], torch.Tensor]


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    truth = eps.read_image(eps.find_in_models("faces64-images/07.png")).double()
    A = eps.operator("super_resolution:factor=4", (3, 64, 64))
    y = A.observe(truth, noise=NOISE, seed=0)
    prior, posterior = eps.load("faces64-prior"), eps.load("faces64-eps")
    samples = 2 if short else 4

    def ours(name: str, network: eps.Network, steps: int) -> Draw:
        method = eps.method(name, steps=3 if short else steps)
        return lambda: method(y, A, NOISE, network, samples=samples)

    methods = {
        "eps": ours("eps", posterior, 20),
        "pigdm": ours("pigdm", prior, 50),
        "diffpir": ours("diffpir", prior, 50),
        "dps": ours("dps", prior, 100),
    }
    try:
        methods["diffpir of deepinv"] = deepinv_diffpir(y, A, prior, samples, 3 if short else 50)
    except ImportError:
        print("deepinv is not installed: pip install deepinv")

    measured = A.picture(y[None])[0]
    rows = {}
    print(f"{'method':<20}{'PSNR':>8}{'of mean':>9}{'CRPS':>8}{'chi2':>7}{'seconds':>9}")
    for name, draw in methods.items():
        begin = time.time()
        drawn = draw().detach().double().clamp(-1, 1)
        seconds = time.time() - begin
        scores = eps.metrics(drawn[:, None], truth[None], operator=A, y=y[None], noise=NOISE)
        mean = drawn.mean(0)
        of_mean = eps.metrics(mean[None, None], truth[None])["psnr"][0]
        print(
            f"{name:<20}{scores['psnr'][0]:8.2f}{of_mean:9.2f}{scores['crps'][0]:8.4f}"
            f"{scores['chi2'][0]:7.2f}{seconds:9.1f}"
        )
        rows[name] = [truth, measured, drawn[0], drawn[1], mean]
    columns = ["image", "measurement", "a sample", "another", "mean"]
    eps.write_image("compare_methods.png", eps.sheet(columns, rows, magnify=2))


def deepinv_diffpir(
    y: torch.Tensor, A: eps.Operator, prior: eps.Network, samples: int, steps: int
) -> Draw:
    """Returns what draws samples by deepinv: images are in [0, 1] there, so the noise is half."""
    import deepinv

    from eps.deepinv import Denoiser, Physics

    physics = Physics(A, noise=NOISE / 2)
    fidelity = deepinv.optim.data_fidelity.L2()
    diffpir = deepinv.sampling.DiffPIR(
        Denoiser(prior), fidelity, sigma=NOISE / 2, max_iter=steps, device=prior.device
    )
    u = (y[None].float().to(prior.device) + 1) / 2
    return lambda: torch.cat([2 * diffpir(u, physics, seed=k) - 1 for k in range(samples)])


if __name__ == "__main__":
    main(sys.argv[1:])
