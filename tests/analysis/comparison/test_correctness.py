"""With answer keys the headline begins with what was found, and nothing bad looks good."""

from typing import Any

import pytest

from swarm_bench.analysis.comparison.controls import OF_A_PLACEBO
from swarm_bench.core.report.report import Correctness, Figure, Report
from swarm_bench.core.session.records import TrialRecord
from tests.builders.answers import text_of
from tests.builders.golden import Sentences, parts
from tests.builders.keyed import PAID, TASKS, Recalls, answered, died, report_of, trials_of
from tests.builders.reports import render, summarise
from tests.builders.sessions import make_failed, make_session, make_trial


def shown(report: Report) -> Correctness:
    assert report.headline.correctness is not None
    return report.headline.correctness


def values(report: Report, key: str) -> list[float | None]:
    found = {row.metric.key: row.figures for row in shown(report).rows}
    spent = {row.metric.key: row.figures for row in shown(report).spent}
    return [figure.value if figure else None for figure in (found | spent)[key]]


def said_of(report: Report, mode: str) -> str:
    return next(one.correctness for one in report.headline.standings if one.mode == mode)


def test_the_headline_begins_with_what_was_found() -> None:
    report = report_of({"baseline": (1, 0.5), "canopy": (1, 1)})
    assert values(report, "file_recall") == [0.75, 1]
    assert values(report, "right_answer") == [0.5, 1]
    headline = render(report).partition("## Headline\n\n")[2]
    assert headline.startswith("- **canopy: cannot tell yet.**")
    assert headline.index("**canopy") < headline.index("| Recall (files)")
    assert headline.index("| Recall (files)") < headline.index("| Cost ")
    assert " Recall |" in render(report).partition("## Per-Agent Results")[2]


def test_tasks_have_their_weight_and_runs_their_mean() -> None:
    heavy = [TASKS[0] | {"weight": 3}, TASKS[1]]
    assert values(report_of({"baseline": (1, 0)}, tasks=heavy), "file_recall") == [0.75]
    runs = [
        trial
        for run, recall in enumerate((0.2, 0.4, 0.9), start=1)
        for trial in trials_of({"baseline": (recall,)}, run=run)
    ]
    (recall,) = shown(summarise(make_session(*runs, tasks=TASKS[:1]))).rows[0].figures
    assert recall == Figure(value=0.5, runs=3)


def test_a_dead_agent_found_nothing_and_the_harness_is_missing(golden: Sentences) -> None:
    broken = make_failed("canopy", "workspace-failed", "harness-failed", task_id="b", agent=2)
    trials = [
        *trials_of({"baseline": (1, 1)}),
        answered("canopy", "a", 1),
        broken,
        died("canopy-service", "a"),
        answered("canopy-service", "b", 1, agent=2),
    ]
    report = summarise(make_session(*trials, tasks=TASKS, planned=dict.fromkeys(("canopy",), 2)))
    assert values(report, "file_recall") == [1, 1, 0.5]
    assert [one.missing for one in shown(report).rows[0].figures if one] == [0, 1, 0]
    assert said_of(report, "canopy") == ""
    assert said_of(report, "canopy-service").startswith("Found less than baseline")
    verdict = next(text_of(one.answer) for one in report.headline.standings if one.mode == "canopy")
    golden(verdict)


def test_a_mode_whose_agents_all_died_is_seen_to_have_found_nothing() -> None:
    trials = [*trials_of({"baseline": (1, 1)}), died("canopy", "a"), died("canopy", "b", agent=2)]
    report = summarise(make_session(*trials, tasks=TASKS))
    assert values(report, "file_recall") == [1, 0]
    assert values(report, "cost_per_right_answer")[1] is None
    assert "canopy (no verdict)" in render(report)


def test_where_only_dead_agents_have_scores_nothing_is_known() -> None:
    """A scorer that fails on every answer leaves the zeros of those without one."""
    trials = [*trials_of({"baseline": (None,), "canopy": (1,)}), died("baseline", "b", agent=2)]
    assert values(summarise(make_session(*trials, tasks=TASKS)), "file_recall") == [None, 1]


def test_a_contaminated_trial_found_nothing_of_its_own() -> None:
    trials = trials_of({"baseline": (0, 0), "canopy": (0,)})
    touched = answered("canopy", "b", 1, agent=2, retrieval="contaminated")
    assert values(summarise(make_session(*trials, touched, tasks=TASKS)), "file_recall") == [0, 0]


@pytest.mark.parametrize(("recall", "is_less"), [(0.69, True), (0.7, False), (0.91, False)])
def test_a_mode_that_found_less_by_more_than_the_margin_is_named(
    recall: float, is_less: bool
) -> None:
    report = report_of({"baseline": (0.8,), "canopy": (recall,)})
    assert said_of(report, "canopy").startswith("Found less than") is is_less
    settings = {"quality_margin": {"value": 0.2, "source": "command line"}}
    wide = report_of({"baseline": (0.8,), "canopy": (recall,)}, settings=settings)
    assert said_of(wide, "canopy") == ""


def cheap(recall: float) -> Report:
    """Compare with a mode that costs half."""
    trials = [
        *trials_of({"baseline": (0.8, 1)}),
        *trials_of({"canopy": (recall, 1)}, cost=0.25, wall_seconds=22.0),
    ]
    return summarise(make_session(*trials, tasks=TASKS))


def test_what_a_mode_that_found_less_spends_less_is_no_saving(golden: Sentences) -> None:
    golden(said_of(cheap(0.5), "canopy"))
    assert said_of(cheap(0.8), "canopy") == ""


def test_what_a_mode_saves_that_found_less_is_no_ratio(golden: Sentences) -> None:
    text = render(cheap(0.5))
    table = text.partition("## Effects")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    cells = {row[1]: row[3] for row in rows if len(row) > 3}
    assert (cells["Cost"], cells["Wall time"]) == ("$0.25, found less", "22.00s, 2.00×")
    golden(parts(text, "How to read the effects"))


def test_a_right_answer_costs_what_all_trials_spent() -> None:
    report = report_of({"baseline": (1, 0), "canopy": (0, 0)})
    assert values(report, "tokens_per_right_answer") == [2000, None]
    assert values(report, "cost_per_right_answer") == [1, None]
    assert "| no right answer |" in " ".join(render(report).split())


def test_by_fixed_rules_what_was_found_stands_first_and_what_was_spent_apart() -> None:
    trials = trials_of({"baseline": (1, 1), "canopy": (1, 1)}, fixed_rules=True, model="rules")
    report = summarise(make_session(*trials, tasks=TASKS))
    assert shown(report).spent == ()
    assert report.spent_by_rules
    assert [row.metric.key for row in report.spent_by_rules.per_right_answer] == [
        "tokens_per_right_answer",
    ]
    headline, _, spent = render(report).partition("## What the fixed rules spent")
    assert "per right answer" not in headline
    assert "per right answer" in spent.partition("## ")[0]


def test_a_constant_answer_is_not_right_and_a_list_of_all_files_is_not_precise() -> None:
    everything = {"file_recall": 1.0, "files_all_found": True, "file_precision": 0.01}
    trials = [
        *trials_of({"baseline": (1, 1), "canopy": (1, 0)}),
        make_trial("canopy-service", task_id="a", scores=everything, **PAID),
    ]
    report = summarise(make_session(*trials, tasks=TASKS))
    assert values(report, "right_answer") == [1, 0.5, 1]
    assert values(report, "file_precision") == [None, None, 0.01]


def test_a_mode_that_names_more_that_is_wrong_is_said_to(golden: Sentences) -> None:
    def precise(mode: str, precision: float, **changes: Any) -> TrialRecord:
        scores = {"file_recall": 1.0, "files_all_found": True, "file_precision": precision}
        return make_trial(mode, task_id="a", scores=scores, **{**PAID, **changes})

    def compared(precision: float) -> str:
        trials = (precise("baseline", 0.5), precise("canopy", precision, cost=0.1))
        return said_of(summarise(make_session(*trials, tasks=TASKS)), "canopy")

    assert compared(0.4) == ""
    golden(compared(0.05))


def test_facts_are_part_of_a_right_answer() -> None:
    scores = {"file_recall": 1.0, "files_all_found": True, "fact_share": 0.5}
    trial = make_trial(task_id="a", scores=scores, **PAID)
    asked = TASKS[0] | {"key": {"files": ["a.py"], "facts": ["a", "b"]}}
    report = summarise(make_session(trial, tasks=[asked]))
    assert (values(report, "right_answer"), values(report, "fact_share")) == ([0], [0.5])


def test_what_is_done_already_stands_apart(golden: Sentences) -> None:
    done = TASKS[1] | {"tags": ["changes", "done-already"]}
    report = report_of({"baseline": (1, 0)}, tasks=[TASKS[0] | {"tags": ["symbols"]}, done])
    assert values(report, "file_recall") == [1]
    (tag,) = shown(report).tags
    assert (tag.tag, tag.tasks, [one.value for one in tag.recall if one]) == (
        "done-already",
        1,
        [0],
    )
    golden(report.headline.remark)
    assert "## What was found by tag" in render(report)
    alone = report_of({"baseline": (0.5,)}, tasks=[done | {"id": "a"}])
    assert values(alone, "file_recall") == [0.5]
    golden(alone.headline.remark)


def test_a_placebo_that_finds_as_much_qualifies_its_mode(golden: Sentences) -> None:
    def caveats(placebo: float) -> str:
        recalls = {"baseline": (1, 1), "canopy": (1, 0.8), "placebo": (placebo, placebo)}
        found = report_of(recalls).headline
        return " ".join(one for mode in found.standings for one in mode.qualifications)

    golden(caveats(0.85))
    assert "a placebo, whose" in caveats(0.85)
    assert caveats(0.1) == OF_A_PLACEBO


def test_tags_that_tell_tasks_apart_have_a_row() -> None:
    tagged = [
        TASKS[0] | {"tags": ["symbols", "python"]},
        TASKS[1] | {"tags": ["callers", "python"]},
    ]
    report = report_of({"baseline": (1, 0), "canopy": (0, 1)}, tasks=tagged)
    recalls = {tag.tag: [one.value for one in tag.recall if one] for tag in shown(report).tags}
    assert recalls == {"symbols": [1, 0], "callers": [0, 1]}


@pytest.mark.parametrize(
    ("recalls", "sentence"),
    [
        ({"baseline": (0.95, 1), "canopy": (1, 1)}, "too easy"),
        ({"baseline": (0.8, 1), "canopy": (1, 1)}, ""),
        ({"baseline": (0, 0), "canopy": (0, 0)}, "No mode found anything"),
        ({"baseline": (1, 1)}, ""),
    ],
)
def test_tasks_that_tell_no_mode_apart_are_named(recalls: Recalls, sentence: str) -> None:
    remark = report_of(recalls).headline.remark
    sentences = ("too easy", "No mode found anything")
    assert [one for one in sentences if one in remark] == ([sentence] if sentence else [])


def test_without_keys_or_scores_the_headline_says_so(golden: Sentences) -> None:
    plain = summarise(make_session(make_trial(), make_trial("canopy")))
    assert plain.headline.correctness is None
    golden(plain.headline.remark)
    assert "swarm-bench tasks make" in plain.headline.remark
    assert "What was found" not in render(plain)
    unscored = summarise(make_session(make_trial(task_id="a"), tasks=TASKS))
    assert "swarm-bench rescore" in unscored.headline.remark
    mixed = report_of(
        {"baseline": (1,)}, tasks=[TASKS[0], {"id": "c", "title": "c", "prompt": "c"}]
    )
    golden(mixed.headline.remark)
