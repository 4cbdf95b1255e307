"""First requests that were in the provider's cache because other modes ran before."""

from collections.abc import Mapping, Sequence
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
STARTED = datetime(2026, 1, 2, tzinfo=UTC)


def warned(orders: list[tuple[str, ...]], warmer: float, blocks: int = 1) -> list[str]:
    """Run the modes in these orders, so many blocks in a run; the second of a block reads `warmer`
    more from the cache."""
    records: list[TrialRecord] = []
    each = len(TASKS) // blocks
    numbers = range(1, len(TASKS) + 1)
    of_run = [tuple(numbers[place * each : (place + 1) * each]) for place in range(blocks)]
    for turn, order in enumerate(orders):
        run, block = turn // blocks + 1, of_run[turn % blocks]
        for place, mode in enumerate(order):
            for agent in block:
                number, task = agent - 1, TASKS[agent - 1]
                noise = WOBBLE[(number * 5 + turn * 7 + place) % 12] - 1
                cached = round(10_000 * (0.5 + warmer * place + noise / 5))
                first = {"input": 10, "cache_read": cached, "cache_create": 10_000 - cached - 10}
                records.append(
                    make_trial(
                        mode,
                        task_id=task["id"],
                        agent=agent,
                        run=run,
                        turn_usage=[{**first, "output": 5}],
                        **{**PAID, "started_at": STARTED + timedelta(hours=2 * turn + place)},
                    )
                )
    values = {"all_tasks": True, "blocks": of_run, "order": orders}
    runs = len(orders) // blocks
    report = summarise(make_session(*records, modes=MODES, tasks=TASKS, runs=runs, **values))
    return [text for text in report.warnings if "cache" in text]


def test_a_cache_that_other_modes_warmed(golden: Sentences) -> None:
    (warning,) = warned([MODES, MODES[::-1], MODES, MODES[::-1]], 0.3)
    golden(warning)


def test_blocks_of_one_run_tell_it_too(golden: Sentences) -> None:
    (warning,) = warned([MODES, MODES[::-1]] * 2, 0.3, blocks=4)
    golden(warning)


def test_the_places_are_named_where_they_were_not_the_same(golden: Sentences) -> None:
    (warning,) = warned([MODES, MODES, MODES[::-1]], 0.3)
    golden(warning)


@pytest.mark.parametrize(
    ("orders", "warmer"),
    [([MODES, MODES[::-1]] * 2, 0.0), ([MODES] * 4, 0.3), ([MODES], 0.3)],
)
def test_noise_and_what_cannot_be_told(orders: list[tuple[str, ...]], warmer: float) -> None:
    assert warned(orders, warmer) == []


TURNS = [*MODES, *reversed(MODES), *MODES, *reversed(MODES)]
"""Who runs when; each has four runs."""


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
    (qualification,) = drifts(session(TURNS, 1.05))
    golden(qualification)


def test_a_drift_of_modes_one_after_the_other_falls_on_the_comparison(golden: Sentences) -> None:
    for reference_first, drift in ((True, 1.05), (False, 0.95)):
        turns = ["baseline"] * 4 + ["canopy"] * 4
        (qualification,) = drifts(session(turns if reference_first else turns[::-1], drift))
        golden(qualification)
        assert qualification.startswith("drift alone adds")


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


def one_run(
    orders: Sequence[tuple[str, ...]],
    drift: float,
    factors: Mapping[tuple[int, str], float] | None = None,
    added: str = "",
) -> Report:
    """Run the modes in blocks of one run; each turn takes `drift` times what the one before it
    took, and that of a block and a mode `factors` times that. The mode that is `added` runs weeks
    later."""
    each = len(TASKS) // len(orders)
    blocks = [tuple(range(1 + b * each, 1 + (b + 1) * each)) for b in range(len(orders))]
    turns = [(mode, block) for order, block in zip(orders, blocks, strict=True) for mode in order]
    records = [
        make_trial(
            mode,
            agent=agent,
            task_id=TASKS[agent - 1]["id"],
            effective_tokens=round(
                1000
                * agent
                * WOBBLE[(agent * 5 + turn * 7) % 12]
                * drift**turn
                * (factors or {}).get((turn // len(orders[0]), mode), 1.0)
            ),
            scores={"file_recall": 0.7},
            **{**PAID, "started_at": STARTED + timedelta(hours=turn + 700 * (mode == added))},
        )
        for turn, (mode, block) in enumerate(turns)
        for agent in block
    ]
    values = {"all_tasks": True, "blocks": blocks, "order": orders, "runs": 1}
    return summarise(make_session(*records, modes=sorted(orders[0]), tasks=TASKS, **values))


def test_blocks_of_one_run_tell_it_by_their_turns(golden: Sentences) -> None:
    mirrored = [MODES, MODES[::-1]] * 2
    (qualification,) = drifts(one_run(mirrored, 1.2))
    golden(qualification)
    assert drifts(one_run(mirrored, 1.0)) == []
    assert drifts(one_run([MODES] * 4, 1.2)) == [], "what is the modes', and what the order's?"


@pytest.mark.parametrize("tasks_of_a_block", [3, 6])
def test_a_tool_that_helps_the_tasks_of_some_blocks_is_no_drift(tasks_of_a_block: int) -> None:
    """Every fourth block has tasks of a kind that takes twice as much with the tool."""
    mirrored = [MODES, MODES[::-1]] * (len(TASKS) // tasks_of_a_block // 2)
    for kind in range(len(mirrored)):
        dearer = {
            (block, "canopy"): 2.0 if block == kind else 1.0 for block in range(len(mirrored))
        }
        assert drifts(one_run(mirrored, 1.0, dearer)) == []


def test_turns_tell_nothing_of_a_mode_that_was_added_later() -> None:
    three = (*MODES, "canopy-service")
    report = one_run([three, (*MODES[::-1], "canopy-service")] * 2, 1.3, added="canopy-service")
    of_mode = {
        standing.mode: [text for text in standing.qualifications if "drift" in text]
        for standing in report.headline.standings[1:]
    }
    assert len(of_mode["canopy"]) == 1
    assert of_mode["canopy-service"] == []


@pytest.mark.parametrize("orders", [[MODES], [MODES[::-1]], [MODES] * 2])
def test_modes_that_never_changed_places_are_said_to(
    orders: list[tuple[str, ...]], golden: Sentences
) -> None:
    standing = one_run(orders, 1.0).headline.standings[-1]
    golden(*standing.qualifications)


def test_modes_that_changed_places_are_not() -> None:
    standing = one_run([MODES, MODES[::-1]], 1.0).headline.standings[-1]
    assert not [text for text in standing.qualifications if "told apart" in text]
