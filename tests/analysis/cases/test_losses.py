"""What a verdict says of trials that are not in its figures, or in them without an answer."""

from dataclasses import replace

import pytest

from swarm_bench.analysis.cases.losses import count_missing, list_lost
from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import make_case_document
from swarm_bench.analysis.gate.limits import make_case_gate
from swarm_bench.analysis.losses import describe_omitted, explain_doubt
from swarm_bench.core.report.gate import Bound, Kind, Limit, State
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.status import Cause
from swarm_bench.reports.markdown import render
from tests.builders.answers import answer_lines
from tests.builders.cases import (
    BEST,
    FAILED,
    HIGH,
    LOST,
    LOW,
    RIGHT,
    WORDS,
    case_session,
    model_session,
)
from tests.builders.golden import Sentences


def verdict(session: CaseSession) -> str:
    """What is said of the second arm, without its caveats."""
    return answer_lines(render(make_case_document(session)), "b").partition("  - Caveat")[0]


def session(trials: int, end: Cause | None = LOST, *, arm: str = "b") -> CaseSession:
    return case_session({"a": LOW, "b": HIGH}, {arm: [end] * trials})


def test_an_arm_with_all_its_trials_is_better_and_nothing_is_omitted(golden: Sentences) -> None:
    golden(verdict(session(0)))


def test_a_single_trial_that_was_lost_is_counted(golden: Sentences) -> None:
    assert verdict(session(1)).startswith("- **b is better.**")
    golden(verdict(session(1)))


@pytest.mark.parametrize("arm", ["a", "b"])
@pytest.mark.parametrize("end", [LOST, Cause.ENVIRONMENT_FAILED, Cause.INTERRUPTED, None])
def test_what_was_lost_of_one_arm_alone_could_turn_the_verdict(
    end: Cause | None, arm: str, golden: Sentences
) -> None:
    line = verdict(session(4, end, arm=arm))
    golden(line)
    assert "4 of 5" not in line


def test_equality_and_a_loss_are_no_more_shown_than_a_gain(golden: Sentences) -> None:
    equal = tuple(value + (0.01 if n % 2 else -0.01) for n, value in enumerate(HIGH))
    golden(verdict(case_session({"a": HIGH, "b": equal})))
    for figures in (equal, LOW):
        line = verdict(case_session({"a": HIGH, "b": figures}, {"b": [LOST] * 4}))
        golden(line)


def test_equal_losses_are_counted_and_leave_the_verdict(golden: Sentences) -> None:
    line = verdict(case_session({"a": LOW, "b": HIGH}, {"a": [LOST] * 4, "b": [LOST] * 4}))
    assert line.startswith("- **b is better.**")
    golden(line)


def test_the_share_counts_and_not_the_cases_without_any_figure(golden: Sentences) -> None:
    line = verdict(case_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 12}, runs=3))
    golden(line)


def test_a_trial_that_failed_is_in_a_score_and_in_no_ratio(golden: Sentences) -> None:
    failing = session(4, FAILED)
    assert len(list_lost(failing, "b", WORDS)) == 4
    of_failed = case_session({"a": LOW, "b": HIGH}, {"b": [FAILED] * 4}, primary="words")
    golden(verdict(of_failed))
    assert "--continue" not in verdict(of_failed)  # it would run nothing


def test_an_end_without_a_figure_is_lost_and_an_answer_to_which_none_applies_is_not() -> None:
    stopped = session(4, Cause.TIMEOUT)
    assert count_missing(stopped, "b", RIGHT) == (4, 20)
    records = [it.model_copy(update={"figures": {}}) for it in stopped.records]
    silent = replace(stopped, records=records)
    assert count_missing(silent, "a", RIGHT) == (0, 20)
    unscored = [it.model_copy(update={"score_failures": {"s": "broken"}}) for it in records]
    broken = replace(stopped, records=unscored)
    assert count_missing(broken, "a", RIGHT) == (20, 20)


def test_what_a_case_has_too_few_of_is_not_in_the_figure_either() -> None:
    partly = case_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 2}, runs=2)
    assert count_missing(partly, "b", RIGHT) == (2, 40)
    assert count_missing(partly, "b", BEST) == (4, 40)
    assert count_missing(partly, "b", BEST, {"c1", "c2"}) == (2, 4)


def test_an_arm_without_enough_cases_has_no_verdict_and_its_losses_are_counted(
    golden: Sentences,
) -> None:
    line = verdict(session(5))
    golden(line)


def test_an_arm_that_is_not_compared_leaves_the_others_no_weaker_level() -> None:
    near = tuple(value + 0.3 * (1 if n % 3 else -1) for n, value in enumerate(LOW))
    arms = {"a": LOW, "b": near, "c": HIGH}
    without = answer_lines(render(make_case_document(case_session(arms))), "b")
    assert "adjusted" not in without
    lost = case_session(arms, {"c": [LOST] * 4})
    assert "adjusted for 2 verdicts" in answer_lines(render(make_case_document(lost)), "b")


def _lines(session: CaseSession) -> list[str]:
    return render(make_case_document(session)).splitlines()


@pytest.mark.parametrize(
    ("own", "other", "uneven"),
    [((1, 5), (0, 5), False), ((2, 20), (0, 20), True), ((2, 21), (0, 21), False),
     ((6, 20), (4, 20), True), ((5, 20), (4, 20), False), ((3, 30), (0, 0), False)],
)  # fmt: skip
def test_ten_points_and_two_trials_are_in_doubt(
    own: tuple[int, int], other: tuple[int, int], uneven: bool
) -> None:
    assert bool(explain_doubt({"b": own, "a": other})) is uneven


def test_one_side_alone_is_in_doubt_by_its_own_share(golden: Sentences) -> None:
    golden(describe_omitted({"b": (1, 20)}))
    assert not describe_omitted({"b": (0, 20)})
    assert not explain_doubt({"b": (1, 20)})
    golden(explain_doubt({"b": (2, 20)}))


ANSWERED = replace(
    RIGHT,
    read=lambda record: 0.0 if record.cause is Cause.TIMEOUT else record.figures.get("right"),
)


def of_models(
    trials: int, arm: str = "b", *, end: Cause = Cause.TIMEOUT, environment: Program | None = None
) -> ComparedModels:
    """Make a session of models in which so many requests to an arm were not answered in time,
    which counts as wrong, or ended otherwise."""
    made = model_session({"a": LOW, "b": HIGH}, {arm: [end] * trials}, metrics=(ANSWERED,))
    experiment = made.experiment.model_copy(update={"environment": environment})
    return replace(made, experiment=experiment)


def test_requests_that_were_not_answered_in_time_show_nothing_of_a_model(
    golden: Sentences,
) -> None:
    assert verdict(of_models(1)).startswith("- **b is better.**")
    for arm in "ab":
        golden(verdict(of_models(8, arm)))
        assert "--continue" not in verdict(of_models(8, arm))  # it would run nothing
    limits = [Limit(kind=Kind.MIN, metric="right", value=0.1, mode=arm) for arm in "ab"]
    held = make_case_gate(of_models(8), limits, Bound.ESTIMATE).verdicts
    assert [it.state for it in held] == [State.HOLDS, State.INCONCLUSIVE]


def test_what_continues_a_session_that_runs_code_has_the_permission() -> None:
    running = of_models(4, end=LOST, environment=Program(name="bubblewrap"))
    assert "--continue s --allow-code-execution`" in verdict(running)
    assert "--continue s`" in verdict(of_models(4, end=LOST))


@pytest.mark.parametrize(
    ("named", "typed"),
    [
        ({"benchmark_class": "my_sums:Sums"}, "run my_sums:Sums --continue s`"),
        ({"benchmark": "x; touch y"}, "run 'x; touch y' --continue s`"),
    ],
)
def test_what_continues_a_session_names_its_class_and_is_quoted(
    named: dict[str, str], typed: str
) -> None:
    lost = of_models(4, end=LOST)
    renamed = lost.experiment.model_copy(update=named)
    assert typed in verdict(replace(lost, experiment=renamed))
