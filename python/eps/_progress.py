"""Progress: a callback, or tqdm where it is installed and somebody looks."""
import sys
import warnings
from typing import Any, Callable, Dict, Optional, Union

Progress = Union[None, bool, Callable[[str, int, int], Any]]


def reporter(progress: Progress) -> Optional[Callable[[str, int, int], Any]]:
    """Returns the function (stage, done, total) to call; None: nobody wants to know."""
    if callable(progress):
        return progress
    is_asked_for = progress is not None
    if not is_asked_for:
        progress = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if is_asked_for:
            warnings.warn("progress=True draws with the package tqdm, which is not installed", stacklevel=3)
        return None
    bars: Dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            bars[stage] = tqdm(total=total or None, desc=stage)
        bar = bars[stage]
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return report
