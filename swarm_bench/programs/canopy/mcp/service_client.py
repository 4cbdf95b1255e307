"""The HTTP calls of canopy-mcp to its service."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict, NonNegativeInt, TypeAdapter, ValidationError

from swarm_bench.programs.canopy.errors import RemoteError, ToolError
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


READY_SECONDS = 300.0
POLL_SECONDS = 0.5
REQUEST_SECONDS = 30.0

Form = TypeVar("Form")


class Client:
    """One service. Registers repositories as they are asked about."""

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url.rstrip("/")
        # A service on this machine is not reached through a proxy, and mostly without TLS: reading
        # the certificates of all authorities would take a quarter as long as all of the imports.
        self._http = httpx2.Client(
            timeout=REQUEST_SECONDS,
            headers={"X-Api-Key": key} if key else {},
            trust_env=False,
            verify=not self._url.lower().startswith("http://"),
        )
        self._ids: dict[Path, str] = {}

    def close(self) -> None:
        self._http.close()

    def post(self, form: type[Form], route: str, root: Path, body: Mapping[str, Any]) -> Form:
        """Ask about a repository; when the service has forgotten it, register it and ask again.

        `form` is what the answer must look like.

        Raises:
            ToolError: the service cannot be reached, or answers with an error.
        """
        try:
            return self._ask(form, "POST", route, {"repo": self._id(root), **body})
        except RemoteError as error:
            if error.code != "repo_not_found":
                raise
        del self._ids[root]
        return self._ask(form, "POST", route, {"repo": self._id(root), **body})

    def wait_ready(self, root: Path) -> None:
        """Wait until the repository is indexed; nothing here starts the indexing.

        Raises:
            ToolError: its indexing failed, or it is not ready in time.
        """
        deadline = time.monotonic() + READY_SECONDS
        while True:
            shard = self._shard(root)
            if shard is None:
                self._ids.pop(root, None)
            elif shard.status == "ready":
                return
            elif shard.status == "error":
                raise ToolError(
                    f"The service could not index {root}: {shard.error_message};"
                    " index again with canopy_index"
                )
            if time.monotonic() >= deadline:
                raise ToolError(
                    f"{root} was not indexed within {READY_SECONDS:.0f} s; index it with"
                    " canopy_index"
                )
            if shard is not None:
                time.sleep(POLL_SECONDS)

    def _shard(self, root: Path) -> Shard | None:
        repo_id = self._id(root)
        shards = self._ask(list[Shard], "GET", "/repos")
        return next((shard for shard in shards if shard.repo_id == repo_id), None)

    def _id(self, root: Path) -> str:
        if root not in self._ids:
            added = self._ask(Added, "POST", "/repos/add", {"path": str(root)})
            self._ids[root] = added.repo_id
        return self._ids[root]

    def _ask(
        self, form: type[Form], method: str, route: str, body: Mapping[str, Any] | None = None
    ) -> Form:
        answer = self._request(method, route, body)
        try:
            return TypeAdapter(form).validate_python(answer)
        except ValidationError as error:
            field = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise ToolError(
                f"The service at {self._url} is no canopy service: its answer to {route} is wrong"
                f" at {field or 'the top'}; check the address"
            ) from error

    def _request(self, method: str, route: str, body: Mapping[str, Any] | None) -> Any:
        try:
            response = self._http.request(method, self._url + route, json=body)
        except httpx2.HTTPError as error:
            raise ToolError(
                f"The service at {self._url} does not answer ({error}); check that it runs"
            ) from error
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.is_success and answer is not None:
            return answer
        if isinstance(answer, dict) and isinstance(answer.get("code"), str):
            raise RemoteError(answer["code"], str(answer.get("message")))
        raise RemoteError(f"http_{response.status_code}", response.text[:500])
