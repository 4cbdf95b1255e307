"""Trials that have ended, and what an outcome has of a record."""

from datetime import UTC, datetime
from typing import Any

from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial
from swarm_bench.benchmarks.swarm.running.trial import Execution
from swarm_bench.benchmarks.swarm.trial_records import drop_zeros, sum_up
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.records import Measurements


def execution(trial: SwarmTrial, outcome: Outcome, **changes: Any) -> Execution:
    """A trial of which nothing was measured but its end."""
    ended = Measurements(ended_at=datetime(2026, 1, 1, tzinfo=UTC))
    values = {"measured": ended, "prompt": "", "workspace": "/w", "program_version": None}
    return Execution(trial=trial, outcome=outcome, **{**values, **changes})


def figures_of(outcome: Outcome, max_turns: int = 15) -> dict[str, Any]:
    """The figures of its record, by their keys."""
    outcome = drop_zeros(outcome)
    return vars(outcome.reported) | vars(sum_up(outcome, max_turns))
