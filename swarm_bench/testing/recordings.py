"""Makes a recording by hand, from what an agent program once printed: a whole experiment can be run
on it with `--agent replay:DIR`, without the program."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.core.outcome import StopReason
from swarm_bench.core.session.designs import BENCHMARK, COMPARE
from swarm_bench.core.session.experiment import (
    Experiment,
    Limits,
    Mode,
    Program,
    Repository,
    Task,
    stable_id,
)
from swarm_bench.core.session.recording import (
    RECORDING,
    TRIALS,
    RecordedTrial,
    Recording,
    stream_path,
)
from swarm_bench.core.status import Cause
from swarm_bench.runtime.files import append_line, write_whole

WORKSPACE = "/workspace"
"""Path at which the agents of a hand-made recording saw their repository."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The output of an agent, and how it ended."""

    stdout: bytes
    stderr: bytes = b""
    returncode: int | None = 0
    stopped: StopReason | None = None
    wall_seconds: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Side:
    """A mode, with an agent for every sample; all modes must have equally many."""

    samples: Sequence[Sample]
    servers: tuple[str, ...] = ()
    """Names of the MCP servers that the mode gives."""


def make_recording(
    folder: Path,
    agent: str,
    sides: Mapping[str, Side],
    *,
    files: Sequence[str] = (),
    max_turns: int = 15,
) -> Path:
    """Write a recording of one run into `folder`, and give the folder back.

    `agent` is the registered name of the adapter that reads the samples, `files` are the paths that
    the agents could see. Raises `ValueError` when the modes have not equally many samples.
    """
    experiment = _experiment(agent, sides, max_turns)
    recording = Recording(
        swarm_bench="made by hand", adapter=agent, experiment=experiment, files=tuple(files)
    )
    write_whole(folder / RECORDING, recording.model_dump_json(indent=1) + "\n")
    for mode, side in sides.items():
        for number, sample in enumerate(side.samples, start=1):
            _write(folder, mode, number, experiment.tasks[number - 1], sample)
    return folder


def _experiment(agent: str, sides: Mapping[str, Side], max_turns: int) -> Experiment:
    numbers = {len(side.samples) for side in sides.values()}
    if len(numbers) != 1 or 0 in numbers:
        raise ValueError("every mode needs equally many samples, and at least one")
    (agents,) = numbers
    modes = tuple(
        Mode(name=name, source=f"{name}.json", servers={server: {} for server in side.servers})
        for name, side in sides.items()
    )
    return Experiment(
        session="made-by-hand",
        created_at=datetime.now(UTC),
        benchmark=BENCHMARK,
        design=COMPARE,
        repository=Repository(path=WORKSPACE, kind="folder", tree="0" * 40, files=0, bytes=0),
        modes=modes,
        suite="samples",
        tasks=tuple(
            Task(id=f"sample-{number}", title=f"Sample {number}", prompt=f"Sample {number}")
            for number in range(1, agents + 1)
        ),
        agent=Program(name=agent),
        agents=agents,
        concurrency=agents,
        runs=1,
        limits=Limits(max_turns=max_turns, timeout=900, index_timeout=600),
        seed=0,
        order=(tuple(sides),),
        retrieval={
            name: Program(name=", ".join(side.servers))
            for name, side in sides.items()
            if side.servers
        },
    )


def _write(folder: Path, mode: str, agent: int, task: Task, sample: Sample) -> None:
    trial = stable_id(1, mode, agent, task.id)
    write_whole(stream_path(folder, trial, "stdout"), sample.stdout)
    write_whole(stream_path(folder, trial, "stderr"), sample.stderr)
    line = RecordedTrial(
        trial=trial,
        run=1,
        mode=mode,
        agent=agent,
        task_id=task.id,
        prompt_sha256=hashlib.sha256(task.prompt.encode()).hexdigest(),
        workspace=WORKSPACE,
        cause=Cause.FINISHED,
        ran=True,
        returncode=sample.returncode,
        exit_code=sample.returncode,
        stopped=sample.stopped,
        stdout_bytes=len(sample.stdout),
        stderr_bytes=len(sample.stderr),
        wall_seconds=sample.wall_seconds,
    )
    append_line(folder / TRIALS, line.model_dump_json())
