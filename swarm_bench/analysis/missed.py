"""Which tasks one arm missed and another one found."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean

from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.document import Bullets, Section, Span, Text
from swarm_bench.core.report.report import Missed

_MOST_PAIRS = 12
_MOST_TASKS = 30
_FIRST_TASKS = 3
_TITLE = "Missed by one, found by another"
_LONGEST = 60
"""Characters of a title."""


def missed(
    figures: Mapping[str, Mapping[str, Sequence[float]]],
    titles: Mapping[str, str],
    where: str = "",
) -> Iterator[Missed]:
    """Yield what each arm missed of what each other one found; `figures` are by arm and task, from
    0 for nothing."""
    means = {
        arm: {task: fmean(values) for task, values in of_arm.items() if values}
        for arm, of_arm in figures.items()
    }
    for arm, own in means.items():
        for finder, others in means.items():
            tasks = [task for task in titles if own.get(task) == 0 and others.get(task, 0) > 0]
            if tasks:
                names = tuple(titles[task] for task in tasks)
                yield Missed(arm=arm, finder=finder, tasks=names, where=where)


def missed_section(all_missed: Sequence[Missed]) -> Section | None:
    """Make the section that names the tasks; `None` where there are none."""
    if not all_missed:
        return None
    items = tuple(_line(it, _MOST_TASKS) for it in all_missed[:_MOST_PAIRS])
    omitted = max(0, len(all_missed) - _MOST_PAIRS)
    return Section(title=_TITLE, blocks=(Bullets(items=items, omitted=omitted),))


def most_missed(all_missed: Collection[Missed], plain: Collection[str]) -> Text:
    """Say what was missed most, by an arm that is not plain; empty where nothing was."""
    by_tools = [it for it in all_missed if it.arm not in plain]
    most = max(by_tools, key=lambda it: len(it.tasks), default=None)
    return _line(most, _FIRST_TASKS) if most else ()


def _line(it: Missed, most: int) -> Text:
    """Say `Missed by a, found by b: 2 tasks (one; other)`."""
    quoted = [it.tasks[:most], [f"{len(it.tasks) - most} more"] if len(it.tasks) > most else []]
    names = "; ".join(_cut(name) for part in quoted for name in part)
    tasks = amount(len(it.tasks), "task")
    return (
        "Missed by ",
        Span(text=it.arm, strong=True),
        f", found by {it.finder}{f' {it.where}' if it.where else ''}: {tasks} (",
        Span(text=names),
        ").",
    )


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
