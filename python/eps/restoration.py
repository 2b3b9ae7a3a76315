"""Restoring a measurement: posterior samples with honest uncertainty."""
import base64
import html
import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import torch

from . import _eps
from ._arrays import Array, Path, image, is_file, path, tensor
from ._progress import Progress, reporter
from .networks import Network, bound_denoiser, load
from .operators import Operator, an_operator, inpainting, operator as make_operator


@dataclass
class Restoration:
    """Posterior samples of one measurement, and their summary. Images are float64 in [-1, 1].

    samples    (S, C, H, W), clipped
    mean       (C, H, W)
    deviation  the standard deviation of each pixel; None of one sample
    interval   the ends of the 90% interval of each pixel, (2, C, H, W); None of one sample
    chi2       near 1 when the samples fit the measurement
    noise      the noise sigma_y, stated or estimated, in units of [-1, 1]
    verdict    what chi2 says, in words
    warnings   sentences on what was asked for
    findings   what speaks against operator, noise or network; empty: nothing does
    report     the content of restore.json (docs/file_formats.md)
    y          the measurement as it was restored, (1, ...)
    truth      the clean image of a simulated measurement, (1, C, H, W)
    picture_format  bits, colour profile and EXIF record of the picture that was restored
    """

    samples: torch.Tensor
    mean: torch.Tensor
    deviation: Optional[torch.Tensor]
    interval: Optional[torch.Tensor]
    chi2: float
    noise: float
    verdict: str
    warnings: List[str]
    findings: List[str]
    report: Dict[str, Any]
    y: Optional[torch.Tensor] = field(default=None, repr=False)
    truth: Optional[torch.Tensor] = field(default=None, repr=False)
    picture_format: Any = field(default=None, repr=False)
    _result: Any = field(default=None, repr=False)

    def write(self, file: Path, image: Optional[torch.Tensor] = None) -> None:
        """Writes an image, the mean if none is given, as a PNG in the format of the measurement."""
        shown = self.mean if image is None else image
        _eps.write_image(path(file), shown, self.picture_format or _eps.PictureFormat())

    def sheet(self) -> torch.Tensor:
        """Draws measurement, samples, mean, deviation and interval side by side, uint8 (3, H, W)."""
        return self._result.sheet()

    def save(self, folder: Path) -> None:
        """Writes the new folder that `eps restore --out` writes: pictures, arrays, restore.json."""
        self._result.save(path(folder))

    def _repr_html_(self) -> str:
        """What a notebook shows: the words and the sheet."""
        png = base64.b64encode(_eps.png(self.sheet())).decode()
        words = html.escape(repr(self))
        return f'<pre>{words}</pre><img src="data:image/png;base64,{png}">'

    def __repr__(self) -> str:
        lines = [
            f"<eps.Restoration: {self.samples.shape[0]} samples of "
            f"{' x '.join(map(str, self.samples.shape[1:]))}, chi2 {self.chi2:.2f}: {self.verdict}"
        ]
        lines += [f"  warning: {text}" for text in self.warnings]
        lines += [f"  finding: {text}" for text in self.findings]
        return "\n".join(lines) + ">"


def restore(
    y: Union[Path, Array],
    operator: Union[None, str, Operator] = None,
    noise: Union[None, float, Sequence[float]] = None,
    samples: Optional[int] = None,
    steps: Optional[int] = None,
    seed: int = 0,
    model: Any = None,
    *,
    method: Any = None,
    mask: Union[None, Path, Array] = None,
    kernel: Union[None, Path, Array] = None,
    flip_kernel: bool = False,
    motion: Union[None, str, Tuple[float, float]] = None,
    gaussian: Union[None, float, str] = None,
    defocus: Union[None, float, str] = None,
    downscale: Union[None, int, str, Tuple[int, str]] = None,
    bayer: Optional[str] = None,
    denoise: bool = False,
    border: Optional[str] = None,
    centred: bool = False,
    noise_map: Optional[Path] = None,
    noise_spectrum: Optional[Path] = None,
    noise_growth: Optional[float] = None,
    simulate: bool = False,
    quick: bool = False,
    region: str = "auto",
    batch: Optional[int] = None,
    progress: Progress = None,
) -> Restoration:
    """Restores a measurement as `eps restore` does: the same code, and from the same seed the same
    samples.

    y         the file of a picture or an array, or an array in memory, (C, H, W) in [-1, 1] or uint8,
              or a picture of Pillow's
    operator  what made it: an eps.Operator, or a spec. Or one of mask (True or 1: measured), kernel,
              motion=(15, 30), gaussian=1.5, defocus=3, downscale=(4, "bicubic"), bayer="rggb",
              denoise=True, as in the program. mask and kernel are files or arrays
    noise     its standard deviation in units of [-1, 1] (a grey level of 8 bits is 1/127.5), one or
              one for each channel; estimated if not given, by networks of the posterior
    samples   8 if not given, 4 of a picture of more than 256 x 256 pixels
    steps     of the method; 20 if not given, 10 of a large picture on a CPU
    model     a network: a name, a file, eps.load(...), an eps.Posterior; photos-eps if not given, on a
              CPU for quick and mask alone, and photos-eps-small else; or with a method of priors
              such as method="dps", any function denoise(x, sigma), with an operator and the noise
    simulate  y is the file of a clean image, which is measured first
    quick     one evaluation: the mean alone
    progress  a function (stage, done, total); None: tqdm where it is installed, on a terminal

    Ctrl-C ends it at the next evaluation of the network.
    """
    if model is None:
        model = _eps.photos_network("auto", bool(quick) or mask is not None)
    if is_file(model):
        model = load(model)
    array = None if is_file(y) else _real(image(y, "y"))
    mask_values, kernel_values = _values(mask, "mask"), _values(kernel, "kernel")
    each_channel = mask_values is not None and mask_values.dim() > 2
    if mask_values is not None and (each_channel or not isinstance(model, Network)):
        if array is None or operator is not None:
            raise _eps.Error("restore: such a mask goes with y in memory, and no other operator")
        operator, mask, mask_values = inpainting(mask_values, array.shape[-3:]), None, None
    levels = _levels(noise)
    spec = _text(method)
    if not isinstance(model, Network):
        extra = (mask, kernel, motion, gaussian, defocus, downscale, bayer, noise_map)
        if array is None or operator is None or any(e is not None for e in extra) or denoise:
            raise _eps.Error(
                "restore: with a denoiser of your own y is an array, and operator an eps.Operator "
                "or a spec"
            )
        return _with_denoiser(model, array, operator, levels, samples, steps, seed, spec, batch, progress)
    options = {
        "mask": _text(mask) if mask_values is None else "mask",
        "mask_values": mask_values,
        "kernel": _text(kernel) if kernel_values is None else "kernel",
        "kernel_values": kernel_values,
        "flip_kernel": bool(flip_kernel),
        "motion": _text(motion),
        "gaussian": _text(gaussian),
        "defocus": _text(defocus),
        "downscale": _text(downscale),
        "bayer": _text(bayer),
        "denoise": bool(denoise),
        "border": _text(border),
        "centred": bool(centred),
        "spec": operator if isinstance(operator, str) else "",
        "noise": levels,
        "noise_map": _text(noise_map),
        "noise_spectrum": _text(noise_spectrum),
        "noise_growth": noise_growth,
        "method": spec,
        "simulate": bool(simulate),
        "quick": bool(quick),
        "region": region,
        "seed": seed,
        "samples": _count("samples", samples),
        "steps": _count("steps", steps),
        "batch": _count("batch", batch),
    }
    if operator is not None and not isinstance(operator, (str, Operator)):
        raise TypeError(f"operator: an eps.Operator or a spec is wanted, got {type(operator).__name__}")
    others = ("mask", "kernel", "motion", "gaussian", "defocus", "downscale", "bayer")
    if isinstance(operator, Operator) and (denoise or any(options[name] for name in others)):
        raise _eps.Error("restore: one operator is wanted")
    bound = None
    if isinstance(operator, Operator):
        device = model.device
        bound = operator._at(device) if array is None else operator._of(array, device)
    file = path(y) if array is None else ""
    result = _result(_eps.restore(model._bound, file, array, bound, options, reporter(progress)))
    if max(levels, default=0) > 1:
        result.warnings.append(
            f"noise {max(levels):g} is in units of [-1, 1]; of grey levels it is "
            f"{max(levels):g} * eps.GREY_LEVEL"
        )
    return result


def _with_denoiser(
    model: Any,
    y: torch.Tensor,
    A: Union[str, Operator],
    levels: List[float],
    samples: Optional[int],
    steps: Optional[int],
    seed: int,
    method: str,
    batch: Optional[int],
    progress: Progress,
) -> Restoration:
    denoiser = bound_denoiser(model, y)
    y = y.to(torch.device(denoiser.device))
    if len(levels) != 1:
        raise _eps.Error("restore: a denoiser of your own needs the noise, one number")
    if not method and denoiser.input == "prior":
        raise _eps.Error("restore: a prior needs a method, such as method='dps'; eps.methods() lists all")
    bound = an_operator(make_operator(A) if isinstance(A, str) else A)._of(y)
    if y.dim() <= len(bound.measurement):
        y = y.reshape([1] * (len(bound.measurement) + 1 - y.dim()) + list(y.shape))
    if y.dtype == torch.uint8:
        y = y.double() / 127.5 - 1
    found = _eps.restore_tensor(
        method,
        denoiser,
        bound,
        y,
        levels[0],
        _count("samples", samples) or 8,
        seed,
        _count("steps", steps),
        _count("batch", batch) or 16,
        reporter(progress),
    )
    return _result(found)


def _result(found: Dict[str, Any]) -> Restoration:
    return Restoration(
        samples=found["samples"],
        mean=found["mean"],
        deviation=found.get("deviation"),
        interval=found.get("interval"),
        chi2=found["chi2"],
        noise=found["noise"],
        verdict=found["verdict"],
        warnings=found["warnings"],
        findings=found["findings"],
        report=json.loads(found["report"]),
        y=found["y"],
        truth=found.get("truth"),
        picture_format=found["format"],
        _result=found["result"],
    )


def _levels(noise: Any) -> List[float]:
    """Returns the deviations that are stated: none, one, or one for each channel."""
    if noise is None:
        return []
    if isinstance(noise, (list, tuple)) or len(getattr(noise, "shape", ())) > 0:
        return [float(n) for n in noise]
    return [float(noise)]


def _values(x: Union[None, Path, Array], name: str) -> Optional[torch.Tensor]:
    """Returns what is in memory; None of a file."""
    return None if x is None or is_file(x) else tensor(x, name)


def _real(y: torch.Tensor) -> torch.Tensor:
    """Returns complex k-space as pairs of real numbers."""
    return torch.view_as_real(y.resolve_conj()) if y.is_complex() else y


def _count(name: str, value: Optional[int]) -> int:
    """Returns 0 for None, which leaves the number to the library."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _eps.Error(f"restore: {name} must be a whole number of at least 1, got {value!r}")
    return value


def _text(value: Any) -> str:
    """Returns an option as the program takes it; "" for None."""
    if value is None:
        return ""
    if hasattr(value, "__fspath__") or isinstance(value, bytes):
        return path(value)
    if isinstance(value, (tuple, list)):
        return ",".join(format(part) for part in value)
    return value if isinstance(value, str) else format(value)
