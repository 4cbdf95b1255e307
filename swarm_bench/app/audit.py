"""Reads the streams that the agents of a session left with its adapter again, to see whether the
records say what they say."""

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
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.trial_records import settle_outcome, sum_up
from swarm_bench.core import entry_points
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.outcome import AgentExit, Outcome, StopReason
from swarm_bench.core.ports import Agent, TakesArgument
from swarm_bench.core.session.audit import FIGURES, Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.scoring.form import lines_of

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
    if not entry_points.is_registered("agents", name):
        return None
    factory = entry_points.load("agents", name)
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
    agent: Agent,
    experiment: Experiment,
    stream: Stream,
    files: frozenset[str] | None = None,
    *,
    with_conversation: bool = False,
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
        with_conversation=with_conversation,
    )
    return agent.outcome(exit)


def _find_stop_reason(trial: TrialRecord) -> StopReason | None:
    if trial.cause is Cause.MAX_TURNS and trial.turns_counted:
        return "turn-limit"
    return _STOP_REASONS.get(trial.cause) if trial.cause else None


MOST_BYTES = 32 * 1024 * 1024
"""Bytes of all streams that are read; about 10 MB are read in a second."""


def audit_streams(
    folder: SessionFolder, data: SessionData, most_bytes: int = MOST_BYTES
) -> SessionData:
    """Add to the session what its streams say, as far as they are read: those of lines that nothing
    vouches for first, and no more than so many bytes. Starts nothing, and loads nothing that a
    session names but a registered agent."""
    experiment, audit = data.experiment, data.audit or Audit()
    # Of a trial that was run again only the last attempt: the next one's files have its names.
    ran = [trial for trial in Selection(data).trials if trial.wall_seconds is not None]
    streams = list(find_streams(folder, experiment, ran))
    audit = replace(audit, lost_streams=len(ran) - len(streams))
    agent = load_adapter(experiment)
    if agent is None:
        return replace(data, audit=replace(audit, adapter=False, unread=len(streams)))
    selected = list(_select_streams(streams, audit, most_bytes))
    differing = {
        stream.trial.key: _find_differences(agent, experiment, stream) for stream in selected
    }
    unreadable = sum(figures is None for figures in differing.values())
    return replace(
        data,
        audit=replace(
            audit,
            differing={key: figures for key, figures in differing.items() if figures},
            streams=len(selected) - unreadable,
            unreadable=unreadable,
            unread=len(streams) - len(selected),
        ),
    )


def _select_streams(streams: list[Stream], audit: Audit, room: int) -> Iterator[Stream]:
    """Yield those of lines that are changed or have no checksum first; of the others, whichever a
    hash puts there, the same ones in every report."""
    doubtful = audit.edited | audit.without_checksum

    def rank(stream: Stream) -> tuple[bool, bytes]:
        return stream.trial.key not in doubtful, sha256(repr(stream.trial.key).encode()).digest()

    for stream in sorted(streams, key=rank):
        if stream.size <= room:
            room -= stream.size
            yield stream


def _find_differences(
    agent: Agent, experiment: Experiment, stream: Stream
) -> tuple[str, ...] | None:
    """List the keys of figures that the record has otherwise than the stream, or lacks; `None` when
    the stream cannot be read."""
    trial = stream.trial
    try:
        reread = _read_figures(agent, experiment, stream)
    except (Exception, SystemExit):  # noqa: BLE001  # an adapter may raise anything
        return None
    required = _list_required_keys(experiment, trial)
    return tuple(
        key for key in FIGURES if _differs(getattr(trial, key), reread[key], key in required)
    )


def _read_figures(agent: Agent, experiment: Experiment, stream: Stream) -> dict[str, Any]:
    """Read what the stream says now. Raises whatever the adapter raises."""
    outcome = settle_outcome(experiment, read_outcome(agent, experiment, stream))
    figures = vars(outcome.reported) | vars(sum_up(outcome, experiment.limits.max_turns))
    return {**figures, "result_lines": lines_of(outcome.text)}


def _list_required_keys(experiment: Experiment, trial: TrialRecord) -> frozenset[str]:
    """List the keys of figures that a record has whenever its stream has them. Another version may
    not have read them; the output of a trial that ended for a reason of ours may never have been
    read; and a text that is no answer has no lines."""
    if experiment.versions.get("swarm-bench") != own_version() or is_inconclusive(trial):
        return frozenset()
    has_answer = trial.cause is Cause.FINISHED
    return frozenset(key for key in FIGURES if has_answer or key != "result_lines")


def _differs(stored_value: float | None, reread_value: float | None, is_required: bool) -> bool:
    """Compare two figures. What only the record has may come from the agent's home, which is
    gone."""
    if stored_value is None or reread_value is None:
        return is_required and reread_value is not None
    return not math.isclose(stored_value, reread_value, rel_tol=1e-9)
