"""Linear operators: the A of y = A x + noise.

Images are tensors (N, C, H, W) in [-1, 1], or (C, H, W) for one. An operator is made for images of
one size; its verbs share memory with their arguments where they can, and take part in derivatives.
"""
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union

import torch

from . import _eps
from ._arrays import Array, number, tensor

Verb = Callable[[torch.Tensor], torch.Tensor]


class Operator:
    """A linear map of images, with the solves that posterior sampling needs.

    `eps.operator`, `eps.inpainting` and `eps.blur` make operators. `A(x)` measures an image.
    """

    def __init__(self, bound: _eps.Operator):
        self._bound = bound

    @property
    def spec(self) -> str:
        """The spec, or words for an operator of your own."""
        return self._bound.spec

    @property
    def image_shape(self) -> Tuple[int, ...]:
        """(C, H, W) of the images."""
        return tuple(self._bound.image)

    @property
    def measurement_shape(self) -> Tuple[int, ...]:
        """The shape of a measurement, without the batch."""
        return tuple(self._bound.measurement)

    @property
    def device(self) -> str:
        """The device of the images."""
        return self._bound.device

    @property
    def parameters(self) -> Dict[str, torch.Tensor]:
        """What was drawn or read: "mask", "kernel", "matrix". Shared, not copied."""
        return self._bound.parameters

    @property
    def has_closed_form(self) -> bool:
        """Whether solves are closed forms; they are iterations otherwise."""
        return self._bound.has_closed_form

    def __call__(self, x: Array) -> torch.Tensor:
        """Returns A x."""
        t = tensor(x)
        if t.dim() == 3:
            return self._bound.apply(t.unsqueeze(0))[0]
        return self._bound.apply(t)

    def adjoint(self, y: Array) -> torch.Tensor:
        """Returns A' y."""
        t = tensor(y, "y")
        if t.dim() == len(self._bound.measurement):
            return self._bound.adjoint(t.unsqueeze(0))[0]
        return self._bound.adjoint(t)

    def ridge(self, r: Array, lam: Union[float, Array]) -> torch.Tensor:
        """Returns (A'A + lam I)^{-1} A' r, for lam >= 0: the pseudo-inverse of r at 0."""
        t = tensor(r, "r")
        shift = number(lam, "lam")
        if t.dim() == len(self._bound.measurement):
            return self._bound.ridge(t.unsqueeze(0), shift)[0]
        return self._bound.ridge(t, shift)

    def proximal(self, z: Array, y: Array, lam: Union[float, Array]) -> torch.Tensor:
        """Returns argmin_x |y - A x|^2 + lam |x - z|^2, of batches (N, ...)."""
        return self._bound.proximal(tensor(z, "z"), tensor(y, "y"), number(lam, "lam"))

    def pivot(
        self,
        y: Array,
        x_t: Array,
        sigma: Union[float, Array],
        noise: Union[float, Array],
    ) -> torch.Tensor:
        """Returns the pivot mu_star of x_t = x0 + sigma n, Eq. (12), of batches (N, ...).

        Differentiable with respect to y, x_t, sigma and noise.
        """
        from .posterior import pivot

        return pivot(self, y, x_t, sigma, noise)

    def picture(self, y: Array) -> torch.Tensor:
        """Returns measurements (N, ...) as images of the size of x."""
        return self._bound.picture(tensor(y, "y"))

    def measured(self) -> torch.Tensor:
        """Returns 1 where an entry of y is a measurement, 0 in the holes of a mask."""
        return self._bound.measured()

    def observe(self, x: Array, noise: float, seed: Optional[int] = None) -> torch.Tensor:
        """Returns A x + noise n, n ~ N(0, I) where A measures; torch's generator, or a seed's."""
        y = self(x)
        generator = None
        if seed is not None:
            generator = torch.Generator(device=y.device).manual_seed(seed)
        n = torch.randn(y.shape, generator=generator, dtype=y.dtype, device=y.device)
        measured = self.measured().to(device=y.device, dtype=y.dtype)
        return y + noise * n * (measured[0] if y.dim() == len(self.measurement_shape) else measured)

    def __repr__(self) -> str:
        c, h, w = self.image_shape
        shape = " x ".join(map(str, self.measurement_shape))
        return f"<eps.Operator {self.spec}: {c} x {h} x {w} to {shape}>"


def bound_operator(A: Any) -> _eps.Operator:
    """Returns the library's operator; a spec has none, as it does not say the size of the images."""
    if not isinstance(A, Operator):
        raise TypeError(
            "operator: an eps.Operator is wanted, eps.operator(spec, (C, H, W)), "
            f"got {type(A).__name__}"
        )
    return A._bound


def operator(
    A: Union[str, Tuple[Verb, Verb], Any],
    shape: Sequence[int],
    *,
    seed: int = 0,
    batch: int = 1,
    proximal: Optional[Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = None,
    basis: Optional[Tuple[Verb, Verb, torch.Tensor]] = None,
    name: str = "an operator of your own",
    device: str = "cpu",
) -> Operator:
    """Makes an operator for images of the shape (C, H, W).

    A is one of

    - a spec, "blur_gaussian:std=2" or the name of a task; `eps.operators()` lists all. What is random
      is drawn from `seed`, for `batch` images one map each;
    - two functions (apply, adjoint) of tensors with a batch: (N, C, H, W) to (N, ...) and back.
      `proximal(z, y, lam)` may return argmin_x |y - A x|^2 + lam |x - z|^2, or `basis` may hold
      functions to and from a basis with the eigenvalues there, A'A x = from(eigenvalues * to(x));
      without either, conjugate gradients run;
    - a SciPy sparse matrix, or a LinearOperator, on the flattened image.
    """
    if isinstance(A, Operator):
        raise TypeError("operator: this is an operator already")
    sizes = [int(size) for size in shape]
    if isinstance(A, str):
        return Operator(_eps.operator_from_spec(A, sizes, seed, batch, device))
    if isinstance(A, tuple):
        if len(A) != 2 or not all(map(callable, A)):
            raise TypeError("operator: two functions (apply, adjoint) are wanted")
        return Operator(
            _eps.operator_from_verbs(A[0], A[1], sizes, proximal, basis, name, device)
        )
    if hasattr(A, "tocoo"):
        return _from_sparse(A, sizes, device)
    if hasattr(A, "matvec") and hasattr(A, "rmatvec"):
        return _from_linear_operator(A, sizes, name, device)
    raise TypeError(
        "operator: a spec, two functions, a SciPy sparse matrix or a LinearOperator is wanted, "
        f"got {type(A).__name__}"
    )


def _check_columns(A: Any, sizes: Sequence[int]) -> None:
    pixels = 1
    for size in sizes:
        pixels *= size
    if len(A.shape) != 2 or A.shape[1] != pixels:
        raise _eps.Error(
            f"operator: a matrix of {A.shape} does not measure images of {tuple(sizes)}, "
            f"which have {pixels} values"
        )


def _from_sparse(A: Any, sizes: Sequence[int], device: str) -> Operator:
    import numpy

    _check_columns(A, sizes)
    if numpy.iscomplexobj(A):
        raise _eps.Error("operator: a real matrix is wanted")
    entries = A.tocoo()
    return Operator(
        _eps.operator_from_entries(
            torch.from_numpy(entries.row.astype(numpy.int64)),
            torch.from_numpy(entries.col.astype(numpy.int64)),
            torch.from_numpy(entries.data.astype(numpy.float64)),
            int(A.shape[0]),
            sizes,
            device,
        )
    )


def _from_linear_operator(A: Any, sizes: Sequence[int], name: str, device: str) -> Operator:
    import numpy

    _check_columns(A, sizes)

    def rows(product: Callable[[Any], Any], batch: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
        flat = batch.detach().reshape(batch.shape[0], -1).cpu().numpy()
        answers = [numpy.asarray(product(row)).reshape(-1) for row in flat]
        if any(numpy.iscomplexobj(answer) for answer in answers):
            raise _eps.Error("operator: a real LinearOperator is wanted")
        return torch.from_numpy(numpy.stack(answers)).to(batch).reshape(batch.shape[0], *shape)

    return Operator(
        _eps.operator_from_verbs(
            lambda x: rows(A.matvec, x, [int(A.shape[0])]),
            lambda y: rows(A.rmatvec, y, sizes),
            list(sizes),
            None,
            None,
            name,
            device,
        )
    )


def inpainting(mask: Array, shape: Sequence[int]) -> Operator:
    """Makes the operator that keeps the pixels where the mask, (H, W) or (C, H, W), is 1 or True."""
    m = tensor(mask, "mask")
    if m.is_complex():
        raise _eps.Error("inpainting: a mask of 0 and 1 is wanted, 1 where a pixel is measured")
    m = m if m.is_floating_point() else m.to(torch.float64)
    return Operator(
        _eps.operator_from_mask(m.unsqueeze(0) if m.dim() == 2 else m, [int(s) for s in shape])
    )


def blur(kernel: Array, shape: Sequence[int], border: str = "circular") -> Operator:
    """Makes the convolution with a kernel (kh, kw), whose origin is at size // 2.

    border: circular, valid (y is smaller, nothing is known beyond the frame), reflect101, reflect,
    replicate or zero. The shape is that of the image, also where y is smaller.
    """
    return Operator(
        _eps.operator_from_kernel(tensor(kernel, "kernel"), [int(s) for s in shape], border)
    )


def operators() -> Dict[str, str]:
    """Returns what each registered operator does, by name."""
    return _eps.operator_summaries()
