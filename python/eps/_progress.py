"""Progress: a callback, or tqdm where it is installed and somebody looks."""
import sys
from typing import Any, Callable, Dict, Optional, Union

Progress = Union[None, bool, Callable[[str, int, int], Any]]


def reporter(progress: Progress) -> Optional[Callable[[str, int, int], Any]]:
    """Returns the function (stage, done, total) to call; None: nobody wants to know."""
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
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
