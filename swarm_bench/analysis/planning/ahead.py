"""A session that is planned, and what is known of its noise."""

from dataclasses import dataclass

from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.comparison.pairs import SUCCESS
from swarm_bench.analysis.planning.chances import Bar, Truth
from swarm_bench.analysis.planning.spreads import (
    COST_SPREADS,
    EQUAL,
    Earlier,
    QualitySpread,
    Spreads,
    assume_quality,
    read_spreads,
)
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import make_cases
from swarm_bench.core.metric import Metrics
from swarm_bench.core.session.experiment import Experiment


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """A session that is planned, and what is known of its noise."""

    experiment: Experiment
    tasks: Effect
    runs: int
    spreads: Spreads
    quality: str
    """Key of its metric."""
    saving: float
    """What is asked about."""

    @property
    def bar(self) -> Bar:
        """What the verdict on the first of several hypotheses asks for."""
        return Bar(
            margin=self.experiment.margin,
            quality_margin=self.experiment.quality_margin,
            level=ALPHA / len(list_compared(self.experiment)),
            at_every_look=self.experiment.until_clear,
        )

    @property
    def qualities(self) -> tuple[QualitySpread, ...]:
        """Say how answers may differ."""
        measured_quality = self.spreads.quality
        return (
            (EQUAL, assume_quality(self.runs)) if measured_quality is None else (measured_quality,)
        )

    def list_truths(self, quality: QualitySpread) -> list[Truth]:
        """Return what may be so: with quiet runs and with noisy ones, where that is not known."""
        cost_spread = self.spreads.cost
        return [
            Truth(
                saving=self.saving,
                spread=spread,
                quality_spread=quality.spread,
                differing=quality.differing,
            )
            for spread in (COST_SPREADS if cost_spread is None else (cost_spread,))
        ]


def look_ahead(
    experiment: Experiment,
    earlier: Earlier | None,
    metrics: Metrics,
    *,
    saving: float,
    fixed_rules: bool,
) -> Outlook | None:
    """Collect what is known beforehand; `None` where nothing is compared, or no verdict is given:
    by fixed rules without keys."""
    tasks, quality = count_independent(experiment), _find_quality(experiment)
    no_verdict = fixed_rules and quality == SUCCESS
    if not list_compared(experiment) or experiment.design.mode_twice or no_verdict:
        return None
    noise = read_noise(experiment, earlier, metrics)
    runs = max(1, experiment.runs * experiment.trials_per_mode // tasks.cases)
    return Outlook(
        experiment=experiment,
        tasks=tasks,
        # Those of fixed rules are equal, so more of them show no more.
        runs=1 if fixed_rules else runs,
        spreads=Spreads() if fixed_rules and _is_of_one_mode(earlier) else noise,
        quality=quality,
        saving=saving,
    )


def list_compared(experiment: Experiment) -> list[str]:
    """Name the modes of which there are hypotheses."""
    return [mode.name for mode in experiment.modes[1:] if not mode.control_of]


def _is_of_one_mode(earlier: Earlier | None) -> bool:
    """Tell whether no difference between modes can be seen in it."""
    return earlier is not None and earlier.data.experiment.design.mode_twice


def read_noise(experiment: Experiment, earlier: Earlier | None, metrics: Metrics) -> Spreads:
    """Return what an earlier session shows of the noise."""
    return read_spreads(earlier, metrics, experiment.primary, _find_quality(experiment))


def _find_quality(experiment: Experiment) -> str:
    """Return the key of the quality, as far as it can be told before."""
    if experiment.quality:
        return experiment.quality
    return RECALL if any(task.key for task in experiment.tasks) else SUCCESS


def count_independent(experiment: Experiment) -> Effect:
    """Return the tasks that agents get, as an effect of which nothing is known but its size."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    return make_cases(tasks, experiment.repository.clean_commit).size
