"""Reads the stored streams of a session again, to see whether its records say what they say."""

import math
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.app.streams import Stream, find_streams, load_adapter, read_outcome
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.records.making import settle_outcome, sum_up
from swarm_bench.core.ports import Agent
from swarm_bench.core.registry import own_version
from swarm_bench.core.session.audit import FIGURES, Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.scoring.length import lines_of

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
