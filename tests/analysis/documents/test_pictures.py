"""Pictures of a comparison: single tasks, and what was found against what it cost."""

from typing import Any

import pytest

from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.analysis.documents.effects import make_found_chart
from swarm_bench.core.report.document import Document, Grid, Picture, Scale, Tone, Value
from swarm_bench.core.report.pictures import PlaneChart, RowChart
from swarm_bench.reports.charts import draw
from tests.builders.keyed import PAID, TASKS, answered, died, trials_of
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

MODES = ("baseline", "canopy", "canopy-service")


def make_tasks(number: int, **changes: Any) -> list[dict[str, Any]]:
    keys = [
        {"id": f"t{at}", "title": f"Task {at}", "key": {"files": [f"{at}.py"]}}
        for at in range(number)
    ]
    return [{**task, "prompt": task["title"], **changes} for task in keys]


def make_report(
    number: int, tokens: dict[str, Any], recalls: dict[str, Any], cost: float | None = None
) -> Document:
    """Lay out a session; what a mode spends and finds is a function of the number of the task."""
    trials = [
        answered(
            mode,
            f"t{at}",
            recalls[mode](at),
            agent=at + 1,
            effective_tokens=tokens[mode](at),
            cost=cost,
        )
        for mode in tokens
        for at in range(number)
    ]
    tasks = make_tasks(number)
    return make_document(summarise(make_session(*trials, tasks=tasks, modes=tuple(tokens))))


def find_pictures(document: Document, name: str) -> list[Picture]:
    blocks = [block for section in document.sections for block in section.blocks]
    pictures = [block for block in blocks if isinstance(block, Picture)]
    return [picture for picture in pictures if picture.address.startswith(name)]


def read_rows(document: Document, number: int = 0) -> RowChart:
    chart = find_pictures(document, "tasks")[number].chart
    assert isinstance(chart, RowChart)
    return chart


def read_plane(document: Document) -> PlaneChart:
    (picture,) = find_pictures(document, "cost")
    assert isinstance(picture.chart, PlaneChart)
    return picture.chart


SAME = {"baseline": lambda at: 1000, "canopy": lambda at: 500 + 200 * at}
ALL = {"baseline": lambda at: 1.0, "canopy": lambda at: float(at % 2)}


def test_what_was_found_stands_beside_its_margin() -> None:
    recalls = {"baseline": (0.0, 0.5), "canopy": (1.0, 0.5)}
    trials = [
        trial.model_copy(update={"scores": {**(trial.scores or {}), "invented_share": 0.5}})
        for trial in trials_of(recalls)
    ]
    headline = summarise(make_session(*trials, tasks=TASKS)).headline
    chart = make_found_chart(headline, (*recalls,))
    assert chart is not None
    assert headline.correctness is not None
    rows = {row.label: row for row in chart.rows}
    for row in headline.correctness.rows:
        change = row.differences[1]
        drawn = rows.pop(f"canopy: {row.metric.title}", None)
        assert (drawn is None) is (change is None)
        if drawn and change:
            (mark,) = drawn.marks
            assert (mark.value, mark.interval) == (change.estimate, change.interval)
    assert not rows
    assert chart.band == (-0.1, 0, 0.1)
    assert "Right is better; for invented references, left." in chart.explanation


def test_tasks_stand_by_what_they_show_with_both_sides() -> None:
    chart = read_rows(make_report(6, SAME, ALL))
    assert [row.label for row in chart.rows] == [f"Task {at}" for at in range(6)]
    assert [mark.value for mark in chart.rows[0].marks] == pytest.approx([1000, 500])
    first = chart.rows[0].figure
    assert first is not None
    assert first.value == pytest.approx(0.5)
    assert first.scale is Scale.RATIO
    assert chart.axis.is_logarithmic
    assert chart.is_linked


def test_right_and_wrong_are_told_by_colour_and_shape() -> None:
    chart = read_rows(make_report(6, SAME, ALL))
    looks = {group.label: (group.tone, group.shape, group.is_hollow) for group in chart.groups}
    assert looks == {
        "baseline, right": (Tone.GOOD, 0, True),
        "canopy, wrong": (Tone.BAD, 1, False),
        "canopy, right": (Tone.GOOD, 0, False),
    }
    labels = [[chart.groups[mark.group].label for mark in row.marks] for row in chart.rows]
    assert labels[:2] == [
        ["baseline, right", "canopy, wrong"], ["baseline, right", "canopy, right"]
    ]  # fmt: skip


def test_of_many_tasks_both_ends_are_shown_and_the_others_counted() -> None:
    chart = read_rows(make_report(61, SAME, ALL))
    labels = [row.label for row in chart.rows]
    assert labels == [f"Task {at}" for at in (*range(20), *range(41, 61))]
    assert "40 of 61 tasks" in chart.explanation


def test_a_task_without_a_figure_is_counted() -> None:
    tokens = {**SAME, "canopy": lambda at: None if at == 3 else 500}
    chart = read_rows(make_report(12, tokens, ALL))
    assert len(chart.rows) == 11
    assert "1 task lacking the figure in a mode" in chart.explanation


def test_each_mode_has_its_picture() -> None:
    tokens = {**SAME, "canopy-service": lambda at: 2000}
    document = make_report(6, tokens, {**ALL, "canopy-service": lambda at: 0.0})
    pictures = find_pictures(document, "tasks")
    assert [picture.address for picture in pictures] == ["tasks-1.svg", "tasks-2.svg"]
    assert "canopy-service" in pictures[1].about
    assert all(
        row.figure == Value(scale=Scale.RATIO, value=2.0) for row in read_rows(document, 1).rows
    )


def test_by_fixed_rules_tasks_stand_by_what_was_found() -> None:
    trials = [
        answered(
            mode, f"t{at}", 1.0 if mode == "canopy" else at / 5, agent=at + 1, fixed_rules=True
        )
        for mode in MODES[:2]
        for at in range(6)
    ]
    report = summarise(make_session(*trials, tasks=make_tasks(6), modes=MODES[:2]))
    chart = read_rows(make_document(report))
    assert [row.label for row in chart.rows] == [f"Task {at}" for at in range(6)]
    assert (chart.axis.low, chart.axis.high, chart.axis.is_logarithmic) == (0, 1, False)
    assert not find_pictures(make_document(report), "cost"), "rules decided what was spent"


def test_quality_stands_against_cost_where_both_are_measured() -> None:
    chart = read_plane(make_report(12, SAME, ALL, cost=0.25))
    assert [line.label for line in chart.lines] == ["baseline", "canopy"]
    assert chart.x.label.startswith("Cost")
    (reference,), (canopy,) = (line.points for line in chart.lines)
    assert reference.x == pytest.approx(0.25)
    assert reference.y == 1.0
    assert canopy.y == 0.5
    assert reference.y_interval is None
    assert canopy.y_interval is not None
    assert canopy.y_interval[0] < 0.5 < canopy.y_interval[1]


def test_a_mode_looks_the_same_in_all_pictures() -> None:
    tokens = {
        "baseline": lambda _: 1000,
        "canopy": lambda _: None,
        "canopy-service": lambda at: 500 + at,
    }
    document = make_report(
        12,
        tokens,
        {
            "baseline": lambda _: 1.0,
            "canopy": lambda _: 1.0,
            "canopy-service": lambda at: float(at % 2),
        },
    )
    assert [(line.label, line.shape) for line in read_plane(document).lines] == [
        ("baseline", 0), ("canopy-service", 2)
    ]  # fmt: skip
    (picture,) = find_pictures(document, "effects")
    assert isinstance(picture.chart, RowChart)
    shapes = {
        row.label.split(":")[0]: picture.chart.groups[mark.group].shape
        for row in picture.chart.rows
        for mark in row.marks
    }
    assert shapes == {"canopy": 1, "canopy-service": 2}


def test_without_a_bill_tokens_stand_for_the_cost() -> None:
    chart = read_plane(make_report(12, SAME, ALL))
    assert chart.x.label.startswith("Effective tokens")
    trials = [make_trial(mode, **PAID) for mode in MODES[:2]]
    assert not find_pictures(make_document(summarise(make_session(*trials))), "cost"), "no keys"


def test_nothing_is_drawn_of_what_failed() -> None:
    trials = [died(mode, "t0") for mode in MODES[:2]]
    document = make_document(summarise(make_session(*trials, tasks=make_tasks(1))))
    assert not find_pictures(document, "tasks")
    assert not find_pictures(document, "cost")


def test_a_saving_that_the_table_withholds_is_not_drawn() -> None:
    tokens = {"baseline": lambda at: 1000 + at, "canopy": lambda at: 500 + 7 * at}
    less = {"baseline": lambda _: 1.0, "canopy": lambda at: 0.1 * (at % 2)}
    (_, canopy) = (line.points[0] for line in read_plane(make_report(12, tokens, less)).lines)
    assert canopy.x_interval is None
    as_much = {"baseline": lambda _: 1.0, "canopy": lambda _: 1.0}
    (_, canopy) = (line.points[0] for line in read_plane(make_report(12, tokens, as_much)).lines)
    assert canopy.x_interval is not None


@pytest.mark.parametrize("sides", [(1, 2**53), (2**53, 1)])
@pytest.mark.parametrize("seconds", [(5e-324, 2.0**53), (2.0**53, 5e-324)])
def test_the_least_and_the_largest_figures_make_a_document(
    sides: tuple[int, int], seconds: tuple[float, float]
) -> None:
    trials = [
        answered(
            mode,
            f"t{at}",
            1.0,
            agent=at + 1,
            effective_tokens=tokens,
            wall_seconds=time,
            cost=time,
        )
        for mode, tokens, time in zip(MODES[:2], sides, seconds, strict=True)
        for at in range(12)
    ]
    session = make_session(*trials, tasks=make_tasks(12), modes=MODES[:2])
    assert all(draw(picture) for picture in find_pictures(make_document(summarise(session)), ""))


def test_the_table_says_where_verdicts_rest_on_other_intervals() -> None:
    def read_ranges(modes: tuple[str, ...]) -> str:
        recalls = {
            mode: lambda at, mode=mode: float(at % 3 > 0 if mode != "baseline" else at % 4 == 0)
            for mode in modes
        }
        tokens = {
            mode: lambda at, mode=mode: 1000 + at * (37 if mode == "baseline" else 11)
            for mode in modes
        }
        document = make_report(12, tokens, recalls)
        blocks = [block for section in document.sections for block in section.blocks]
        return next(block.ranges for block in blocks if isinstance(block, Grid) and block.ranges)

    assert read_ranges(MODES).endswith("verdicts rest on others, as their evidence says")
    assert read_ranges(MODES[:2]).endswith("the 95 % interval over tasks")
