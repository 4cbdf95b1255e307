"""Tasks that one arm missed and another one found."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean

from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.document import Bullets, Section, Span, Text
from swarm_bench.core.report.report import Missed

_MAX_PAIRS = 12
_MAX_TASKS = 30
_FIRST_TASKS = 3
_TITLE = "Missed by one, found by another"
_LONGEST = 60
"""Characters of a title."""


def find_missed(
    figures: Mapping[str, Mapping[str, Sequence[float]]],
    titles: Mapping[str, str],
    phrase: str = "",
) -> Iterator[Missed]:
    """Yield what each arm missed of what each other one found; `figures` are by arm and task, from
    0 for nothing."""
    means = {
        arm: {task: fmean(values) for task, values in of_arm.items() if values}
        for arm, of_arm in figures.items()
    }
    for arm, arm_means in means.items():
        for finder, finder_means in means.items():
            tasks = [
                task
                for task in titles
                if arm_means.get(task) == 0 and finder_means.get(task, 0) > 0
            ]
            if tasks:
                names = tuple(titles[task] for task in tasks)
                yield Missed(arm=arm, finder=finder, tasks=names, where=phrase)


def make_missed_section(all_missed: Sequence[Missed]) -> Section | None:
    """Make the section that names the tasks; `None` where there are none."""
    if not all_missed:
        return None
    items = tuple(_make_line(entry, _MAX_TASKS) for entry in all_missed[:_MAX_PAIRS])
    omitted = max(0, len(all_missed) - _MAX_PAIRS)
    return Section(title=_TITLE, blocks=(Bullets(items=items, omitted=omitted),))


def describe_most_missed(all_missed: Collection[Missed], plain: Collection[str]) -> Text:
    """Say what was missed most, by an arm that is not plain; empty where nothing was."""
    by_tools = [entry for entry in all_missed if entry.arm not in plain]
    largest = max(by_tools, key=lambda entry: len(entry.tasks), default=None)
    return _make_line(largest, _FIRST_TASKS) if largest else ()


def _make_line(entry: Missed, max_tasks: int) -> Text:
    """Say `Missed by a, found by b: 2 tasks (one; other)`."""
    quoted = [
        entry.tasks[:max_tasks],
        [f"{len(entry.tasks) - max_tasks} more"] if len(entry.tasks) > max_tasks else [],
    ]
    names = "; ".join(_shorten(name) for part in quoted for name in part)
    tasks = quantify(len(entry.tasks), "task")
    return (
        "Missed by ",
        Span(text=entry.arm, strong=True),
        f", found by {entry.finder}{f' {entry.where}' if entry.where else ''}: {tasks} (",
        Span(text=names),
        ").",
    )


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
