"""What the server remembers of each agent."""

from collections.abc import Sequence
from typing import Any

import anyio

from swarm_bench.core.outcome import Usage
from swarm_bench.models.rehearsal.api import Asked
from swarm_bench.models.rehearsal.caching import PromptCache
from swarm_bench.models.rehearsal.faults import Fault, fault_of
from swarm_bench.models.rehearsal.history import Memory
from swarm_bench.models.tokens import count, of_tool


class Trial:
    """One agent's requests so far."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.lock = anyio.Lock()
        """Held while thinking: a program and its sub-agents ask at the same time."""
        self._cache = PromptCache()
        self._requests = 0
        self._faults = 0
        self._request_tokens: int | None = None
        self._tools: dict[str, int] = {}

    def begin(self, asked: Asked, faults: Sequence[Fault]) -> str | None:
        """Count a request for an answer, and keep what it offered. Returns the name of the fault
        that befalls it, if one does."""
        self._requests += 1
        if asked.tools and self._request_tokens is None:
            self._request_tokens = sum(count(part) for part in asked.parts)
        self._tools.update((tool.name, of_tool(tool)) for tool in asked.tools)
        fault = fault_of(faults, self._requests)
        self._faults += fault is not None
        return fault

    def sent(self, asked: Asked) -> Usage:
        """The usage of a request that is answered, without its output. What fails costs nothing,
        and leaves nothing in the cache."""
        return self._cache.request(asked.model, asked.parts)

    def seen(self) -> dict[str, Any]:
        """As `Seen` is read from JSON."""
        return {
            "requests": self._requests,
            "faults": self._faults,
            "request_tokens": self._request_tokens,
            "tools": self._tools,
        }
