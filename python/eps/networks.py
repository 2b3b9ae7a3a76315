"""Denoisers: networks of the library, and functions and modules of your own as priors."""
import json
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Union

import torch

from . import _eps
from ._arrays import Array, Path, is_file, number, path, tensor

if TYPE_CHECKING:
    from .posterior import Posterior

Denoise = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Network:
    """A network of the library, evaluated in C++. `eps.load` makes one.

    A prior is called with x and sigma and returns E[x0 | x0 + sigma n = x]; a network of the
    posterior is called with a query, `eps.query(...)`, and returns E[x0 | x_t, y].
    """

    def __init__(self, bound: _eps.Network):
        self._bound = bound

    @property
    def name(self) -> str:
        """The name that it was loaded by."""
        return self._bound.name

    @property
    def inputs(self) -> str:
        """The input: "prior", "eps", "eps_precision", ..."""
        return self._bound.input

    @property
    def device(self) -> str:
        """The device of its tensors and images."""
        return self._bound.device

    @property
    def config(self) -> Dict[str, Any]:
        """The configuration in EDM's keyword names."""
        return json.loads(self._bound.metadata["config"])

    @property
    def provenance(self) -> Dict[str, Any]:
        """Data, tasks and noise of the training."""
        return json.loads(self._bound.metadata["provenance"])

    def __call__(
        self,
        x: Union[Array, "_eps.Query"],
        sigma: Union[None, float, Array] = None,
        labels: Optional[Array] = None,
    ) -> torch.Tensor:
        """Returns E[x0 | x, sigma] of a prior, or E[x0 | query]; differentiable in x."""
        if isinstance(x, _eps.Query):
            return _eps.answer(self._bound, x)
        if sigma is None:
            raise TypeError("a prior is called with x and sigma")
        classes = None if labels is None else tensor(labels, "labels")
        return self._bound.denoise(tensor(x), number(sigma, "sigma"), classes)

    def state_dict(self) -> Dict[str, torch.Tensor]:
        """Returns copies of the tensors, under the names of the checkpoint."""
        return self._bound.tensors()

    def save(self, file: Path) -> None:
        """Writes a checkpoint in the safetensors format."""
        self._bound.save(path(file))

    def module(self) -> "Posterior":
        """Returns the network as a torch.nn.Module written in Python (eps.nets), with its own copy
        of the tensors, to be changed and trained."""
        from .posterior import Posterior

        return Posterior.of(self)

    def __deepcopy__(self, _: Any) -> "Network":
        return self  # nothing in it changes

    def __repr__(self) -> str:
        return f"<eps.Network {self.name}: {self.inputs} on {self.device}>"


def load(name: Path, device: str = "auto", dtype: str = "auto") -> Network:
    """Loads a network: the name of one that comes with eps (`eps.models()`), or any checkpoint that
    `eps convert` reads. dtype: auto, float32, float64, bfloat16 or float16."""
    return Network(_eps.load(path(name), device, dtype))


def models() -> List[str]:
    """Returns the names of the networks that come with eps."""
    return _eps.model_names()


def find_in_models(relative: str) -> str:
    """Returns the path of a file or folder that comes with eps, such as "faces64-images"."""
    return _eps.find_in_models(relative)


class Prior:
    """A function `denoise(x, sigma)` or a module as the prior of zero-shot methods.

    It gets images x = x0 + sigma n, float32 (N, C, H, W) of the data's scale, [-1, 1], and sigma,
    (N, 1, 1, 1), and returns E[x0 | x]. Methods that differentiate the prior need it to be made of
    torch's functions.
    """

    def __init__(
        self,
        denoise: Denoise,
        *,
        sigma_min: float = 0.002,
        sigma_max: float = 80.0,
        channels: int = 0,
        device: Optional[str] = None,
    ):
        if not callable(denoise):
            raise TypeError(f"prior: a function denoise(x, sigma) is wanted, got {type(denoise).__name__}")
        self.denoise = denoise
        self._range, self._channels = (sigma_min, sigma_max), channels
        self._device = device or device_of(denoise)
        self._bound  # wrong options are refused here

    @classmethod
    def onnx(cls, file: Path, **options: Any) -> "Prior":
        """Returns an ONNX model of (x, sigma), float32 (N, C, H, W) and (N), as a prior, which the
        package onnxruntime evaluates on the CPU. It has no derivatives. options: those of a Prior."""
        import onnxruntime

        session = onnxruntime.InferenceSession(path(file), providers=["CPUExecutionProvider"])
        names = [given.name for given in session.get_inputs()]
        if len(names) != 2:
            raise _eps.Error(f"{path(file)}: a model of x and sigma is wanted, its inputs are {names}")

        def denoise(x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
            given = {names[0]: x.detach().cpu().numpy(), names[1]: sigma.detach().cpu().flatten().numpy()}
            return torch.from_numpy(session.run(None, given)[0]).to(x.device)

        return cls(denoise, **options)

    def __call__(self, x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return self.denoise(x, sigma)

    @property
    def _bound(self) -> "_eps.Denoiser":
        return _eps.python_denoiser(
            self.denoise, "prior", *self._range, self._channels, self._device
        )


def device_of(module: Any) -> str:
    """Returns the device of a module's first tensor; "cpu" of a function."""
    if isinstance(module, torch.nn.Module):
        for found in list(module.parameters())[:1] + list(module.buffers())[:1]:
            return str(found.device)
    return "cpu"


def bound_denoiser(model: Any, y: Optional[torch.Tensor] = None) -> "_eps.Denoiser":
    """Returns what the library evaluates: of a network, a Posterior, a Prior, a function, a name.

    A function that is no module computes where the measurement y is.
    """
    if is_file(model):
        return load(model)._bound
    if hasattr(model, "_bound") and isinstance(model._bound, _eps.Denoiser):
        return model._bound
    if callable(model):
        if y is None or isinstance(model, torch.nn.Module):
            return Prior(model)._bound
        return Prior(model, device=str(y.device))._bound
    raise TypeError(
        "model: a name, a file, an eps.Network, an eps.Posterior, or a function denoise(x, sigma) "
        f"is wanted, got {type(model).__name__}"
    )

