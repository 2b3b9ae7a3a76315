"""Training networks, as `eps train` does."""
import json
import os
from typing import Any, Callable, Dict, Optional

from . import _eps
from ._arrays import Path, path
from ._progress import Progress, reporter
from .networks import Network, load


def train(
    out: Path,
    *,
    resume: bool = False,
    log: Optional[Callable[[Dict[str, Any]], Any]] = None,
    say: Optional[Callable[[str], Any]] = None,
    progress: Progress = None,
    **config: Any,
) -> Network:
    """Trains a network in the new folder `out`, or resumes the run there, and returns it.

    config    the fields of `eps train`: data="photos.zip", input="eps", tasks=["all"], images=100000;
              `eps.training_fields()` has all with their defaults
    log       is called with each line of log.jsonl: loss, rate and validation loss
    say       is called with what the program prints

    Ctrl-C ends the run after a checkpoint, by KeyboardInterrupt; resume=True goes on.
    """
    defaults = training_fields()
    for name, value in config.items():
        default = defaults.get(name, {}).get("default")
        if isinstance(default, list) and isinstance(value, str):
            config[name] = [value]
        elif isinstance(default, str) and isinstance(value, (int, float)):
            config[name] = str(value)
        elif isinstance(value, os.PathLike):
            config[name] = [path(value)] if isinstance(default, list) else path(value)
    try:
        text = json.dumps(config)
    except TypeError as error:
        raise TypeError(f"train: {error}") from None
    report = None if log is None else lambda line: log(json.loads(line))
    _eps.train(path(out), text, resume, reporter(progress), report, say)
    return load(os.path.join(path(out), "network.safetensors"), device=config.get("device", "auto"))


def training_fields() -> Dict[str, Dict[str, Any]]:
    """Returns the fields of a training run: default and help, by name."""
    defaults, words = _eps.training_fields()
    return {
        name: {"default": value, "help": words[name]} for name, value in json.loads(defaults).items()
    }
