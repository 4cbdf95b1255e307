"""Watches an agent's output while it comes: what it does, and whether its turns are used up."""

from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from swarm_bench.core.outcome import Activity, StopReason
from swarm_bench.core.ports import Agent


class Watch:
    """Reads one agent's lines. Keeps the turn budget when the agent's program has none."""

    def __init__(
        self, agent: Agent, turn_limit: int | None, show: Callable[[Activity], None]
    ) -> None:
        self._agent = agent
        self._turn_limit = turn_limit
        self._show = show
        self._turns = 0

    def line(self, line: bytes) -> StopReason | bool | None:
        """Tell why the agent must be stopped after this line, if it must, or else whether its run
        is over, if the line says so."""
        with of_adapter():
            activity = self._agent.activity(line)
        if activity is None:
            return None
        self._show(activity)
        self._turns += activity.turns
        over = self._turn_limit is not None and self._turns >= self._turn_limit
        return "turn-limit" if over else activity.over


@contextmanager
def of_adapter() -> Iterator[None]:
    """Turn what would end the session, or pass for its interruption, into an error of the adapter
    that is called in the block."""
    try:
        yield
    except (SystemExit, CancelledError) as error:
        raise RuntimeError(f"the adapter raised {error!r}") from error
