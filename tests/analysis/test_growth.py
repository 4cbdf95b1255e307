"""What a summary does with each record stays the same, however many there are."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.reports import calibration, series, summarise
from tests.builders.sessions import make_session, make_swarm, make_trial

MODES = ("baseline", "canopy", "canopy-service")
FEW, MANY = 10, 40


class Watched(TrialRecord):  # type: ignore[misc]
    """A record that counts how often somebody looks at a figure of one, or compares two."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            LOOKS.append(name)
        return super().__getattribute__(name)

    def __eq__(self, other: object) -> bool:
        COMPARISONS.append(other)
        return super().__eq__(other)

    __hash__ = TrialRecord.__hash__


LOOKS: list[str] = []
COMPARISONS: list[object] = []


def session_of(runs: int, modes: tuple[str, ...] = MODES) -> SessionData:
    """A session with something to warn of in each run."""
    late = {"status": "budget-reached", "cause": "timeout", "retrieval": "unknown"}
    trials = [
        make_trial(
            mode, run=run, agent=agent, trial=f"{mode}-{run}-{agent}", **late if agent > 1 else {}
        )
        for run, mode, agent in product(range(1, runs + 1), modes, (1, 2))
    ]
    swarms = [
        make_swarm(mode, run=run, failure="broke off", agents=(1, 2, 3), counters="contradict")
        for run, mode in product(range(1, runs + 1), modes)
    ]
    watched = [Watched.model_validate(one.model_dump()) for one in trials]
    return make_session(*watched, *swarms, planned=dict.fromkeys(modes, 3 * runs))


@pytest.mark.parametrize(
    ("analyse", "modes"),
    [
        (summarise, MODES),
        (lambda data: series({1: data, 2: data}), MODES),
        (calibration, MODES[:2]),
    ],
    ids=["summary", "series", "calibration"],
)
def test_a_record_is_looked_at_as_often_in_a_large_session(
    analyse: Callable[[SessionData], object], modes: tuple[str, ...]
) -> None:
    looks = {}
    for runs in (FEW, MANY):
        data = session_of(runs, modes)
        LOOKS.clear()
        analyse(data)
        looks[runs] = len(LOOKS) / len(data.trials)
    assert 10 < looks[MANY] < 1.2 * looks[FEW]


def test_records_are_not_compared_by_value() -> None:
    data = session_of(FEW)
    COMPARISONS.clear()
    summarise(data)
    assert not COMPARISONS
