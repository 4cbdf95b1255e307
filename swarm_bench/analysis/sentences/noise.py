"""What a calibration comes to in words: which differences may be chance, and what smaller ones
take."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from swarm_bench.analysis.comparison.compared import RATIOS, REQUESTS, TURNS
from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.planning.chances import HELP
from swarm_bench.analysis.planning.outlook import format_about, name_units
from swarm_bench.analysis.sentences.contrast import BASELINE
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    advise_new_tasks,
    advise_tasks,
    name_session,
    write_typed_options,
)
from swarm_bench.analysis.sentences.verdict_line import CANNOT_TELL
from swarm_bench.analysis.statistics.changes import describe_size, describe_too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    compute_detectable,
    compute_difference_sd,
    count_fewest_cases,
)
from swarm_bench.analysis.wording import join_titles, lowercase
from swarm_bench.core.report.calibration import Noise
from swarm_bench.core.report.document import Answer, Step, Tone
from swarm_bench.core.session.experiment import Experiment

_STILL = "a difference in a comparison is hardly noise"
_MAX_TASKS = 1000
_LARGEST = 10.0
"""A ratio beyond this is named no closer."""


@dataclass(frozen=True, kw_only=True)
class NoiseMeasurement:
    """What was measured of a mode against itself."""

    mode: str
    rows: Sequence[Noise]
    """Without what fixed rules spent."""
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
        yield reason, _advise_runs(measurement, 2)


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
    compare = _advise_comparison(measurement)
    if measurement.fixed_rules:
        return AGENTS
    if row.still or row.spread is None:
        return compare
    if row.spread == 1:
        return DOCTOR
    needed = _count_needed(measurement, row.spread)
    if needed is None:
        return _advise_runs(measurement, 2 * measurement.experiment.runs)
    number = math.ceil(needed * measurement.tasks.cases / measurement.tasks.independent_cases)
    if number <= measurement.tasks.cases:
        return compare
    return advise_tasks(number, measurement.experiment)


def _advise_comparison(measurement: NoiseMeasurement) -> Step:
    """Advise to compare the mode on the same tasks, with the same agent."""
    experiment = measurement.experiment
    same = write_typed_options(experiment, "repo", "tasks", "agent", "model")
    if measurement.mode == BASELINE:
        return Step(f"swarm-bench compare{same}", "to compare a tool with it")
    modes = experiment.settings.get("modes")
    mode = quote(str(modes.value[0]) if modes else measurement.mode)
    command = f"swarm-bench compare --modes {BASELINE} {mode}{same}"
    return Step(command, f"to compare it with the {BASELINE}")


def _advise_runs(measurement: NoiseMeasurement, runs: int) -> Step:
    command = (
        f"swarm-bench calibrate --continue {name_session(measurement.experiment)} --runs {runs}"
    )
    return Step(command, "with more runs")


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
        savings = f"a saving of {-math.expm1(-smallest) * 100:.0f} % or more"
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
