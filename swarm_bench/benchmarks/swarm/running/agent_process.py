"""An agent's program, whatever it is asked for: started for one trial, watched, stopped with its
tree, and read, also in the files that it leaves in its home."""

import json
import math
import os
from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.benchmarks.swarm.artefacts import STDERR, STDOUT
from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial, build_prompt
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.core.errors import Refused
from swarm_bench.core.events import TrialActive
from swarm_bench.core.outcome import (
    Activity,
    AgentExit,
    AgentRequest,
    Launch,
    Outcome,
    StopReason,
)
from swarm_bench.core.ports import Agent
from swarm_bench.core.status import Cause
from swarm_bench.runtime.files import store_errors, writable
from swarm_bench.runtime.homes import Home
from swarm_bench.runtime.process import Command, ProcessResult, run
from swarm_bench.runtime.sink import Output, clean_text, clean_value, replace_secrets
from swarm_bench.runtime.untrusted import check, read_inside


class AgentProcess:
    """The program of one trial's agent, and what becomes known of it while it runs."""

    def __init__(self, kit: Kit, swarm_context: SwarmContext, trial: SwarmTrial) -> None:
        self.kit = kit
        self.swarm_context = swarm_context
        self.trial = trial
        self.mode = kit.experiment.mode(trial.arm)
        self.prompt = build_prompt(kit.experiment, self.mode, trial.case)
        self.tag = f"{kit.experiment.session}/{trial.id}"
        self.home = Home(path=kit.work / "homes" / trial.id)
        self.stdout = kit.artefacts.agent_file(trial, STDOUT)
        self.stderr = kit.artefacts.agent_file(trial, STDERR)
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.seconds: float | None = None
        """`None` when no process ran."""
        self.launch: Launch | None = None
        self.result: ProcessResult | None = None
        """Result of the process; `None` when its end was not observed."""

    async def run_program(self, timeout: float) -> None:
        """Run it to its end or to `timeout` seconds. Raises `ProcessLost` when it cannot be
        started, and whatever the adapter raises."""
        kit = self.kit
        self.home.make()
        kit.artefacts.make_room(self.trial)
        request = self._build_request()
        with wrap_adapter_errors():
            launch = kit.agent.launch(request)
        command = Command(
            argv=launch.argv,
            cwd=self.swarm_context.site.workspace,
            env=kit.build_agent_environment(launch, self.home),
            tag=self.tag,
            stop_signal=launch.stop_signal,
        )
        self.launch = launch
        program = ProgramRun(
            agent=kit.agent,
            launch=launch,
            command=command,
            limit=kit.experiment.limits.output_bytes,
            make_exit=self.make_exit,
            reader_limiter=kit.reader_limiter,
            show=self._show,
        )
        start_time = anyio.current_time()
        try:
            self.result = await program.run_to_end(timeout)
        finally:
            self.ended_at = datetime.now(UTC)
            self.seconds = anyio.current_time() - start_time
            if self.result is not None and self.result.seconds is not None:
                late = self.seconds - self.result.seconds
                self.seconds = self.result.seconds
                if self.result.stopped == "answered":
                    self.ended_at -= timedelta(seconds=late)

    def make_exit(self, returncode: int | None, stopped: StopReason | None) -> AgentExit:
        """Make what its adapter reads of it."""
        return AgentExit(
            returncode=returncode,
            stopped=stopped,
            stdout=self.stdout,
            stderr=self.stderr,
            home=self.home.path,
            secrets=self.kit.secrets,
            servers=tuple(self.mode.servers),
            started=self.started_at,
            files=self.kit.snapshot.files,
        )

    def _build_request(self) -> AgentRequest:
        kit, experiment, site = self.kit, self.kit.experiment, self.swarm_context.site
        config = self.home.path / "mcp.json"
        write_servers(config, site.servers)
        return AgentRequest(
            prompt=self.prompt,
            instructions=self.mode.instructions,
            workspace=site.workspace,
            home=self.home.path,
            mcp_config=config,
            max_turns=experiment.limits.max_turns,
            model=experiment.model,
            seed=experiment.seed,
            arguments=experiment.agent_args,
            inherit_settings=experiment.inherit_settings,
            rehearsal=kit.rehearsal.for_trial(self.trial.id) if kit.rehearsal else None,
            start_seconds=self.mode.start_seconds,
            trial=self.trial.id,
            program=experiment.agent.path,
            environment=kit.tools.variables,
        )

    def _show(self, activity: Activity) -> None:
        run, arm, number = self.trial.run, self.trial.arm, self.trial.number
        cleaned_activity = clean_value(activity, self.kit.secrets)
        self.kit.emit(TrialActive(run=run, arm=arm, number=number, activity=cleaned_activity))


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
    """Number of threads that read at a time: the loop must not be blocked."""
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
        read = partial(read_outcome, self.agent, self.make_exit(result.returncode, result.stopped))
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


STAYED = "It had answered and did not end, so it was ended"
"""The detail of an answer of such a program."""


@wrap_adapter_errors()
def read_outcome(agent: Agent, exit: AgentExit) -> Outcome:
    """Have the adapter read what an agent left, without the secrets of `exit`. An agent can replace
    its output by something else: that is not opened. What had answered and was ended then counts as
    if it had ended by itself. Raises what the adapter raises, and `ValueError` for impossible
    figures. To be called in a thread: what a hostile agent printed takes its time."""
    stayed = exit.stopped == "answered"
    if stayed:
        exit = replace(exit, returncode=0, stopped=None)
    try:
        check(exit.stdout)
        check(exit.stderr)
    except OSError as error:
        detail = f"Its output is not what it printed: {error}"
        return Outcome(cause=Cause.UNREADABLE_OUTPUT, detail=detail)
    try:
        outcome = clean_value(agent.outcome(exit), exit.secrets)
    except Refused as error:
        return Outcome(cause=Cause.UNREADABLE_OUTPUT, detail=str(error))
    for part in (outcome, outcome.usage, outcome.all_in):
        for name, figure in vars(part).items():
            if isinstance(figure, int | float) and not 0 <= figure < math.inf:
                raise ValueError(f"the adapter gave {figure} as {name}")
    if stayed and outcome.cause is Cause.FINISHED:
        return replace(outcome, detail=outcome.detail or STAYED)
    return outcome


def write_servers(config: Path, servers: dict[str, Any]) -> None:
    """Write the MCP servers of an agent."""
    content = json.dumps({"mcpServers": servers}, indent=2).encode("utf-8", "replace")
    with store_errors(config), writable(config, "wb") as file:
        file.write(content)  # it goes with the home: nothing waits for the disk


MOST_BYTES = 64 * 1024 * 1024
"""Most bytes of all files that an agent wrote for its adapter; the rest is cut off."""
MOST_FILES = 100


def read_home_files(
    home: Path, launch: Launch | None, secrets: Collection[str]
) -> dict[str, bytes]:
    """Read the files that a program left for its adapter, without secrets. One with a secret in its
    name is omitted."""
    contents, room = dict[str, bytes](), MOST_BYTES
    for inner in islice(_find_files(home, launch.leaves if launch else ()), MOST_FILES):
        data = read_inside(home, inner, room)
        if data is not None and clean_text(inner, secrets) == inner:
            contents[inner] = replace_secrets(data, secrets)[:room]
            room -= len(contents[inner])
    return contents


def _find_files(home: Path, leaves: Iterable[str]) -> Iterator[str]:
    """Yield the files below the home that are named by their path, or by a pattern."""
    for name in dict.fromkeys(leaves):
        if os.path.lexists(home / name):
            yield name
        else:
            yield from sorted(str(path.relative_to(home)) for path in home.glob(name))
