"""The answers of a canopy service, as far as its client reads them. More fields are ignored."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType

Label = Literal[
    "section", "code_block", "paragraph", "function", "class", "struct", "method", "chunk"
]


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Added(Answer):
    """POST /repos/add."""

    repo_id: str


class Shard(Answer):
    """One entry of GET /repos."""

    repo_id: str
    status: str
    error_message: str | None = None


class Reindexing(Answer):
    """POST /reindex."""

    generation: int
    status: str
    commit_sha: str | None = None


class Span(Answer):
    start: NonNegativeInt
    end: NonNegativeInt


class QueryHandle(Answer):
    """A handle of POST /query; its id has no `h`."""

    id: str
    file_path: str
    node_type: Label
    span: Span
    line_range: tuple[int, int]
    preview: str
    commit_sha: str | None = None
    generation: int | None = None

    def handle(self) -> Handle:
        first, last = self.line_range
        node = Node(
            type=NodeType[self.node_type.upper()],
            start=self.span.start,
            end=self.span.end,
            first_line=first,
            last_line=last,
        )
        return Handle(
            hex=self.id.removeprefix("h"),
            path=self.file_path,
            node=node,
            preview=self.preview,
            source="service",
            commit_sha=self.commit_sha,
            generation=self.generation,
        )


class Queried(Answer):
    """POST /query."""

    handles: list[QueryHandle]
    truncated: bool = False


class PackHandle(Answer):
    """A handle of POST /evidence_pack; its id has its `h`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str
    generation: int | None = None


class Packed(Answer):
    """POST /evidence_pack. It is passed on whole, so all of it is kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    handles: list[PackHandle]
    expand_suggestion: list[str]


class Content(Answer):
    handle_id: str
    content: str


class Expanded(Answer):
    """POST /expand."""

    contents: list[Content]
