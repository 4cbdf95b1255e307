"""What else a session says whose tasks have answer keys."""

from dataclasses import replace
from datetime import date

from swarm_bench.analysis.caveats.missing_figures import find_constant_level
from swarm_bench.analysis.caveats.no_verdict import find_caveats
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.report import Figure
from swarm_bench.core.session.records import SessionData
from tests.builders.golden import Sentences, parts
from tests.builders.keyed import TASKS, answered, report_of, trials_of
from tests.builders.reports import render, render_page, series, summarise
from tests.builders.sessions import make_session, make_trial


def test_how_the_tasks_were_made_and_how_old_they_are_is_said(golden: Sentences) -> None:
    dates = [date(2024, 5, 1), None]
    tasks = [task | {"written": when} for task, when in zip(TASKS, dates, strict=True)]
    since = date(2025, 1, 1)
    text = render(report_of({"baseline": (1, 1)}, tasks=tasks, since=since, made="tasks make"))
    assert "Tasks made:** tasks make" in text
    golden(parts(text))
    newer = [task | {"written": date(2026, 1, 1)} for task in TASKS]
    assert "may have seen" not in render(report_of({"baseline": (1, 1)}, tasks=newer, since=since))


def test_hard_tasks_and_others_are_counted() -> None:
    tasks = [TASKS[0] | {"tags": ["hard"]}, TASKS[1] | {"tags": ["easier"]}]
    report = report_of({"baseline": (1, 0)}, tasks=tasks)
    assert "over 2 tasks (1 of them tagged hard)" in render(report)
    assert "(1 of 2 asked: 1 tagged hard and 0 other tasks)" in render(report), "by one agent"
    assert report.headline.correctness is not None
    assert [row.tag for row in report.headline.correctness.tags] == ["hard", "easier"]
    assert report.headline.correctness.rows[0].figures[0] == Figure(value=0.5, runs=1), "both count"


def test_a_series_says_what_each_size_found(golden: Sentences) -> None:
    def of(size: int, recall: float) -> SessionData:
        return make_session(*trials_of({"canopy": (recall, 1)}), tasks=TASKS, swarm_size=size)

    found = series({1: of(1, 1), 2: of(2, 0.5)})
    rows = {row.metric.key: [cell.value for cell in row.cells] for row in found.modes[0].rows}
    assert rows["file_recall"] == [1, 0.75]
    assert rows["right_answer"] == [1, 0.5]
    golden(found.modes[0].sentence)
    assert "Correctness was not" not in found.remark


def test_the_page_of_a_trial_says_what_it_found() -> None:
    page = render_page(METRICS, answered("canopy", "a", 1 / 3), "x")
    assert "Recall (files):** 0.33\n" in page
    assert "- **Right answer:** no\n" in page
    assert "Recall" not in render_page(METRICS, make_trial(), "x")


def test_only_trials_of_the_tasks_in_a_figure_are_missing_from_it() -> None:
    """Three tasks are planned twice each; one of them is done already, one has no key."""
    done = TASKS[1] | {"tags": ["done-already"]}
    plain = {"id": "c", "title": "c", "prompt": "c"}
    trial = answered("baseline", "a", 1)
    tasks = [TASKS[0], done, plain]
    report = summarise(make_session(trial, tasks=tasks, planned={"baseline": 6}))
    assert report.headline.correctness is not None
    (recall,) = report.headline.correctness.rows[0].figures
    assert recall == Figure(value=1, runs=1, missing=1)


def test_a_task_whose_key_has_no_symbols_is_not_missing_from_their_recall() -> None:
    asked = TASKS[0] | {"key": {"files": ["a.py"], "symbols": ["a.py::f"]}}
    symbols = {"file_recall": 1.0, "symbol_recall": 1.0}
    trials = (make_trial(task_id="a", scores=symbols), answered("baseline", "b", 1, agent=2))
    report = summarise(make_session(*trials, tasks=[asked, TASKS[1]], planned={"baseline": 2}))
    assert report.headline.correctness is not None
    rows = {row.metric.key: row.figures[0] for row in report.headline.correctness.rows}
    assert rows["symbol_recall"] == Figure(value=1, runs=1)


def test_where_tasks_that_are_done_already_differ_the_others_alone_are_too_easy(
    golden: Sentences,
) -> None:
    tasks = [TASKS[0], TASKS[1] | {"tags": ["done-already"]}]
    differing = report_of({"baseline": (1, 0), "canopy": (1, 1)}, tasks=tasks).headline.remark
    golden(differing)
    alike = report_of({"baseline": (1, 1), "canopy": (1, 1)}, tasks=tasks).headline.remark
    assert "by what they find." in alike


def test_a_mode_that_found_hardly_more_than_a_constant_answer_is_named() -> None:
    def named(*files: str) -> list[str]:
        tasks = [
            {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [file]}}
            for n, file in enumerate(files)
        ]
        trials = [
            make_trial(mode, task_id=task["id"], scores={"file_recall": own})
            for mode, own in {"baseline": 0.5, "canopy": 0.7, "placebo": 0.0}.items()
            for task in tasks
        ]
        session = make_session(*trials, tasks=tasks)
        report = summarise(session)
        assert report.headline.correctness is not None
        rows = {row.metric.key: row.figures[0] for row in report.headline.correctness.rows}
        assert rows["constant_recall"] == Figure(value=1, runs=1), "a list has room for all"
        selection = Selection(session, METRICS)
        modes = ("baseline", "canopy")
        return [mode for mode in modes if find_caveats(selection, mode, find_constant_level)]

    assert named("a.py", "a.py", *"bcd") == ["baseline"]
    assert named("a.py", "a.py", "a.py", "b") == ["baseline", "canopy"]
    assert named("a.py", "a.py", *"bcdef") == []


def test_that_a_constant_list_is_found_otherwise_now_is_said_of_older_sessions() -> None:
    data = make_session(*trials_of({"baseline": (1, 1), "canopy": (1, 0)}), tasks=TASKS)
    today = replace(data, experiment=data.experiment.preregister())
    said = [
        any("constant answer" in note for note in summarise(each).notes) for each in (data, today)
    ]
    assert said == [True, False]


def test_tasks_that_no_agent_gets_are_in_no_figure() -> None:
    """The one that is asked is done already, and the other one is for no agent."""
    tasks = [TASKS[0] | {"tags": ["done-already"]}, TASKS[1]]
    report = report_of({"baseline": (0.5,)}, tasks=tasks)
    assert report.headline.correctness is not None
    assert [row.metric.key for row in report.headline.correctness.rows][0] == "file_recall"
    assert "over 1 task:" in report.headline.remark
