"""Tasks that are not independent of each other, in every comparison."""

import math
from typing import Any

import pytest

from swarm_bench.analysis.comparison.verdicts import conclude
from swarm_bench.analysis.diff.modes import Sessions, make_mode_diffs
from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.planning.forecast import look_ahead
from swarm_bench.analysis.planning.outlook import describe_outlook
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.document import Grid, Scale, Value
from swarm_bench.core.report.gate import Bound, Kind, State
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData
from tests.builders.answers import text_of
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import calibration, summarise
from tests.builders.sessions import make_session, make_trial

ALIKE: dict[str, dict[str, Any]] = {
    "file": {"key": {"files": ["a.py"]}},
    "prompt": {"prompt": "Where is it?"},
    "group": {"group": "login"},
}
"""What tasks of one group share."""


def tasks(number: int, groups: int, by: str = "file") -> list[dict[str, Any]]:
    """Make tasks in groups of one size; those of the last group share nothing by name."""
    return [
        {
            "id": f"t{n}",
            "title": "t",
            "prompt": f"{n}?",
            "key": {"files": [f"{n}.py"]},
            **_shared(n % groups, by),
        }
        for n in range(number)
    ]


def _shared(group: int, by: str) -> dict[str, Any]:
    shared = ALIKE[by]
    if by == "file":
        return {"key": {"files": [f"{group}.py"]}}
    return {key: f"{value}{group}" for key, value in shared.items()}


def session(of: list[dict[str, Any]], **changes: Any) -> SessionData:
    """Make a session in which canopy spends less in every task, more or less."""
    trials = [
        make_trial(
            mode,
            agent=n + 1,
            task_id=task["id"],
            effective_tokens=round(1000 * (n + 3) * (ratio + 0.01 * (n % 5))),
            **{**PAID, "scores": {"file_recall": 1.0, "files_all_found": True}},
        )
        for mode, ratio in (("baseline", 1.0), ("canopy", 0.6))
        for n, task in enumerate(of)
    ]
    return make_session(*trials, **{"tasks": of, "agents": len(of), **changes})


def reached(data: SessionData) -> Verdict:
    found = conclude(Selection(data, METRICS), "canopy")
    assert found
    return found.verdict


@pytest.mark.parametrize("by", ALIKE)
def test_a_verdict_is_by_groups(by: str, golden: Sentences) -> None:
    """Thirty equal tasks that are two questions show nothing."""
    assert reached(session(tasks(30, 30, by))) is Verdict.HELPS
    two = session(tasks(30, 2, by))
    assert reached(two) is Verdict.INCONCLUSIVE
    (_, canopy) = summarise(two).headline.standings
    golden(text_of(canopy.answer))
    assert "nothing can be shown with fewer than 6" in text_of(canopy.answer)


def test_losses_that_are_rarer_than_the_margin_take_so_many_groups() -> None:
    assert reached(session(tasks(58, 29))) is Verdict.HELPS
    assert reached(session(tasks(56, 28))) is Verdict.CHEAPER


def test_intervals_of_ratios_are_wider_by_groups() -> None:
    widths = []
    for groups in (30, 10):
        report = summarise(session(tasks(30, groups)))
        assert report.headline.ratios
        row = next(it for it in report.headline.ratios.rows if it.metric.key == "effective_tokens")
        (ratio,) = row.ratios
        assert ratio
        assert ratio.interval
        widths.append(math.log(ratio.interval[1] / ratio.interval[0]))
    assert widths[1] > widths[0]


def test_shares_of_yes_and_no_need_independent_tasks() -> None:
    for groups, modes in ((30, 2), (29, 0)):
        details = summarise(session(tasks(30, groups))).headline.details
        assert details
        effects, *shares = [block for block in details.blocks if isinstance(block, Grid)]
        assert sum(len(it.rows) for it in shares) == modes
        title = METRICS["effective_tokens"].title
        floors = [row[8] for row in effects.rows if row[1] == title]
        least = max(2.0 ** (1 - groups), 2 / 10_000)
        assert floors == [Value(scale=Scale.PROBABILITY, value=least)]


def test_a_limit_on_an_interval_is_held_by_groups() -> None:
    for groups, state in ((30, State.HOLDS), (5, State.INCONCLUSIVE)):
        data = session(tasks(30, groups, "group"))
        typed = {Kind.MAX_RATIO: ["effective_tokens=0.9"]}
        limits = parse_limits(typed, METRICS, data.experiment.arms, {"recall"})
        (verdict,) = make_gate(Selection(data, METRICS), limits, Bound.INTERVAL).verdicts
        assert verdict.state is state
        assert (verdict.cases, verdict.noun) == (groups, "task" if groups == 30 else "group")


def test_two_sessions_are_compared_by_groups(golden: Sentences) -> None:
    for groups in (30, 5):
        of = tasks(30, groups)
        both = [Selection(session(of, session=name), METRICS) for name in "AB"]
        (_, canopy) = make_mode_diffs(Sessions(a=both[0], b=both[1]))
        golden(text_of(canopy.answer))


def planned(of: list[dict[str, Any]]) -> str:
    changes = {"tasks": of, "runs": 3, "agents": len(of), "all_tasks": True}
    base = experiment().model_dump() | changes | {"order": [["baseline", "canopy"]] * 3}
    outlook = look_ahead(
        Experiment.model_validate(base), None, METRICS, saving=0.2, fixed_rules=False
    )
    assert outlook
    return "\n".join(describe_outlook(outlook).texts)


def test_a_plan_reckons_with_what_its_tasks_are_worth(golden: Sentences) -> None:
    apart, grouped = planned(tasks(12, 12)), planned(tasks(24, 12))
    golden(apart)
    golden(grouped)
    assert "groups" in grouped
    golden(planned(tasks(24, 3)))


def test_a_calibration_does_too(golden: Sentences) -> None:
    of = tasks(24, 8)
    trials = [
        make_trial(
            mode, agent=n + 1, run=run, task_id=task["id"],
            effective_tokens=1000 + 100 * n + 37 * run * (n % 3), **PAID,
        )
        for mode in ("baseline", "canopy")
        for n, task in enumerate(of)
        for run in (1, 2)
    ]  # fmt: skip
    data = make_session(*trials, tasks=of, agents=24, runs=2)
    answer, *_ = calibration(data).answers
    golden(text_of(answer))


def test_why_tasks_are_worth_less_is_said_and_that_a_rule_changed(golden: Sentences) -> None:
    assert not any("worth" in note for note in summarise(session(tasks(30, 30))).notes)
    of = tasks(30, 10)
    named = experiment().preregister().beforehand
    assert named
    older = named.model_copy(update={"verdict_version": None, "tasks_sha256": None}).add_checksum()
    for beforehand in (named, older):
        notes = summarise(session(of, beforehand=beforehand)).notes
        (note,) = [note for note in notes if "worth 10" in note]
        golden(note)


def test_the_checksums_of_older_sessions_remain_valid() -> None:
    """As version 0.1 wrote it: without the rules, and without groups in what it is of."""
    stored = experiment().preregister()
    text = stored.model_dump_json(
        exclude={"beforehand": {"verdict_version"}, "tasks": {"__all__": {"group"}}}
    )
    assert stored.beforehand
    older = Experiment.from_json(text.encode())
    assert older.beforehand
    assert older.beforehand.verdict_version is None
    assert not older.tasks_changed
    assert older.beforehand.model_copy(update={"sha256": older.beforehand.digest}).is_whole
    moved = older.tasks[0].model_copy(update={"group": "g"})
    changed = older.model_copy(update={"tasks": (moved, *older.tasks[1:])})
    assert changed.tasks_changed
