"""Outcomes that changed while the session ran."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.analysis.comparison.test_verdicts import TASKS, WOBBLE
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

MODES = ("baseline", "canopy")
TURNS = [*MODES, *reversed(MODES), *MODES, *reversed(MODES)]
"""Who runs when; each has four runs."""
STARTED = datetime(2026, 1, 2, tzinfo=UTC)


def session(turns: list[str], drift: float, **changes: Any) -> Report:
    return summarise(drifting(turns, drift, **changes))


def drifting(turns: list[str], drift: float, **changes: Any) -> SessionData:
    """Run the modes in these turns; each turn takes `drift` times what the one before it took."""
    records: list[TrialRecord] = []
    for turn, mode in enumerate(turns):
        for number, task in enumerate(TASKS):
            noise = WOBBLE[(number * 5 + turn * 7) % 12]
            records.append(
                make_trial(
                    mode,
                    task_id=task["id"],
                    run=turns[: turn + 1].count(mode),
                    effective_tokens=round(1000 * (number + 1) * noise * drift**turn),
                    scores={"file_recall": 0.7},
                    **{**PAID, "started_at": STARTED + timedelta(hours=turn), **changes},
                )
            )
    return make_session(*records, modes=MODES, tasks=TASKS, runs=4)


def drifts(report: Report) -> list[str]:
    standing = report.headline.standings[-1]
    return [
        text for text in (*report.warnings, *standing.qualifications) if "over the session" in text
    ]


def test_a_drift_of_modes_that_took_turns_falls_on_both(golden: Sentences) -> None:
    warning, qualification = drifts(session(TURNS, 1.05))
    golden(warning)
    golden(qualification)


def test_a_drift_of_modes_one_after_the_other_falls_on_the_comparison(golden: Sentences) -> None:
    (_, qualification) = drifts(session(["baseline"] * 4 + ["canopy"] * 4, 1.05))
    golden(qualification)
    assert qualification.endswith("% more")
    (_, qualification) = drifts(session(["canopy"] * 4 + ["baseline"] * 4, 0.95))
    assert "fell by 3" in qualification
    golden(qualification)
    assert qualification.endswith("% more")


@pytest.mark.parametrize(
    ("drift", "changes"),
    [
        (1.0, {}),
        (1.05, {"fixed_rules": True, "model": "rules"}),
        (1.05, {"started_at": None}),
    ],
)
def test_noise_and_what_cannot_be_told_are_no_drift(drift: float, changes: dict[str, Any]) -> None:
    assert drifts(session(TURNS, drift, **changes)) == []


def test_one_run_cannot_tell_a_drift_from_its_modes() -> None:
    assert drifts(session(list(MODES), 1.5)) == []


def one_run(orders: Sequence[tuple[str, ...]], drift: float) -> Report:
    """Run the modes in blocks of one run; each turn takes `drift` times what the one before it
    took."""
    each = len(TASKS) // len(orders)
    blocks = [tuple(range(1 + b * each, 1 + (b + 1) * each)) for b in range(len(orders))]
    turns = [(mode, block) for order, block in zip(orders, blocks, strict=True) for mode in order]
    records = [
        make_trial(
            mode,
            agent=agent,
            task_id=TASKS[agent - 1]["id"],
            effective_tokens=round(
                1000 * agent * WOBBLE[(agent * 5 + turn * 7) % 12] * drift**turn
            ),
            scores={"file_recall": 0.7},
            **{**PAID, "started_at": STARTED + timedelta(hours=turn)},
        )
        for turn, (mode, block) in enumerate(turns)
        for agent in block
    ]
    values = {"all_tasks": True, "blocks": blocks, "order": orders, "runs": 1}
    return summarise(make_session(*records, modes=MODES, tasks=TASKS, **values))


def test_blocks_of_one_run_tell_it_by_their_turns(golden: Sentences) -> None:
    mirrored = [MODES, MODES[::-1]] * 2
    warning, qualification = drifts(one_run(mirrored, 1.2))
    golden(warning)
    golden(qualification)
    assert drifts(one_run(mirrored, 1.0)) == []
    assert drifts(one_run([MODES] * 4, 1.2)) == [], "what is the modes', and what the order's?"


@pytest.mark.parametrize("orders", [[MODES], [MODES[::-1]], [MODES] * 2])
def test_modes_that_never_changed_places_are_said_to(
    orders: list[tuple[str, ...]], golden: Sentences
) -> None:
    standing = one_run(orders, 1.0).headline.standings[-1]
    golden(*standing.qualifications)


def test_modes_that_changed_places_are_not() -> None:
    standing = one_run([MODES, MODES[::-1]], 1.0).headline.standings[-1]
    assert not [text for text in standing.qualifications if "told apart" in text]
