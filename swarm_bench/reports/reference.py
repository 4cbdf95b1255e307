"""Tables for the page that documents the figures."""

from collections.abc import Iterable

from tabulate import tabulate

from swarm_bench.core.report import Key, Metric


def key_table(keys: Iterable[Key]) -> str:
    """The keys of a stored file."""
    return _table(["Key", "Unit"], [(f"`{one.key}`", one.unit, one.definition) for one in keys])


def metric_table(metrics: Iterable[Metric]) -> str:
    """The rows of a table of the summary."""
    return _table(["Row", "Unit"], [(one.title, one.unit, one.definition) for one in metrics])


def cause_table(causes: Iterable[tuple[str, str, str, bool]]) -> str:
    """Cause, status, meaning, and whether the trial is run again."""
    rows = [
        (f"`{cause}`", f"`{status}`", meaning, "run again" if rerun else "a result")
        for cause, status, meaning, rerun in causes
    ]
    return tabulate(rows, headers=["Cause", "Status", "The trials ...", ""], tablefmt="github")


def _table(headers: list[str], rows: list[tuple[str, str, str]]) -> str:
    return tabulate(rows, headers=[*headers, "Definition"], tablefmt="github")
