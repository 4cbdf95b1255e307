"""What the server remembers of each agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from swarm_bench.core.outcome import Usage
from swarm_bench.models.rehearsal.faults import Fault, fault_of
from swarm_bench.models.tokens import of_tool
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.apis.caching import Part, PromptCache, measure_parts
from swarm_bench.programs.rehearsal.thinking.history import Memory


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
            tools={tool.name: of_tool(tool) for tool in agent_request.tools},
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
