"""Linear operators: the A of y = A x + noise.

Images are tensors (N, C, H, W) in [-1, 1], or (C, H, W) for one. The verbs of an operator share
memory with their arguments where they can, and take part in derivatives.
"""
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import torch

from . import _eps
from ._arrays import Array, number, tensor

Verb = Callable[[torch.Tensor], torch.Tensor]
Shape = Tuple[int, ...]
Make = Callable[[List[int], str], _eps.Operator]  # for images of a shape, on a device

_MOST_SIZES = 8
"""Sizes and devices that an operator is kept for."""


class Operator:
    """A linear map of images, with the solves that posterior sampling needs.

    `eps.operator`, `eps.inpainting` and `eps.blur` make operators. `A(x)` measures an image, on the
    device where the image is: the operator is made there when it is first needed, from the same seed.
    """

    def __init__(self, make: Make, shape: Optional[Sequence[int]], device: str, spec: str = ""):
        self._make, self._device, self._spec = make, device, spec
        self._made: Dict[Tuple[Shape, str], _eps.Operator] = {}
        self._shape: Optional[Shape] = None if shape is None else tuple(int(s) for s in shape)
        if self._shape is not None:  # wrong input is refused here, not at the first call
            bound = make(list(self._shape), device)
            self._device, self._spec = bound.device, bound.spec
            self._made[self._shape, bound.device] = bound

    def _for(self, shape: Shape, device: str) -> _eps.Operator:
        made = self._made.get((shape, device))
        if made is None:
            if len(self._made) >= _MOST_SIZES:
                self._made.pop(next(iter(self._made)))
            made = self._made[shape, device] = self._make(list(shape), device)
        return made

    def _on(self, x: torch.Tensor) -> _eps.Operator:
        """Returns the library's operator for an image, or a batch of images."""
        return self._for(self._shape or tuple(x.shape[-3:]), str(x.device))

    def _of(self, y: torch.Tensor, device: Optional[str] = None) -> _eps.Operator:
        """Returns the library's operator for a measurement, with a batch or without."""
        shape = self._shape
        if shape is None:
            one = [1] * (_eps.measurement_dims_of(self._spec) - y.dim())
            shape = tuple(_eps.image_shape_of(self._spec, one + list(y.shape))[1:])
        return self._for(shape, device or str(y.device))

    def _at(self, device: str) -> _eps.Operator:
        """Returns the library's operator on a device, where the size of the images is known."""
        if self._shape is None:
            raise _eps.Error(
                f"{self._spec}: this operator takes images of any size; "
                "eps.operator(spec, (C, H, W)) makes one for images of one size"
            )
        return self._for(self._shape, device)

    @property
    def _bound(self) -> _eps.Operator:
        return self._at(self._device)

    def __deepcopy__(self, _: Any) -> "Operator":
        return self  # nothing in it changes

    @property
    def spec(self) -> str:
        """The spec, or words for an operator of your own."""
        return self._spec

    @property
    def image_shape(self) -> Shape:
        """(C, H, W) of the images."""
        return tuple(self._bound.image)

    @property
    def measurement_shape(self) -> Shape:
        """The shape of a measurement, without the batch."""
        return tuple(self._bound.measurement)

    @property
    def device(self) -> str:
        """The device of its parameters; images may be on any."""
        return self._device

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
            return self._on(t).apply(t.unsqueeze(0))[0]
        return self._on(t).apply(t)

    def adjoint(self, y: Array) -> torch.Tensor:
        """Returns A' y."""
        t = tensor(y, "y")
        bound = self._of(t)
        if t.dim() == len(bound.measurement):
            return bound.adjoint(t.unsqueeze(0))[0]
        return bound.adjoint(t)

    def ridge(self, r: Array, lam: Union[float, Array]) -> torch.Tensor:
        """Returns (A'A + lam I)^{-1} A' r, for lam >= 0: the pseudo-inverse of r at 0."""
        t = tensor(r, "r")
        bound, shift = self._of(t), number(lam, "lam")
        if t.dim() == len(bound.measurement):
            return bound.ridge(t.unsqueeze(0), shift)[0]
        return bound.ridge(t, shift)

    def proximal(self, z: Array, y: Array, lam: Union[float, Array]) -> torch.Tensor:
        """Returns argmin_x |y - A x|^2 + lam |x - z|^2, of batches (N, ...)."""
        image = tensor(z, "z")
        return self._on(image).proximal(image, tensor(y, "y"), number(lam, "lam"))

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
        t = tensor(y, "y")
        return self._of(t).picture(t)

    def measured(self) -> torch.Tensor:
        """Returns 1 where an entry of y is a measurement, 0 in the holes of a mask."""
        return self._bound.measured()

    def observe(
        self, x: Array, noise: Union[float, Array], seed: Optional[int] = None
    ) -> torch.Tensor:
        """Returns A x + noise n, n ~ N(0, I) where A measures; torch's generator, or a seed's.

        The noise is a number, or one for each image.
        """
        image, level = tensor(x), number(noise, "noise")
        y = self(image)
        bound = self._on(image)
        count = 1 if y.dim() == len(bound.measurement) else y.shape[0]
        if level.is_complex() or level.numel() not in (1, count):
            raise _eps.Error(f"observe: noise: a number, or one for each of {count} images is wanted")
        if not bool(((level >= 0) & level.isfinite()).all()):
            raise _eps.Error(f"observe: noise must be finite and >= 0, got {noise}")
        each = [] if level.numel() == 1 else [count] + [1] * (y.dim() - 1)
        level = level.to(y).reshape(each)
        generator = None
        if seed is not None:
            generator = torch.Generator(device=y.device).manual_seed(seed)
        n = torch.randn(y.shape, generator=generator, dtype=y.dtype, device=y.device)
        measured = bound.measured().to(y.dtype)
        return y + level * n * (measured[0] if y.dim() == len(bound.measurement) else measured)

    def __repr__(self) -> str:
        if self._shape is None:
            return f"<eps.Operator {self.spec}: images of any size>"
        c, h, w = self.image_shape
        shape = " x ".join(map(str, self.measurement_shape))
        return f"<eps.Operator {self.spec}: {c} x {h} x {w} to {shape}>"


def an_operator(A: Any) -> Operator:
    """Returns the operator; a spec is none, as it has no seed."""
    if not isinstance(A, Operator):
        raise TypeError(
            "operator: an eps.Operator is wanted, eps.operator(spec, (C, H, W)), "
            f"got {type(A).__name__}"
        )
    return A


def operator(
    A: Union[str, Tuple[Verb, Verb], Any],
    shape: Optional[Sequence[int]] = None,
    *,
    seed: int = 0,
    batch: int = 1,
    proximal: Optional[Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = None,
    basis: Optional[Tuple[Verb, Verb, torch.Tensor]] = None,
    name: str = "an operator of your own",
    device: str = "cpu",
) -> Operator:
    """Makes an operator for images of the shape (C, H, W); a spec without a shape is for all sizes.

    A is one of

    - a spec, "blur_gaussian:std=2" or the name of a task; `eps.operators()` lists all. What is random
      is drawn from `seed`, for `batch` images one map each, and for each size anew;
    - two functions (apply, adjoint) of tensors with a batch: (N, C, H, W) to (N, ...) and back.
      `proximal(z, y, lam)` may return argmin_x |y - A x|^2 + lam |x - z|^2, or `basis` may hold
      functions to and from a basis with the eigenvalues there, A'A x = from(eigenvalues * to(x));
      without either, conjugate gradients run;
    - a SciPy sparse matrix, or a LinearOperator, on the flattened image.
    """
    if isinstance(A, Operator):
        raise TypeError("operator: this is an operator already")
    if isinstance(A, str):
        spec = A
        _eps.measurement_dims_of(spec)  # one that does not exist is refused here
        return Operator(
            lambda sizes, on: _eps.operator_from_spec(spec, sizes, seed, batch, on), shape, device, spec
        )
    from ._scipy import from_linear_operator, from_sparse

    if shape is None:
        raise TypeError("operator: the shape (C, H, W) of the images is wanted beside all but a spec")
    if isinstance(A, tuple):
        if len(A) != 2 or not all(map(callable, A)):
            raise TypeError("operator: two functions (apply, adjoint) are wanted")
        return from_verbs(A, shape, proximal, basis, name, device)
    if hasattr(A, "tocoo"):
        return from_sparse(A, shape, device)
    if hasattr(A, "matvec") and hasattr(A, "rmatvec"):
        return from_linear_operator(A, shape, name, device)
    raise TypeError(
        "operator: a spec, two functions, a SciPy sparse matrix or a LinearOperator is wanted, "
        f"got {type(A).__name__}"
    )


def from_verbs(
    verbs: Tuple[Verb, Verb],
    shape: Sequence[int],
    proximal: Optional[Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]],
    basis: Optional[Tuple[Verb, Verb, torch.Tensor]],
    name: str,
    device: str,
) -> Operator:
    """Makes the operator of two functions."""

    def make(sizes: List[int], on: str) -> _eps.Operator:
        there = basis
        if basis is not None and len(basis) == 3 and isinstance(basis[2], torch.Tensor):
            there = (basis[0], basis[1], basis[2].to(torch.device(on)))
        return _eps.operator_from_verbs(verbs[0], verbs[1], sizes, proximal, there, name, on)

    return Operator(make, shape, device)


def inpainting(mask: Array, shape: Sequence[int]) -> Operator:
    """Makes the operator that keeps the pixels where the mask, (H, W) or (C, H, W), is 1 or True."""
    m = tensor(mask, "mask")
    if m.is_complex():
        raise _eps.Error("inpainting: a mask of 0 and 1 is wanted, 1 where a pixel is measured")
    m = m if m.is_floating_point() else m.to(torch.float64)
    known = m.unsqueeze(0) if m.dim() == 2 else m
    return Operator(
        lambda sizes, on: _eps.operator_from_mask(known.to(torch.device(on)), sizes), shape, str(m.device)
    )


def blur(kernel: Array, shape: Sequence[int], border: str = "circular") -> Operator:
    """Makes the convolution with a kernel (kh, kw), whose origin is at size // 2.

    border: circular, valid (y is smaller, nothing is known beyond the frame), reflect101, reflect,
    replicate or zero. The shape is that of the image, also where y is smaller.
    """
    k = tensor(kernel, "kernel")
    return Operator(
        lambda sizes, on: _eps.operator_from_kernel(k.to(torch.device(on)), sizes, border),
        shape,
        str(k.device),
    )


def operators() -> Dict[str, str]:
    """Returns what each registered operator does, by name."""
    return _eps.operator_summaries()
