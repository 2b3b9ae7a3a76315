"""Writes an operator in Python, restores with it, and makes its solves fast.

Usage: write_an_operator.py [--short]. A camera whose rows are exposed one after the other sees a
flickering lamp: each row of the picture is dimmed by its own factor, and some are dark. Writes
write_an_operator.png.
"""
import sys
import time

import torch

import eps

SHAPE = (3, 64, 64)


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    phase = torch.linspace(0, 20, 64, dtype=torch.float64)[:, None]  # a row has one
    gain = torch.cos(phase).add(1).mul(0.6).clamp(0, 1)

    def dim(x: torch.Tensor) -> torch.Tensor:
        dimmed: torch.Tensor = x.mul(gain.to(x))  # its type, and its device
        return dimmed

    # Two functions are enough: A, and its transpose, which here is A itself.
    slow = eps.operator((dim, dim), SHAPE, name="flicker")
    # With the basis in which A'A is diagonal, here the pixels, solves are closed forms.
    fast = eps.operator(
        (dim, dim), SHAPE, basis=(lambda x: x, lambda c: c, gain.square()), name="flicker"
    )
    x, y = torch.randn(1, *SHAPE, dtype=torch.float64), torch.randn(1, *SHAPE, dtype=torch.float64)
    print(f"<A x, y> - <x, A'y> = {(slow(x) * y).sum() - (x * slow.adjoint(y)).sum():.1e}")
    print(f"solves differ by {(slow.ridge(y, 0.1) - fast.ridge(y, 0.1)).abs().max():.1e}")

    truth = eps.read_image(eps.find_in_models("faces64-images/07.png")).double()
    measured = fast.observe(truth, noise=0.05, seed=0)
    network = eps.load("faces64-eps")
    for name, A in [("a basis", fast)] + ([] if short else [("iterations", slow)]):
        begin = time.time()
        result = eps.restore(
            measured, A, noise=0.05, samples=2 if short else 4, steps=3 if short else 10, model=network
        )
        error = (result.mean - truth).square().mean().sqrt()
        print(f"{name}: error {error:.3f}, chi2 {result.chi2:.2f}, {time.time() - begin:.1f} s")
        eps.write_image("write_an_operator.png", result.sheet())


if __name__ == "__main__":
    main(sys.argv[1:])
