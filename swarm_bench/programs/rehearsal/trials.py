"""What the server remembers of each agent, and what of its prompts a provider's cache would have.

One rule for the cache: the parts that a request has in common with the beginning of any earlier
request of the same trial to the same model are read from the cache, all that follows is written to
it, and nothing is left as plain input. `AgentRequest.parts` has the parts: the tools, the system
prompt, and each message on its own.
`swarm_bench.text.tokens` counts scout in the same way; there every request begins with the one
before, here a program may change its prompt, and pays for what follows the change.

Three things differ from a provider: no minimum length, no limit to the age of what is in the
cache, and no marks needed that say what to cache.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import anyio

from swarm_bench.core.outcome import Usage
from swarm_bench.models.rehearsal.faults import Fault, fault_of
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking.history import Memory
from swarm_bench.text.tokens import count, count_tool


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a prompt without its text: prompts are long and many."""

    digest: bytes
    tokens: int


def measure_parts(parts: Iterable[str]) -> tuple[Part, ...]:
    """Measure parts; this reads every letter, so it is not for the event loop."""
    return tuple(
        Part(
            digest=blake2b(part.encode("utf-8", "replace"), digest_size=16).digest(),
            tokens=count(part),
        )
        for part in parts
    )


class _Continuations(dict[bytes, "_Continuations"]):
    """Digest of a part -> what followed it."""


class PromptCache:
    """The cache as one trial sees it."""

    def __init__(self) -> None:
        self._models: dict[str, _Continuations] = {}

    def request(self, model: str, parts: Sequence[Part]) -> Usage:
        """Count the usage of a request, without its output. Its parts are in the cache from now
        on."""
        following = self._models.setdefault(model, _Continuations())
        read = created = 0
        for part in parts:
            if part.digest in following:
                read += part.tokens
            else:
                created += part.tokens
                following[part.digest] = _Continuations()
            following = following[part.digest]
        return Usage(input=0, cache_read=read, cache_create=created)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The size of a request."""

    parts: tuple[Part, ...]
    tools: Mapping[str, int]
    """Tokens of the description of each tool that it offers."""

    @classmethod
    def measure(cls, agent_request: AgentRequest) -> "Sizes":
        """Measure a request; this reads every letter, so it is not for the event loop. Raises
        `RecursionError`."""
        return cls(
            parts=measure_parts(agent_request.parts),
            tools={tool.name: count_tool(tool) for tool in agent_request.tools},
        )

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


class Trial:
    """The requests of one agent so far."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.lock = anyio.Lock()
        """Held while thinking: a program and its sub-agents ask at the same time."""
        self.errors = 0
        """Requests at which the server itself failed."""
        self._cache = PromptCache()
        self._requests = 0
        self._faults = 0
        self._request_tokens: int | None = None
        self._tools: dict[str, int] = {}

    def begin(self, sizes: Sizes, faults: Sequence[Fault]) -> str | None:
        """Count a request for an answer, and keep what it offered. Return the name of the fault
        that befalls it, if one does."""
        self._requests += 1
        if sizes.tools and self._request_tokens is None:
            self._request_tokens = sizes.tokens
        self._tools = {**sizes.tools, **self._tools}
        fault = fault_of(faults, self._requests)
        self._faults += fault is not None
        return fault

    def count_usage(self, model: str, sizes: Sizes) -> Usage:
        """Count the usage of a request that is answered, without its output. An error instead of an
        answer costs nothing and leaves the cache as it is; an answer that breaks off was paid for,
        and what it answered is in the cache."""
        return self._cache.request(model, sizes.parts)

    def traffic(self) -> dict[str, Any]:
        """Return what `Traffic` is read from."""
        return {
            "requests": self._requests,
            "faults": self._faults,
            "errors": self.errors,
            "request_tokens": self._request_tokens,
            "tools": self._tools,
        }
