"""Starts the rehearsal server beside a session, and asks it what it saw."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one agent's program asked of the server."""

    requests: int
    """Requests for an answer, without those to count tokens."""
    faults: int
    """Requests that were answered with a fault."""
    request_tokens: int | None
    """Tokens of the first request that offered tools; `None` when there was none."""
    tools: Mapping[str, int]
    """Every tool that was offered in any request, as the model sees its name, with the tokens of
    its description."""


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A rehearsal server that answers."""

    url: str

    def for_trial(self, trial: str) -> str:
        """The address that one agent is given; what it asks is counted under it."""
        return f"{self.url}/trial/{trial}"

    async def seen(self, trial: str) -> Seen | None:
        """What the agent asked so far; `None` when it never asked, or the server is gone."""
        raise NotImplementedError


@asynccontextmanager
async def started_rehearsal(
    env: Mapping[str, str], faults: Sequence[str], log: Path
) -> AsyncIterator[Rehearsal]:
    """A server on a free port of the loopback interface for the block; its output goes to `log`.

    Raises `HarnessError` when it does not come up, `UsageError` for a fault that is not one.
    """
    raise NotImplementedError
    yield Rehearsal(url="")
