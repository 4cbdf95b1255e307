"""First requests that were in the provider's cache because other modes ran before."""

from datetime import UTC, datetime, timedelta

import pytest

from swarm_bench.core.session.records import TrialRecord
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
