"""Reports: progress goes to a function or to tqdm, everything else to `logging`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .errors import UsageError

#: Called with phase, gates done and total gates, at most ten times a second; True shows a tqdm bar if tqdm is installed.
Progress = Callable[[str, int, int], object] | bool

log = logging.getLogger("garblet")


class Hearing:
    """Receives reports from the native module while it works."""

    def __init__(self, progress: Progress) -> None:
        if not callable(progress) and not isinstance(progress, bool):
            raise UsageError(f"progress: expected True, False or a function, got a {type(progress).__name__}")
        self._call = _bar() if progress is True else progress or None

    def __call__(self, what: str, *said: Any) -> None:
        if what == "refused":
            log.warning("refused: %s", *said)
        elif what == "told":
            (words,) = said
            log.log(logging.WARNING if words.startswith("warning: ") else logging.INFO, "%s", words.removeprefix("warning: "))
        elif self._call is not None:
            self._call(*said)


def _bar() -> Callable[[str, int, int], object] | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        log.info("tqdm is not installed: no progress bar")
        return None
    bars: dict[str, Any] = {}

    def show(phase: str, done: int, total: int) -> None:
        bar = bars.get(phase)
        if bar is None:
            bar = bars[phase] = tqdm(total=total, desc=phase, unit="gate", unit_scale=True, leave=False)
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()
            del bars[phase]

    return show
