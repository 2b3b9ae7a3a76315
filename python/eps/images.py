"""Pictures in files as tensors in [-1, 1]."""
import torch

from . import _eps
from ._arrays import Array, Path, path, tensor


def read_image(file: Path) -> torch.Tensor:
    """Reads a PNG or JPEG, turned upright: (C, H, W) in [-1, 1], float32."""
    return _eps.read_image(path(file))[0]


def write_image(file: Path, image: Array) -> None:
    """Writes an image (C, H, W) in [-1, 1] as a PNG of 8 bits."""
    x = tensor(image, "image")
    _eps.write_image(path(file), x.detach().cpu(), _eps.PictureFormat())
