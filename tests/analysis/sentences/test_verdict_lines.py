"""Verdict lines in all cases, from the figures of two modes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from swarm_bench.core.report.document import Answer, Span
from swarm_bench.core.session.records import TrialRecord
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

WOBBLE = (1.0, 1.04, 0.95, 1.1, 0.9, 1.02, 0.97, 1.07, 0.93, 1.0, 1.05, 0.96)
RULES = {"fixed_rules": True, "model": "rules"}
MOST_WORDS, MOST_NUMBERS = 25, 4


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a mode spends and finds, against a baseline that spends 1 and finds 0.7."""

    spends: float = 1.0
    finds: float = 0.7
    noise: float = 0.3
    """Of what is spent: an exponent of the wobble of its tasks."""
    swings: float = 0.0
    """By how much what is found differs from task to task."""
    every: int = 1
    """Only every so many tasks differ in what is found."""
    tasks: int = 36
    trial: Mapping[str, Any] = field(default_factory=dict)
    primary: str = "effective_tokens"
    keys: bool = True


CASES = {
    "spends less, finds as much": Case(spends=0.7),
    "spends less, finds more": Case(spends=0.7, finds=0.9),
    "spends less, finds less": Case(spends=0.7, finds=0.4),
    "spends less, may find less": Case(spends=0.7, finds=0.66, swings=0.5),
    "spends as much, finds more": Case(finds=0.9),
    "spends as much, finds less": Case(finds=0.4),
    "spends as much, finds as much": Case(swings=0.01),
    "spends as much, may find less": Case(finds=0.66, swings=0.5),
    "spends as much, finds a little less": Case(finds=0.6, swings=0.05),
    "spends more, finds more": Case(spends=1.4, finds=0.9),
    "spends more, finds as much": Case(spends=1.4),
    "spends more, finds less": Case(spends=1.4, finds=0.4),
    "spends more, may find more": Case(spends=1.4, finds=0.74, swings=0.5),
    "may spend less, finds as much": Case(spends=0.9, noise=9),
    "may spend less, finds more": Case(spends=0.9, noise=9, finds=0.9),
    "may spend less, finds less": Case(spends=0.9, noise=9, finds=0.4),
    "may spend less, may find more": Case(spends=0.9, noise=9, finds=0.74, swings=0.5),
    "nobody checks, spends less": Case(spends=0.7, keys=False),
    "nobody checks, spends more": Case(spends=1.4, keys=False),
    "nobody checks, spends as much": Case(keys=False),
    "nobody checks, may spend less": Case(spends=0.9, noise=9, keys=False),
    "five tasks": Case(spends=0.7, tasks=5),
    "few tasks, all equal": Case(spends=0.7, tasks=12),
    "rules, finds more": Case(finds=0.9, trial=RULES),
    "rules, finds less": Case(finds=0.4, trial=RULES),
    "rules, finds as much": Case(swings=0.01, trial=RULES),
    "rules, may find more": Case(finds=0.8, swings=0.6, trial=RULES),
    "rules, all equal": Case(trial=RULES),
    "rules, few equal": Case(tasks=8, trial=RULES),
    "rules, two of eight differ": Case(tasks=8, finds=1.0, every=4, trial=RULES),
    "rules, nothing is found": Case(finds=0.0, trial=RULES),
    "rules, nobody checks": Case(keys=False, trial=RULES),
    "the tool was never used": Case(spends=0.7, trial={"retrieval": "unused", "mcp_calls": 0}),
    "times": Case(spends=0.7, primary="wall_seconds"),
    "dollars": Case(spends=0.7, primary="cost"),
}


def records(case: Case, mode: str) -> list[TrialRecord]:
    own = mode != "baseline"
    made = []
    for n in range(case.tasks):
        spent = (case.spends if own else 1.0) * WOBBLE[n % 12] ** (case.noise if own else 0.0)
        moved = own and n % case.every == 0
        found = (case.finds if moved else 0.0 if case.finds == 0.0 else 0.7) + (
            case.swings * (1 if n % 2 else -1) * (0.5 if n % 4 < 2 else 1.0) if moved else 0.0
        )
        changes = {
            "effective_tokens": round(10_000 * spent),
            "wall_seconds": 30 * spent,
            "cost": 0.4 * spent,
            "scores": {"file_recall": min(1.0, max(0.0, found))} if case.keys else None,
            **(case.trial if own or "fixed_rules" in case.trial else {}),
        }
        made.append(make_trial(mode, task_id=f"t{n}", agent=n + 1, run=1, **{**PAID, **changes}))
    return made


def answer_of(case: Case) -> Answer:
    tasks = [
        {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?"}
        | ({"key": {"files": [f"{n}.py"]}} if case.keys else {})
        for n in range(case.tasks)
    ]
    settings = {"primary": {"value": case.primary, "source": "command line"}}
    both = [*records(case, "baseline"), *records(case, "canopy")]
    session = make_session(*both, tasks=tasks, runs=1, agents=case.tasks, settings=settings)
    answer = summarise(session).headline.standings[-1].answer
    assert answer
    return answer


def written(answer: Answer) -> str:
    return "".join(it.text if isinstance(it, Span) else it for it in answer.line)


@pytest.mark.parametrize("name", CASES)
def test_each_line_is_short_and_says_one_thing(name: str, golden: Sentences) -> None:
    answer = answer_of(CASES[name])
    golden(written(answer), answer.evidence)
    line = f"{answer.subject}{answer.claim}. {answer.figures}"
    words = [word for word in line.split() if re.search(r"\w", word)]
    assert len(words) <= MOST_WORDS
    assert len(re.findall(r"\d[\d.,]*", line)) <= MOST_NUMBERS
    assert ";" not in line


def test_the_cases_have_all_claims() -> None:
    claims = {answer_of(case).claim for case in CASES.values()}
    assert len(claims) >= 13
