"""The role of a language model: who is asked in a request, and says what answering took."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    """Empty when it gave none."""
    usage: Usage
    """Of the request that was answered."""
    requests: int
    """How many it took: those before were turned away, or broke off."""


class LanguageModel(Protocol):
    """Answers a conversation with a text."""

    @property
    def name(self) -> str: ...

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Ask it once. Raises `ModelFailed`; `NotAuthorized` and `UsageError` for what would fail
        every time."""
        ...
