"""What the benchmark `labels` asks, reads and counts."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.cases.running import make_stored_request
from swarm_bench.benchmarks.labels.benchmark import (
    CORRECT,
    COUNTS,
    NO_LABEL,
    Labels,
    make_confusion_counts,
)
from swarm_bench.benchmarks.labels.tasks import NO, TASKS, YES, Name
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.datasets.rows import read_rows
from swarm_bench.testing.model_contracts import check_model_benchmark

pytestmark = pytest.mark.anyio
NAMES: tuple[Name, ...] = tuple(TASKS)
NO_TOOLS = Tools(environment=None)
DEFECT = {"func": "int f(void);", "target": 1}


def answered(text: str, *, whole: bool = False) -> Completion:
    return Completion(text=text, finish="stop", usage=Usage(), whole=whole)


def case_of(task: Name, content: dict[str, Any]) -> RowCase:
    benchmark = Labels(task=task)
    return next(benchmark.cases([benchmark.row_schema().model_validate(content)]))


def figures(labels: Sequence[str], pairs: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    """Return what the metrics make of pairs of a right and an answered label."""
    counts = [make_confusion_counts(labels, *pair) for pair in pairs]
    sums = [float(sum(column)) for column in zip(*counts, strict=True)]
    return {it.key: it.of_counts(sums) for it in Labels.metrics() if it.of_counts}


@pytest.mark.parametrize("task", NAMES)
async def test_the_shipped_rows_are_asked_and_their_answers_are_right(task: Name) -> None:
    benchmark = Labels(task=task)
    rows = read_rows(benchmark.default_dataset(), benchmark.row_schema()).rows
    cases = list(benchmark.cases(rows))
    assert len({case.id for case in cases}) == len(rows) >= 10
    assert {case.row.label for case in cases} == set(TASKS[task].labels)
    for case in cases:
        for way in benchmark.ways:
            ask = benchmark.ask(case, way)
            text = make_stored_request(ask)["prompt"]
            text = text if way == "text" else text[0]["text"]
            assert case.row.code in text
            assert all(label in text.split("\n")[1] for label in TASKS[task].labels)
            prediction = benchmark.read(case, answered(ask.reference or ""), way)
            scores = await benchmark.score(case, prediction, NO_TOOLS)
            assert (scores[CORRECT], scores[NO_LABEL]) == (True, False)


def test_the_share_of_the_most_frequent_label_is_a_note() -> None:
    for task, start in (("defect", "no, is right in 7 of 12 rows (0.58)"),
                        ("complexity", "linear, is right in 5 of 17 rows (0.29)")):  # fmt: skip
        own = Labels.model_validate({"task": task})
        (note,) = own.notes(read_rows(own.default_dataset(), own.row_schema()).rows)
        assert f"The most frequent label, {start}" in note


async def test_it_keeps_the_contract_of_benchmarks() -> None:
    await check_model_benchmark(Labels, read_rows("defect-mini", Labels.Row).rows, NO_TOOLS)


@pytest.mark.parametrize(
    ("task", "text", "label"),
    [
        ("defect", "Yes, in line 0.", YES),
        ("defect", "There is NO defect, yes?", NO),
        ("defect", "1", ""),
        ("defect", "Nobody knows; yesterday it had none.", ""),
        ("complexity", "O(n log n), so nlogn and not linear", "nlogn"),
        ("complexity", "Exponential", "exponential"),
        ("complexity", "linearly", ""),
        ("defect", "_yes_", YES),
        ("defect", "is __no__.", NO),
        ("defect", "no_overflow, is_yes", ""),
        ("clone", "", ""),
    ],
)
def test_the_first_label_counts(task: Name, text: str, label: str) -> None:
    case = RowCase(id="0", row=None)
    assert Labels(task=task).read(case, answered(text), "chat") == label


@pytest.mark.parametrize(
    ("task", "text", "label"),
    [
        ("defect", "1", YES),
        ("clone", "0", NO),
        ("defect", "true", YES),
        ("defect", " 1\r", YES),
        ("complexity", "np", "exponential"),
        ("defect", "0.97", ""),
        ("defect", "-1", ""),
        ("clone", "06\t1", ""),
        ("complexity", "exponential/np", "exponential"),
    ],
)
def test_files_have_the_labels_of_the_data(task: Name, text: str, label: str) -> None:
    case = RowCase(id="0", row=None)
    assert Labels(task=task).read(case, answered(text, whole=True), "chat") == label


async def test_no_label_is_wrong_and_counted() -> None:
    case = case_of("defect", DEFECT)
    scores = await Labels().score(case, "", NO_TOOLS)
    assert (scores[CORRECT], scores[NO_LABEL], scores[COUNTS]) == (False, True, [0, 0, 0, 0, 0, 1])
    read = figures((NO, YES), [(YES, None), (YES, YES)])
    assert (read["precision"], read["recall"], read["f1"]) == (1.0, 0.5, pytest.approx(2 / 3))


def test_the_toy_of_clones_is_as_its_evaluator_says() -> None:
    """CodeXGLUE's: all rows are 0, and half of the predictions are."""
    read = figures((NO, YES), [(NO, NO), (NO, YES), (NO, NO), (NO, YES)])
    assert (read["macro_precision"], read["macro_recall"]) == (0.5, 0.25)
    assert read["macro_f1"] == pytest.approx(1 / 3)
    assert (read["precision"], read["recall"], read["f1"]) == (None, None, None)


def test_precision_of_what_nobody_answered_is_missing_and_f1_is_0() -> None:
    read = figures((NO, YES), [(YES, NO), (NO, NO)])
    assert (read["precision"], read["recall"], read["f1"]) == (None, 0.0, 0.0)


def test_several_labels_have_macro_figures_alone() -> None:
    labels = TASKS["complexity"].labels
    read = figures(labels, [("linear", "linear"), ("linear", "cubic"), ("logn", "logn")])
    assert read["macro_precision"] == pytest.approx((1 + 1 + 0) / 3)
    assert read["macro_recall"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert read["f1"] is None


@pytest.mark.parametrize(
    ("task", "content", "where"),
    [
        ("defect", {"func": "f"}, "target"),
        ("defect", {"func": "f", "target": 2}, "target"),
        ("clone", {"func1": "f", "func2": "g"}, "label"),
        ("complexity", {"src": "s", "complexity": "O(n)"}, "complexity"),
        ("complexity", DEFECT, "src"),
    ],
)
def test_rows_without_a_label_of_the_task_are_refused(
    task: Name, content: dict[str, Any], where: str
) -> None:
    with pytest.raises(ValidationError) as error:
        Labels(task=task).row_schema().model_validate(content)
    assert error.value.errors()[0]["loc"] == (where,)


def test_a_case_is_called_by_its_ids_or_its_number() -> None:
    clone = {"func1": "f", "func2": "g", "label": "1"}
    assert case_of("clone", clone | {"id1": 7, "id2": 9}).id == "7-9"
    assert case_of("clone", clone | {"id": 3}).id == "3"
    assert case_of("clone", clone).id == "0"
    assert case_of("defect", DEFECT | {"idx": 12}).id == "12"


def test_there_is_no_original_that_asks() -> None:
    with pytest.raises(ValidationError, match="the originals ask no model"):
        Labels(parity=True)


@given(
    task=st.sampled_from(NAMES),
    text=st.text() | st.text(alphabet="yesno10 \nlinear-_"),
    whole=st.booleans(),
)
async def test_any_answer_is_read_and_scored(task: Name, text: str, whole: bool) -> None:
    benchmark, labels = Labels(task=task), TASKS[task].labels
    prediction = benchmark.read(RowCase(id="0", row=None), answered(text, whole=whole), "text")
    assert prediction in ("", *labels)
    for right in labels:
        counts = make_confusion_counts(labels, right, prediction or None)
        assert (sum(counts), len(counts)) == (1, len(labels) ** 2 + len(labels))


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", None])), min_size=1)
)
def test_figures_are_shares(pairs: list[tuple[str, str | None]]) -> None:
    assert all(value is None or 0 <= value <= 1 for value in figures("abc", pairs).values())


def test_a_text_that_is_continued_ends_at_an_empty_line() -> None:
    case = RowCase(id="0", row=None)
    assert Labels().read(case, answered("\nyes\n\nno"), "text") == YES
    assert Labels().read(case, answered("?\n\nno"), "text") == ""
    assert Labels().read(case, answered("?\n\nno"), "chat") == NO
