"""What a plan says of the differences that its session could show."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swarm_bench.analysis.planning.chances import (
    Bar,
    Truth,
    are_too_few,
    compute_chances,
    count_tasks,
)
from swarm_bench.analysis.planning.forecast import (
    EQUAL,
    Earlier,
    Spreads,
    look_ahead,
    read_spreads,
)
from swarm_bench.analysis.planning.outlook import describe_outlook
from swarm_bench.analysis.planning.spending import describe_expected, explain_too_low
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.verdict_rule import Verdict, is_too_few
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.run_plan import deal_blocks
from swarm_bench.core.session.designs import CALIBRATE
from swarm_bench.core.session.experiment import Experiment, Setting, Task
from swarm_bench.core.session.prices import Price
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import HARD, AnswerKey
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.sessions import make_session, make_trial

MANY = tuple(
    Task(id=f"t{n}", title="t", prompt=f"p{n}", key=AnswerKey(files=(f"{n}.py",)))
    for n in range(60)
)
KEYED = MANY[:8]
COST = 0.5
PLANNED = experiment(runs=3, agents=8, all_tasks=True).model_copy(update={"tasks": KEYED})


def said(
    before: Earlier | None = None, *, fixed_rules: bool = False, planned: Experiment = PLANNED
) -> str:
    outlook = look_ahead(planned, before, METRICS, saving=0.2, fixed_rules=fixed_rules)
    return "\n".join(describe_outlook(outlook).texts) if outlook else ""


def test_without_an_earlier_session_the_noise_is_assumed(golden: Sentences) -> None:
    text = said()
    golden(text)
    assert "--expect" not in said(fixed_rules=True)


def trials(*, runs: int = 1, noise: float = 0.0, lost: int = 0) -> Iterator[TrialRecord]:
    """Give two modes with as many runs of eight tasks; the second finds nothing in `lost`."""
    for n in range(8):
        for run in range(runs):
            for mode in ("baseline", "canopy"):
                spent = math.exp(7 + noise * math.sin(5 * n + run + len(mode)))
                recall = float(mode == "baseline" or n >= lost)
                yield make_trial(
                    mode,
                    task_id=f"t{n}",
                    run=run + 1,
                    agent=n + 1,
                    effective_tokens=round(spent),
                    scores={"file_recall": recall},
                )


def earlier(**drawn: Any) -> Earlier:
    session = make_session(*trials(**drawn), tasks=[task.model_dump() for task in KEYED], runs=2)
    return Earlier(folder="results/x", data=session)


def test_an_earlier_session_gives_the_noise_the_cost_and_the_time(golden: Sentences) -> None:
    golden(said(earlier(runs=2, noise=0.3)))
    pending = {"baseline": 24, "canopy": 24}
    for known in (earlier(), None):
        (entry,) = describe_expected(PLANNED, known, None, pending, paid=True)
        golden(*entry.texts)


def test_a_rehearsal_prices_what_no_session_shows(golden: Sentences) -> None:
    """Of 1,000 tokens read from the cache and 100 written, more with a tool."""
    used = {"input_tokens": 0, "cache_create": 0}
    trials = [
        make_trial(mode, agent=n, output_tokens=100, cache_read=tokens + 10 * n, **used)
        for mode, tokens in (("baseline", 100_000), ("canopy", 200_000))
        for n in range(1, 9)
    ]
    rehearsal = Earlier(folder="results/rehearsal", data=make_session(*trials))
    price = Price(input=3, cache_write=4, cache_read=10, output=20, table="list prices")
    paid = PLANNED.model_copy(update={"model": "m", "prices": {"m": price}})
    pending = {"baseline": 24, "canopy": 24}
    for experiment_ in (paid, PLANNED):
        (entry,) = describe_expected(experiment_, None, rehearsal, pending, paid=True)
        golden(*entry.texts)
    (entry,) = describe_expected(paid, earlier(), rehearsal, pending, paid=True)
    assert len(entry.texts) == 1, "what the model itself cost tells more"


def test_where_no_task_is_repeated_differences_between_modes_tell_the_noise() -> None:
    quiet, noisy = (
        read_spreads(earlier(noise=noise), METRICS, "effective_tokens", "file_recall").cost
        for noise in (0.0, 1.0)
    )
    assert quiet == 0
    assert noisy is not None
    assert 0.3 < noisy < 1


def test_answers_that_were_equal_in_all_tasks_are_taken_to_be_so() -> None:
    shown = read_spreads(earlier(lost=0), METRICS, "effective_tokens", "file_recall").quality
    assert shown == EQUAL
    some = read_spreads(earlier(lost=2), METRICS, "effective_tokens", "file_recall").quality
    assert some is not None
    assert some.differing == 2 / 8
    assert "varies" not in said(earlier(lost=0))
    assert "finds the same" not in said(earlier(lost=2))


def test_nothing_is_known_of_the_noise_without_an_earlier_session() -> None:
    assert read_spreads(None, METRICS, "effective_tokens", "file_recall") == Spreads()


def test_with_too_few_tasks_only_that_is_said(golden: Sentences) -> None:
    few = PLANNED.model_copy(update={"tasks": KEYED[:5], "agents": 5})
    golden(*said(planned=few).splitlines())


def test_where_agents_leave_tasks_out_it_says_how_all_are_asked() -> None:
    shared = PLANNED.model_copy(update={"agents": 4, "all_tasks": False})
    assert "--all-tasks asks each of the 8" in said(planned=shared)
    assert "--all-tasks" not in said(planned=PLANNED.model_copy(update={"tasks": KEYED[:5]}))


def test_a_mode_that_finds_the_same_takes_29_tasks_to_help() -> None:
    quiet = Truth(saving=0.5, spread=0.1)
    bar = Bar(margin=0.1, quality_margin=0.1)
    assert compute_chances(quiet, 28, 1, bar)[Verdict.HELPS] == 0
    assert compute_chances(quiet, 29, 1, bar)[Verdict.HELPS] > 0.9
    assert count_tasks(quiet, 1, bar) == 29


def test_of_a_session_that_ends_with_its_verdict_it_says_when(golden: Sentences) -> None:
    keys = [AnswerKey(files=(f"{n}.py",)) for n in range(120)]
    tasks = tuple(
        Task(id=f"t{n}", title="t", prompt=f"p{n}", key=key) for n, key in enumerate(keys)
    )
    asked = Setting(value=True, source="command line")
    planned = experiment(runs=1, agents=120, all_tasks=True).model_copy(
        update={"tasks": tasks, "settings": {"until_clear": asked}}
    )
    text = said(planned=deal_blocks(planned, None).preregister())
    golden(text)
    assert text.count("nine in ten") == 2


def test_hard_tasks_and_others_count() -> None:
    tags = [(HARD,), (HARD,), *[("easier",)] * 6]
    tasks = tuple(
        task.model_copy(update={"tags": own}) for task, own in zip(KEYED, tags, strict=True)
    )
    text = said(planned=PLANNED.model_copy(update={"tasks": tasks}))
    assert "2 tagged hard and 6 other tasks" in text
    assert set(said().splitlines()) < set(text.splitlines()), "the power is that of all of them"


def test_a_session_until_it_is_clear_has_the_chances_of_its_wider_intervals(
    golden: Sentences,
) -> None:
    fixed = PLANNED.model_copy(update={"tasks": MANY, "runs": 1, "agents": len(MANY)})
    settings = {"until_clear": Setting(value=True, source="command line")}
    until_clear = fixed.model_copy(update={"settings": settings}).preregister()
    assert said(planned=fixed) != said(planned=until_clear)
    golden(said(planned=until_clear))
    bar = Bar(margin=0.1, quality_margin=0.1, at_every_look=True)
    quiet = Truth(saving=0.5, spread=0.1)
    assert compute_chances(quiet, 6, 1, bar)[Verdict.INCONCLUSIVE] == 1, "no interval is finite"
    assert compute_chances(quiet, 29, 1, bar)[Verdict.HELPS] == 0
    assert count_tasks(quiet, 1, bar) == 30


def test_by_fixed_rules_until_it_is_clear_differences_are_those_of_its_wider_intervals(
    golden: Sentences,
) -> None:
    fixed = PLANNED.model_copy(update={"tasks": MANY, "runs": 1, "agents": len(MANY)})
    settings = {"until_clear": Setting(value=True, source="command line")}
    until_clear = fixed.model_copy(update={"settings": settings}).preregister()
    smallest = [
        float(said(planned=it, fixed_rules=True).partition("file_recall of ")[2].split()[0])
        for it in (fixed, until_clear)
    ]
    assert smallest[0] < smallest[1]
    golden(said(planned=until_clear, fixed_rules=True))
    few = until_clear.model_copy(update={"tasks": KEYED, "agents": len(KEYED)})
    before = earlier(runs=2)
    golden(said(before, planned=few, fixed_rules=True))


def test_equal_answers_take_29_tasks_by_fixed_rules_too() -> None:
    before = earlier(runs=2)
    for number, needed in ((6, True), (8, True), (20, True), (40, False)):
        planned = PLANNED.model_copy(update={"tasks": MANY[:number], "agents": number})
        text = said(before, planned=planned, fixed_rules=True)
        assert ("differ it takes 29 or more" in text) is needed, text


def test_runs_of_fixed_rules_show_no_more_than_one() -> None:
    def shown(runs: int, before: Earlier | None = None) -> str:
        planned = PLANNED.model_copy(update={"runs": runs})
        return said(before, fixed_rules=True, planned=planned).split(": ", 1)[1].splitlines()[0]

    assert shown(3) == shown(1)
    assert shown(3, earlier(runs=2, lost=4)) != shown(1), "differences between modes tell"
    one = make_session(*trials(runs=2), tasks=[task.model_dump() for task in KEYED], runs=2)
    one = replace(one, experiment=one.experiment.model_copy(update={"design": CALIBRATE}))
    assert shown(3, Earlier(folder="results/x", data=one)) == shown(1), "one mode is equal"


@pytest.mark.parametrize("at_every_look", [False, True])
def test_many_sessions_have_too_few_differences_where_one_has(at_every_look: bool) -> None:
    for cases in (6, 29, 30, 90):
        pairs = [(b, a) for b in range(0, min(cases, 14) + 1) for a in range(min(cases - b, 7) + 1)]
        signs = ((-1.0,) * b + (1.0,) * a + (0.0,) * (cases - a - b) for b, a in pairs)
        effects = [Effect(differences=it, at_every_look=at_every_look) for it in signs]
        losses, gains = np.array(pairs).T
        few = are_too_few(cases, losses, losses + gains, 0.1, at_every_look=at_every_look)
        assert few.tolist() == [is_too_few(effect, 0.1) for effect in effects]


@pytest.mark.parametrize(
    ("rest", "done", "reached"), [(0.0, 0, 0), (6.0, 0, 3), (6.0, 4, 5), (13.0, 0, 6), (99, 0, 8)]
)
def test_a_limit_that_pays_for_fewer_tasks_is_told(
    rest: float, done: int, reached: int, golden: Sentences
) -> None:
    before = earlier()
    costs = {trial.cost for trial in before.data.trials}
    assert costs == {COST}, "each of them"
    text = explain_too_low(PLANNED, before, rest * COST, done)
    golden(str(text))
    assert (text is None) == (reached == 8)
    assert f"about {reached} of 8 tasks" in (text or "about 8 of 8 tasks")
    assert ("a verdict needs" in (text or "")) == (reached < 0.8 * 8)


def test_nobody_knows_how_far_a_limit_goes_without_an_earlier_session() -> None:
    assert explain_too_low(PLANNED, None, 0.01, 0) is None
