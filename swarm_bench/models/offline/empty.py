"""The model `empty`: answers nothing, which shows where 0 is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from swarm_bench.core.roles.language_model import Around, Ask, Completion
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.offline.reference import NOTHING_ASKED, Offline


@dataclass(frozen=True)
class Empty(Offline):
    """No model: a floor below which no answer is."""

    argument: str = ""
    about: ClassVar = "empty: not a model: an empty answer, as the lowest floor."

    def program(self, around: Around) -> Program:
        """Say that no model answers."""
        return Program(name="empty")

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["Empty"]:
        """Open nothing."""
        yield self

    async def complete(self, ask: Ask) -> Completion:
        """Return nothing."""
        return Completion(text="", finish="stop", usage=NOTHING_ASKED, whole=True)
