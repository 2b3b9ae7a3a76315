"""Tensors from what users have, shared where the layout allows."""
import os
import warnings
from typing import Any, Union

import torch
import torch.utils.dlpack

Array = Any  # a torch.Tensor, a NumPy array, or an object with __dlpack__
Path = Union[str, "os.PathLike[str]"]


def tensor(x: Array, name: str = "x") -> torch.Tensor:
    """Returns x as a tensor: itself, or a view of a NumPy array or of a DLPack object."""
    if isinstance(x, torch.Tensor):
        return x
    module = type(x).__module__
    if module == "numpy" or module.startswith("numpy."):
        if not all(stride >= 0 for stride in x.strides):
            x = x.copy()  # torch has no negative strides
        try:
            with warnings.catch_warnings():
                if not x.flags.writeable:  # nothing here writes to its arguments
                    warnings.simplefilter("ignore", UserWarning)
                return torch.as_tensor(x)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
    if hasattr(x, "__dlpack__"):
        return torch.utils.dlpack.from_dlpack(x)
    raise TypeError(
        f"{name}: a torch.Tensor, a NumPy array or an object with __dlpack__ is wanted, "
        f"got {type(x).__name__}"
    )


def image(x: Array, name: str = "image") -> torch.Tensor:
    """Returns x as a tensor (C, H, W), also a picture of Pillow's, which has channels last."""
    if not type(x).__module__.startswith("PIL."):
        return tensor(x, name)
    if x.mode not in ("L", "RGB"):
        raise TypeError(f"{name}: a picture of mode L or RGB is wanted, got {x.mode}: convert('RGB')")
    width, height = x.size
    values = torch.frombuffer(bytearray(x.tobytes()), dtype=torch.uint8)
    return values.reshape(height, width, -1).permute(2, 0, 1)


def is_file(x: Any) -> bool:
    """Returns whether x names a file."""
    return isinstance(x, (str, bytes)) or hasattr(x, "__fspath__")


def number(x: Any, name: str) -> torch.Tensor:
    """Returns a number, or a tensor of one number for each image, as a tensor."""
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return torch.tensor(float(x), dtype=torch.float64)
    return tensor(x, name)


def path(x: Path) -> str:
    """Returns the path as text."""
    return os.fsdecode(x)
