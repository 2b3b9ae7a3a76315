"""eps inside deepinv: a reconstructor, physics and denoisers.

deepinv has images in [0, 1] and eps in [-1, 1]: x = 2 u - 1. With y = A u + n this is
2 y - A(1) = A x + 2 n, so that the operator stays the same and the noise doubles.

    from eps.deepinv import EPS
    model = EPS("photos-eps-small", steps=10)
    u = model(y, physics)                                  # one posterior sample
    mean, variance = deepinv.sampling.DiffusionSampler(model, max_iter=32)(y, physics)
"""
import copy
from typing import Any, Optional

import torch
from deepinv.models import Denoiser as _Denoiser, Reconstructor
from deepinv.physics import DecomposablePhysics, GaussianNoise, Inpainting, LinearPhysics

from . import _eps
from ._arrays import is_file
from .methods import Method, method as make_method
from .networks import Network, Prior, device_of, load
from .operators import Operator, an_operator, inpainting, operator


def operator_of(physics: LinearPhysics, image: torch.Tensor) -> Operator:
    """Returns their linear physics as an operator for images like `image`, (N, C, H, W).

    A mask of pixels becomes ours, whose functions of A'A are exact. Solves are `physics.prox_l2`
    where it is a closed form; a decomposable physics has its spectrum. Elsewhere conjugate gradients solve with A and A_adjoint, in float64.
    """
    if not isinstance(physics, LinearPhysics):
        raise _eps.Error(f"deepinv: a LinearPhysics is wanted, got {type(physics).__name__}")
    if isinstance(physics, Physics):
        return physics.operator
    mask = _pixels_of(physics, image)
    if mask is not None:
        return inpainting(mask, image.shape[1:])
    wide = copy.deepcopy(physics).to(image.device)._apply(_widened)
    shape = list(image.shape[1:])

    def wrap(function: Any) -> Any:
        return lambda x: function(x.double())

    def proximal(z: torch.Tensor, y: torch.Tensor, lam: torch.Tensor) -> torch.Tensor:
        # argmin gamma/2 |A x - y|^2 + 1/2 |x - z|^2 for gamma = 1 / lam
        return wide.prox_l2(z.double(), y.double(), gamma=float(1 / lam))

    basis = None
    if isinstance(wide, DecomposablePhysics) and isinstance(wide.mask, torch.Tensor):
        power = (wide.mask.conj() * wide.mask).real.double()
        basis = (wrap(wide.V_adjoint), wrap_coefficients(wide.V), power)
    is_closed = type(physics).prox_l2 is not LinearPhysics.prox_l2
    if is_closed:
        zero = torch.zeros((1, *shape), dtype=torch.float64, device=image.device)
        try:
            wide.prox_l2(zero, wide.A(zero), gamma=1.0)
        except (TypeError, AttributeError, RuntimeError):
            is_closed = False  # not for all its options, as a Downsampling without a filter
    return operator(
        (wrap(wide.A), wrap(wide.A_adjoint)),
        shape,
        proximal=proximal if is_closed else None,
        basis=basis,
        name=f"deepinv's {type(physics).__name__}",
        device=str(image.device),
    )


def _pixels_of(physics: LinearPhysics, image: torch.Tensor) -> Optional[torch.Tensor]:
    """Returns the mask (1 or C, H, W) of 0 and 1 of an inpainting or demosaicing of all images."""
    mask = physics.mask if isinstance(physics, Inpainting) else None
    if not isinstance(mask, torch.Tensor) or mask.shape[-2:] != image.shape[-2:]:
        return None
    mask = mask.reshape(-1, *mask.shape[-2:])
    fits = mask.shape[0] in (1, image.shape[1]) and bool(((mask == 0) | (mask == 1)).all())
    return mask.to(image.device) if fits else None


def _widened(t: torch.Tensor) -> torch.Tensor:
    if t.is_complex():
        return t.to(torch.complex128)
    return t.double() if t.is_floating_point() else t


def wrap_coefficients(function: Any) -> Any:
    """Returns the function for coefficients of any precision, real or complex."""

    def wide(c: torch.Tensor) -> torch.Tensor:
        return function(c.to(torch.complex128 if c.is_complex() else torch.float64))

    return wide


class EPS(Reconstructor):
    """Posterior samples for their linear physics: `forward` draws one for each measurement.

    model   a network: a name, a file, an eps.Network or an eps.Posterior; with a method of priors
            such as method="pigdm", also any function denoise(x, sigma) in [-1, 1]
    noise   the noise of y in their units, [0, 1]; that of physics.noise_model if not given

    Random numbers follow torch's generator: torch.manual_seed decides, or `seed`.
    """

    def __init__(
        self,
        model: Any = "photos-eps-small",
        steps: Optional[int] = None,
        *,
        method: Any = None,
        noise: Optional[float] = None,
        device: str = "cpu",
    ):
        super().__init__(device=device)
        if is_file(model):
            model = load(model, device=device)
        self.network = model
        if method is None:
            inputs = getattr(model, "inputs", "prior")
            if inputs == "prior":
                raise _eps.Error("deepinv: a prior needs a method, such as method='pigdm'")
            method = _eps.method_served_by(inputs)
        self.method = method if isinstance(method, Method) else make_method(method)
        self.steps, self.noise = steps, noise

    def forward(
        self, y: torch.Tensor, physics: LinearPhysics, seed: Optional[int] = None, **_: Any
    ) -> torch.Tensor:
        """Returns a posterior sample for each measurement, (N, C, H, W) in [0, 1]."""
        if not isinstance(y, torch.Tensor) or y.is_complex():
            raise _eps.Error("deepinv: a measurement of one real tensor is wanted")
        A = operator_of(physics, physics.A_adjoint(y))
        noise = self.noise if self.noise is not None else _noise_of(physics)
        if seed is None:
            seed = int(torch.randint(2**62, (1,)))
        one = torch.ones((1, *A.image_shape), dtype=torch.float64, device=y.device)
        x = self.method(
            2 * y.double() - A(one), A, 2 * noise, self.network, steps=self.steps, seed=seed
        )
        return x.add(1).div(2).to(y)


def _noise_of(physics: LinearPhysics) -> float:
    sigma = getattr(physics.noise_model, "sigma", None)
    if not isinstance(physics.noise_model, GaussianNoise) or sigma is None:
        raise _eps.Error("deepinv: the physics has no Gaussian noise; give noise=")
    values = torch.as_tensor(sigma).flatten()
    if not (values == values[0]).all():
        raise _eps.Error("deepinv: one noise level for all measurements is wanted")
    return float(values[0])


class Physics(LinearPhysics):
    """One of our operators as their linear physics, with Gaussian noise of `noise` in [0, 1]."""

    def __init__(self, A: Operator, noise: float = 0.0):
        super().__init__(img_size=an_operator(A).image_shape, noise_model=GaussianNoise(sigma=noise))
        self.operator = A

    def A(self, x: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.operator(x)

    def A_adjoint(self, y: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.operator.adjoint(y)

    def A_dagger(self, y: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.operator.ridge(y, 0.0)

    def prox_l2(self, z: Any, y: torch.Tensor, gamma: Any, *_: Any, **__: Any) -> torch.Tensor:
        if not isinstance(z, torch.Tensor):
            z = torch.full_like(self.A_adjoint(y), float(z or 0))
        gamma = torch.as_tensor(gamma, dtype=torch.float64)
        return self.operator.proximal(z, y, 1 / gamma)


class Denoiser(_Denoiser):
    """A prior of ours, an eps.Network or denoise(x, sigma), as their denoiser in [0, 1]."""

    def __init__(self, prior: Any, device: str = "cpu"):
        super().__init__(device=device)
        if is_file(prior):
            prior = load(prior, device=device)
        self.prior = prior

    def forward(self, x: torch.Tensor, sigma: Any, **_: Any) -> torch.Tensor:
        level = 2 * torch.as_tensor(sigma, dtype=torch.float64, device=x.device).flatten()
        level = level.expand(x.shape[0]).reshape(-1, 1, 1, 1)
        if not isinstance(self.prior, Network):
            level = level.to(x.dtype)
        return (self.prior(2 * x - 1, level) + 1) / 2


def prior(denoiser: Any, *, sigma_min: float = 0.002, sigma_max: float = 80.0) -> Prior:
    """Returns one of their denoisers as a prior of ours: the noise levels are ours, in [-1, 1]."""

    def denoise(x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return 2 * denoiser((x + 1) / 2, sigma.flatten() / 2) - 1

    device = device_of(denoiser)
    return Prior(denoise, sigma_min=sigma_min, sigma_max=sigma_max, device=device)
