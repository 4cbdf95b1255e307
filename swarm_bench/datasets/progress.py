"""Tells a person how far something is that takes long."""

from collections.abc import Callable
from time import monotonic

Tell = Callable[[str], object]
_FIRST, _INTERVAL = 1.0, 5.0
"""Seconds after which a first sentence is told, and another one."""


class Progress:
    """What is told while it lasts; of what is over within a second, nothing."""

    def __init__(self, tell: Tell) -> None:
        """Begin now."""
        self._tell, self._next = tell, monotonic() + _FIRST

    def reached(self, sentence: str) -> None:
        """Tell how far it is, unless that was told a short time ago."""
        if monotonic() >= self._next:
            self._next = monotonic() + _INTERVAL
            self._tell(sentence)
