"""What a mode may say of its tool beside its servers: how it is prepared and searched."""

from typing import Any, Literal

from swarm_bench.core.stored import Stored

Purpose = Literal["search", "read", "other"]
"""Purpose of a tool: the first two retrieve, and the last one does not."""


class ToolCall(Stored):
    """The call of a server's own tool. Placeholders are not yet filled in."""

    tool: str
    arguments: dict[str, Any] = {}


class SearchTool(ToolCall):
    """The call of a server's own search, and how places are read from its answer."""

    arguments: dict[str, Any]
    """Arguments of the call, with `{{ query }}` where the question goes, or `{{ words }}` where its
    words do."""
    join: str | None = None
    """Separator that joins the words to one text; without it they are a list."""
    per_word: bool = False
    """Whether it takes one word, and is called once for each."""
    pattern: str | None = None
    """A regular expression with the group `path`, perhaps `line` and `last`; it may match many
    times."""
    json_path: str | None = None
    """Selects paths, or objects that name one, in an answer that is JSON."""

    def forms(self, asked: list[str]) -> list[str] | list[list[str]]:
        """Return in which form each call has the words of a question."""
        if self.per_word:
            return asked
        return [asked] if self.join is None else [self.join.join(asked)]


class Preparation(Stored):
    """What makes a clone ready for a tool before its agents start, such as an index: a command, or
    the call of a server's own tool."""

    command: tuple[str, ...] = ()
    """Program and arguments; empty when a tool is called."""
    tool: str = ""
    arguments: dict[str, Any] = {}
    when: Literal["always", "warm"] = "warm"
    """`warm`: with `--index warm` only, since the tool does it by itself in its agents' time."""
    copyable: bool = False
    """Whether what it made in one clone serves in the next."""

    @property
    def what(self) -> str:
        """The program or the tool, to be named."""
        return self.command[0] if self.command else self.tool
