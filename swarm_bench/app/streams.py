"""The streams that the agents of a session left, and what its adapter reads in them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core import registry
from swarm_bench.core.outcome import AgentExit, Outcome, StopReason
from swarm_bench.core.ports import Agent, TakesArgument
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause, Status

_STOP_REASONS: dict[Cause, StopReason] = {
    Cause.TIMEOUT: "timeout",
    Cause.OUTPUT_LIMIT: "output-limit",
}

_BY_ITSELF = (Status.COMPLETED, Status.AGENT_FAILED, Status.PROVIDER_LIMITED)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Output that the agent of a trial left."""

    trial: TrialRecord
    folder: Path
    size: int

    @property
    def stdout(self) -> Path:
        return self.folder / _name_files(self.trial)[0]

    @property
    def stderr(self) -> Path:
        return self.folder / _name_files(self.trial)[1]


def _name_files(trial: TrialRecord) -> tuple[str, str]:
    return f"agent-{trial.agent}.stream.jsonl", f"agent-{trial.agent}.stderr.log"


def load_adapter(experiment: Experiment) -> Agent | None:
    """Make the registered agent that was measured; `None` for one of the user's own, whose code a
    session must not get loaded."""
    name = experiment.agent.name
    if not registry.is_registered("agents", name):
        return None
    factory = registry.load("agents", name)
    agent: Agent | None = (
        None if isinstance(factory, TakesArgument) and factory.argument else factory()
    )
    return agent


def find_streams(
    folder: SessionFolder, experiment: Experiment, trials: Iterable[TrialRecord]
) -> Iterator[Stream]:
    """Yield those that are there, swarm by swarm: each folder is looked at once."""
    names = {mode.name for mode in experiment.modes}
    for (run, mode), of_swarm in groupby(trials, lambda trial: (trial.run, trial.mode)):
        if mode not in names:
            continue
        artefacts = folder.artefacts(experiment).mode_folder(run, mode)
        sizes = _measure_files(artefacts)
        for trial in of_swarm:
            stdout, stderr = map(sizes.get, _name_files(trial))
            if stdout is not None and stderr is not None:
                yield Stream(trial=trial, folder=artefacts, size=stdout + stderr)


def _measure_files(folder: Path) -> dict[str, int]:
    """Measure the files in a folder, by name; none of one that is not there, or leads
    elsewhere."""
    if folder.resolve() != folder:
        return {}
    with suppress(OSError), os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
        return {file.name: file.stat(follow_symlinks=False).st_size for file in files}
    return {}


def read_outcome(
    agent: Agent, experiment: Experiment, stream: Stream, files: frozenset[str] | None = None
) -> Outcome:
    """Read what the stream says now: what tools showed of `files`, or the figures only. Raises
    whatever the adapter raises."""
    trial = stream.trial
    # The exit code of a program that had answered and was ended then is not stored.
    stayed = trial.exit_code is None and trial.status in _BY_ITSELF
    exit = AgentExit(
        returncode=0 if stayed else trial.exit_code,
        stopped=_find_stop_reason(trial),
        stdout=stream.stdout,
        stderr=stream.stderr,
        servers=tuple(experiment.mode(trial.mode).servers),
        started=trial.started_at,
        files=files or frozenset(),
        figures_only=files is None,
    )
    return agent.outcome(exit)


def _find_stop_reason(trial: TrialRecord) -> StopReason | None:
    if trial.cause is Cause.MAX_TURNS and trial.turns_counted:
        return "turn-limit"
    return _STOP_REASONS.get(trial.cause) if trial.cause else None
