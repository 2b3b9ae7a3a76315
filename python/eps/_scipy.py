"""SciPy's matrices and LinearOperators, on the flattened image, as operators."""
from typing import Any, Callable, Sequence

import torch

from . import _eps
from .operators import Operator, from_verbs


def _check_columns(A: Any, shape: Sequence[int]) -> None:
    pixels = 1
    for size in shape:
        pixels *= int(size)
    if len(A.shape) != 2 or A.shape[1] != pixels:
        raise _eps.Error(
            f"operator: a matrix of {A.shape} does not measure images of {tuple(shape)}, "
            f"which have {pixels} values"
        )


def from_sparse(A: Any, shape: Sequence[int], device: str) -> Operator:
    """Makes the operator of a sparse matrix."""
    import numpy

    _check_columns(A, shape)
    if numpy.iscomplexobj(A):
        raise _eps.Error("operator: a real matrix is wanted")
    entries = A.tocoo()
    row = torch.from_numpy(entries.row.astype(numpy.int64))
    column = torch.from_numpy(entries.col.astype(numpy.int64))
    value = torch.from_numpy(entries.data.astype(numpy.float64))
    rows = int(A.shape[0])
    return Operator(
        lambda sizes, on: _eps.operator_from_entries(row, column, value, rows, sizes, on), shape, device
    )


def from_linear_operator(A: Any, shape: Sequence[int], name: str, device: str) -> Operator:
    """Makes the operator of a LinearOperator, which computes on the CPU."""
    import numpy

    _check_columns(A, shape)

    def rows(product: Callable[[Any], Any], batch: torch.Tensor, to: Sequence[int]) -> torch.Tensor:
        flat = batch.detach().reshape(batch.shape[0], -1).cpu().numpy()
        answers = [numpy.asarray(product(row)).reshape(-1) for row in flat]
        if any(numpy.iscomplexobj(answer) for answer in answers):
            raise _eps.Error("operator: a real LinearOperator is wanted")
        return torch.from_numpy(numpy.stack(answers)).to(batch).reshape(batch.shape[0], *to)

    verbs = (
        lambda x: rows(A.matvec, x, [int(A.shape[0])]),
        lambda y: rows(A.rmatvec, y, [int(size) for size in shape]),
    )
    return from_verbs(verbs, shape, None, None, name, device)
