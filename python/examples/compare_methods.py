"""Compares methods on one measurement, EPS with a network of the posterior and others with a prior.

Usage: compare_methods.py [--short]. With deepinv installed, its DiffPIR takes part with the same prior.
"""
import sys
import time

import torch

import eps


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    truth = eps.read_image(eps.find_in_models("faces64-images/07.png")).double()
    A = eps.operator("super_resolution:factor=4", (3, 64, 64))
    y = A.observe(truth, noise=0.05, seed=0)
    prior, posterior = eps.load("faces64-prior"), eps.load("faces64-eps")
    samples = 2 if short else 8
    print(f"{'method':<18}{'PSNR':>8}{'of mean':>9}{'CRPS':>8}{'chi2':>7}{'seconds':>9}")
    for name, steps in [("eps", 20), ("pigdm", 50), ("diffpir", 50), ("dps", 100)]:
        network = posterior if name == "eps" else prior
        method = eps.method(name, steps=3 if short else steps)
        begin = time.time()
        drawn = method(y, A, 0.05, network, samples=samples).clamp(-1, 1)
        report(name, drawn, truth, A, y, time.time() - begin)
    try:
        import deepinv
    except ImportError:
        print("deepinv is not installed: pip install deepinv")
        return
    from eps.deepinv import Denoiser, Physics

    physics = Physics(A, noise=0.025)  # images in [0, 1]: half the noise
    algorithm = deepinv.sampling.DiffPIR(
        Denoiser(prior),
        deepinv.optim.data_fidelity.L2(),
        sigma=0.025,
        max_iter=3 if short else 50,
    )
    begin = time.time()
    theirs = [2 * algorithm((y[None].float() + 1) / 2, physics, seed=k) - 1 for k in range(samples)]
    drawn = torch.cat(theirs).detach().double().clamp(-1, 1)
    report("deepinv's DiffPIR", drawn, truth, A, y, time.time() - begin)


def report(
    name: str, drawn: torch.Tensor, truth: torch.Tensor, A: eps.Operator, y: torch.Tensor, seconds: float
) -> None:
    scores = eps.metrics(drawn[:, None], truth[None], operator=A, y=y[None], noise=0.05)
    of_mean = eps.metrics(drawn.mean(0)[None, None], truth[None])["psnr"][0]
    print(
        f"{name:<18}{scores['psnr'][0]:8.2f}{of_mean:9.2f}{scores['crps'][0]:8.4f}"
        f"{scores['chi2'][0]:7.2f}{seconds:9.1f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
