"""A session that is planned, and by how much runs differ: as an earlier session shows it, or as it
is assumed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.comparison.pairs import SUCCESS, group_metric, pair_metric
from swarm_bench.analysis.planning.chances import HELP, QUALITY_HELP, Bar, Truth
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA, compute_pooled_sd
from swarm_bench.analysis.statistics.pairing import make_cases
from swarm_bench.analysis.statistics.verdict_rule import FEWEST
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A session of the same agent and model."""

    folder: str
    data: SessionData


@dataclass(frozen=True, kw_only=True)
class QualitySpread:
    """Differences between answers."""

    spread: float
    """Standard deviation of the runs of a task."""
    differing: float
    """Share of the tasks in which two modes differ at all."""


COST_SPREADS = (0.3, 0.45)
"""Standard deviations of logarithms that are assumed: of quiet runs, and of noisy ones."""
_RATE = 0.8
QUALITY_SPREAD = math.sqrt(_RATE * (1 - _RATE) / 2)
"""Spread that is assumed: two key files, each found in four of five runs."""
EQUAL = QualitySpread(spread=0.0, differing=0.0)


@dataclass(frozen=True, kw_only=True)
class Spreads:
    """What is known of the noise of a session."""

    cost: float | None = None
    """Spread of the logarithms of the cost; `None` if no session shows it."""
    quality: QualitySpread | None = None


def assume_quality(runs: int) -> QualitySpread:
    """Return by how much answers differ where no session shows it."""
    files = 2 * runs
    # By logarithms, as there may be many runs; scipy.stats takes a second to import.
    ways = (
        math.lgamma(files + 1) - math.lgamma(number + 1) - math.lgamma(files - number + 1)
        for number in range(files + 1)
    )
    chances = (
        math.exp(way + number * math.log(_RATE) + (files - number) * math.log1p(-_RATE))
        for number, way in enumerate(ways)
    )
    equal = sum(chance**2 for chance in chances)
    return QualitySpread(spread=QUALITY_SPREAD, differing=1 - equal)


def read_spreads(earlier: Earlier | None, metrics: Metrics, primary: str, quality: str) -> Spreads:
    """Return what an earlier session shows."""
    if earlier is None:
        return Spreads()
    selection = Selection(earlier.data, metrics)
    cost_spread = _compute_spread(selection, metrics[primary], HELP) if primary in metrics else None
    quality_spread = _read_quality(selection, metrics[quality]) if quality in metrics else None
    return Spreads(cost=cost_spread, quality=quality_spread)


def _read_quality(selection: Selection, metric: Metric) -> QualitySpread | None:
    spread = _compute_spread(selection, metric, QUALITY_HELP)
    if spread is None:
        return None
    effects = [*_list_effects(selection, metric)]
    tasks = sum(effect.units for effect in effects)
    differing = sum(sum(effect.differing) for effect in effects)
    return QualitySpread(spread=spread, differing=differing / tasks if tasks else 1.0)


def _compute_spread(selection: Selection, metric: Metric, helps: float) -> float | None:
    """Compute the standard deviation of the runs of a task. Where none is repeated, or all are
    equal, differences between modes tell it: they are two runs, and what a tool does for the
    task."""
    cells = [
        [math.log(value) if metric.relative else value for value in values]
        for mode in selection.modes
        for values in group_metric(selection, mode, metric).values()
        if not metric.relative or min(values) > 0
    ]
    spread, _ = compute_pooled_sd(cells)
    if spread:
        return spread
    squares = [
        effect.standard_error**2 * effect.independent_cases
        for effect in _list_effects(selection, metric)
        if effect.standard_error is not None and effect.independent_cases >= FEWEST
    ]
    if not squares:
        return spread
    return math.sqrt(max(0.0, sum(squares) / len(squares) - helps**2) / 2)


def _list_effects(selection: Selection, metric: Metric) -> Iterator[Effect]:
    for mode in selection.modes[1:]:
        if effect := pair_metric(selection, mode, metric).effect:
            yield effect


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
    """Saving that is asked about."""
    earlier: Earlier | None
    fixed_rules: bool

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
    noise = read_spreads(earlier, metrics, experiment.primary, _find_quality(experiment))
    runs = max(1, experiment.runs * experiment.trials_per_mode // tasks.cases)
    # No difference between modes can be seen in it.
    is_of_one_mode = earlier is not None and earlier.data.experiment.design.mode_twice
    return Outlook(
        experiment=experiment,
        tasks=tasks,
        # Those of fixed rules are equal, so more of them show no more.
        runs=1 if fixed_rules else runs,
        spreads=Spreads() if fixed_rules and is_of_one_mode else noise,
        quality=quality,
        saving=saving,
        earlier=earlier,
        fixed_rules=fixed_rules,
    )


def list_compared(experiment: Experiment) -> list[str]:
    """Name the modes of which there are hypotheses."""
    return [mode.name for mode in experiment.modes[1:] if not mode.control_of]


def _find_quality(experiment: Experiment) -> str:
    """Return the key of the quality, as far as it can be told before."""
    if experiment.quality:
        return experiment.quality
    return RECALL if any(task.key for task in experiment.tasks) else SUCCESS


def count_independent(experiment: Experiment) -> Effect:
    """Return the tasks that agents get, as an effect of which nothing is known but its size."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    return make_cases(tasks, experiment.repository.clean_commit).size
