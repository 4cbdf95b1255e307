"""The parameters of a search: canopy's own, and how leniently MCP's are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swarm_bench.programs.canopy.defaults import DEFAULT_LIMIT, MAX_LIMIT
from swarm_bench.programs.canopy.errors import InvalidParameters

MAX_HANDLES = 8
MAX_PER_FILE = 2
_HANDLES = (1, 64)
_PER_FILE = (1, 8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """One search. At least one of the texts, or `dsl`, is set."""

    pattern: str | None = None
    patterns: tuple[str, ...] = ()
    symbol: str | None = None
    section: str | None = None
    parent: str | None = None
    kind: str = "any"
    glob: str | None = None
    match: str = "any"
    dsl: str | None = None
    limit: int = DEFAULT_LIMIT

    @property
    def is_empty(self) -> bool:
        texts = (self.pattern, self.patterns, self.symbol, self.section, self.parent, self.dsl)
        return not any(texts)

    @property
    def text(self) -> str:
        """What an evidence pack scores by; the DSL says nothing here."""
        if self.dsl:
            return ""
        texts = (self.pattern, *self.patterns, self.symbol, self.section, self.parent, self.glob)
        return " ".join(text for text in texts if text)

    @property
    def is_one_pattern(self) -> bool:
        """Whether it is nothing but a pattern of several words."""
        criteria = (self.patterns, self.symbol, self.section, self.parent, self.dsl)
        return len((self.pattern or "").split()) > 1 and not any(criteria)


@dataclass(frozen=True, kw_only=True, slots=True)
class PackLimits:
    """The limits of what an evidence pack shows."""

    max_handles: int = MAX_HANDLES
    max_per_file: int = MAX_PER_FILE
    plan: bool | None = None
    """Several searches in one pack; None lets the first result decide. Only the service plans."""

    @classmethod
    def clamp(cls, max_handles: int, max_per_file: int, plan: bool | None) -> "PackLimits":
        return cls(
            max_handles=_clamp(max_handles, _HANDLES),
            max_per_file=_clamp(max_per_file, _PER_FILE),
            plan=plan,
        )


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a tool call. A value of the wrong type counts as missing."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return a text argument; an empty one counts as missing, because models fill in every
        parameter."""
        return _clean(self.values.get(name)) or None

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return (
            tuple(_clean(text) for text in value if isinstance(text, str))
            if isinstance(value, list)
            else ()
        )

    def natural(self, name: str, default: int) -> int:
        value = self.values.get(name)
        is_natural = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return value if is_natural and isinstance(value, int) else default

    def flag(self, name: str) -> bool | None:
        value = self.values.get(name)
        return value if isinstance(value, bool) else None

    def choice(self, name: str, *alternatives: str, default: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) and value in alternatives else default

    def search(self) -> Search:
        """Build the search they describe.

        Raises:
            InvalidParameters: they describe none.
        """
        limit = min(self.natural("limit", DEFAULT_LIMIT), MAX_LIMIT)
        dsl = self.text("query")
        if dsl:
            return Search(dsl=dsl, limit=limit)
        pattern = self.text("pattern")
        search = Search(
            pattern=pattern,
            patterns=() if pattern else tuple(text for text in self.texts("patterns") if text),
            symbol=self.text("symbol"),
            section=self.text("section"),
            parent=self.text("parent"),
            kind=self.choice("kind", "definition", "reference", default="any"),
            glob=self.text("glob"),
            match=self.choice("match", "all", default="any"),
            limit=limit,
        )
        if search.is_empty:
            raise InvalidParameters(
                "Give at least one of pattern, patterns, symbol, section, parent or query"
            )
        return search

    def pack_limits(self) -> PackLimits:
        return PackLimits.clamp(
            self.natural("max_handles", MAX_HANDLES),
            self.natural("max_per_file", MAX_PER_FILE),
            self.flag("plan"),
        )


def _clean(value: object) -> str:
    """Replace halves of surrogate pairs, which JSON can hold and SQLite cannot."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _clamp(value: int, bounds: tuple[int, int]) -> int:
    lowest, highest = bounds
    return max(lowest, min(value, highest))
