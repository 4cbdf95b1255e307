"""What the summary of `retrieve` says, on figures made up for it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import fmean
from xml.etree import ElementTree

import pytest

from swarm_bench.analysis.export_table import make_case_table
from swarm_bench.analysis.gate.limits import make_case_gate
from swarm_bench.analysis.retrieve.caveats import list_form_caveats
from swarm_bench.analysis.retrieve.figures import compute_p95
from swarm_bench.analysis.retrieve.summary import ComparedSearches, make_document
from swarm_bench.benchmarks.retrieve.benchmark import METRICS
from swarm_bench.core.metric import guarded_metric
from swarm_bench.core.report.document import Picture
from swarm_bench.core.report.gate import Bound, Kind, Limit, State
from swarm_bench.core.report.pictures import Drawing, PlaneChart, RowChart
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.experiment import Mode, Repository
from swarm_bench.core.session.retrieving import RetrieveExperiment, Searching, iterate_questions
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.core.status import Cause, Status
from swarm_bench.reports.exports import render_junit
from swarm_bench.reports.markdown import render
from swarm_bench.reports.terminal import MOST_LINES, render_brief
from tests.builders.golden import Sentences, parts

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SPREAD = (0.0, 0.02, -0.02, 0.01) * 2
"""Added to the figures of the tasks, so that they differ a little."""


def session(recalls: dict[str, float], **changes: object) -> ComparedSearches:
    """A session in which every mode has the same recall in all tasks, nearly."""
    tasks = tuple(
        Task(id=f"t{n}", title=f"T{n}", prompt=f"{n}?", key=AnswerKey(files=(f"{n}.py",)))
        for n in range(len(SPREAD))
    )
    arms = tuple(recalls)
    experiment = RetrieveExperiment(
        session="s", created_at=NOW, benchmark="retrieve", runs=1, seed=0, order=(arms,),
        concurrency=1, arms=arms, cases=tuple(case for case, _, _ in iterate_questions(tasks)),
        repository=Repository(path="/r", kind="git", tree="t", files=1, bytes=1),
        modes=tuple(Mode(name=arm, source="x") for arm in arms), suite="mine", tasks=tasks,
        timeout=60, index_timeout=60,
    ).model_copy(update=changes)  # fmt: skip
    records = [
        record(arm, n, recall + (SPREAD[n] if arm != "bm25" else 0))
        for arm, recall in recalls.items()
        for n in range(len(tasks))
    ]
    return ComparedSearches(experiment=experiment, records=records, metrics=METRICS)


def asked_twice(**forms: dict[str, float]) -> ComparedSearches:
    """A session whose questions are asked in two forms, with the recalls of each."""
    one = session(forms["sentence"])
    experiment = one.experiment
    assert isinstance(experiment, RetrieveExperiment)
    tasks = tuple(it.model_copy(update={"keywords": it.id}) for it in experiment.tasks)
    cases = tuple(case for case, _, _ in iterate_questions(tasks))
    records = [
        record(arm, n, recall + (SPREAD[n] if arm != "bm25" else 0), form)
        for form, recalls in forms.items()
        for arm, recall in recalls.items()
        for n in range(len(tasks))
    ]
    return replace(
        one,
        experiment=experiment.model_copy(update={"tasks": tasks, "cases": cases}),
        records=records,
    )


def record(arm: str, number: int, recall: float, form: str = "sentence") -> CaseRecord:
    case = f"t{number}/{form}"
    keys = ("recall_1", "recall_5", "recall_10", "recall", "reciprocal_rank", "ndcg_10")
    figures = {**dict.fromkeys(keys, recall), "tokens": 500.0, "files": 5.0, "empty": 0.0}
    seconds = {"first_seconds" if number == 0 else "later_seconds": number / 10}
    return CaseRecord(
        arm=arm, case=case, number=number + 1, run=1, session="s", trial=stable_id(1, arm, case),
        attempt=1, status=Status.COMPLETED, cause=Cause.FINISHED, answer="",
        figures={**figures, **seconds, "failed": 0.0},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("recall", "verdict"),
    [
        (0.5, "finds less"),
        (0.79, "finds as much"),
        (0.92, "finds more"),
    ],
)
def test_each_mode_is_held_against_the_plain_search(
    recall: float, verdict: str, golden: Sentences
) -> None:
    summary = render(make_document(session({"mine": recall, "bm25": 0.8})))
    assert f"**mine {verdict}.** It found {recall + 0.0025:.0%}".replace("%", " %") in summary
    golden(parts(summary))


def test_what_the_tasks_do_not_tell_apart_is_no_difference(golden: Sentences) -> None:
    whole = session({"mine": 0.8, "bm25": 0.8})
    plain = [it for it in whole.records if it.arm == "bm25"]
    mixed = [record("mine", n, 0.5 if n % 2 else 1.0) for n in range(8)]
    summary = render(make_document(ComparedSearches(whole.experiment, [*mixed, *plain], METRICS)))
    golden(parts(summary))
    summary = render(
        make_document(ComparedSearches(whole.experiment, [*mixed[:6], *plain], METRICS))
    )
    golden(parts(summary))


def test_without_the_plain_search_the_summary_asks_for_it(golden: Sentences) -> None:
    summary = render(make_document(session({"mine": 0.9})))
    golden(parts(summary))
    assert "Against bm25" not in summary


def test_what_was_assumed_is_said(golden: Sentences) -> None:
    searching = {"mine": Searching(server="s", tool="look_up", recognised=True)}
    changed = session({"mine": 0.9, "bm25": 0.8}, searching=searching, omitted_tasks=3)
    summary = render(make_document(changed))
    golden(parts(summary))
    assert "8 tasks without keywords" in summary


def test_figures_of_a_mode() -> None:
    answers = session({"mine": 0.5})
    assert answers.compute_mean(answers.select_records("mine"), "recall_5") == pytest.approx(0.5025)
    assert answers.compute_mean(answers.select_records("mine"), "index_seconds") is None
    found, before = (
        [cell.strip() for cell in line.split("|")]
        for line in render(make_document(answers)).splitlines()
        if line.startswith("| mine")
    )
    assert found[7:9] == ["5.0", "500"]
    assert found[9] == "1.00"  # recall 0.5 in 500 tokens
    assert found[12:] == ["400 ms", "700 ms", ""]
    assert before[1:] == ["mine", "-", "-", "0 ms", ""]


def test_calls_that_failed_are_counted_said_and_not_timed(golden: Sentences) -> None:
    whole = session({"mine": 0.5, "bm25": 0.8})
    *others, last = [it for it in whole.records if it.arm == "mine"]
    nothing = {**dict.fromkeys(last.figures, 0.0), "later_seconds": 60.0, "failed": 1.0}
    late = last.model_copy(update={"figures": nothing, "answer": "no answer\nwithin 60 s"})
    plain = [it for it in whole.records if it.arm == "bm25"]
    summary = render(
        make_document(ComparedSearches(whole.experiment, [*others, late, *plain], METRICS))
    )
    golden(parts(summary))
    assert "60,000 ms" not in summary


def test_a_call_that_failed_is_a_test_that_fails() -> None:
    whole = session({"mine": 0.5, "bm25": 0.8})
    failed = [
        it.model_copy(update={"figures": {**it.figures, "failed": float(it.number > 1)}})
        for it in whole.records
        if it.arm == "mine"
    ]
    plain = [it for it in whole.records if it.arm == "bm25"]
    table = make_case_table(ComparedSearches(whole.experiment, [*failed, *plain], METRICS))
    suites = ElementTree.fromstring(render_junit(table).encode())
    assert {it.get("name"): it.get("failures") for it in suites} == {"mine": "7", "bm25": "0"}


def test_searches_in_workspaces_with_answer_keys_have_a_caveat() -> None:
    whole = session({"mine": 0.5, "bm25": 0.8})
    assert isinstance(whole.experiment, RetrieveExperiment)
    repository = whole.experiment.repository.model_copy(
        update={"answers": ("keys.yaml",), "answers_since": NOW}
    )
    experiment = whole.experiment.model_copy(update={"repository": repository})
    records = [
        it.model_copy(update={"started_at": NOW + timedelta(days=1) if it.number > 2 else None})
        for it in whole.records
    ]
    table = make_case_table(ComparedSearches(experiment, records, METRICS))
    for caveats in table.caveats.values():
        (only,) = caveats
        assert only.qualification.startswith("2 of 8 trials had the 1 file with answer keys")


@pytest.mark.parametrize("mode", ["mine", "bm25"])
def test_answers_that_were_lost_are_counted_and_could_turn_a_verdict(
    mode: str, golden: Sentences
) -> None:
    whole = session({"mine": 0.92, "bm25": 0.8}, runs=2, order=(("mine", "bm25"),) * 2)
    again = [
        it.model_copy(update={"run": 2, "trial": stable_id(2, it.arm, it.case)})
        for it in whole.records
    ]
    of_mode = [it for it in whole.records if it.arm == mode]
    end = {"status": Status.HARNESS_FAILED, "cause": Cause.SERVICE_FAILED, "figures": {}}
    summaries = []
    for number in (0, 1, 3):
        ends = {it.trial: it.model_copy(update=end) for it in of_mode[:number]}
        records = [ends.get(it.trial, it) for it in (*whole.records, *again)]
        summaries.append(
            render(make_document(ComparedSearches(whole.experiment, records, METRICS)))
        )
    all_there, lost_one, lost_three = summaries
    assert "not in these figures" not in all_there
    golden(parts(lost_one))
    golden(parts(lost_three))


def test_a_mode_that_names_no_file_is_named(golden: Sentences) -> None:
    whole = session({"mine": 0.0})
    mute = [it.model_copy(update={"figures": {**it.figures, "empty": 1.0}}) for it in whole.records]
    summary = render(make_document(ComparedSearches(whole.experiment, mute, METRICS)))
    golden(parts(summary))


MUTE: dict[str, tuple[dict[str, float], str, str]] = {
    "failed": ({"failed": 1.0, "recall_5": 0.0}, "it timed out", "8 of 8 calls failed"),
    "empty": ({"empty": 1.0, "recall_5": 0.0}, "nothing", "no answer to 8 questions names a file"),
    "same": ({}, "1. a.py", "different questions got the same answer (8 answers)"),
}


@pytest.mark.parametrize("name", MUTE)
@pytest.mark.parametrize("arm", ["mine", "bm25"])
def test_a_search_that_says_nothing_could_not_be_measured(
    name: str, arm: str, golden: Sentences
) -> None:
    """It no verdict, no limit on it holds, and what is exported says so."""
    figures, answer, why = MUTE[name]
    whole = session({"mine": 0.92, "bm25": 0.8})
    records = [
        it.model_copy(update={"figures": {**it.figures, **figures}, "answer": answer})
        if it.arm == arm
        else it.model_copy(update={"answer": f"1. {it.case}.py"})
        for it in whole.records
    ]
    mute = ComparedSearches(whole.experiment, records, METRICS)
    summary = render(make_document(mute))
    golden(parts(summary))
    assert "mine finds" not in summary
    limit = Limit(kind=Kind.MAX_RATIO, metric="tokens", value=2, mode="mine")
    (verdict,) = make_case_gate(mute, [limit], Bound.ESTIMATE).verdicts
    assert (verdict.state, why in verdict.why) == (State.MISSING, True)
    exported = make_case_table(mute).caveats
    assert [it.is_void for it in exported[arm] if why in it.qualification] == [True]
    assert not any(it.is_void for other in exported if other != arm for it in exported[other])


def test_the_answers_to_a_form_are_looked_at_once() -> None:
    whole = session({"mine": 0.92, "bm25": 0.8})
    failed = [it.model_copy(update={"figures": {"failed": 1.0}}) for it in whole.records]
    answers = ComparedSearches(whole.experiment, failed, METRICS)
    assert list_form_caveats(answers, "mine", "sentence")
    assert list_form_caveats(answers, "mine", "sentence") is list_form_caveats(
        answers, "mine", "sentence"
    )


def test_the_same_files_are_the_same_answer_whatever_is_beside_them() -> None:
    whole = session({"mine": 0.92, "bm25": 0.8})
    for form in (
        "src/a.py:{n}: {n}\nsrc/b.py:3\nno. {n}",
        '[{{"path": "src/a.py", "score": {n}}}]',
    ):
        records = [
            it.model_copy(update={"answer": form.format(n=n)})
            for n, it in enumerate(whole.records, 1)
        ]
        answers = ComparedSearches(whole.experiment, records, METRICS)
        assert [it.is_void for it in list_form_caveats(answers, "mine", "sentence")] == [True]


def test_the_same_files_in_another_order_are_the_same_answer() -> None:
    """As far as they count: behind that, an answer may name all of a small repository."""
    whole = session({"mine": 0.92, "bm25": 0.8})
    for behind, void in (("", [True]), ("src/{n}.py\n", [])):
        records = [
            it.model_copy(
                update={
                    "answer": behind.format(n=n)
                    + "\n".join(f"src/{name}.py" for name in ("abcde"[n % 5 :] + "abcde"[: n % 5]))
                }
            )
            for n, it in enumerate(whole.records, 1)
        ]
        answers = ComparedSearches(whole.experiment, records, METRICS)
        assert [it.is_void for it in list_form_caveats(answers, "mine", "sentence")] == void


def test_different_questions_whose_answers_begin_alike_are_warned_of(golden: Sentences) -> None:
    """What stands behind the first file differs, and so do the keys; a file that is asked for may
    come first."""
    whole = session({"mine": 0.92, "bm25": 0.8})
    for same, first, caveats in ((4, "all.py", 1), (3, "all.py", 0), (8, "{n}.py", 0)):
        records = [
            it.model_copy(
                update={
                    "answer": f"`{first.format(n=n % 8)}` `z{n}.py`"
                    if n % 8 < same
                    else f"`y{n}.py`"
                }
            )
            for n, it in enumerate(whole.records)
        ]
        answers = ComparedSearches(whole.experiment, records, METRICS)
        stands = list_form_caveats(answers, "mine", "sentence")
        assert [it.is_void for it in stands] == [False] * caveats
        for caveat in stands:
            golden(caveat.warning or "")


def test_what_a_constant_list_finds_is_no_gain() -> None:
    """Half of each key is one file that all questions ask for."""
    whole = session({"mine": 0.5, "bm25": 0.2})
    asked = whole.experiment
    assert isinstance(asked, RetrieveExperiment)

    def said(*shared: str) -> str:
        tasks = [
            task.model_copy(update={"key": AnswerKey(files=(f"{n}.py", *shared))})
            for n, task in enumerate(asked.tasks)
        ]
        experiment = asked.model_copy(update={"tasks": tuple(tasks)})
        return render(make_document(ComparedSearches(experiment, whole.records, METRICS)))

    assert "mine finds more" in said()
    assert "mine finds more" not in said("all.py")


def test_one_answer_to_questions_with_one_key_is_an_answer() -> None:
    whole = session({"mine": 0.92, "bm25": 0.8})
    assert isinstance(whole.experiment, RetrieveExperiment)
    tasks = [
        task.model_copy(update={"key": AnswerKey(files=("a.py",))})
        for task in whole.experiment.tasks
    ]
    experiment = whole.experiment.model_copy(update={"tasks": tuple(tasks)})
    same = [it.model_copy(update={"answer": "1. a.py"}) for it in whole.records]
    assert "could not be" not in render(make_document(ComparedSearches(experiment, same, METRICS)))


def test_a_form_that_could_not_be_measured_leaves_the_other(golden: Sentences) -> None:
    whole = session({"mine": 0.0, "bm25": 0.8})
    assert isinstance(whole.experiment, RetrieveExperiment)
    tasks = [task.model_copy(update={"keywords": "k"}) for task in whole.experiment.tasks]
    cases = tuple(case for case, _, _ in iterate_questions(tasks))
    experiment = whole.experiment.model_copy(update={"tasks": tuple(tasks), "cases": cases})
    failed = [
        it.model_copy(update={"figures": {**it.figures, "failed": 1.0}}) if it.arm == "mine" else it
        for it in whole.records
    ]
    keywords = [record(arm, n, 0.9, "keywords") for arm in ("mine", "bm25") for n in range(8)]
    both = ComparedSearches(experiment, [*failed, *keywords], METRICS)
    summary = render(make_document(both))
    golden(parts(summary))
    limit = Limit(kind=Kind.MIN, metric="recall_5", value=0.1, mode="mine")
    gate = make_case_gate(both, [limit], Bound.ESTIMATE)
    assert gate.verdicts[0].state is State.HOLDS
    said = [caveat.qualification for caveat in gate.caveats["mine"]]
    golden(*said)


def test_what_both_forms_lack_is_said_once() -> None:
    whole = session({"mine": 0.0})
    assert isinstance(whole.experiment, RetrieveExperiment)
    tasks = [task.model_copy(update={"keywords": "k"}) for task in whole.experiment.tasks]
    cases = tuple(case for case, _, _ in iterate_questions(tasks))
    experiment = whole.experiment.model_copy(update={"tasks": tuple(tasks), "cases": cases})
    keywords = [record("mine", n, 0.0, "keywords") for n in range(8)]
    failed = [
        it.model_copy(update={"figures": {**it.figures, "failed": 1.0}})
        for it in (*whole.records, *keywords)
    ]
    both = ComparedSearches(experiment, failed, METRICS)
    assert [it.is_void for it in make_case_table(both).caveats["mine"]] == [True]
    headline = render(make_document(both)).partition("## Warnings")[0]
    assert headline.count("no verdict") == 1
    assert "**mine: no verdict.** 8 of 8 calls failed." in headline


def test_forms_stand_apart(golden: Sentences) -> None:
    whole = session({"mine": 0.0, "bm25": 0.8})
    assert isinstance(whole.experiment, RetrieveExperiment)
    tasks = [task.model_copy(update={"keywords": "k"}) for task in whole.experiment.tasks]
    cases = tuple(case for case, _, _ in iterate_questions(tasks))
    experiment = whole.experiment.model_copy(update={"tasks": tuple(tasks), "cases": cases})
    keywords = [record(arm, n, 0.9, "keywords") for arm in ("mine", "bm25") for n in range(8)]
    both = ComparedSearches(experiment, [*whole.records, *keywords], METRICS)
    found = both.pair_modes("mine", "bm25", "recall_5", "keywords")
    assert list(found.arm_values.values()) == pytest.approx([0.9] * 8)
    assert not any(found.differences.values())
    summary = render(make_document(both))
    golden(parts(summary))


def test_kinds_of_tasks_stand_apart_where_they_differ(golden: Sentences) -> None:
    whole = session({"mine": 0.5})
    assert isinstance(whole.experiment, RetrieveExperiment)
    tags = [("go", "changes", "done"), ("go", "changes", "done"), ("go", "symbols"), ("go",)] * 2
    tasks = tuple(
        task.model_copy(update={"tags": of_task})
        for task, of_task in zip(whole.experiment.tasks, tags, strict=True)
    )
    experiment = whole.experiment.model_copy(update={"tasks": tasks})
    summary = render(make_document(ComparedSearches(experiment, whole.records, METRICS)))
    golden(parts(summary, "`recall@5` by tag"))
    assert "go in sentences" not in summary
    assert "by tag" not in render(make_document(whole))


def test_weights_count() -> None:
    every = session({"mine": 0.5})
    assert isinstance(every.experiment, RetrieveExperiment)
    heavy, *others = every.experiment.tasks
    tasks = (heavy.model_copy(update={"weight": 7.0}), *others)
    experiment = every.experiment.model_copy(update={"tasks": tasks})
    weighed = ComparedSearches(experiment=experiment, records=every.records, metrics=METRICS)
    assert weighed.compute_mean(weighed.select_records("mine"), "recall") == pytest.approx(
        7.02 / 14
    )


@pytest.mark.parametrize("share", [7.5, -3.0])
def test_a_stored_share_that_cannot_be_is_in_no_figure(share: float) -> None:
    whole = session({"mine": 0.5, "bm25": 0.8})
    metrics = replace(METRICS, all=tuple(map(guarded_metric, METRICS)))
    records = [record("mine", 0, share), *whole.records[1:]]
    every = ComparedSearches(whole.experiment, records, metrics)
    assert every.compute_mean(every.select_records("mine")[:1], every.main.key) is None
    assert "t0" not in every.group_by_task("mine", every.main.key, "sentence")
    kept = [it.figures[every.main.key] or 0.0 for it in whole.records[1:8]]
    assert every.compute_mean(every.select_records("mine"), every.main.key) == pytest.approx(
        fmean(kept)
    )
    assert "a share lies between 0 and 1" in render(make_document(every))


def test_p95_is_a_value_that_was_measured() -> None:
    assert compute_p95([]) is None
    assert compute_p95([3.0]) == 3.0
    assert compute_p95([float(n) for n in range(1, 101)]) == 95.0


def test_an_empty_session_has_a_summary() -> None:
    empty = session({"mine": 0.5, "bm25": 0.5})
    summary = render(make_document(ComparedSearches(empty.experiment, (), METRICS)))
    assert "No answer was measured" in summary
    assert "not reported" in summary


def test_a_mode_without_an_answer_leaves_something_to_run() -> None:
    whole = session({"mine": 0.9, "other": 0.5, "bm25": 0.5})
    records = [record for record in whole.records if record.arm != "other"]
    shown = render_brief(make_document(replace(whole, records=records)), 100, colours=False)
    assert "mine finds more" in shown
    assert "other: no verdict" in shown
    assert "no further run" not in shown


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_shows_both_forms(width: int, golden: Sentences) -> None:
    arms = {"mysearch": 0.5, "grep": 0.3, "bm25": 0.8, "canopy": 0.8}
    data = asked_twice(sentence=arms, keywords=dict.fromkeys(arms, 0.9))
    shown = render_brief(make_document(data), width, colours=False)
    golden(shown)
    assert shown.count("\n") <= MOST_LINES
    for form in ("sentences", "keywords"):
        assert any(line.split()[:2] == ["mysearch", form] for line in shown.splitlines())


def test_a_terminal_without_room_shows_the_tool_before_the_plain_searches() -> None:
    arms = {"bm25": 0.8, "grep": 0.3, "also": 0.5, "mine": 0.5, "third": 0.5, "other": 0.4}
    data = asked_twice(sentence=arms, keywords=arms)
    rows = [
        line.split()[:2]
        for line in render_brief(make_document(data), 80, colours=False).split("\n")
    ]
    assert ["mine", "sentences"] in rows
    assert ["mine", "keywords"] in rows
    assert ["grep", "keywords"] not in rows


def test_what_the_best_tool_missed_and_another_found_is_named(golden: Sentences) -> None:
    data = session({"mine": 0.9, "grep": 0.5, "bm25": 0.8})
    records = [
        it.model_copy(update={"figures": {**it.figures, "recall_5": 0.0}})
        if (it.arm, it.number) in {("mine", 3), ("mine", 4), ("grep", 3), ("grep", 5)}
        else it
        for it in data.records
    ]
    made = make_document(replace(data, records=records))
    golden(parts(render(made), "Missed by one, found by another"))
    golden(render_brief(made, 80, colours=False))


def find_charts(answers: ComparedSearches, name: str) -> list[Drawing]:
    blocks = [block for section in make_document(answers).sections for block in section.blocks]
    pictures = [block for block in blocks if isinstance(block, Picture) and block.chart]
    return [it.chart for it in pictures if it.chart and it.address.startswith(name)]


def rank(arm: str, number: int, place: int | None, **figures: float) -> CaseRecord:
    """An answer whose first right file has that rank; `None` without one."""
    whole = record(arm, number, 0.5)
    reciprocal = 0.0 if place is None else 1 / place
    return whole.model_copy(
        update={"figures": {**whole.figures, "reciprocal_rank": reciprocal, **figures}}
    )


def test_ranks_are_drawn_by_question_and_tool() -> None:
    whole = session({"mine": 0.5, "bm25": 0.5})
    records = [
        *(rank("mine", number, number + 1) for number in range(8)),
        *(rank("bm25", number, None if number == 1 else 1) for number in range(7)),
    ]
    (chart,) = find_charts(replace(whole, records=records), "ranks")
    assert isinstance(chart, RowChart)
    assert [group.label for group in chart.groups] == ["mine", "bm25"]
    rows = {row.label: {mark.group: mark.value for mark in row.marks} for row in chart.rows}
    assert rows["T0"] == {0: 1, 1: 1}
    assert rows["T1"] == {0: 2, 1: None}, "found by one of them"
    assert rows["T7"] == {0: 8}, "the other one did not answer"
    assert [row.label for row in chart.rows[:2]] == ["T6", "T5"], "where tools differ most"
    assert chart.extra_column == "not found"
    assert "1 answer is missing" in chart.explanation


def test_of_many_questions_some_are_drawn_and_the_others_counted() -> None:
    whole = session({"mine": 0.5, "bm25": 0.5})
    tasks = tuple(
        Task(id=f"t{n}", title=f"T{n}", prompt=f"{n}?", key=AnswerKey(files=(f"{n}.py",)))
        for n in range(41)
    )
    cases = tuple(case for case, _, _ in iterate_questions(tasks))
    experiment = whole.experiment.model_copy(update={"tasks": tasks, "cases": cases})
    records = [rank(arm, number, 1) for arm in ("mine", "bm25") for number in range(41)]
    many = replace(whole, experiment=experiment, records=records)
    (chart,) = find_charts(many, "ranks")
    assert isinstance(chart, RowChart)
    assert len(chart.rows) == 40
    assert "The first 40 of 41 questions are shown." in chart.explanation


def test_recall_stands_against_tokens_as_far_as_that_is_recorded() -> None:
    whole = session({"mine": 0.5, "bm25": 0.25})
    (chart,) = find_charts(whole, "recall")
    assert isinstance(chart, PlaneChart)
    points = {line.label: line.points[0] for line in chart.lines}
    assert [points[arm].x for arm in ("bm25", "mine")] == [500, 500]
    assert [points[arm].y for arm in ("bm25", "mine")] == pytest.approx([0.25, 0.5025])
    assert "not recorded" in chart.explanation
    second = [record("bm25", number, 0.5) for number in range(8)]
    (alone,) = find_charts(replace(whole, records=second), "recall")
    (ranks,) = find_charts(whole, "ranks")
    assert isinstance(alone, PlaneChart)
    assert isinstance(ranks, RowChart)
    shapes = {group.label: group.shape for group in ranks.groups}
    assert [(line.label, line.shape) for line in alone.lines] == [("bm25", shapes["bm25"])]
    none = [record("mine", 0, 0.5).model_copy(update={"figures": {}})]
    assert not find_charts(replace(whole, records=none), "recall")
    assert not find_charts(replace(whole, records=none), "ranks")


def test_each_form_has_its_pictures() -> None:
    twice = asked_twice(sentence={"mine": 0.5, "bm25": 0.5}, keywords={"mine": 1, "bm25": 1})
    document = make_document(twice)
    sections = {it.title: it.blocks for it in document.sections}
    addresses = [
        [block.address for block in sections[title] if isinstance(block, Picture)]
        for title in ("Asked in a sentence", "Asked in keywords")
    ]
    assert addresses == [["ranks-1.svg", "recall-1.svg"], ["ranks-2.svg", "recall-2.svg"]]


def test_its_size_is_the_questions_that_were_asked() -> None:
    whole = session({"mine": 0.5, "bm25": 0.5})
    first = [record for record in whole.records if record.number == whole.records[0].number]
    assert replace(whole, records=first).size == "1 question × 1 run"
