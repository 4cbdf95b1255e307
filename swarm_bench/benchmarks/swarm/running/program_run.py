"""How an agent's program is started, watched and read, whatever it is asked for."""

import json
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.benchmarks.swarm.records.making import read_outcome
from swarm_bench.core.outcome import Activity, AgentExit, Launch, Outcome, StopReason
from swarm_bench.core.ports import Agent
from swarm_bench.core.status import Cause
from swarm_bench.runtime.files import store_errors, writable
from swarm_bench.runtime.process import Command, ProcessResult, run
from swarm_bench.runtime.sink import Output


class OutputWatcher:
    """Reads one agent's lines. Keeps the turn budget when the agent's program has none."""

    def __init__(
        self, agent: Agent, turn_limit: int | None, show: Callable[[Activity], None]
    ) -> None:
        self._agent = agent
        self._turn_limit = turn_limit
        self._show = show
        self._turns = 0

    def read_line(self, line: bytes) -> StopReason | bool | None:
        """Tell why the agent must be stopped after this line, if it must, or else whether its run
        is over, if the line says so."""
        with wrap_adapter_errors():
            activity = self._agent.activity(line)
        if activity is None:
            return None
        self._show(activity)
        self._turns += activity.turns
        over = self._turn_limit is not None and self._turns >= self._turn_limit
        return "turn-limit" if over else activity.over


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """One run of an agent's program."""

    agent: Agent
    launch: Launch
    command: Command
    limit: int
    """Bytes of what it may print."""
    make_exit: Callable[[int | None, StopReason | None], AgentExit]
    """Makes what is read of the exit code, and of why it was stopped."""
    reader_limiter: anyio.CapacityLimiter
    """How many threads read at a time: the loop must go on."""
    show: Callable[[Activity], None] = lambda activity: None

    async def run_to_end(self, timeout: float) -> ProcessResult:
        """Run it to its end or to `timeout` seconds. Raises `ProcessLost` when it cannot be
        started."""
        exit = self.make_exit(None, "answered")
        output = Output(
            stdout=exit.stdout,
            stderr=exit.stderr,
            limit=self.limit,
            on_line=OutputWatcher(self.agent, self.launch.turn_limit, self.show).read_line,
            secrets=exit.secrets,
            settled=self._is_over,
        )
        return await run(self.command, output=output, timeout=timeout)

    async def read(self, result: ProcessResult) -> Outcome:
        """Read what it left, in a thread: what a hostile agent printed takes its time."""
        read = partial(read_exit, self.agent, self.make_exit(result.returncode, result.stopped))
        return await anyio.to_thread.run_sync(read, limiter=self.reader_limiter)

    async def _is_over(self) -> bool:
        """Tell whether what it printed so far has its final result in it."""
        outcome = await self.read(ProcessResult(returncode=None, stopped="answered"))
        return outcome.payload is not None and outcome.cause is not Cause.UNREADABLE_OUTPUT


@contextmanager
def wrap_adapter_errors() -> Iterator[None]:
    """Turn what would end the session, or pass for its interruption, into an error of the adapter
    that is called in the block."""
    try:
        yield
    except (SystemExit, CancelledError) as error:
        raise RuntimeError(f"the adapter raised {error!r}") from error


def read_exit(agent: Agent, exit: AgentExit) -> Outcome:
    """Read what a program left. To be called in a thread."""
    with wrap_adapter_errors():
        return read_outcome(agent, exit)


def write_servers(config: Path, servers: dict[str, Any]) -> None:
    """Write the MCP servers of an agent."""
    content = json.dumps({"mcpServers": servers}, indent=2).encode("utf-8", "replace")
    with store_errors(config), writable(config, "wb") as file:
        file.write(content)  # it goes with the home: nothing waits for the disk
