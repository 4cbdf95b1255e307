"""What a swarm may cost while its trials run: each of them counts with what it may cost."""

from swarm_bench.benchmarks.swarm.records.making import settle_outcome
from swarm_bench.benchmarks.swarm.running.delivery import Allowance, Execution
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.status import Cause


class Purse:
    """Sets aside what the trials of a swarm may cost, and pays what they did cost. Without an
    allowance, all of them may start."""

    def __init__(self, experiment: Experiment, allowance: Allowance | None) -> None:
        self._experiment = experiment
        self._allowance = allowance
        self._running = set[str]()
        """Ids of trials."""
        self._blind = False
        """Whether a trial gave an answer and no cost, before any other gave one."""

    def take(self, trial: str) -> bool:
        """Set aside what the trial may cost; false when it could exceed the allowance, so that it
        must not start."""
        if self._allowance is None:
            return True
        set_aside = len(self._running) * (self._allowance.dearest or 0.0)
        if self._blind or not self._allowance.minus(set_aside).covers_a_trial:
            return False
        self._running.add(trial)
        return True

    def settle(self, execution: Execution) -> None:
        """Pay for a trial that has ended. One without a cost is taken for the dearest so far."""
        if self._allowance is None or execution.trial.id not in self._running:
            return
        self._running.remove(execution.trial.id)
        cost = settle_outcome(self._experiment, execution.outcome).cost
        dearest = self._allowance.dearest
        answered = execution.outcome.cause is Cause.FINISHED
        if cost is None:
            self._blind |= dearest is None and answered
            self._allowance = self._allowance.minus(dearest or 0.0)
        else:
            self._allowance = Allowance(
                rest=self._allowance.rest - cost, dearest=max(cost, dearest or 0.0)
            )
