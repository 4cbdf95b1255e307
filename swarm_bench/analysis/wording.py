"""Numbers and places as the sentences of a report have them."""

from collections.abc import Collection, Iterable, Sequence

from swarm_bench.analysis.selection import Selection
from swarm_bench.core.session.records import TrialRecord

_SHOWN = 6


def places(trials: Iterable[TrialRecord], selection: Selection) -> str:
    """Write `(agent 1, 3)`, or with several runs `(run/agent 1/3)`."""
    several = selection.runs > 1
    agents = [f"{trial.run}/{trial.agent}" if several else str(trial.agent) for trial in trials]
    return f"({'run/agent' if several else 'agent'} {listed(agents)})"


def listed(names: Collection[str]) -> str:
    """List the first few."""
    return ", ".join([*names][:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def joined(parts: Collection[str]) -> str:
    """Write `1`, `1 and 2`, `1, 2 and 4`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def amount(count: float, noun: str) -> str:
    """Write `1 trial`, `2,000 trials`."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{number} {noun}{'' if count == 1 else 's'}"


def in_a_row(titles: Sequence[str]) -> str:
    """Write `Wall time, agent's own time and cost`."""
    return joined([titles[0], *map(lowered, titles[1:])])


def sentence(clause: str) -> str:
    """Write a clause as a sentence; nothing of nothing."""
    return f"{clause[0].upper()}{clause[1:].rstrip('.')}." if clause else ""


def lowered(title: str) -> str:
    """Write a title as it is within a sentence; one that begins with capitals as it is."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]
