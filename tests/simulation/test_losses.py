"""What is concluded from a tool that does nothing, where trials are lost by what they spend."""

import os
from collections import Counter

import pytest
from scipy import stats

from swarm_bench.analysis.statistics.verdict_rule import Verdict
from tests.simulation.losing import DIED, MODES, Losing

REPETITIONS = int(os.environ.get("REPETITIONS", "1000")) // 20
"""A twentieth of the others': a session is analysed as a whole."""
pytestmark = pytest.mark.timeout(max(120, REPETITIONS))
RARE = 0.05 * REPETITIONS
"""How many say that the tool helps at most; what is drawn is always the same."""
FALSE = stats.binom(REPETITIONS, 0.05).ppf(0.95)
"""How many are wrong in any way by chance at most, where 5 of 100 are."""


def verdicts(losing: Losing, *, blind: bool = False) -> Counter[Verdict]:
    every = Counter(losing.conclude(number, blind=blind) for number in range(REPETITIONS))
    shares = {verdict.name: f"{number / REPETITIONS:.1%}" for verdict, number in every.items()}
    print(losing, "blind" if blind else "", shares)  # noqa: T201  # with -s
    return every


@pytest.mark.parametrize("share", [0.05, 0.09, 0.2])
@pytest.mark.parametrize(("tasks", "runs"), [(12, 3), (30, 3), (60, 3), (60, 1)])
def test_a_mode_whose_dear_trials_are_lost_seldom_helps(
    tasks: int, runs: int, share: float
) -> None:
    shown = verdicts(Losing(tasks=tasks, runs=runs, share=share))
    assert shown[Verdict.HELPS] <= RARE
    assert shown[Verdict.CHEAPER] + shown[Verdict.HELPS] <= FALSE


def test_a_reference_whose_dear_trials_are_lost_makes_no_mode_hurt() -> None:
    shown = verdicts(Losing(tasks=60, share=0.09, losers=("baseline",)))
    assert shown[Verdict.HURTS] + shown[Verdict.DEARER] <= FALSE


def test_as_much_is_lost_of_both() -> None:
    shown = verdicts(Losing(tasks=30, share=0.09, losers=MODES))
    assert REPETITIONS - shown[Verdict.INCONCLUSIVE] - shown[Verdict.EQUIVALENT] <= FALSE


def test_whoever_knows_of_no_lost_trials_is_misled() -> None:
    """Else there is nothing that the rule is needed for."""
    assert verdicts(Losing(tasks=60, share=0.2), blind=True)[Verdict.HELPS] > FALSE


@pytest.mark.parametrize("tasks", [12, 30])
def test_agents_that_die_of_dear_tasks_have_found_nothing(tasks: int) -> None:
    """They are no losses: what they did not find counts."""
    shown = verdicts(Losing(tasks=tasks, share=0.2, end=DIED))
    assert shown[Verdict.HELPS] + shown[Verdict.EQUIVALENT] <= FALSE


@pytest.mark.parametrize("share", [0.0001, 0.02, 0.05])
def test_a_large_saving_is_seen_where_few_trials_are_lost(share: float) -> None:
    shown = verdicts(Losing(tasks=30, share=share, losers=MODES, ratio=0.6))
    assert shown[Verdict.HELPS] + shown[Verdict.CHEAPER] >= 0.9 * REPETITIONS
