"""The model `reference`: says what the data set has as the answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from swarm_bench.core.errors import ModelFailed
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.status import Cause

NOTHING_ASKED = Usage(input=0, cache_read=0, cache_create=0, output=0)
"""Usage of a source that is no model."""


class Offline:
    """What is true of every source that asks no server."""

    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar[tuple[str, ...]] = ()
    address: ClassVar[None] = None
    free: ClassVar = True
    sampled: ClassVar = False
    repeats: ClassVar = True


@dataclass(frozen=True)
class Reference(Offline):
    """No model: a check that the answers of the data set pass."""

    argument: str = ""
    about: ClassVar = "reference: not a model: the answer that the data set has."

    def program(self, around: Around) -> Program:
        """Say that no model answers."""
        return Program(name="reference")

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["Reference"]:
        """Open nothing."""
        yield self

    async def complete(self, ask: Ask) -> Completion:
        """Return the answer of the data set."""
        if ask.reference is None:
            raise ModelFailed("The data set has no answer to this case", Cause.ERROR_RESULT)
        return Completion(text=ask.reference, finish="stop", usage=NOTHING_ASKED, whole=True)
