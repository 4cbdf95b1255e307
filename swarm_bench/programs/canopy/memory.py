"""What a server remembers about handles while it runs; the oldest entries go first."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeVar

MAX_ENTRIES = 10_000

Value = TypeVar("Value")


class Recent(OrderedDict[str, Value]):
    """A dictionary that holds the newest entries only."""

    def __setitem__(self, key: str, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > MAX_ENTRIES:
            self.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Memory:
    """The query that showed a handle last, and the handles that were expanded. Keys are h-form
    ids."""

    shown_by: Recent[int] = field(default_factory=Recent)
    expanded: Recent[bool] = field(default_factory=Recent)

    def clear(self) -> None:
        self.shown_by.clear()
        self.expanded.clear()
