"""The role of a data set: rows of which a benchmark makes cases."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol, Self, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class RawRow:
    """A row before it was checked."""

    content: Any
    """JSON; a benchmark's schema says what it must be."""
    where: str
    """Place of the row, for errors: `rows.jsonl:3`."""
    fault: str | None = None
    """Reason why it cannot be read, as a clause; then it has no content."""


@dataclass(frozen=True, kw_only=True)
class RawRows:
    """The rows of a data set, in their order."""

    sha256: str
    """Sessions continue on the same rows only."""
    rows: Iterable[RawRow]
    """Rows, which may be read from a file while they are asked for, once."""

    @classmethod
    def of(cls, contents: Iterable[Any]) -> Self:
        """Make them of contents, which are hashed as JSON. Raises `TypeError` for what is none."""
        digest, rows = hashlib.sha256(), list[RawRow]()
        for number, content in enumerate(contents, start=1):
            digest.update(json.dumps(content, sort_keys=True).encode() + b"\n")
            rows.append(RawRow(content=content, where=f"row {number}"))
        return cls(sha256=digest.hexdigest(), rows=tuple(rows))


@runtime_checkable
class Dataset(Protocol):
    """A data set. Packages register theirs as `swarm_bench.datasets`; it is made without
    arguments, and of the word `NAME:ARGUMENT` with what stands behind the colon."""

    @property
    def about(self) -> str:
        """Return a sentence on it."""
        ...

    @property
    def licence(self) -> str | None:
        """Return the name of its licence."""
        ...

    @property
    def source(self) -> str | None:
        """Return where it is from, and whom it is owed to."""
        ...

    @property
    def published(self) -> date | None:
        """Return when it was published: models that were trained later may have read it."""
        ...

    def load(self) -> RawRows:
        """Load the rows, the same in every call. Raises `UsageError`, and `ConfigError` for what is
        damaged."""
        ...


@runtime_checkable
class VerifiesItself(Protocol):
    """A data set that can say more of what is wrong with it than its rows show: that files of it
    were changed, say. Rows are held against the schema of a benchmark without it."""

    def verify(self) -> Iterable[str]:
        """Yield a sentence on each fault."""
        ...
