"""How a figure is written. What is missing is never written as 0."""

from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.report import Figure, Ratio

NOT_APPLICABLE = "-"
NOT_REPORTED = "not reported"


def figure(metric: Metric, value: Figure | None) -> str:
    """`12.5s (11.0-14.2; 1 missing)`: the median over runs, the range if there is one, and what
    is not in it."""
    if value is None:
        return NOT_APPLICABLE
    if value.value is None:
        return NOT_REPORTED
    brackets: list[str] = []
    if value.low is not None and value.high is not None:
        brackets += _range(_number(metric.style, value.low), _number(metric.style, value.high))
    if value.missing:
        brackets.append(f"{value.missing} missing")
    return written(metric.style, value.value) + (f" ({'; '.join(brackets)})" if brackets else "")


def ratio(value: Ratio | None, tasks: int) -> str:
    """`0.84x (0.61-1.20)`: the median over tasks and the range."""
    if value is None:
        return NOT_REPORTED
    brackets = _range(_times(value.low), _times(value.high))
    if value.tasks < tasks:
        brackets.append(f"{value.tasks} of {tasks} tasks")
    return f"{_times(value.median)}×" + (f" ({'; '.join(brackets)})" if brackets else "")


def _range(low: str, high: str) -> list[str]:
    """None where the two read alike."""
    return [] if low == high else [f"{low}–{high}"]


def _times(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def written(style: Style, value: float) -> str:
    """With its unit, where the unit is a sign."""
    number = _number(style, value)
    match style:
        case Style.SECONDS:
            return f"{number}s"
        case Style.PERCENT:
            return f"{number}%"
        case Style.DOLLARS | Style.CENTS:
            return f"${number}"
        case Style.WHOLE | Style.AVERAGE:
            return number


def _number(style: Style, value: float) -> str:
    match style:
        case Style.SECONDS:
            return f"{value:.2f}"
        case Style.PERCENT:
            return f"{value * 100:.1f}"
        case Style.AVERAGE:
            return f"{value:.1f}"
        case Style.DOLLARS:
            # As awk prints a sum, but without an exponent.
            return f"{value:.6g}" if value >= 0.0001 or value == 0 else f"{value:.8f}"
        case Style.CENTS:
            return f"{value:.4f}"
        case Style.WHOLE:
            return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
