"""Trains a network of the posterior, by eps.train and by a loop of one's own.

Usage: train_on_your_data.py [FOLDER] [--short]. Without a folder of images, synthetic ones are drawn.
Writes train_on_your_data.png, what the network of the loop has learnt.
"""
import sys
import tempfile
from typing import Any

import torch

import eps


class Own(torch.nn.Module):
    """Any module: the preconditioned query and its noise level in, an image out."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.first = torch.nn.Conv2d(6, width, 3, padding=1)  # the pivot and y, 3 channels each
        self.level = torch.nn.Linear(1, width)
        self.middle = torch.nn.Conv2d(width, width, 3, padding=1)
        self.last = torch.nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, noise_label: torch.Tensor) -> torch.Tensor:
        h = self.first(x) + self.level(noise_label[:, None])[:, :, None, None]
        answer: torch.Tensor = self.last(torch.relu(self.middle(torch.relu(h))))
        return answer


def by_the_library(data: str, images: int, out: str) -> None:
    def log(line: dict[str, Any]) -> None:
        if "loss" in line:
            print(f"{line['images']} images: loss {line['loss']:.3f}")

    network = eps.train(
        out,
        data=data,
        size=16,
        tasks="inpaint_random:missing=0.7",
        preset="tiny",
        preconditioning="anisotropic",
        images=images,
        batch=16,
        learning_rate=5e-3,
        log_every=images // 4,
        validation_images=8,
        preview_images=0,
        log=log,
    )
    print(network)


def by_a_loop(steps: int) -> None:
    torch.manual_seed(0)
    A = eps.operator("inpaint_random:missing=0.7", (3, 16, 16))
    posterior = eps.Posterior(Own(), inputs="eps", preconditioning="anisotropic")
    optimiser = torch.optim.Adam(posterior.parameters(), 2e-3)
    rows = torch.linspace(-1, 1, 16, dtype=torch.float64)
    for step in range(1, steps + 1):
        slope = torch.rand(16, 3, 1, 2, dtype=torch.float64).sub(0.5)
        x0 = slope[..., :1] * rows[:, None] + slope[..., 1:] * rows  # smooth images
        y = A.observe(x0, noise=0.05)
        sigma = torch.randn(16, dtype=torch.float64).mul(1.2).sub(0.4).exp()
        x_t = x0 + sigma.reshape(-1, 1, 1, 1) * torch.randn_like(x0)
        loss = posterior.loss(eps.query(A, y, x_t, sigma, 0.05), x0).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % (steps // 4) == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    y = A.observe(x0[0], noise=0.05)
    result = eps.restore(y, A, noise=0.05, steps=5, samples=4, model=posterior)
    print(f"error of the mean {(result.mean - x0[0]).square().mean().sqrt():.3f}")
    eps.write_image("train_on_your_data.png", result.sheet())


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    data = folders[0] if folders else "synthetic:size=16,count=1000"
    with tempfile.TemporaryDirectory() as folder:
        by_the_library(data, 128 if short else 6400, f"{folder}/run")
    by_a_loop(8 if short else 400)


if __name__ == "__main__":
    main(sys.argv[1:])
