import pytest

from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import CombinedValue, ComparedValue, Interval, Scale, Value
from swarm_bench.reports.figures import (
    format_comparison,
    format_figure,
    format_interval,
    format_parts,
)
from tests.builders.golden import Sentences

MISSING = ("1 missing",)
TOKENS = Value(scale=Style.WHOLE, value=8490)
MISSING_VALUE = Value(scale=Style.WHOLE, value=None)
LESS = Value(scale=Scale.RATIO, value=0.69, low=0.58, high=0.82)


def of(scale: Style | Scale, value: float | None, *ends: float, notes: tuple[str, ...] = ()) -> str:
    low, high = ends or (None, None)
    return format_figure(Value(scale=scale, value=value, low=low, high=high, notes=notes))


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        (of(Style.SECONDS, 1.5), "1.50s"),
        (of(Scale.POINTS, 0.067, -0.01, 0.1), "+6.7 points (-1.0 to +10.0)"),
        (of(Scale.PROBABILITY, 0.03125), "0.031"),
        (of(Scale.PROBABILITY, 1e-9), "<0.0001"),
        (format_comparison(ComparedValue(own=TOKENS, change=LESS)), "8,490, 0.69× (0.58–0.82)"),
        (format_comparison(ComparedValue(own=MISSING_VALUE, change=LESS)), "not reported"),
        (format_comparison(ComparedValue(own=MISSING_VALUE, change=MISSING_VALUE)), "not reported"),
        (format_comparison(ComparedValue(own=TOKENS, change="found less")), "8,490, found less"),
        (of(Style.WHOLE, 12345), "12,345"),
        (of(Style.WHOLE, 12164.2), "12,164"),
        (of(Style.AVERAGE, 999.97), "1,000"),
        (of(Style.AVERAGE, 999.9), "999.9"),
        (of(Style.WHOLE, 12.5), "12.5"),
        (of(Style.AVERAGE, 2), "2.0"),
        (of(Style.PERCENT, 2 / 3), "66.7 %"),
        (of(Style.DOLLARS, 1.106892), "$1.10689"),
        (of(Style.DOLLARS, 0.000012), "$0.00001200"),
        (of(Style.DOLLARS, 0), "$0"),
        (of(Style.WHOLE, 0), "0"),
        (of(Style.WHOLE, 5, 5, 5), "5"),
        (of(Style.SECONDS, 0.2, 0.199, 0.201), "0.20s"),
        (of(Style.WHOLE, 5, 4, 9), "5 (4–9)"),
        (of(Style.SECONDS, 5, 4, 9, notes=MISSING), "5.00s (4.00–9.00; 1 missing)"),
        (of(Style.PERCENT, 1, 1, 1, notes=MISSING), "100.0 % (1 missing)"),
        (of(Style.WHOLE, None, notes=MISSING), "not reported"),
        (of(Scale.RATIO, 0.5, 0.25, 2), "0.50× (0.25–2.00)"),
        (of(Scale.RATIO, 1, 1, 1, notes=("3 of 4 tasks",)), "1.00× (3 of 4 tasks)"),
        (of(Scale.RATIO, 0.004, 0.004, 0.004), "0.004×"),
        (of(Scale.RATIO, None), "not reported"),
        (of(Scale.NOISE, 1, 1, 1.001), "1.00×"),
        (of(Scale.DIFFERENCE, -1, -1, -1), "-1.00"),
        (of(Scale.POINTS, -1, -1, -1, notes=MISSING), "-100.0 points (1 missing)"),
        (of(Scale.DEVIATION, 0.2, 0.2, 0.2), "0.20"),
        (of(Scale.NOISE, 0.02, 0.02, 40), "<0.1× (<0.1–>10)"),
        (of(Scale.DIFFERENCE, 0.5, -0.5, 1), "+0.50 (-0.50 to +1.00)"),
        (of(Scale.DIFFERENCE, 0), "0"),
        (of(Scale.DEVIATION, 0.5, 0.25, 1), "0.50 (0.25 to 1.00)"),
    ],
)
def test_a_figure(shown: str, written: str) -> None:
    assert shown == written


@pytest.mark.parametrize(
    ("beside", "written"),
    [(9, "12 (9)"), (0, "12 (0)"), (None, "12 (not reported)")],
)
def test_a_figure_beside_another(beside: float | None, written: str) -> None:
    other = Value(scale=Style.WHOLE, value=beside)
    assert format_figure(Value(scale=Style.WHOLE, value=12, beside=other)) == written
    assert format_figure(Value(scale=Style.WHOLE, value=None, beside=other)) == "not reported"


@pytest.mark.parametrize(
    ("scale", "high", "written"),
    [
        (Scale.NOISE, 1.25, "0.50–1.25"),
        (Scale.NOISE, 11, "beyond 10×"),
        (Scale.DIFFERENCE, 11, "+0.50 to +11.00"),
    ],
)
def test_an_interval(scale: Scale, high: float, written: str) -> None:
    assert format_interval(Interval(scale=scale, low=0.5, high=high)) == written


def test_several_figures(golden: Sentences) -> None:
    both = ((60.3, "before the agents"), (2, "in their time"))
    notes = ("1 missing",)
    shown = format_parts(CombinedValue(style=Style.SECONDS, parts=both, notes=notes))
    golden(shown)
    assert format_parts(CombinedValue(style=Style.SECONDS, parts=(), notes=notes)) == "not reported"


@pytest.mark.parametrize("scale", [Style.FRACTION, Scale.DIFFERENCE, Scale.POINTS])
def test_what_rounds_to_nothing_has_no_sign(scale: Style | Scale) -> None:
    assert {of(scale, sign * 0.0001).split()[0] for sign in (-1, 1)} <= {"0.00", "0.0"}
