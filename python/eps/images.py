"""Pictures in files as tensors in [-1, 1], and drawn for people."""
from typing import Any, Mapping, Sequence

import torch

from . import _eps
from ._arrays import Array, Path, image as image_of, path


def read_image(file: Path) -> torch.Tensor:
    """Reads a PNG or JPEG, turned upright: (C, H, W) in [-1, 1], float32."""
    return _eps.read_image(path(file))[0]


def write_image(file: Path, image: Array) -> None:
    """Writes an image (C, H, W), in [-1, 1] or uint8, as a PNG of 8 bits."""
    x = image_of(image).detach().cpu()
    if x.dtype == torch.uint8:
        x = x.double() / 127.5 - 1
    _eps.write_image(path(file), x, _eps.PictureFormat())


def pixels(image: Array) -> Any:
    """Returns an image (C, H, W) in [-1, 1] as NumPy's uint8 (H, W, C) or (H, W), as Matplotlib and
    Pillow want it: plt.imshow(eps.pixels(result.mean))."""
    x = image_of(image).detach().cpu()
    if x.dtype != torch.uint8:
        x = ((x + 1) * 127.5).clamp(0, 255).round().to(torch.uint8)
    return (x[0] if x.shape[0] == 1 else x.permute(1, 2, 0)).numpy()


def sheet(
    columns: Sequence[str], rows: Mapping[str, Sequence[Array]], magnify: int = 1
) -> torch.Tensor:
    """Draws images in rows and columns with words above and beside them, uint8 (3, H, W).

    rows has the images of each label, one a column, in [-1, 1] or uint8; every pixel is drawn
    magnify x magnify.
    """
    if not isinstance(rows, Mapping):
        raise TypeError(f"sheet: rows are a mapping of labels to images, got {type(rows).__name__}")
    images = [(label, [image_of(x) for x in cells]) for label, cells in rows.items()]
    return _eps.sheet(list(columns), images, magnify)
