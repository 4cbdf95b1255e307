"""Keeps a session within `--max-cost`, in US dollars: what it has cost so far, in all attempts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from statistics import fmean

from swarm_bench.analysis.wording import quantify
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial
from swarm_bench.core.errors import CostLimitReached
from swarm_bench.core.outcome import Usage
from swarm_bench.core.session.prices import Prices, find_price
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.budget import Budget, format_dollars


class Ledger(Budget):
    """The costs of a session. A trial that ran without a cost is taken for the dearest of its
    mode."""

    def __init__(self, limit: float, prices: Prices) -> None:
        super().__init__(limit=limit)
        self._prices = prices
        self._sums = defaultdict[str, float](float)
        """Sums of the known costs, by mode."""
        self._priced = Counter[str]()
        """Number of known costs, by mode."""
        self._blind = set[str]()
        """Modes in which an agent gave an answer in this call, and no cost."""
        self._reserved = dict[frozenset[str], float]()
        """What is set aside for the blocks that run, by the ids of their trials."""

    def pay(self, cost: float | None) -> None:
        """Add what is no trial."""
        self.paid += max(cost or 0.0, 0.0)

    def add(self, record: TrialRecord) -> None:
        """Add a trial of an earlier call. One that never began costs nothing; of one that was lost
        with its node nobody knows what it cost."""
        cost = self._find_cost(record)
        may_have_cost = record.wall_seconds is not None or record.cause is Cause.NODE_LOST
        if cost is not None or may_have_cost:
            self.add_trial(record.mode, cost)
        if cost is not None:
            self._sums[record.mode] += cost
            self._priced[record.mode] += 1

    def add_new(self, record: TrialRecord) -> None:
        """Add a trial of this call."""
        self.add(record)
        if record.cause is Cause.FINISHED and self._find_cost(record) is None:
            self._blind.add(record.mode)

    def turn(self, tasks: Sequence[Sequence[str]], usual: int) -> int:
        """Return how many of these tasks, each with the modes that are to run it, may run next: a
        part of the modes would tell nothing. It is one until each mode has a price, and all once
        they can surely be paid for; in between at most the `usual` number. Raises
        `CostLimitReached` when not even the first could, if it costs what those before did."""
        means = {mode: self._sums[mode] / number for mode, number in self._priced.items()}
        if not means:
            return 1
        mean_cost = fmean(means.values())
        costs = accumulate(sum(means.get(mode, mean_cost) for mode in task) for task in tasks)
        reserved = sum(self._reserved.values())
        affordable = [cost for cost in costs if self.has(cost, reserved)]
        if not affordable:
            expected = sum(means.get(mode, mean_cost) for mode in tasks[0])
            raise self.make_exceeded_error(
                f"and the next {quantify(len(tasks[0]), 'trial')}, which compare the modes, would "
                f"cost about {format_dollars(expected)}, so none of them was started"
            )
        modes = [mode for task in tasks for mode in task]
        if not means.keys() >= {*modes}:
            return 1
        is_sure = self.has(sum(self.dearest[mode] for mode in modes), reserved)
        return len(tasks) if is_sure else min(len(affordable), usual)

    @contextmanager
    def reserve(self, trials: Sequence[SwarmTrial]) -> Iterator[None]:
        """Set aside for the block what these trials may cost: others may run at the same time.
        Raises `CostLimitReached` when what these have set aside leaves too little."""
        ids = frozenset(trial.id for trial in trials)
        amount = sum(self.dearest.get(trial.arm, 0.0) for trial in trials)
        if self._reserved and not self.has(amount, sum(self._reserved.values())):
            raise self.make_exceeded_error("and what runs may cost the rest")
        self._reserved[ids] = amount
        try:
            yield
        finally:
            del self._reserved[ids]

    def copy_for(self, trials: Sequence[SwarmTrial]) -> Budget:
        """Return what a job with these trials has of it: not what others have set aside."""
        ids = {trial.id for trial in trials}
        reserved = (amount for names, amount in self._reserved.items() if not names & ids)
        budget = self.copy()
        budget.paid += sum(reserved)
        return budget

    def check(self, mode: str) -> None:
        """Raise `CostLimitReached` when no trial of the mode may start."""
        if mode in self._blind and mode not in self.dearest:
            raise CostLimitReached(
                f"An agent of {mode} gave an answer and no cost, so nobody knows what the next one "
                "would cost, and --max-cost cannot be kept; see the warnings above, and "
                "'swarm-bench docs prices', or omit --max-cost"
            )
        if not self.covers(mode):
            raise self.make_limit_error(mode)

    def make_limit_error(self, mode: str) -> CostLimitReached:
        """Make the error of a session in which no other trial of the mode may start."""
        reason = ""
        if mode in self.dearest:
            reason = f": the most expensive so far cost {format_dollars(self.dearest[mode])}"
            reason += ", and others ran at the same time" if self.covers(mode) else ""
        return self.make_exceeded_error(f"so no other trial of {mode} was started{reason}")

    def _find_cost(self, record: TrialRecord) -> float | None:
        """Return its cost; of one that had no price then, at the prices of now."""
        if record.cost is not None and record.cost >= 0:
            return record.cost
        price = find_price(record.model, self._prices)
        usage = Usage(
            input=record.input_tokens,
            cache_read=record.cache_read,
            cache_create=record.cache_create,
            output=record.output_tokens,
        )
        return price.compute_cost(usage) if price else None


def make_ledger(limit: float, prices: Prices, sessions: Iterable[SessionFolder]) -> Ledger:
    """Make the ledger of a session, or of a series, from all that was recorded."""
    ledger = Ledger(limit, prices)
    for folder in sessions:
        attempts = {
            record.key: record
            for _, _, record in (*folder.records.read_set_aside(), *folder.records.read())
            if record is not None
        }
        for record in attempts.values():
            ledger.add(record)
        for line in folder.read_overhead():
            ledger.pay(line.prompt_cost)
    return ledger
