import pytest

from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.report import Figure, Ratio
from swarm_bench.reports.figures import figure, ratio


def metric(style: Style) -> Metric:
    return Metric(key="k", title="t", unit="u", definition="d", style=style)


@pytest.mark.parametrize(
    ("style", "value", "shown"),
    [
        (Style.SECONDS, Figure(value=1.5), "1.50s"),
        (Style.WHOLE, Figure(value=12345), "12345"),
        (Style.WHOLE, Figure(value=12.5), "12.5"),
        (Style.AVERAGE, Figure(value=2), "2.0"),
        (Style.PERCENT, Figure(value=2 / 3), "66.7%"),
        (Style.DOLLARS, Figure(value=1.106892), "$1.10689"),
        (Style.DOLLARS, Figure(value=0.000012), "$0.00001200"),
        (Style.DOLLARS, Figure(value=0), "$0"),
        (Style.WHOLE, Figure(value=0), "0"),
        (Style.WHOLE, Figure(value=5, low=5, high=5), "5"),
        (Style.SECONDS, Figure(value=0.2, low=0.199, high=0.201), "0.20s"),
        (Style.WHOLE, Figure(value=5, low=4, high=9), "5 (4–9)"),
        (Style.SECONDS, Figure(value=5, low=4, high=9, missing=2), "5.00s (4.00–9.00; 2 missing)"),
        (Style.PERCENT, Figure(value=1, low=1, high=1, missing=1), "100.0% (1 missing)"),
        (Style.WHOLE, Figure(value=None, missing=4), "not reported"),
        (Style.WHOLE, None, "-"),
    ],
)
def test_a_figure(style: Style, value: Figure | None, shown: str) -> None:
    assert figure(metric(style), value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Ratio(median=0.5, low=0.25, high=2, tasks=4), "0.50× (0.25–2.00)"),
        (Ratio(median=1, low=1, high=1, tasks=3), "1.00× (3 of 4 tasks)"),
        (Ratio(median=0.004, low=0.004, high=0.004, tasks=4), "0.004×"),
        (None, "not reported"),
    ],
)
def test_a_ratio(value: Ratio | None, shown: str) -> None:
    assert ratio(value, tasks=4) == shown
