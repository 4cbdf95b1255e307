"""Conversion of a text such as `canopy:effective_tokens=1.05` into a limit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.errors import Problems, UnknownName, UsageError
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.gate import Kind, Limit

TypedLimits = Mapping[Kind, Sequence[str]]
"""The values of each option."""


def parse_limits(
    typed_limits: TypedLimits,
    metrics: Iterable[Metric],
    arms: Sequence[str],
    synonyms: Collection[str] = (),
) -> tuple[Limit, ...]:
    """Read the limits on a session with these metrics and arms. Raises `UsageError`, in a group for
    several. Synonyms are of shares."""
    fit = {metric.key: metric for metric in metrics if metric.is_of_trials}
    problems, limits = Problems(), list[Limit]()
    for kind, text in _iterate_limits(typed_limits):
        with problems.collected():
            limit = _parse_limit(kind, text, {*fit, *synonyms})
            _check(limit, fit, arms, synonyms)
            limits.append(limit)
    problems.check()
    return tuple(limits)


def list_metric_keys() -> list[str]:
    """List the metrics of the swarm benchmark that a limit can be on."""
    return [metric.key for metric in METRICS if metric.read]


def check_numbers(typed_limits: TypedLimits) -> None:
    """Refuse what is no limit whatever the session is. Raises `UsageError`, in a group for
    several."""
    problems = Problems()
    for kind, text in _iterate_limits(typed_limits):
        with problems.collected():
            _parse_number(kind, text)
    problems.check()
    if not any(typed_limits.values()):
        raise UsageError("Give at least one limit, such as --max-ratio effective_tokens=1.05")


def _iterate_limits(typed_limits: TypedLimits) -> Iterator[tuple[Kind, str]]:
    return ((kind, text) for kind, texts in typed_limits.items() for text in texts)


def _parse_limit(kind: Kind, text: str, keys: Collection[str]) -> Limit:
    name = text.rpartition("=")[0].strip()
    mode: str | None = None
    if name not in keys and ":" in name:  # the key of a package's metric may have a colon
        mode, _, name = name.partition(":")
    if name not in keys:
        raise UnknownName("metric", name, keys)
    return Limit(kind=kind, metric=name, value=_parse_number(kind, text), mode=mode)


def _parse_number(kind: Kind, text: str) -> float:
    name, equals, figure = text.rpartition("=")
    try:
        number = float(figure)
    except ValueError:
        number = float("nan")
    if not equals or not name.strip() or not isfinite(number):
        raise UsageError(
            f"{kind} {text}: a limit is a metric and a number, such as {kind} "
            f"{'file_recall=0.6' if kind is Kind.MIN else 'effective_tokens=1.05'}"
        )
    return number


def _check(
    limit: Limit, metrics: Mapping[str, Metric], arms: Sequence[str], synonyms: Collection[str]
) -> None:
    if limit.mode is not None and limit.mode not in arms:
        raise UnknownName("mode in this session", limit.mode, arms)
    metric = metrics.get(limit.metric)
    if limit.kind is not Kind.MAX_RATIO:
        is_share = metric.is_share if metric else limit.metric in synonyms
        if is_share and not 0 <= limit.value <= 1:
            raise UsageError(f"{limit}: {limit.metric} lies between 0 and 1; give a share")
        return
    if limit.mode == arms[0]:
        raise UsageError(f"{limit}: {arms[0]} is what the others are compared with; name another")
    if metric is None or not metric.relative:
        raise UsageError(
            f"{limit}: {limit.metric} is no metric of which ratios are computed; give "
            f"{Kind.MIN} or {Kind.MAX}"
        )
