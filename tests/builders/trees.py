"""Repositories in memory."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class MemoryTree:
    contents: Mapping[str, bytes]

    @property
    def files(self) -> frozenset[str]:
        return frozenset(self.contents)

    @property
    def sizes(self) -> Mapping[str, int]:
        return {path: len(content) for path, content in self.contents.items()}

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)


def tree_of(texts: Mapping[str, str]) -> MemoryTree:
    return MemoryTree({path: text.encode() for path, text in texts.items()})
