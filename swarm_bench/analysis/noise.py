"""A mode against itself: by how much two identical arms differ, what could be found, and that in
words: which differences may be chance, and what smaller ones take."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from swarm_bench.analysis.caveats.no_verdict import explain_no_verdict
from swarm_bench.analysis.comparison.headline_metrics import RATIOS, REQUESTS, TURNS, select_billed
from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.comparison.pairs import find_groups
from swarm_bench.analysis.planning.chances import HELP
from swarm_bench.analysis.planning.forecast import count_independent
from swarm_bench.analysis.planning.outlook import format_about, name_units
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    advise_comparison,
    advise_new_tasks,
    advise_runs,
    advise_tasks,
)
from swarm_bench.analysis.sentences.verdict_line import CANNOT_TELL
from swarm_bench.analysis.statistics.changes import describe_size, describe_too_few
from swarm_bench.analysis.statistics.effects import Effect, clip_interval, compute_change
from swarm_bench.analysis.statistics.formulas import (
    compute_detectable,
    compute_difference_sd,
    compute_pooled_sd,
    compute_sd_interval,
    count_fewest_cases,
)
from swarm_bench.analysis.statistics.pairing import Cases
from swarm_bench.analysis.wording import join_titles, lowercase
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.report.calibration import Calibration, Noise, Range
from swarm_bench.core.report.document import Answer, Step, Tone
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, TrialRecord

SIZES = tuple((tasks, runs) for tasks in (4, 8, 12, 20) for runs in (3, 5, 10))
_KEYS = (
    "wall_seconds", "duration_s", "api_seconds", "tool_seconds", "cpu_seconds", "peak_memory_bytes",
    "num_turns", "requests", "tool_calls", "tool_result_tokens", "total_tokens", "effective_tokens",
    "all_in_tokens", "output_tokens", "cost", "result_lines", "references", "references_existing",
    "grounded", "structured", "completed", "invented_share", "file_recall", "file_precision",
    "right_answer",
)  # fmt: skip
_STILL = "a difference in a comparison is hardly noise"
_MAX_TASKS = 1000
_LARGEST = 10.0
"""A ratio beyond this is named no closer."""


def compute_calibration(data: SessionData, metrics: Metrics) -> Calibration:
    """Compute what a session of `calibrate` says. Raises `KeyError` for one of another
    number of modes than two."""
    selection = Selection(data, metrics)
    experiment = data.experiment
    if len(experiment.modes) != 2:
        raise KeyError("a calibration has two modes")
    mode, twin = (arm.name for arm in experiment.modes)
    tasks = experiment.tasks_asked
    runs = experiment.runs * experiment.trials_per_mode // tasks
    arms = _Arms(
        first=selection.select(mode), second=selection.select(twin), groups=find_groups(selection)
    )
    planned = (count_independent(experiment).independent_cases, runs)
    noise_rows = [_compute_noise(metric, arms, planned) for metric in _list_metrics(selection)]
    paired_rows = [row for row in noise_rows if row.pairs]
    costs = tuple(row for row in paired_rows if row.metric.spent and selection.fixed_rules)
    rows = tuple(row for row in paired_rows if row not in costs)
    explanation = _explain_no_floor(selection)
    of_rows = NoiseMeasurement(
        mode=mode,
        rows=rows,
        tasks=count_independent(experiment),
        runs=runs,
        experiment=experiment,
        fixed_rules=bool(costs),
    )
    return Calibration(
        mode=mode,
        again=twin,
        tasks=tasks,
        runs=runs,
        excluded=sum(not compares(trial) for trial in selection.trials),
        answers=(answer_no_floor(mode, explanation),) if explanation else answer_noise(of_rows),
        rows=rows,
        spent_by_rules=costs,
        unknown=tuple(row.metric for row in noise_rows if not row.pairs),
        sizes=SIZES,
        no_floor=explanation,
    )


def _list_metrics(selection: Selection) -> Iterator[Metric]:
    """Yield the metrics that say something of the session."""
    metrics = selection.metrics
    for metric in select_billed((*metrics.named(_KEYS), *metrics.compared), selection):
        if selection.keyed_weights or not metric.keyed:
            yield metric


def _explain_no_floor(selection: Selection) -> str | None:
    """Say why there is no floor: by the rule that gives a mode no verdict."""
    reasons = ((mode, explain_no_verdict(selection, mode)) for mode in selection.modes)
    return next((f"{mode}: {reason}" for mode, reason in reasons if reason), None)


@dataclass(frozen=True, kw_only=True)
class _Arms:
    first: tuple[TrialRecord, ...]
    second: tuple[TrialRecord, ...]
    groups: Mapping[str, str]
    """Groups of tasks that are not independent of each other, by task."""


def _compute_noise(metric: Metric, arms: _Arms, planned_size: tuple[float, int]) -> Noise:
    first, second = _read_values(metric, arms.first), _read_values(metric, arms.second)
    pairs = [(first[pairing], second[pairing]) for pairing in first if pairing in second]
    identical = sum(figure == second_figure for figure, second_figure in pairs)
    # There is no ratio to 0, so what stands beside one says nothing either.
    zeros = {pairing for arm in (first, second) for pairing in arm if arm[pairing] == 0}
    excluded = zeros if metric.relative else set()
    scale = math.log if metric.relative else float
    first_values, second_values = (_group_by_task(arm, scale, excluded) for arm in (first, second))
    by_task = {
        task: median(second_values[task]) - median(first_values[task])
        for task in first_values
        if task in second_values
    }
    effect = Cases(ids=by_task, groups=arms.groups).make_effect(by_task) if by_task else None
    sd, freedom = compute_pooled_sd([*first_values.values(), *second_values.values()])
    write = math.exp if metric.relative else float
    bounds = effect.interval() if effect else None
    max_value = math.inf if metric.relative else metric.most(len(by_task))
    return Noise(
        metric=metric,
        relative=metric.relative,
        pairs=len(pairs),
        identical=identical,
        zeros=len(excluded & first.keys() & second.keys()),
        still=identical == len(pairs) > 0 and _repeats((first, second)),
        missing=len(arms.first) + len(arms.second) - len(first) - len(second),
        tasks=len(by_task),
        effect=write(effect.estimate) if effect else None,
        interval=_make_range(clip_interval(bounds, max_value) or bounds, write),
        largest=write(max(map(abs, by_task.values()))) if by_task else None,
        spread=None if sd is None else write(sd),
        spread_interval=None
        if sd is None
        else _make_range(compute_sd_interval(sd, freedom), write),
        planned=_compute_findable(sd, planned_size, write),
        grid=tuple(_compute_findable(sd, size, write) for size in SIZES),
    )


_Pairing = tuple[str, int, int]
"""Task, run and agent: equal in both arms."""


def _read_values(metric: Metric, trials: Iterable[TrialRecord]) -> dict[_Pairing, float]:
    belongs = counts if metric.of_failed else compares
    return {
        (trial.task_key, trial.run, trial.agent): float(value)
        for trial in filter(belongs, trials)
        if (value := metric.reader(trial)) is not None
    }


def _repeats(arms: Iterable[Mapping[_Pairing, float]]) -> bool:
    """Tell whether there are repetitions, and none differs."""
    groups = [runs for arm in arms for runs in _group_by_task(arm).values()]
    return any(len(runs) > 1 for runs in groups) and all(len(set(runs)) == 1 for runs in groups)


def _group_by_task(
    values: Mapping[_Pairing, float],
    scale: Callable[[float], float] = float,
    excluded: Container[_Pairing] = (),
) -> dict[str, list[float]]:
    by_task: dict[str, list[float]] = defaultdict(list)
    for pairing, value in values.items():
        if pairing not in excluded:
            by_task[pairing[0]].append(scale(value))
    return by_task


def _compute_findable(
    sd: float | None, size: tuple[float, int], write: Callable[[float], float]
) -> Range | None:
    tasks, runs = size
    difference = None if sd is None else compute_detectable(compute_difference_sd(sd, runs), tasks)
    return None if difference is None else _make_range((-difference, difference), write)


def _make_range(
    values: Sequence[float] | None, write: Callable[[float], float] = float
) -> Range | None:
    return None if values is None else Range(low=write(values[0]), high=write(values[1]))


@dataclass(frozen=True, kw_only=True)
class NoiseMeasurement:
    """What was measured of a mode against itself."""

    mode: str
    rows: Sequence[Noise]
    """Rows of the measured noise, without what fixed rules spent."""
    tasks: Effect
    runs: int
    experiment: Experiment
    fixed_rules: bool
    """Whether they decided what was spent."""


def answer_no_floor(mode: str, reason: str) -> Answer:
    """Answer that what was measured is not the noise of a mode."""
    return Answer(
        subject=_name_subject(mode),
        claim=": no noise floor",
        tone=Tone.OPEN,
        figures=reason,
        next=DOCTOR,
    )


def answer_noise(measurement: NoiseMeasurement) -> tuple[Answer, ...]:
    """Answer what may be chance: first in the primary metric, or another one where fixed rules
    decided that, then in all others that a headline compares."""
    compared_rows = _select_compared(measurement.rows)
    moving = [row for row in compared_rows if not row.still and row.spread is not None]
    primary = [row for row in compared_rows if row.metric.key == measurement.experiment.primary]
    first, *_ = [*primary, *moving, *compared_rows, None]
    answer = replace(
        _answer_all(measurement, first),
        evidence=" ".join(_write_evidence(measurement, first, compared_rows)),
        caveats=tuple(_describe_false_differences(measurement.rows)),
    )
    return answer, *(_answer_metric(measurement, row) for row in moving if row is not first)


def _name_subject(mode: str) -> str:
    return f"{mode} against itself"


def _select_compared(rows: Sequence[Noise]) -> list[Noise]:
    """Choose what a headline compares."""
    counts_requests = any(row.metric.key == REQUESTS for row in rows)
    keys = {*RATIOS} - {TURNS if counts_requests else REQUESTS}
    candidates = [row for row in rows if row.metric.compared or row.metric.key in keys]
    return [row for row in candidates if row.relative]


def _answer_all(measurement: NoiseMeasurement, row: Noise | None) -> Answer:
    answer = Answer(subject=_name_subject(measurement.mode), claim=CANNOT_TELL, tone=Tone.OPEN)
    if problems := [*_list_problems(measurement)]:
        figures, following = problems[0]
        return replace(answer, figures=figures, next=following)
    if row is None or (not row.still and row.spread is None):
        return replace(answer, figures="Nothing that a comparison shows was measured twice.")
    title = lowercase(row.metric.title)
    if row.still:
        return replace(
            answer,
            claim=f": no noise in {title}",
            tone=Tone.GOOD,
            figures=f"Nothing varied in it here, so {_STILL}.",
            next=_advise_next(measurement, row),
        )
    return replace(
        _answer_metric(measurement, row, answer.subject), next=_advise_next(measurement, row)
    )


def _list_problems(measurement: NoiseMeasurement) -> Iterator[tuple[str, Step]]:
    """Say what a calibration lacks, and what gives it."""
    if measurement.tasks.cases < 2:
        reason = (
            "With one task there is no interval, and an experiment of this size can find nothing."
        )
        yield reason, advise_new_tasks(measurement.experiment, "again with more tasks")
    if measurement.runs < 2:
        reason = "With one run there is no spread from run to run, so nothing shows what is noise."
        yield reason, advise_runs(measurement.experiment, 2)


def _answer_metric(measurement: NoiseMeasurement, row: Noise, subject: str = "") -> Answer:
    """Say of a metric that varied what may be chance."""
    title = row.metric.title
    phrase = f" in {lowercase(title)}" if subject else ""
    answer = Answer(subject=subject or title, claim=f"{CANNOT_TELL}{phrase}", tone=Tone.OPEN)
    assert row.spread is not None
    if row.spread == 1:
        figures = "Its runs are alike, and the arms differ all the same."
        return replace(
            answer, claim=f": its arms are not equal{phrase}", tone=Tone.BAD, figures=figures
        )
    number = format_about(_count_needed(measurement, row.spread), name_units(measurement.tasks))
    figures = f"Showing that a tool saves {measurement.experiment.margin * 100:g} % takes {number}"
    if row.planned:
        answer = replace(
            answer, claim=f": {_describe_limit(row.planned.high)}{phrase} may be chance"
        )
    return replace(answer, figures=f"{figures}.")


def _advise_next(measurement: NoiseMeasurement, row: Noise) -> Step:
    """Return what comes next."""
    compare = advise_comparison(measurement.experiment, measurement.mode)
    if measurement.fixed_rules:
        return AGENTS
    if row.still or row.spread is None:
        return compare
    if row.spread == 1:
        return DOCTOR
    needed = _count_needed(measurement, row.spread)
    if needed is None:
        return advise_runs(measurement.experiment, 2 * measurement.experiment.runs)
    number = math.ceil(needed * measurement.tasks.cases / measurement.tasks.independent_cases)
    if number <= measurement.tasks.cases:
        return compare
    return advise_tasks(number, measurement.experiment)


def _write_evidence(
    measurement: NoiseMeasurement, first: Noise | None, compared_rows: Sequence[Noise]
) -> Iterator[str]:
    """Say what was measured, and what else it shows."""
    size = describe_size(measurement.tasks, "task", measurement.runs)
    yield f"{size} in each of two identical arms."
    yield from (reason for reason, _ in [*_list_problems(measurement)][1:])
    if first and first.planned and not first.still and first.spread != 1:
        clause = "A larger difference shows in 4 of 5 comparisons of this size"
        yield f"{clause}{_describe_savings(measurement, first)}."
    if still := [row.metric.title for row in compared_rows if row.still and row is not first]:
        yield f"{join_titles(still)} never varied here: {_STILL}."
    if measurement.fixed_rules:
        yield BY_RULES


def _describe_savings(measurement: NoiseMeasurement, row: Noise) -> str:
    """Say which savings can be seen, where a tool helps with some tasks more than with others."""
    if row.spread is None or describe_too_few(measurement.tasks, name_units(measurement.tasks)):
        return ""
    spread = _compute_sd(math.log(row.spread), measurement.runs)
    smallest = compute_detectable(spread, measurement.tasks.independent_cases)
    savings = "no saving, however large,"
    if smallest is not None:
        savings = f"a saving of {-compute_change(-smallest) * 100:.0f} % or more"
    return f", and {savings} if a tool's help differs between tasks by what --plan assumes"


def _describe_false_differences(rows: Sequence[Noise]) -> Iterator[str]:
    """Say in which metrics identical arms would have been called different."""
    if titles := [row.metric.title for row in rows if row.is_significant]:
        yield (
            f"these arms would have been called different in {lowercase(join_titles(titles))}, as "
            "happens by chance with 5 of 100 metrics, and with more times where agents share their "
            "delays"
        )


def _count_needed(measurement: NoiseMeasurement, spread: float) -> int | None:
    """Return how many tasks show a saving of the margin, with runs that differ by such a factor."""
    saving = -math.log1p(-measurement.experiment.margin)
    return count_fewest_cases(saving, _compute_sd(math.log(spread), measurement.runs), _MAX_TASKS)


def _compute_sd(spread: float, runs: int) -> float:
    """Compute the standard deviation of what single tasks save."""
    return math.hypot(HELP, compute_difference_sd(spread, runs))


def _describe_limit(ratio: float) -> str:
    """Say what is smaller than the ratio that 80 of 100 such experiments detect."""
    if ratio > _LARGEST:
        return f"even differences of {_LARGEST:g}×"
    if ratio >= 2:
        return f"differences below {ratio:.1f}×"
    return f"differences below {max(1, round((ratio - 1) * 100))} %"
