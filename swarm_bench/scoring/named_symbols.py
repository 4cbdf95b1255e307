"""Which of the right functions and classes the answer names."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.key_measures import compute_measures, keys_of
from swarm_bench.source.naming import symbols_named


@dataclass(frozen=True, kw_only=True)
class NamedSymbols:
    """The measures of files, for symbols: `symbol_recall` and so on. A symbol counts as named if
    the answer names its file too."""

    name = "symbols"
    version = 2
    keys = keys_of("symbol")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        right = frozenset(context.key.symbols) if context.key else frozenset()
        if not right:
            return dict.fromkeys(self.keys, Missing("the key has no symbols"))
        if context.tree is None:
            return dict.fromkeys(self.keys, Missing("the repository cannot be read"))
        other_keys = [(task.key.symbols, task.weight) for task in context.others if task.key]
        return compute_measures("symbol", symbols_named(context, context.tree), right, other_keys)
