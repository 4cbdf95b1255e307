"""What would run, as data: all its sentences, and nothing of how they are laid out."""

from dataclasses import dataclass

from swarm_bench.core.report.document import Grid


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something labelled."""

    label: str
    """Label; empty when the entry goes with the one before it."""
    texts: tuple[str, ...]
    """Line by line."""
    parts: tuple["Entry", ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A session before it runs."""

    title: str
    """Title; empty when the plan is the only one."""
    entries: tuple[Entry, ...]
    trials: Grid
    """Trials in the order in which they run."""
    omitted: str
    """Phrase for how many more trials there are; empty when all are shown."""
    rest: str = "and so on; a pipe or a file gets more of them"
    """Says so where a terminal has the first ones only."""
