"""The lines of a gate in all cases, from the figures of two modes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from swarm_bench.analysis.documents.gate import make_document
from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.document import Answer, Answers
from swarm_bench.core.report.gate import Bound, Kind
from swarm_bench.core.session.records import TrialRecord
from tests.analysis.sentences.test_verdict_lines import (
    MOST_NUMBERS,
    MOST_WORDS,
    RULES,
    WOBBLE,
    written,
)
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.sessions import make_failed, make_session, make_trial

RATIO = {Kind.MAX_RATIO: ["effective_tokens=1.05"]}
RECALL = {Kind.MIN: ["recall=0.6"]}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A limit on a mode that spends so much, and finds so much, against a baseline of 1 and 0.7."""

    typed: Mapping[Kind, list[str]]
    bound: Bound = Bound.ESTIMATE
    spends: float = 0.7
    noise: float = 0.3
    finds: float = 0.8
    swings: float = 0.1
    tasks: int = 36
    lost: int = 0
    """Trials of the mode that the harness lost."""
    keys: bool = True
    trial: Mapping[str, Any] = field(default_factory=dict)


INTERVAL = Bound.INTERVAL
CASES = {
    "a ratio is kept": Case(typed=RATIO),
    "a ratio is kept by its whole interval": Case(typed=RATIO, bound=INTERVAL),
    "a ratio may be kept": Case(typed=RATIO, spends=1.0, noise=9),
    "a ratio is violated": Case(typed=RATIO, spends=1.5),
    "a ratio may be violated": Case(typed=RATIO, spends=1.1, noise=9),
    "the interval has the limit": Case(typed=RATIO, spends=1.0, noise=9, bound=INTERVAL),
    "all ratios are equal": Case(typed=RATIO, noise=0),
    "a mean is kept": Case(typed=RECALL),
    "a mean is violated": Case(typed=RECALL, finds=0.4),
    "a mean may be kept": Case(typed=RECALL, finds=0.62, swings=0.4),
    "the interval of a mean has the limit": Case(
        typed=RECALL, finds=0.62, swings=0.4, bound=INTERVAL
    ),
    "all shares are equal": Case(typed=RECALL, finds=1.0, swings=0, tasks=5, bound=INTERVAL),
    "eight equal shares": Case(typed=RECALL, finds=0.7, swings=0, tasks=8, bound=INTERVAL),
    "a mean of what is spent": Case(typed={Kind.MAX: ["effective_tokens=20000"]}),
    "a mean of times": Case(typed={Kind.MAX: ["wall_seconds=10"]}),
    "four tasks": Case(typed=RATIO, tasks=4),
    "four tasks, by the interval": Case(typed=RATIO, tasks=4, bound=INTERVAL),
    "a single task": Case(typed=RATIO, tasks=1),
    "many trials are lost": Case(typed=RATIO, lost=6),
    "too few tasks are there": Case(typed=RATIO, lost=20),
    "too few tasks are measured": Case(typed=RECALL, lost=20),
    "nothing gives the figure": Case(typed={Kind.MAX: ["api_seconds=9"]}),
    "nobody checks": Case(typed=RECALL, keys=False),
    "it finds less": Case(typed=RATIO, finds=0.3),
    "fixed rules": Case(typed=RATIO, trial=RULES),
    "the tool was never used": Case(typed=RATIO, trial={"retrieval": "unused", "mcp_calls": 0}),
    "two limits hold": Case(typed={**RATIO, **RECALL}),
    "one of two is violated": Case(typed={**RATIO, **RECALL}, spends=1.5),
    "one of two is not measured": Case(typed={**RATIO, **RECALL}, trial=RULES),
}


def records(case: Case, mode: str) -> list[TrialRecord]:
    own = mode != "baseline"
    made = []
    for n in range(case.tasks):
        if own and n < case.lost:
            made.append(
                make_failed(
                    mode, "workspace-failed", "harness-failed", task_id=f"t{n}", agent=n + 1
                )
            )
            continue
        spent = (case.spends if own else 1.0) * WOBBLE[n % 12] ** (case.noise if own else 0.0)
        found = case.finds + case.swings * (1 if n % 2 else -1) if own else 0.7
        changes = {
            "effective_tokens": round(10_000 * spent),
            "wall_seconds": 30 * spent,
            "scores": {"file_recall": min(1.0, max(0.0, found))} if case.keys else None,
            **(case.trial if own or "fixed_rules" in case.trial else {}),
        }
        made.append(make_trial(mode, task_id=f"t{n}", agent=n + 1, run=1, **{**PAID, **changes}))
    return made


def answers_of(case: Case) -> tuple[Answer, ...]:
    tasks = [
        {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?"}
        | ({"key": {"files": [f"{n}.py"]}} if case.keys else {})
        for n in range(case.tasks)
    ]
    both = [*records(case, "baseline"), *records(case, "canopy")]
    data = make_session(*both, tasks=tasks, runs=1, agents=case.tasks)
    limits = parse_limits(dict(case.typed), METRICS, data.experiment.arms, {"recall"})
    answers = make_document(make_gate(Selection(data, METRICS), limits, case.bound)).brief[0]
    assert isinstance(answers, Answers)
    return answers.items


@pytest.mark.parametrize("name", CASES)
def test_each_line_is_short_and_says_what_became_of_the_limit(name: str, golden: Sentences) -> None:
    answers = answers_of(CASES[name])
    golden(*(f"{written(it)}\n  {it.evidence}" for it in answers))
    for answer in answers:
        line = f"{answer.subject}{answer.claim}. {answer.figures}"
        assert len([word for word in line.split() if re.search(r"\w", word)]) <= MOST_WORDS
        assert len(re.findall(r"\d[\d.,]*", line)) <= MOST_NUMBERS
        assert ";" not in line
