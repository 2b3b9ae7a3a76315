"""The one libtorch of the process: that of torch, for which the module was built."""
import os
from typing import List

import torch

try:
    from ._built_for import TORCH_VERSION
except ImportError:
    raise ImportError(
        f"{os.path.dirname(os.path.abspath(__file__))} is the source of eps, which is not built there: "
        "pip install . and start Python in another folder"
    ) from None

_REMEDY = "install eps again for the torch that you import: pip install --force-reinstall --no-deps ."


def loaded_libtorches() -> List[str]:
    """Returns the files of libtorch_cpu in this process, where the system tells."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "libtorch_cpu" in line}
    except OSError:
        return []
    return sorted({os.path.realpath(path) for path in paths})


def check_torch() -> None:
    """Raises ImportError where the module would bring a second libtorch into the process."""
    if torch.__version__ != TORCH_VERSION:
        raise ImportError(
            f"eps was built for torch {TORCH_VERSION}, but Python imports torch "
            f"{torch.__version__} ({os.path.dirname(torch.__file__)}); {_REMEDY}"
        )
    found = loaded_libtorches()
    if len(found) > 1:
        raise ImportError(
            f"two libtorch are loaded in this process, {' and '.join(found)}, which do not work "
            "together; import torch and eps before what brings the other one"
        )
