"""What a mode may say of its tool beside its servers: how it is prepared and searched."""

from typing import Any, Literal

from swarm_bench.core.stored import Stored

Purpose = Literal["search", "read", "other"]
"""What a tool is for: the first two retrieve, and the last one does not."""


class IndexTool(Stored):
    """The call of a server's own tool that builds its index."""

    tool: str
    arguments: dict[str, Any] = {}


class SearchTool(Stored):
    """The call of a server's own search, and how places are read from its answer."""

    tool: str
    arguments: dict[str, Any]
    """With `{{ query }}` where the question goes, and other placeholders."""
    pattern: str | None = None
    """A regular expression with the group `path`, perhaps `line` and `last`; it may match many
    times."""
    json_path: str | None = None
    """Selects paths, or objects that name one, in an answer that is JSON."""
