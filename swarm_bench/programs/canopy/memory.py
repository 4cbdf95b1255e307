"""What a server remembers about handles while it runs; the oldest entries go first."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

MAX_ENTRIES = 10_000

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """A dictionary that holds the newest entries only."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[str, Value] = OrderedDict()

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __setitem__(self, key: str, value: Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)

    def forget(self, key: str) -> None:
        self._entries.pop(key, None)

    def get(self, key: str) -> Value | None:
        return self._entries.get(key)

    def clear(self) -> None:
        self._entries.clear()


@dataclass(frozen=True, slots=True)
class Memory:
    """The query that showed a handle last, and the handles that were expanded. Keys are h-form
    ids."""

    shown_by: Recent[int] = field(default_factory=Recent)
    expanded: Recent[bool] = field(default_factory=Recent)

    def clear(self) -> None:
        self.shown_by.clear()
        self.expanded.clear()
