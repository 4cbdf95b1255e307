"""What of a request of Anthropic's Messages API the rehearsal reads; the rest may be anything."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag


def wrap_text(content: Any) -> Any:
    """Return content as blocks: programs change between the two forms."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class Text(BaseModel):
    type: Literal["text"]
    text: str


class Call(BaseModel):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any] = {}


class Reference(BaseModel):
    """The name of a deferred tool that a search came upon."""

    type: Literal["tool_reference"]
    tool_name: str


class UnknownPart(BaseModel):
    """A block that is only named: a picture, a thought."""

    type: str


def _tag(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if kind in ("text", "tool_use", "tool_reference", "tool_result") else "other"


Part = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Call, Tag("tool_use")]
    | Annotated[Reference, Tag("tool_reference")]
    | Annotated["Result", Tag("tool_result")]
    | Annotated[UnknownPart, Tag("other")],
    Discriminator(_tag),
]
Blocks = Annotated[list[Part], BeforeValidator(wrap_text)]


class Result(BaseModel):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Blocks | None = None
    is_error: bool | None = None


class Sent(BaseModel):
    """A message."""

    role: Literal["user", "assistant", "system"]
    content: Blocks


class Tool(BaseModel):
    name: str
    description: str | None = None
    input_schema: dict[str, Any] | None = None
    """The provider's own tools have none."""
    defer_loading: bool | None = None


class Choice(BaseModel):
    type: str


class Format(BaseModel):
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class OutputConfig(BaseModel):
    format: Format | None = None


class Request(BaseModel):
    model: str
    messages: list[Sent]
    system: Annotated[list[Text], BeforeValidator(wrap_text)] | None = None
    tools: list[Tool] | None = None
    tool_choice: Choice | None = None
    stream: bool | None = None
    output_config: OutputConfig | None = None
    output_format: Format | None = None
    """What `output_config` replaces."""

    @property
    def schema_of_answer(self) -> dict[str, Any] | None:
        config = self.output_config
        format = config.format if config and config.format else self.output_format
        return format.schema_ if format else None
