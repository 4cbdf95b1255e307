"""The table of results: how many cases were asked, and how many a figure covers."""

from dataclasses import replace

import pytest
from scipy import stats

from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.results import compute_results, make_result_section
from swarm_bench.benchmarks.cases.passing import COMMON_METRICS
from swarm_bench.core.report.document import Grid, Picture, Value
from swarm_bench.core.report.pictures import Drawing, PlaneChart, RowChart
from swarm_bench.reports.markdown import render
from swarm_bench.reports.terminal import render_brief
from tests.builders.cases import HIGH, LOST, LOW, RIGHT, WORDS, case_session, model_session
from tests.builders.golden import Sentences, parts


def rows(session: ModelSession) -> list[dict[str, object]]:
    grid, *_ = make_result_section(session).blocks
    assert isinstance(grid, Grid)
    return [dict(zip(grid.headers, row, strict=True)) for row in grid.rows]


def notes(row: dict[str, object]) -> tuple[str, ...]:
    cell = row["Accuracy"]
    assert isinstance(cell, Value)
    return cell.notes


def test_a_figure_of_fewer_cases_than_were_asked_says_so() -> None:
    whole, some = rows(model_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 4}))
    assert (whole["Cases"], notes(whole)) == ("20", ())
    assert (some["Cases"], notes(some)) == ("20", ("16 of 20 cases",))
    nothing = rows(model_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 20}))[1]
    assert (nothing["Cases"], notes(nothing)) == ("20", ())


def test_empty_answers_stand_beside_the_figure() -> None:
    session = model_session({"a": LOW, "b": HIGH})
    records = [
        it.model_copy(
            update={"elsewhere": "reasoning" if it.arm == "b" and it.number < 3 else None}
        )
        for it in session.records
    ]
    whole, some = rows(replace(session, records=records))
    assert (notes(whole), notes(some)) == ((), ("2 of 20 answers empty",))
    records[-1] = records[-1].model_copy(update={"answer": "", "finish": "stop"})
    whole, some = rows(replace(session, records=records))
    assert (notes(whole), notes(some)) == ((), ("3 of 20 answers empty",))


def test_the_cases_of_a_part_are_its_own() -> None:
    session = model_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 4})
    parts = {f"c{n}": "easy" if n < 5 else "hard" for n in range(20)}
    records = [it.model_copy(update={"part": parts[it.case]}) for it in session.records]
    parted = replace(session, records=records)
    of_b = rows(parted)[3:]
    assert [(row["Part"], row["Cases"]) for row in of_b] == [
        ("all", "20"), ("easy", "5"), ("hard", "15")
    ]  # fmt: skip
    assert [notes(row) for row in of_b] == [("16 of 20 cases",), ("1 of 5 cases",), ()]


def test_the_interval_of_a_difference_of_shares_ends_where_differences_do() -> None:
    arms = {"a": (0.0,) * 8, "b": (1.0,) * 7 + (0.0,)}
    section, *_ = [it for it in model_session(arms).document.sections if it.title == "Effects"]
    (grid, *_) = section.blocks
    assert isinstance(grid, Grid)
    cell = grid.rows[0][1]
    assert isinstance(cell, Value)
    assert cell.low is not None
    assert (cell.low > 0, cell.high) == (True, 1.0)


def test_an_interval_of_shares_ends_where_shares_do() -> None:
    session = model_session({"a": (1.0,) * 5 + (0.5,)}, metrics=[RIGHT])
    (only,) = compute_results(session)
    (figure,) = only.figures
    assert figure.interval
    assert figure.interval[0] > 0.5
    assert figure.interval[1] == 1.0


def test_the_interval_of_what_is_counted_does_not_go_below_nothing() -> None:
    few = {"a": (0.0,) * 7 + (1.0,), "b": (0.0,) * 7 + (1.0,)}
    logs = replace(WORDS, key="logs", unit="log-likelihood")
    rows = list(compute_results(model_session(few, metrics=(RIGHT, WORDS, logs))))
    right, words, logs_of = (it.interval for it in rows[0].figures)
    assert right
    assert right[0] == 0
    assert words
    assert logs_of
    assert (words[0], words[1]) == (0.0, logs_of[1])
    assert logs_of[0] < 0


def test_a_share_that_is_the_same_in_every_case_has_the_interval_of_wilson() -> None:
    arms = {"a": (1.0,) * 20, "b": (0.0,) * 20, "c": (0.5,) * 20}
    rows = compute_results(model_session(arms, metrics=[RIGHT]))
    every, no, half = (figure.interval for row in rows for figure in row.figures)
    wilson = stats.binomtest(20, 20).proportion_ci(method="wilson")
    assert every == pytest.approx((wilson.low, 1.0))
    assert no == pytest.approx((0.0, 1 - wilson.low))
    assert half is None


@pytest.mark.parametrize("kind", ["low", "same", "lost"])
def test_one_arm_has_a_headline(kind: str, golden: Sentences) -> None:
    """With its interval, unless that has no width."""
    figures = (1.0,) * 20 if kind == "same" else LOW
    session = case_session({"a": figures}, {"a": [LOST] * 20} if kind == "lost" else {})
    document = session.document
    golden(parts(render(document), "Headline"), render_brief(document, 80, colours=False))


def find_chart(session: ModelSession, name: str) -> Drawing | None:
    blocks = [block for section in session.document.sections for block in section.blocks]
    pictures = [it for it in blocks if isinstance(it, Picture) and it.address == f"{name}.svg"]
    return pictures[0].chart if pictures else None


def test_results_are_drawn_with_their_intervals_by_part() -> None:
    whole = model_session({"a": LOW, "b": HIGH}, metrics=[RIGHT])
    parts = {f"c{n}": "easy" if n < 5 else "hard" for n in range(20)}
    cases = tuple(
        case.model_copy(update={"part": parts[case.id]}) for case in whole.experiment.cases
    )
    parted = replace(whole, experiment=whole.experiment.model_copy(update={"cases": cases}))
    chart = find_chart(parted, "results")
    assert isinstance(chart, RowChart)
    assert [row.label for row in chart.rows] == [
        *("a", "a, easy", "a, hard", "b", "b, easy", "b, hard")
    ]
    (mark,) = chart.rows[0].marks
    assert mark.value == pytest.approx(sum(LOW) / 20)
    assert mark.interval is not None
    assert mark.interval[0] < sum(LOW) / 20 < mark.interval[1]
    assert (chart.axis.low, chart.axis.high) == (0, 1)


def test_a_result_without_figures_is_not_drawn() -> None:
    three = {"a": LOW, "b": HIGH, "c": HIGH}
    chart = find_chart(model_session(three, {"a": [LOST] * 20}, metrics=[RIGHT]), "results")
    assert isinstance(chart, RowChart)
    assert [row.label for row in chart.rows] == ["b", "c"]
    assert [chart.groups[mark.group].shape for row in chart.rows for mark in row.marks] == [1, 2]
    assert "Not shown: a, without the figure." in chart.explanation
    whole = {"a": [LOST] * 20, "b": [LOST] * 20}
    assert (
        find_chart(model_session({"a": LOW, "b": HIGH}, whole, metrics=[RIGHT]), "results") is None
    )


def test_quality_stands_against_what_answers_cost() -> None:
    metrics = [RIGHT, *(it for it in COMMON_METRICS if it.key in ("cost", "output_tokens"))]
    arms = {"a": LOW, "b": HIGH}
    paid = model_session(arms, metrics=metrics, fields={"cost": 0.5, "output_tokens": 10})
    chart = find_chart(paid, "cost")
    assert isinstance(chart, PlaneChart)
    assert [line.label for line in chart.lines] == ["a", "b"]
    (point,) = chart.lines[0].points
    assert point.x == 0.5
    assert point.y == pytest.approx(sum(LOW) / 20)
    assert point.y_interval is not None
    three = model_session(
        {"c": HIGH, **arms}, {"c": [LOST] * 20}, metrics=metrics, fields={"cost": 0.5}
    )
    without = find_chart(three, "cost")
    assert isinstance(without, PlaneChart)
    assert [(line.label, line.shape) for line in without.lines] == [("a", 1), ("b", 2)]
    tokens = find_chart(model_session(arms, metrics=metrics, fields={"output_tokens": 10}), "cost")
    assert isinstance(tokens, PlaneChart)
    assert tokens.x.label.startswith("Output tokens")
    assert find_chart(model_session(arms, metrics=metrics), "cost") is None
