"""What a session says of a trial, and formats of other programs have no key for."""

from typing import Any

from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.exported import ExportedSession, ExportedTrial
from swarm_bench.core.report.standing import export_caveats
from swarm_bench.reports.formats.json_values import drop_missing

_ROW = (
    *("arm", "case", "run", "number", "trial", "attempt", "status", "cause", "detail"),
    *("started_at", "ended_at", "counts", "compares", "in_verdict", "part", "score"),
)
"""Columns of the table of trials that a trial has in every format."""


def list_trial_facts(session: ExportedSession, trial: ExportedTrial) -> dict[str, Any]:
    """List them under the names that the table of trials and the records have, `mode` with them;
    without what is missing."""
    return drop_missing(
        {
            "session": session.id,
            "benchmark": session.benchmark,
            "swarm_bench": session.version,
            **{name: trial.row.get(name) for name in _ROW},
            "scores": dict(trial.scores) or None,
            "cost": trial.cost,
            "billed": trial.is_billed if trial.cost is not None else None,
            "transcript": trial.transcript,
            **trial.extra,
            **describe_arm(session, str(trial.row["arm"])),
        }
    )


def describe_arm(session: ExportedSession, arm: str) -> dict[str, Any]:
    """List what the headline says of an arm, and what stands against its figures."""
    caveats = export_caveats({arm: session.caveats.get(arm, ())})
    return drop_missing({"verdict": session.verdicts.get(arm), "caveats": caveats or None})


def count_prompt_tokens(usage: Usage) -> int | None:
    """Add up what was sent, cached or not; `None` unless all of it is known."""
    return total((usage.input, usage.cache_create, usage.cache_read))


def list_scores(session: ExportedSession, trial: ExportedTrial) -> dict[str, Any]:
    """List the scores of a trial, that of the table under its title; without what is missing."""
    score = {session.score_title: trial.row.get("score")} if session.score_title else {}
    return drop_missing({**trial.scores, **score})
