"""Reads the stored streams of a session again, to see whether its records say what they say."""

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.app.setup.agents import agent_names, needs_argument
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.records.making import spent
from swarm_bench.core import registry
from swarm_bench.core.outcome import AgentExit, StopReason
from swarm_bench.core.ports import Agent
from swarm_bench.core.registry import own_version
from swarm_bench.core.session.audit import FIGURES, Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.scoring.length import lines_of

MOST_BYTES = 32 * 1024 * 1024
"""Of all streams together; about 10 MB are read in a second."""

_STOPPED: dict[Cause, StopReason] = {
    Cause.TIMEOUT: "timeout",
    Cause.OUTPUT_LIMIT: "output-limit",
}


@dataclass(frozen=True, kw_only=True)
class _Stream:
    """What a trial left."""

    trial: TrialRecord
    folder: Path
    size: int

    @property
    def stdout(self) -> Path:
        return self.folder / _files(self.trial)[0]

    @property
    def stderr(self) -> Path:
        return self.folder / _files(self.trial)[1]


def _files(trial: TrialRecord) -> tuple[str, str]:
    return f"agent-{trial.agent}.stream.jsonl", f"agent-{trial.agent}.stderr.log"


def with_streams(
    folder: SessionFolder, data: SessionData, most_bytes: int = MOST_BYTES
) -> SessionData:
    """Add to the session what its streams say, as far as they are read: those of lines that nothing
    vouches for first, and no more than so many bytes. Starts nothing, and loads nothing that a
    session names but a registered agent."""
    experiment, audit = data.experiment, data.audit or Audit()
    if experiment is None:
        return data
    # Of a trial that was run again only the last attempt: the next one's files have its names.
    ran = [trial for trial in Selection(data).trials if trial.wall_seconds is not None]
    streams = list(_streams(folder, experiment, ran))
    audit = replace(audit, lost=len(ran) - len(streams))
    agent = _adapter(experiment)
    if agent is None:
        return replace(data, audit=replace(audit, adapter=False, unread=len(streams)))
    chosen = list(_chosen(streams, audit, most_bytes))
    differing = {stream.trial.key: _differing(agent, experiment, stream) for stream in chosen}
    unreadable = sum(figures is None for figures in differing.values())
    return replace(
        data,
        audit=replace(
            audit,
            differing={key: figures for key, figures in differing.items() if figures},
            streams=len(chosen) - unreadable,
            unreadable=unreadable,
            unread=len(streams) - len(chosen),
        ),
    )


def _adapter(experiment: Experiment) -> Agent | None:
    """Make the registered agent that was measured; `None` for one of the user's own, whose code a
    session must not get loaded."""
    name = experiment.agent.name
    if name not in agent_names() or needs_argument(name):
        return None
    agent: Agent = registry.load("agents", name)()
    return agent


def _streams(
    folder: SessionFolder, experiment: Experiment, trials: Iterable[TrialRecord]
) -> Iterator[_Stream]:
    """Yield those that are there, swarm by swarm: each folder is looked at once."""
    names = {mode.name for mode in experiment.modes}
    for (run, mode), of_swarm in groupby(trials, lambda trial: (trial.run, trial.mode)):
        if mode not in names:
            continue
        artefacts = folder.artefacts(experiment).mode_folder(run, mode)
        sizes = _sizes(artefacts)
        for trial in of_swarm:
            stdout, stderr = map(sizes.get, _files(trial))
            if stdout is not None and stderr is not None:
                yield _Stream(trial=trial, folder=artefacts, size=stdout + stderr)


def _sizes(folder: Path) -> dict[str, int]:
    """Measure the files in a folder, by name; none of one that is not there, or leads
    elsewhere."""
    if folder.resolve() != folder:
        return {}
    with suppress(OSError), os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
        return {file.name: file.stat(follow_symlinks=False).st_size for file in files}
    return {}


def _chosen(streams: list[_Stream], audit: Audit, room: int) -> Iterator[_Stream]:
    """Yield those of lines that are changed or have no checksum first; of the others, whichever a
    hash puts there, the same ones in every report."""
    doubtful = audit.edited | audit.bare

    def rank(stream: _Stream) -> tuple[bool, bytes]:
        return stream.trial.key not in doubtful, sha256(repr(stream.trial.key).encode()).digest()

    for stream in sorted(streams, key=rank):
        if stream.size <= room:
            room -= stream.size
            yield stream


def _differing(agent: Agent, experiment: Experiment, stream: _Stream) -> tuple[str, ...] | None:
    """List the keys of figures that the record has otherwise than the stream, or lacks; `None` when
    the stream cannot be read."""
    trial = stream.trial
    try:
        again = _figures(agent, experiment, stream)
    except (Exception, SystemExit):  # noqa: BLE001  # an adapter may raise anything
        return None
    owed = _owed(experiment, trial)
    return tuple(key for key in FIGURES if _differs(getattr(trial, key), again[key], key in owed))


def _figures(agent: Agent, experiment: Experiment, stream: _Stream) -> dict[str, Any]:
    """Read what the stream says now. Raises whatever the adapter raises."""
    trial = stream.trial
    exit = AgentExit(
        returncode=trial.exit_code,
        stopped=_stopped(trial),
        stdout=stream.stdout,
        stderr=stream.stderr,
        servers=tuple(experiment.mode(trial.mode).servers),
    )
    outcome = agent.outcome(exit)
    figures = vars(spent(outcome, experiment.limits.max_turns))
    return {**figures, "result_lines": lines_of(outcome.text)}


def _owed(experiment: Experiment, trial: TrialRecord) -> frozenset[str]:
    """List the keys of figures that a record has whenever its stream has them. Another version may
    not have read them; the output of a trial that ended for a reason of ours may never have been
    read; and a text that is no answer has no lines."""
    if experiment.versions.get("swarm-bench") != own_version() or is_inconclusive(trial):
        return frozenset()
    answered = trial.cause is Cause.FINISHED
    return frozenset(key for key in FIGURES if answered or key != "result_lines")


def _stopped(trial: TrialRecord) -> StopReason | None:
    if trial.cause is Cause.MAX_TURNS and trial.turns_counted:
        return "turn-limit"
    return _STOPPED.get(trial.cause) if trial.cause else None


def _differs(stored: float | None, again: float | None, owed: bool) -> bool:
    """Compare two figures. What only the record has may come from the agent's home, which is
    gone."""
    if stored is None or again is None:
        return owed and again is not None
    return not math.isclose(stored, again, rel_tol=1e-9)
