"""What a swarm may cost while its trials run: each of them counts with what it may cost."""

from swarm_bench.benchmarks.swarm.records.making import settle_outcome
from swarm_bench.benchmarks.swarm.running.delivery import Execution
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.status import Cause
from swarm_bench.engine.budget import Budget


class SwarmBudget:
    """Sets aside what the trials of a swarm may cost, and pays what they did cost. Without a
    budget, all of them may start."""

    def __init__(self, experiment: Experiment, mode: str, budget: Budget | None) -> None:
        self._experiment = experiment
        self._mode = mode
        self._budget = budget and budget.copy()
        self._running = set[str]()
        """Ids of trials."""
        self._blind = False
        """Whether a trial gave an answer and no cost, before any other gave one."""

    def reserve(self, trial: str) -> bool:
        """Set aside what the trial may cost; false when it could exceed the budget, so that it must
        not start."""
        if self._budget is None:
            return True
        if self._blind or not self._budget.covers(self._mode, len(self._running)):
            return False
        self._running.add(trial)
        return True

    def settle(self, execution: Execution) -> None:
        """Pay for a trial that has ended. One without a cost is taken for the dearest so far."""
        if self._budget is None or execution.trial.id not in self._running:
            return
        self._running.remove(execution.trial.id)
        cost = settle_outcome(self._experiment, execution.outcome).cost
        dearest = self._budget.dearest.get(self._mode)
        if cost is None and dearest is None:
            self._blind |= execution.outcome.cause is Cause.FINISHED
        self._budget.add_trial(self._mode, cost, dearest or 0.0)
