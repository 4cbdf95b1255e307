"""What every model API has in common: a request read, a reply written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """One request of an agent program, whatever API it came through."""

    model: str
    """Name of the model, as the program asked for it; the reply repeats it."""
    stream: bool
    messages: tuple[Message, ...]
    """The conversation with the names and arguments of tools as the program has them. Tool results
    of several messages in a row are one user message."""
    tools: tuple[ToolSpec, ...]
    """Tools of an MCP server in a namespace are called `<namespace>__<tool>`."""
    parts: tuple[str, ...]
    """The prompt in the order in which a provider caches it, as JSON texts: the tools, the system
    prompt, then each message."""
    schema: Mapping[str, Any] | None = None
    """JSON schema that the answer must keep, when the program asks for one."""
    echo: Mapping[str, Any] = field(default_factory=dict)
    """Parts of the request that the API needs to word its reply. The server reads one of them:
    `media_type`, where the answer to a request for a stream has another than such answers have."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer of the server."""

    id: str
    model: str
    message: Message
    """Message with the names and arguments of tools as the program has them."""
    usage: Usage
    stop: Stop
    echo: Mapping[str, Any] = field(default_factory=dict)
    """Echo of the request (`AgentRequest.echo`)."""


class Api(Protocol):
    """One wire format. All bodies are JSON."""

    @property
    def statuses(self) -> Mapping[ErrorKind, int]:
        """HTTP statuses of errors, where they are not those that the other providers have."""
        ...

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        """Read a request. Raises `ValueError` with a sentence when it is not one of this API. What
        the Gemini API has in its path (the model, and whether and how to stream) the server has put
        into the body, as `model`, `stream` and `alt`."""
        ...

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Build the body of an answer that is not streamed."""
        ...

    def events(self, reply: Reply) -> Iterator[str]:
        """Yield the server-sent events of a streamed answer, each with its blank line."""
        ...

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        """Build the body of an error as this provider words it. Where programs look for a
        provider's own words, those stand before `sentence`. `retry_seconds` says when to come back,
        for an API that has a field for it in the body."""
        ...
