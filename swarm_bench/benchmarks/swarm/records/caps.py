"""Bounds for the names in what an agent reported: they go into its record, and it can make up any
number of any length."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from swarm_bench.core.outcome import Outcome
from swarm_bench.engine.caps import LONGEST_DETAIL, OTHERS, shortened

Figure = TypeVar("Figure", int, float)

MOST_NAMES = 500
"""Names of one kind that are kept of a trial; no honest agent has as many tools."""
MOST_REQUESTS = 10_000
"""Requests whose usage is kept one by one; of more it is missing."""


def within_caps(outcome: Outcome) -> Outcome:
    """Cap the outcome so that it can be stored; `names_cut` says how many names were shortened or
    omitted."""
    tools, offered, servers = _Names(), _Names(), _Names()
    usage = outcome.turn_usage
    by_tool: dict[str, Any] = {
        name: tools.summed(figure)
        for name, figure in vars(outcome.reported).items()
        if isinstance(figure, Mapping)
    }
    return replace(
        outcome,
        **by_tool,
        tool_answers=outcome.tool_answers
        and tuple(replace(answer, tool=tools.kept(answer.tool)) for answer in outcome.tool_answers),
        tools_offered=offered.listed(outcome.tools_offered),
        unusable_tools=offered.listed(outcome.unusable_tools),
        servers=outcome.servers and servers.first(outcome.servers),
        turn_usage=usage if usage is None or len(usage) <= MOST_REQUESTS else None,
        detail=outcome.detail and shortened(outcome.detail, LONGEST_DETAIL),
        model=outcome.model and shortened(outcome.model),
        program_version=outcome.program_version and shortened(outcome.program_version),
        price_table=outcome.price_table and shortened(outcome.price_table),
        token_counter=outcome.token_counter and shortened(outcome.token_counter),
        names_cut=sum(len(names.cut) for names in (tools, offered, servers)),
    )


class _Names:
    """The names of one kind, the first ones as they are."""

    def __init__(self) -> None:
        self.cut: set[str] = set()
        self._kept: dict[str, str] = {}

    def kept(self, name: str) -> str:
        """Return the name under which its figures are kept."""
        if name not in self._kept and len(self._kept) < MOST_NAMES:
            self._kept[name] = shortened(name)
        kept = self._kept.get(name, OTHERS)
        if kept != name:
            self.cut.add(name)
        return kept

    def summed(self, figures: Mapping[str, Figure] | None) -> dict[str, Figure] | None:
        """Add up the figures of names that are kept as the same."""
        if figures is None:
            return None
        sums: dict[str, Figure] = {}
        for name, figure in figures.items():
            kept = self.kept(name)
            sums[kept] = sums[kept] + figure if kept in sums else figure
        return sums

    def listed(self, names: Iterable[str] | None) -> tuple[str, ...] | None:
        """Return the names that are kept, each once."""
        if names is None:
            return None
        kept = dict.fromkeys(map(self.kept, names))
        kept.pop(OTHERS, None)
        return tuple(kept)

    def first(self, states: Mapping[str, str]) -> dict[str, str]:
        """Shorten the state of each name; names that are not kept have none."""
        kept = {self.kept(name): shortened(state) for name, state in states.items()}
        kept.pop(OTHERS, None)
        return kept
