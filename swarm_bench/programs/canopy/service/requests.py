"""The bodies that the service takes. Unknown fields are ignored, as canopy does."""

from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from swarm_bench.programs.canopy.defaults import DEFAULT_LIMIT, SERVICE_MAX_LIMIT
from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.parameters import MAX_HANDLES, MAX_PER_FILE, PackLimits, Search

Natural = Annotated[int, Field(ge=0, le=2**53)]


class Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class AddBody(Body):
    """POST /repos/add."""

    path: str
    name: str | None = None


class ReindexBody(Body):
    """POST /reindex."""

    repo: str
    glob: str | None = None


class QueryBody(Body):
    """POST /query."""

    repo: str
    pattern: str | None = None
    patterns: list[str] | None = None
    symbol: str | None = None
    section: str | None = None
    parent: str | None = None
    kind: Literal["definition", "reference", "any"] | None = None
    glob: str | None = None
    # canopy's documents say `match`, its code reads `match_mode`; both are understood.
    match_mode: Literal["any", "all"] | None = Field(
        None, validation_alias=AliasChoices("match_mode", "match")
    )
    limit: Natural | None = None
    expand_budget: Natural | None = None
    dsl: str | None = None

    def search(self) -> Search:
        """Build the search it describes.

        Raises:
            ToolError: it describes none, or two at once.
        """
        if self.pattern and self.patterns and not self.dsl:
            raise ToolError("Give pattern or patterns, not both")
        limit = DEFAULT_LIMIT if self.limit is None else self.limit
        search = Search(
            pattern=self.pattern or None,
            patterns=tuple(pattern for pattern in self.patterns or () if pattern),
            symbol=self.symbol or None,
            section=self.section or None,
            parent=self.parent or None,
            kind=self.kind or "any",
            glob=self.glob or None,
            match=self.match_mode or "any",
            dsl=self.dsl or None,
            limit=max(1, min(limit, SERVICE_MAX_LIMIT)),
        )
        if search.is_empty:
            raise ToolError(
                "Give at least one of pattern, patterns, symbol, section, parent or dsl"
            )
        return search


class PackConfig(Body):
    """The `config` of an evidence pack."""

    max_handles: Natural | None = None
    max_per_file: Natural | None = None
    plan: bool | None = None


class PackBody(QueryBody):
    """POST /evidence_pack."""

    config: PackConfig | None = None

    def limits(self) -> PackLimits:
        config = self.config or PackConfig()
        return PackLimits.clamp(
            MAX_HANDLES if config.max_handles is None else config.max_handles,
            MAX_PER_FILE if config.max_per_file is None else config.max_per_file,
            config.plan,
        )


class HandleRef(Body):
    """A handle to expand, and the generation that showed it."""

    id: str
    generation: Natural | None = None


class ExpandBody(Body):
    """POST /expand."""

    repo: str
    handles: list[HandleRef]
