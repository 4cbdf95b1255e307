"""Asks an agent program in the place of a model: one run of it for each request. It may have read
the answers of its data set: then its run names what holds them."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from shutil import which
from uuid import uuid4

import anyio

from swarm_bench.benchmarks.cases.running import digest
from swarm_bench.benchmarks.swarm.running.agent_process import (
    ProgramRun,
    read_home_files,
    wrap_adapter_errors,
    write_servers,
)
from swarm_bench.benchmarks.swarm.trial_records import drop_zeros
from swarm_bench.core.errors import ProcessLost, StoreError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, StopReason
from swarm_bench.core.ports import Agent
from swarm_bench.core.roles.language_model import Around, Ask, Completion
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.status import Cause
from swarm_bench.environments.files import is_inside
from swarm_bench.environments.folders import SHIPPED
from swarm_bench.environments.local import Hiding
from swarm_bench.models.rehearsal.launch import Rehearsal
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import copy_whole, make_folder, remove
from swarm_bench.runtime.homes import Home, add_home_variables
from swarm_bench.runtime.process import Command, ProcessResult
from swarm_bench.runtime.untrusted import read

_OUTPUT_BYTES = 64 * 1024 * 1024
_TRANSCRIPT = re.compile(r"[0-9a-f]{12}-case-(\d+)-run-(\d+)\.txt")
_ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}


def is_transcript(file: PurePosixPath, run: int, numbers: Collection[int]) -> bool:
    """Tell whether what an agent printed in a run, asked one of the cases of these numbers, is
    stored under that name, below the folder of all transcripts."""
    match = _TRANSCRIPT.fullmatch(file.name)
    is_named_so = match is not None and int(match[1]) in numbers and int(match[2]) == run
    return len(file.parts) == 2 and is_named_so


@dataclass(frozen=True, kw_only=True)
class AgentSetup:
    """Environment in which an agent is asked, and the settings for it."""

    folder: Path
    """Our own; it goes away."""
    model_context: Around = field(repr=False)
    program: str | None
    """Path of the program."""
    model: str | None
    hiding: Hiding | None
    """Hides the answers, and what others are asked; `None` where nothing can."""
    answers: tuple[Path, ...]
    """Files and folders that hold the answers."""
    secrets: tuple[str, ...] = field(repr=False)
    rehearsal: Rehearsal | None = None
    transcript_folder: Path | None = None
    """The folder for what it prints; `None` where nothing is stored."""


class AgentModel:
    """An agent that answers requests."""

    def __init__(self, agent: Agent, setup: AgentSetup) -> None:
        self._agent, self._setup = agent, setup
        self._numbers = count(1)
        self._reader_limiter = anyio.CapacityLimiter(2)

    async def complete(self, ask: Ask) -> Completion:
        """Run it once. Raises whatever its adapter raises."""
        folder = self._setup.folder / str(next(self._numbers))
        home = Home(path=folder / "home")
        try:
            home.make()
            workspace = _make_workspace(folder / "files", ask)
            return await self._run(ask, folder, home, workspace)
        finally:
            with anyio.CancelScope(shield=True):
                home.remove()
                with suppress(StoreError):  # an answer is worth more than how it came
                    await anyio.to_thread.run_sync(self._store_transcript, ask, folder / "stdout")
                with suppress(StoreError):  # it goes with the rest
                    await anyio.to_thread.run_sync(remove, folder)

    def _store_transcript(self, ask: Ask, printed: Path) -> None:
        """Store what the program printed; the record has the beginning of the name, too."""
        folder = self._setup.transcript_folder
        if folder is not None and printed.exists():
            make_folder(folder)
            name = f"{digest(ask)[:12]}-case-{ask.number}-run-{ask.run}.txt"
            copy_whole(printed, folder / name)

    async def _run(self, ask: Ask, folder: Path, home: Home, workspace: Path) -> Completion:
        setup, trial, prompt = self._setup, uuid4().hex, write_prompt(ask)
        started_at = datetime.now(UTC)
        with wrap_adapter_errors():
            launch = self._agent.launch(self._make_request(ask, prompt, workspace, home, trial))

        def make_exit(returncode: int | None, stopped: StopReason | None) -> AgentExit:
            return AgentExit(
                returncode=returncode,
                stopped=stopped,
                stdout=folder / "stdout",
                stderr=folder / "stderr",
                home=home.path,
                secrets=setup.secrets,
                started=started_at,
                files=frozenset(ask.files),
            )

        run = ProgramRun(
            agent=self._agent,
            launch=launch,
            command=self._make_command(launch, home, workspace, f"agent-{trial}"),
            limit=_OUTPUT_BYTES,
            make_exit=make_exit,
            reader_limiter=self._reader_limiter,
        )
        try:
            result = await run.run_to_end(setup.model_context.timeout)
        except ProcessLost as error:
            outcome = Outcome(cause=Cause.NOT_STARTED, detail=str(error))
            return self._make_completion(outcome, ProcessResult(returncode=None, stopped=None), ())
        outcome = await run.read(result)
        named_by = partial(find_named_answers, are_hidden=setup.hiding is not None)
        named_paths = await anyio.to_thread.run_sync(
            named_by, make_exit(None, None), launch, outcome, prompt, setup.answers
        )
        return self._make_completion(outcome, result, named_paths)

    def _make_request(
        self, ask: Ask, prompt: str, workspace: Path, home: Home, trial: str
    ) -> AgentRequest:
        setup = self._setup
        config = home.path / "mcp.json"
        write_servers(config, {})
        return AgentRequest(
            prompt=prompt,
            workspace=workspace,
            home=home.path,
            mcp_config=config,
            max_turns=setup.model_context.max_turns,
            model=setup.model,
            seed=ask.seed or 0,
            rehearsal=setup.rehearsal.for_trial(trial) if setup.rehearsal else None,
            trial=f"{ask.case}/{ask.run}",
            program=setup.program,
            environment=setup.model_context.variables,
        )

    def _make_command(self, launch: Launch, home: Home, workspace: Path, tag: str) -> Command:
        user = small_environment(self._setup.model_context.variables, launch.inherit)
        env = {**user, **add_home_variables(home.variables, launch.env)}
        argv, hiding = launch.argv, self._setup.hiding
        if hiding is not None and which(argv[0], path=env.get("PATH", os.defpath)):
            argv = hiding.wrap(argv, home.path.parent)
        return Command(argv=argv, cwd=workspace, env=env, tag=tag, stop_signal=launch.stop_signal)

    def _make_completion(
        self, outcome: Outcome, result: ProcessResult, named_paths: tuple[str, ...]
    ) -> Completion:
        outcome = drop_zeros(outcome)
        reliable = not outcome.cost_unreliable
        return Completion(
            text=outcome.text or "",
            finish="stop" if outcome.cause is Cause.FINISHED else None,
            usage=outcome.usage,
            requests=None if outcome.retries is None else 1 + outcome.retries,
            seconds=result.seconds,
            model=self._setup.model if self._is_rehearsed else outcome.model or self._setup.model,
            cause=outcome.cause,
            detail=outcome.detail,
            cost=outcome.cost if reliable else None,
            cost_estimated=outcome.cost_estimated if reliable else None,
            turns=outcome.turns,
            answers_read=named_paths,
        )

    @property
    def _is_rehearsed(self) -> bool:
        return self._setup.model == REHEARSAL


def write_prompt(ask: Ask) -> str:
    """Return a conversation in one text, which is all that an agent is started with."""
    if isinstance(ask.prompt, tuple) and any(turn.role == "assistant" for turn in ask.prompt):
        return "\n\n".join(f"{_ROLES[turn.role]}:\n{turn.text}" for turn in ask.prompt)
    return "\n\n".join(ask.texts)


def _make_workspace(folder: Path, ask: Ask) -> Path:
    """Write the files of a case. Raises `ValueError` for one that would lie elsewhere."""
    folder.mkdir()
    for name, text in ask.files.items():
        if not is_inside(name):
            raise ValueError(f"{name!r} is no path of a file below the folder")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogatepass"))
    return folder


_ALWAYS = (SHIPPED, SHIPPED.replace("/", "."), "swarm-bench datasets", "swarm_bench datasets")
"""Paths that belong to every swarm-bench, wherever it is installed."""


_IN_MEMORY = "tmpfs"
"""Word in a line on one of the mounts that hide answers, as `df`, `mount` and `ps` print it."""
_LINE_END = re.compile(r"\n|\\n")
"""End of a line, also within JSON."""


def find_named_answers(
    exit: AgentExit,
    launch: Launch,
    outcome: Outcome,
    prompt: str,
    answers: Iterable[Path],
    *,
    are_hidden: bool,
) -> tuple[str, ...]:
    """List what is named in the transcript of an agent, in its log, or in the calls of its tools,
    of the paths that hold answers, unless the prompt names it. Where they are hidden, lines on
    mounts do not count. To be called in a thread."""
    sought = [*_ALWAYS, *_find_names(answers, exit.files)]
    sought = [name for name in dict.fromkeys(sought) if name not in prompt]
    texts = [*_read_transcript(exit, launch), *_list_calls(outcome)]
    if are_hidden:
        texts = [line for text in texts for line in _LINE_END.split(text) if _IN_MEMORY not in line]
    return tuple(name for name in sought if any(_names_it(name, text) for text in texts))


def _find_names(answers: Iterable[Path], case_files: Iterable[str]) -> Iterator[str]:
    """Yield how they can be named. What a file of the case is called too says nothing."""
    file_names = {Path(name).name for name in case_files}
    for path in answers:
        yield str(path)
        yield from _name_shipped(path)
        if path.suffix and path.name not in file_names and not path.name.startswith("."):
            yield path.name


def _name_shipped(path: Path) -> Iterator[str]:
    """Yield the names of the shipped data sets for a process whose folder is theirs."""
    if path.as_posix().endswith(SHIPPED):
        for file in path.glob("*/*"):
            yield f"{path.name}/{file.parent.name}"
            yield f"{file.parent.name}/{file.name}"


def _read_transcript(exit: AgentExit, launch: Launch) -> Iterator[str]:
    for path in (exit.stdout, exit.stderr):
        with suppress(OSError):
            yield read(path).decode(errors="replace").replace("\\/", "/")
    if exit.home is not None:
        for content in read_home_files(exit.home, launch, exit.secrets).values():
            yield content.decode(errors="replace").replace("\\/", "/")


def _list_calls(outcome: Outcome) -> Iterator[str]:
    yield from outcome.commands or ()
    yield from outcome.paths or ()
    for retrieved in outcome.retrieved or ():
        yield from retrieved.mentions


def _names_it(name: str, text: str) -> bool:
    return name in text or json.dumps(name)[1:-1] in text
