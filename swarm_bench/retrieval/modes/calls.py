"""What a mode file says of the calls of its servers' own tools, and of its commands."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.core.treatment.mode_parts import Preparation, SearchTool, ToolCall
from swarm_bench.retrieval.locations import check_json_path, check_pattern
from swarm_bench.retrieval.modes.variables import KEYWORDS, QUERY, placeholders_in

_AS_WORDS = 'must be a command as a list of words, such as ["make", "index"]'


def _as_words(written: Any) -> Any:
    if not isinstance(written, list):
        raise ValueError(_AS_WORDS)
    return written


Argv = Annotated[
    list[Annotated[str, Field(min_length=1)]], Field(min_length=1), BeforeValidator(_as_words)
]
"""Program and arguments."""


class Call(BaseModel):
    """The call of a server's own tool."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}

    def stored(self) -> ToolCall:
        """Convert it to what a mode has."""
        return ToolCall(tool=self.tool, arguments=self.arguments)


class Prepare(BaseModel):
    """A command, or the call of a server's own tool."""

    model_config = ConfigDict(extra="forbid")
    command: Argv | None = None
    tool: str | None = None
    arguments: dict[str, Any] = {}
    when: Literal["always", "warm"] | None = None
    copyable: bool = False

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_command_alone(cls, written: Any) -> Any:
        if isinstance(written, list):
            return {"command": written}
        if not isinstance(written, dict):
            raise ValueError(f"{_AS_WORDS}, or a mapping with 'command' or 'tool'")
        return written

    @model_validator(mode="after")
    def _has_command_or_tool(self) -> "Prepare":
        if (self.command is None) == (not self.tool):
            raise ValueError("needs either 'command' or 'tool'")
        if self.command is not None and self.arguments:
            raise ValueError("has 'arguments', which are a tool's; put them into 'command'")
        return self

    def stored(self) -> Preparation:
        """Convert it to what a mode has. What a command makes is needed; what a tool makes, it
        makes itself when it is first asked."""
        return Preparation(
            command=tuple(self.command or ()),
            tool=self.tool or "",
            arguments=self.arguments,
            when=self.when or ("always" if self.command else "warm"),
            copyable=self.copyable,
        )


class Search(Call):
    """The server's own search, and how places are read from its answer."""

    arguments: dict[str, Any]
    join: str | None = None
    per_word: bool = False
    pattern: str | None = None
    json_path: str | None = None

    @model_validator(mode="after")
    def _can_be_asked(self) -> "Search":
        named = placeholders_in(self.arguments)
        if not named & {QUERY, KEYWORDS}:
            raise ValueError(
                'needs "{{ query }}" in its arguments, where the question goes, or "{{ words }}"'
            )
        if (self.join is not None or self.per_word) and KEYWORDS not in named:
            raise ValueError(
                "says how words are given, and has no {{ words }} in its arguments; put it where "
                "they go"
            )
        if self.join is not None and self.per_word:
            raise ValueError("has both 'join' and 'per_word'; give one of them")
        return self

    @model_validator(mode="after")
    def _can_be_read(self) -> "Search":
        if self.pattern is not None and self.json_path is not None:
            raise ValueError("has both 'pattern' and 'json_path'; give one of them")
        if self.pattern is not None:
            check_pattern(self.pattern)
        if self.json_path is not None:
            check_json_path(self.json_path)
        return self

    def stored(self) -> SearchTool:
        """Convert it to what a mode has."""
        return SearchTool(
            tool=self.tool,
            arguments=self.arguments,
            join=self.join,
            per_word=self.per_word,
            pattern=self.pattern,
            json_path=self.json_path,
        )
