"""Methods by name, samples of priors, metrics, and the checks of the mathematics."""
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import torch

from . import _eps
from ._arrays import Array, Path, path, tensor
from ._progress import Progress, reporter
from .networks import bound_denoiser
from .operators import Operator, an_operator

_MOST = 1000000
"""Samples and steps that are no accident."""


class Method:
    """A posterior sampler with its options: `eps.method("dps", scale=5)`."""

    def __init__(self, spec: str):
        self.spec = spec
        entry = _eps.method_entry(spec, "")
        self.name: str = entry["name"]
        self.summary: str = entry["summary"]
        self.inputs: str = entry["inputs"]
        self.options: Dict[str, str] = entry["options"]

    def __call__(
        self,
        y: Array,
        operator: Operator,
        noise: float,
        model: Any,
        samples: int = 1,
        *,
        steps: Optional[int] = None,
        seed: int = 0,
        vjp_batch: int = 0,
        progress: Progress = None,
    ) -> torch.Tensor:
        """Draws posterior samples, (N, C, H, W) in float64.

        One for each measurement of a batch y (N, ...), or `samples` of one measurement. model: an
        eps.Network, an eps.Posterior, or for methods of priors any function denoise(x, sigma).
        Options that are not given are those for the kind of the operator. vjp_batch: images whose
        derivatives are in memory at once; 0: all. It computes where the model is.
        """
        for name, count in (("samples", samples), ("steps", steps)):
            if isinstance(count, int) and not 1 <= count <= _MOST:
                raise _eps.Error(f"method: {name} must be 1 to {_MOST}, got {count}")
        given, measured = an_operator(operator), tensor(y, "y")
        denoiser = bound_denoiser(model, measured)
        measured = measured.to(torch.device(denoiser.device))
        A = given._of(measured)
        if measured.dim() == len(A.measurement):
            measured = measured.unsqueeze(0)
        return _eps.sample_each(
            self.spec,
            denoiser,
            A,
            measured,
            float(noise),
            samples,
            seed,
            steps or 0,
            vjp_batch,
            reporter(progress),
        )

    def __format__(self, _: str) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<eps.Method {self.spec}: {self.summary}>"


def method(name: str, **options: Any) -> Method:
    """Returns a method by name, with options; `eps.methods()` lists all, docs/methods.md has them."""

    if not isinstance(name, str):
        raise TypeError(f"method: a name is wanted, got {type(name).__name__}")

    def text(value: Any) -> str:
        return str(int(value)) if isinstance(value, bool) else str(value)

    given = ",".join(f"{key}={text(value)}" for key, value in options.items())
    separator = "," if ":" in name else ":"
    return Method(name + (separator + given if given else ""))


def methods() -> Dict[str, str]:
    """Returns what each method does, by name."""
    return _eps.method_summaries()


def sample(
    model: Any,
    count: Union[int, Sequence[int]] = 16,
    *,
    shape: Optional[Sequence[int]] = None,
    steps: int = 18,
    solver: str = "heun",
    sigma_min: float = 0.002,
    sigma_max: float = 80.0,
    rho: float = 7.0,
    churn: float = 0.0,
    eta: float = 0.0,
    labels: Optional[Array] = None,
    batch: int = 64,
    progress: Progress = None,
) -> torch.Tensor:
    """Draws images of a prior as `eps sample` does, (N, C, H, W) in float32.

    count: how many, of the seeds 0, 1, ...; or the seeds themselves. shape: (C, H, W), where the
    prior has none of its own. labels: (N, classes), of a class-conditional network.
    """
    prior = bound_denoiser(model)
    if shape is None:
        if prior.resolution == 0 or prior.channels == 0:
            raise _eps.Error("sample: this prior makes images of any size; a shape (C, H, W) is wanted")
        shape = (prior.channels, prior.resolution, prior.resolution)
    if isinstance(count, int) and not 1 <= count <= _MOST:
        raise _eps.Error(f"sample: 1 to {_MOST} images, got {count}")
    seeds = list(range(count)) if isinstance(count, int) else [int(s) for s in count]
    return _eps.sample_prior(
        prior,
        seeds,
        [int(s) for s in shape],
        solver,
        steps,
        sigma_min,
        sigma_max,
        rho,
        churn,
        eta,
        batch,
        None if labels is None else tensor(labels, "labels"),
        reporter(progress),
    )


class Metrics(Dict[str, Tuple[float, float]]):
    """Values with their standard errors, by the name of the metric.

    absent  the metrics without a value, and the reasons
    ranks   the rank histogram of the truths; empty for one sample
    """

    absent: Dict[str, str]
    ranks: List[float]


def metrics(
    samples: Array,
    truth: Array,
    *,
    operator: Optional[Operator] = None,
    y: Optional[Array] = None,
    noise: Optional[float] = None,
    lpips: Sequence[Path] = (),
    inception: Optional[Path] = None,
    seed: int = 0,
) -> Metrics:
    """Scores samples (S, N, C, H, W) against the truth (N, C, H, W), as `eps metrics` does.

    With operator, y and noise there is chi2, too. lpips, inception: weights from `eps convert`.
    """
    images, measured = tensor(truth, "truth").cpu(), None if y is None else tensor(y, "y").cpu()
    found = _eps.metrics(
        tensor(samples, "samples"),
        images,
        None if operator is None else an_operator(operator)._on(images),
        measured,
        0.0 if noise is None else float(noise),
        [path(file) for file in lpips],
        "" if inception is None else path(inception),
        seed,
    )
    result = Metrics(found["metrics"])
    result.absent, result.ranks = found["absent"], found["ranks"]
    return result


def verify(seed: int = 1, *, progress: Progress = None) -> List[Dict[str, Any]]:
    """Checks the mathematics of the paper on this machine, as `eps verify` does, in a few minutes.

    Returns rows with table, subject, claim, value, bound and passed.
    """
    return _eps.verify(seed, reporter(progress))
