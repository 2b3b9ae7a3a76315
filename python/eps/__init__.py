"""eps: exact posterior samples for linear inverse problems y = A x + noise.

    import eps
    result = eps.restore("photo.jpg", motion=(15, 30))     # posterior samples, mean, interval
    result.write("restored.png")

    A = eps.operator("super_resolution:factor=4", (3, 64, 64))
    y = A.observe(x, noise=0.05)
    prior = eps.load("faces64-prior")                      # or any function denoise(x, sigma)
    samples = eps.method("dps")(y, A, 0.05, prior)

The library is the C++ of the program `eps`; tensors are shared with torch. docs/python.md is the
manual.
"""
from ._torch import check_torch

check_torch()

from . import nets  # noqa: E402
from ._eps import Error, version as __version__  # noqa: E402
from .images import pixels, read_image, sheet, write_image  # noqa: E402
from .methods import Method, Metrics, method, methods, metrics, sample, verify  # noqa: E402
from .networks import Network, Prior, find_in_models, load, models  # noqa: E402
from .operators import Operator, blur, inpainting, operator, operators  # noqa: E402
from .posterior import Posterior, Query, Scaling, pivot, power_spectrum, precondition, query  # noqa: E402
from .restoration import Restoration, restore  # noqa: E402
from .training import train, training_fields  # noqa: E402

GREY_LEVEL = 1 / 127.5
"""A grey level of 8 bits in units of [-1, 1]: noise=6.4 * eps.GREY_LEVEL."""

__all__ = [
    "GREY_LEVEL",
    "Error",
    "Method",
    "Metrics",
    "Network",
    "Operator",
    "Posterior",
    "Prior",
    "Query",
    "Restoration",
    "Scaling",
    "__version__",
    "blur",
    "find_in_models",
    "inpainting",
    "load",
    "method",
    "methods",
    "metrics",
    "models",
    "nets",
    "operator",
    "operators",
    "pivot",
    "pixels",
    "power_spectrum",
    "precondition",
    "query",
    "read_image",
    "restore",
    "sample",
    "sheet",
    "train",
    "training_fields",
    "verify",
    "write_image",
]
