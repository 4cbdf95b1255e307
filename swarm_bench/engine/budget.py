"""What a session may cost, in US dollars, and what it has cost so far, in all attempts."""

from collections import Counter
from dataclasses import dataclass, field

from swarm_bench.core.errors import CostLimitReached

_ROUNDING = 1e-9
"""Error of sums of costs, through rounding."""


@dataclass(kw_only=True)
class Budget:
    """The costs of a session, and their limit."""

    limit: float
    paid: float = 0.0
    dearest: dict[str, float] = field(default_factory=dict)
    """Cost of the dearest trial of each arm."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Trials of each arm that are taken for its dearest."""

    @property
    def total_cost(self) -> float:
        """What the session has cost."""
        supposed = (self.dearest.get(arm, 0.0) * n for arm, n in self.unknown.items())
        return self.paid + sum(supposed)

    def add_trial(self, arm: str, cost: float | None, max_cost: float | None = None) -> None:
        """Count a trial. One without a cost is taken for the most that it can have cost, or, where
        that is unknown, for the dearest of its arm."""
        if cost is not None:
            self.paid += cost
            self.dearest[arm] = max(cost, self.dearest.get(arm, 0.0))
        elif max_cost is not None:
            self.paid += max_cost
        else:
            self.unknown[arm] += 1

    def has(self, cost: float, set_aside: float = 0.0) -> bool:
        """Tell whether there is enough for something that costs this, and at least a little."""
        remaining = self.limit - self.total_cost - set_aside
        return remaining > _ROUNDING and cost <= remaining + _ROUNDING

    def covers(self, arm: str, running: int = 0) -> bool:
        """Tell whether one more trial of an arm may start beside so many: each is taken for its
        dearest so far, and the first for one that costs something."""
        dearest = self.dearest.get(arm, 0.0)
        return self.has(dearest, running * dearest)

    def copy(self) -> "Budget":
        """Return what a job has of it, as plain data."""
        return Budget(limit=self.limit, paid=self.total_cost, dearest={**self.dearest})

    def make_exceeded_error(self, clause: str) -> CostLimitReached:
        """Make the error of a session in which something was not started."""
        return CostLimitReached(
            f"{format_dollars(self.total_cost)} of --max-cost {self.limit:g} is spent, {clause}; "
            "raise the limit, or omit it"
        )


def format_dollars(amount: float) -> str:
    """Write an amount of money."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"
