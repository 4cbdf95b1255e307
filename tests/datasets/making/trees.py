"""Small source trees."""

from collections.abc import Mapping

from swarm_bench.core.session.tasks import Task


class TextTree:
    """The texts of files, as a tree."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @property
    def files(self) -> frozenset[str]:
        return frozenset(self._texts)

    def read(self, path: str) -> bytes | None:
        text = self._texts.get(path)
        return None if text is None else text.encode()


def files_of(task: Task) -> list[str]:
    return list(task.key.files) if task.key else []


def symbols_of(task: Task) -> list[str]:
    return list(task.key.symbols) if task.key else []
