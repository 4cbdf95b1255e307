"""What a session could show, and what it would cost: before anything is spent."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.comparison.pairs import SUCCESS, values_by_task
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.changes import GROUPED, evidence, too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    ALPHA,
    detectable,
    difference_sd,
    fewest_cases,
    pooled_sd,
)
from swarm_bench.analysis.statistics.pairing import cases_of
from swarm_bench.analysis.statistics.rule import FEWEST, cases_for
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.designs import MARGIN
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData
from swarm_bench.core.session.tasks import HARD

_MOST = 1000
_RUNS, _HELP = 0.45, 0.2
"""Assumed standard deviations of logarithms: of runs, and of a tool's help between tasks."""
_QUALITY_RUNS, _QUALITY_HELP = 0.15, 0.1
"""The same of a share."""


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A session of the same agent, model and repository."""

    folder: str
    data: SessionData


def outlook(
    experiment: Experiment, earlier: Earlier | None, metrics: Metrics, *, fixed_rules: bool
) -> Iterator[Entry]:
    """Say what differences the session could show; nothing where it compares nothing."""
    compared = [mode for mode in experiment.modes[1:] if not mode.control_of]
    if not compared or experiment.design.mode_twice:
        return
    tasks = asked(experiment)
    runs = max(1, experiment.runs * experiment.trials_per_mode // tasks.cases)
    quality = _quality(experiment)
    if fixed_rules and quality == SUCCESS:  # there is no verdict on either
        return
    texts = [] if fixed_rules else [_of_primary(experiment, earlier, metrics, runs, len(compared))]
    texts.append(_of_quality(experiment, earlier, metrics, runs, quality))
    if few := too_few(tasks, units(tasks)):
        texts.append(f"with {few} nothing can be shown")
    if hard := hard_of(experiment):
        texts.append(f"{hard}: both count in all of this")
    if tasks.groups:
        texts.append(GROUPED)
    texts.append(_basis(experiment, earlier))
    yield Entry(label="Can show", texts=tuple(texts))


def expected(
    experiment: Experiment, earlier: Earlier | None, remaining: int, *, paid: bool
) -> Iterator[Entry]:
    """Say what the rest of the session would cost and take, by an earlier one."""
    trials = earlier.data.trials if earlier else ()
    costs = [trial.cost for trial in trials if trial.cost is not None]
    times = [trial.wall_seconds for trial in trials if trial.wall_seconds is not None]
    cost = f"about ${fmean(costs) * remaining:,.2f}, " if costs else "cost unknown, "
    minutes = fmean(times) * remaining / experiment.at_once / 60 if times else None
    time = "time unknown" if minutes is None else f"about {max(1, math.ceil(minutes))} min"
    source = f"as in {earlier.folder}" if earlier else "no earlier session of this kind"
    yield Entry(label="Expected", texts=(f"{cost if paid else ''}{time} ({source})",))


def _quality(experiment: Experiment) -> str:
    """Return the key of the quality, as far as it can be told before."""
    if experiment.quality:
        return experiment.quality
    return RECALL if any(task.key for task in experiment.tasks) else SUCCESS


def _of_verdicts(
    experiment: Experiment, noise: Noise, runs: int, saving: float, modes: int
) -> Iterator[str]:
    """Say how likely each verdict is if a mode saves so much, and what it takes for `helps`."""
    tasks, noun = asked(experiment), units(asked(experiment))
    bar = Bar(
        margin=experiment.margin,
        quality_margin=experiment.quality_margin,
        level=ALPHA / modes,
    )
    size = evidence(tasks, "task", runs, len(experiment.tasks))
    needed = list[str]()
    for quality in noise.quality:
        truths = [
            Truth(saving=saving, spread=spread, quality_spread=quality) for spread in noise.spent
        ]
        finds = "what it finds varies" if quality else "it finds the same"
        each = [chances(truth, int(tasks.independent), runs, bar) for truth in truths]
        yield (
            f"{size}: if a mode takes {saving:.0%} less (--expect) in {experiment.primary}, and "
            f"{finds}: {_verdicts(each)}"
        )
        needed.append(f"{_tasks([tasks_for(truth, runs, bar) for truth in truths])}, if {finds}")
    equal = cases_for(0, experiment.quality_margin)
    yield (
        f"helps in {POWER:.0%} of such sessions takes {'; '.join(needed)} ({noun} count; where "
        f"answers are equal, at least {equal})"
    )


_SPOKEN = {
    Verdict.CHEAPER: "spends less, equal quality not shown",
    Verdict.DEARER: "spends more",
    Verdict.TRADE_OFF: "a trade-off",
}


def _verdicts(each: Sequence[Mapping[Verdict, float]]) -> str:
    """Write `helps 51 to 81 %, inconclusive 19 to 49 %`."""
    ranges = {name: sorted(chance[name] for chance in each) for name in Verdict}
    return ", ".join(
        f"{_SPOKEN.get(name, name)} {_range(f'{low:.0%}', f'{high:.0%}')}"
        for name, (low, *_, high) in ((name, [*it, it[-1]]) for name, it in ranges.items())
        if round(high, 2)
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low.removesuffix('%')} to {high}"


def asked(experiment: Experiment) -> Effect:
    """Return the tasks that agents get, as an effect of which nothing is known but its size."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    return cases_of(tasks, experiment.repository.clean_commit).size


def hard_of(experiment: Experiment) -> str:
    """Write `6 hard and 44 other tasks`, of those that agents get; empty where none has the tag."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    hard = sum(HARD in task.tags for task in tasks)
    return f"{hard} hard and {amount(len(tasks) - hard, 'other task')}" if hard else ""


def units(tasks: Effect) -> str:
    """Name what is counted: tasks that are not independent count as one."""
    return "groups" if tasks.groups else "tasks"


def savings(
    spread: float,
    size: tuple[float, int],
    wanted: float = MARGIN,
    level: float = ALPHA,
    noun: str = "tasks",
) -> str:
    """Say which savings can be seen with as many tasks as these are worth, and so many runs, where
    logarithms of the runs of a task have that standard deviation."""
    tasks, runs = size
    sd = _saving_sd(spread, runs)
    smallest = detectable(sd, tasks, level)
    visible = (
        "no saving, however large"
        if smallest is None
        else f"savings of {-math.expm1(-smallest):.0%} or more"
    )
    number = tasks_needed(spread, runs, wanted, level, noun)
    return f"{visible}; detecting one of {wanted * 100:g} % takes {number}".replace("% or", " % or")


def tasks_needed(
    spread: float,
    runs: int,
    wanted: float = MARGIN,
    level: float = ALPHA,
    noun: str = "tasks",
) -> str:
    """Say how many tasks it takes to detect a saving, with so many runs of that spread."""
    sd = _saving_sd(spread, runs)
    return _tasks(fewest_cases(-math.log1p(-wanted), sd, _MOST, level), noun)


def _saving_sd(spread: float, runs: int) -> float:
    """Compute the standard deviation of what single tasks save."""
    return math.hypot(_HELP, difference_sd(spread, runs))


def _of_quality(
    experiment: Experiment, earlier: Earlier | None, metrics: Metrics, runs: int, key: str
) -> str:
    spread = _spread(earlier, metrics, key)
    own = _QUALITY_RUNS if spread is None else spread
    sd = math.hypot(_QUALITY_HELP, own * math.sqrt(2 / runs))
    margin, tasks = experiment.quality_margin, asked(experiment)
    smallest = detectable(sd, tasks.independent, ALPHA)
    if smallest is None or margin <= 0:
        return f"no difference in {key}"
    # "Not worse" takes a one-sided bound.
    needed = fewest_cases(margin, sd, _MOST, 2 * ALPHA)
    text = f"differences in {key} below {smallest:.2f} could hardly be seen"
    if needed is not None and needed <= tasks.independent:
        equal = _if_equal(tasks, margin)
        return f"{text}; 'not worse' by --quality-margin {margin:g} can be shown{equal}"
    return (
        f"{text}; --quality-margin is {margin:g}, so 'not worse' can hardly be shown: it takes "
        f"{_tasks(needed, units(tasks))}"
    )


def _if_equal(tasks: Effect, margin: float) -> str:
    """Say what it takes where hardly any tasks differ; empty where they are enough."""
    needed = cases_for(0, margin)
    if tasks.independent >= needed:
        return ""
    return f", but where fewer than {FEWEST} {units(tasks)} differ it takes {needed} or more"


def _spread(earlier: Earlier | None, metrics: Metrics, key: str) -> float | None:
    """Compute the standard deviation of the runs of a task; `None` where nothing tells."""
    if earlier is None or key not in metrics:
        return None
    selection, metric = Selection(earlier.data, metrics), metrics[key]
    cells = [
        [math.log(value) if metric.relative else value for value in values]
        for mode in selection.modes
        for values in values_by_task(selection, mode, metric).values()
        if not metric.relative or min(values) > 0
    ]
    return pooled_sd(cells)[0]


def _basis(experiment: Experiment, earlier: Earlier | None) -> str:
    differs = f"a tool's help differs by {_HELP:g} between tasks, in quality by {_QUALITY_HELP:g}"
    if earlier:
        return (
            f"with the noise of runs in {earlier.folder}, as far as it repeats tasks; assumed: "
            f"{differs}"
        )
    return (
        f"no earlier session of {experiment.agent.name} on this repository here, so all noise is "
        f"assumed: runs differ by {_RUNS:g}, in quality by {_QUALITY_RUNS:g}, and {differs} "
        "(docs/statistics.md); swarm-bench calibrate measures that of runs"
    )


def _tasks(number: int | None, noun: str) -> str:
    return f"about {max(number, FEWEST)} {noun}" if number else f"more than {_MOST:,} {noun}"
