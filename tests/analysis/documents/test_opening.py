"""Which rows of a table a terminal has room for."""

from swarm_bench.analysis.documents.opening import Opening, make_brief
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, CombinedValue, ComparedValue, Grid, Scale, Value


def tokens(number: float | None) -> Value:
    return Value(scale=Style.WHOLE, value=number)


def against(number: float | None) -> ComparedValue:
    return ComparedValue(own=tokens(number), change=Value(scale=Scale.RATIO, value=number))


def rows_of(*rows: tuple[Cell, ...], marked: frozenset[int]) -> tuple[list[Cell], frozenset[int]]:
    grid = Grid(headers=("Metric", "a", "b"), labels=1, rows=rows, marked=marked)
    (shown,) = (
        it
        for it in make_brief(Opening(title="", headline=(), tables=(grid,), warnings=()))
        if isinstance(it, Grid)
    )
    return [row[0] for row in shown.rows], shown.marked


def test_what_says_nothing_is_omitted_and_what_verdicts_are_on_comes_first() -> None:
    titles, marked = rows_of(
        ("recall", tokens(1), against(2)),
        ("right", tokens(5), against(6)),
        ("own time", tokens(None), against(None)),
        ("indexing", None, CombinedValue(style=Style.SECONDS, parts=())),
        ("of one mode", tokens(None), against(7)),
        ("reported", tokens(3), against(4)),
        ("primary", tokens(3), against(4)),
        marked=frozenset({0, 6}),
    )
    assert titles == ["recall", "primary", "right", "of one mode"]
    assert marked == {0, 1}


def test_what_verdicts_are_on_stays_where_nothing_is_reported() -> None:
    titles, _ = rows_of(
        ("time", tokens(1), against(2)),
        ("cost", tokens(None), against(None)),
        marked=frozenset({1}),
    )
    assert titles == ["cost", "time"]
