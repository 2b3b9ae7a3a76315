"""Queries and preconditioning, for networks and training loops of your own.

    query = eps.query(A, y, x_t, sigma, noise, inputs="eps")
    posterior = eps.Posterior(module, inputs="eps")
    mean = posterior(query)                 # E[x0 | x_t, y], differentiable
    loss = posterior.loss(query, x0)
"""
import json
from typing import Any, Dict, Optional, Tuple, Union

import torch

from . import _eps
from ._arrays import Array, Path, number, path, tensor
from .operators import Operator, an_operator

Query = _eps.Query
Scaling = _eps.Scaling


def query(
    A: Operator,
    y: Array,
    x_t: Array,
    sigma: Union[float, Array],
    noise: Union[float, Array],
    inputs: str = "eps",
) -> Query:
    """Returns what a network for these inputs sees at x_t = x0 + sigma n, given y = A x0 + noise n'.

    The pivot `query.x`, and beside it the channels `query.side` that `inputs` names: "eps" is the
    pivot and y, "pivot+y+precision" has the precision of each pixel, too; "palette" is x_t and y.
    `query.x` is differentiable with respect to x_t.
    """
    images = tensor(x_t, "x_t")
    return _eps.query(
        an_operator(A)._on(images),
        tensor(y, "y"),
        images,
        number(sigma, "sigma"),
        number(noise, "noise"),
        inputs,
    )


def pivot(
    A: Operator, y: Array, x_t: Array, sigma: Union[float, Array], noise: Union[float, Array]
) -> torch.Tensor:
    """Returns the pivot mu_star of x_t = x0 + sigma n, Eq. (12): `A.pivot` as a function."""
    images = tensor(x_t, "x_t")
    return _eps.pivot(
        an_operator(A)._on(images),
        tensor(y, "y"),
        images,
        number(sigma, "sigma"),
        number(noise, "noise"),
    )


def power_spectrum(images: Array) -> torch.Tensor:
    """Returns the mean power of images (N, C, H, W) by frequency, as rfft2 orders it."""
    return _eps.power_spectrum(tensor(images, "images"))


def precondition(
    query: Query,
    preconditioning: str = "edm",
    *,
    sigma_data: float = 0.5,
    prior_variance: str = "constant",
    spectrum: Optional[torch.Tensor] = None,
    scale_side: bool = False,
) -> Scaling:
    """Returns the coefficients of D = c_skip x + c_out F(c_in x, side; c_noise) at a query.

    scaling.input() is what a network F gets beside scaling.noise_label; scaling.mean(F) is the
    estimate D, scaling.target(x0) what F is to answer. All take part in derivatives. "edm" are
    Karras et al.'s; "anisotropic" gives each eigendirection of A'A those for its own noise.
    prior_variance: constant, or spectrum or geometric_mean of `eps.power_spectrum(images)`.
    """
    rule = _eps.preconditioning(preconditioning, sigma_data, prior_variance, spectrum)
    return Scaling(rule, query, scale_side)


class Posterior(torch.nn.Module):
    """Any module as the network of an EPS query: D = c_skip x + c_out F(c_in x, side; c_noise).

    `module(x, noise_label)` gets the preconditioned query, (N, C (1 + side channels), H, W) in
    float32, and c_noise, (N) or (1), and returns images (N, C, H, W). "anisotropic" preconditioning
    gives each eigendirection of A'A EDM's coefficients for its own noise; "edm" gives all the same.
    A Posterior is a model for `eps.restore` and `eps.method`, as an eps.Network is. With
    inputs="prior" it is called with x and sigma, and is a prior.
    """

    prior_spectrum: Optional[torch.Tensor]
    _kind: Optional[Tuple[str, float, str]]

    def __init__(
        self,
        module: torch.nn.Module,
        inputs: str = "eps",
        *,
        preconditioning: str = "edm",
        sigma_data: float = 0.5,
        prior_variance: str = "constant",
        spectrum: Optional[torch.Tensor] = None,
        scale_side: bool = False,
        sigma_min: float = 0.002,
        sigma_max: float = 80.0,
    ):
        super().__init__()
        self._kind = (preconditioning, sigma_data, prior_variance)
        self._setup(module, inputs, scale_side, spectrum, (sigma_min, sigma_max), {})

    def _setup(
        self,
        module: torch.nn.Module,
        inputs: str,
        scale_side: bool,
        spectrum: Optional[torch.Tensor],
        sigma_range: Tuple[float, float],
        metadata: Dict[str, str],
    ) -> None:
        self.model = module  # the name that checkpoints have
        self.register_buffer("prior_spectrum", spectrum)
        self.inputs = _eps.input_name(inputs)
        self.scale_side = scale_side
        self.metadata = metadata
        self._range = sigma_range
        self._rule()  # wrong options are refused here

    def _rule(self) -> "_eps.Preconditioning":
        """Returns the library's coefficients, made anew, so that a Posterior can be copied."""
        if self._kind is None:
            return _eps.preconditioning_in(self.metadata["config"], self.prior_spectrum)
        return _eps.preconditioning(*self._kind, self.prior_spectrum)

    @classmethod
    def of(cls, network: Any) -> "Posterior":
        """Returns the module of an eps.Network; `Network.module()`."""
        from .nets import unet

        self = cls.__new__(cls)
        torch.nn.Module.__init__(self)
        metadata = dict(network._bound.metadata)
        tensors = network.state_dict()
        spectrum = tensors.get("prior_spectrum")
        inputs, scale_side = _eps.inputs_in(metadata["config"])
        rule = _eps.preconditioning_in(metadata["config"], spectrum)
        module, sigma_range = unet(json.loads(metadata["config"])), (rule.sigma_min, rule.sigma_max)
        self._kind = None  # the configuration says
        self._setup(module, inputs, scale_side, spectrum, sigma_range, metadata)
        self.load_state_dict(tensors)
        return self.to(network.device)

    @classmethod
    def read(cls, file: Path) -> "Posterior":
        """Reads a checkpoint of the library's networks as a module."""
        from .networks import load

        return cls.of(load(file, device="cpu"))

    def forward(
        self, x: Union[Query, torch.Tensor], sigma: Union[None, float, torch.Tensor] = None
    ) -> torch.Tensor:
        """Returns E[x0 | query]; of a prior E[x0 | x, sigma]."""
        scaling = self.scaling(x, sigma)
        return scaling.mean(self._answer(scaling))

    def loss(
        self, query: Query, x0: Array, sigma: Union[None, float, torch.Tensor] = None
    ) -> torch.Tensor:
        """Returns the squared error of the network's own answer: EDM's weighting of |D - x0|^2, in
        every direction by its own noise. (N, C, H, W); the mean of it is a loss."""
        scaling = self.scaling(query, sigma)
        return (self._answer(scaling) - scaling.target(tensor(x0, "x0"))).square()

    def _answer(self, scaling: Any) -> torch.Tensor:
        answer = self.model(scaling.input(), scaling.noise_label)
        if not isinstance(answer, torch.Tensor):
            raise TypeError(f"the module must return a tensor, got {type(answer).__name__}")
        return answer

    def scaling(
        self, x: Union[Query, torch.Tensor], sigma: Union[None, float, torch.Tensor] = None
    ) -> Scaling:
        """Returns the coefficients at a query, or of a prior at x and sigma: see `eps.precondition`."""
        if not isinstance(x, Query):
            if self.inputs != "prior" or sigma is None:
                raise TypeError(
                    "a query is wanted, eps.query(...); only a prior is called with x and sigma"
                )
            x = _eps.prior_query(tensor(x), number(sigma, "sigma"))
        elif x.inputs != self.inputs:
            raise _eps.Error(
                f"the query is for the input {x.inputs}, this network for {self.inputs}"
            )
        return Scaling(self._rule(), x, self.scale_side)

    @property
    def _bound(self) -> "_eps.Denoiser":
        """What the library calls: this module in Python."""
        from .networks import device_of

        return _eps.python_denoiser(self, self.inputs, *self._range, 0, device_of(self.model))

    def network(self, device: str = "auto", dtype: str = "auto") -> Any:
        """Returns an eps.Network with the tensors of now, evaluated in C++: of a Posterior that came
        from one."""
        from .networks import Network

        self._check_config("network()")
        tensors = {name: t.detach() for name, t in self.state_dict().items()}
        return Network(
            _eps.network_from_tensors(tensors, self.metadata, "a module", device, dtype)
        )

    def save(self, file: Path) -> None:
        """Writes a checkpoint that `eps.load`, the program and the safetensors package read."""
        self._check_config("save()")
        self.network(device="cpu").save(path(file))

    def _check_config(self, what: str) -> None:
        if "config" not in self.metadata:
            raise _eps.Error(
                f"{what}: a network of the library is wanted; save this module's state_dict()"
            )

