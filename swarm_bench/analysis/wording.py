"""Numbers and places as the sentences of a report have them."""

from collections.abc import Collection, Iterable, Sequence

from swarm_bench.analysis.selection import Selection
from swarm_bench.core.session.records import TrialRecord

_MAX_NAMES = 6


def format_places(trials: Iterable[TrialRecord], selection: Selection) -> str:
    """Write `(agent 1, 3)`, or with several runs `(run/agent 1/3)`."""
    has_runs = selection.runs > 1
    agents = [f"{trial.run}/{trial.agent}" if has_runs else str(trial.agent) for trial in trials]
    return f"({'run/agent' if has_runs else 'agent'} {list_few(agents)})"


def list_few(names: Collection[str]) -> str:
    """List the first few."""
    return ", ".join([*names][:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")


def join(parts: Collection[str]) -> str:
    """Write `1`, `1 and 2`, `1, 2 and 4`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def quantify(count: float, noun: str) -> str:
    """Write `1 trial`, `2,000 trials`."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{number} {noun}{'' if count == 1 else 's'}"


def describe_size(cases: int, noun: str, runs: int) -> str:
    """Write `12 tasks × 3 runs`."""
    return f"{quantify(cases, noun)} × {quantify(runs, 'run')}"


def join_titles(titles: Sequence[str]) -> str:
    """Write `Wall time, agent's own time and cost`."""
    return join([titles[0], *map(lowercase, titles[1:])])


def make_sentence(clause: str) -> str:
    """Write a clause as a sentence; nothing of nothing."""
    return f"{clause[0].upper()}{clause[1:].rstrip('.')}." if clause else ""


def lowercase(title: str) -> str:
    """Write a title as it is within a sentence; one that begins with capitals as it is."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
