"""What a calibration comes to in words: which differences may be chance, and what smaller ones
take."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from swarm_bench.analysis.comparison.compared import RATIOS, REQUESTS, TURNS
from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.planning.chances import HELP
from swarm_bench.analysis.planning.outlook import about, units
from swarm_bench.analysis.sentences.contrast import BASELINE
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    new_tasks,
    session_of,
    typed,
    with_tasks,
)
from swarm_bench.analysis.sentences.verdict_line import CANNOT_TELL
from swarm_bench.analysis.statistics.changes import evidence, too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import detectable, difference_sd, fewest_cases
from swarm_bench.analysis.wording import in_a_row, lowered
from swarm_bench.core.report.calibration import Noise
from swarm_bench.core.report.document import Answer, Step, Tone
from swarm_bench.core.session.experiment import Experiment

_STILL = "a difference in a comparison is hardly noise"
_MOST = 1000
_LARGEST = 10.0
"""A ratio beyond this is named no closer."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured of a mode against itself."""

    mode: str
    rows: Sequence[Noise]
    """Without what fixed rules spent."""
    tasks: Effect
    runs: int
    experiment: Experiment
    fixed_rules: bool
    """Whether they decided what was spent."""


def no_floor(mode: str, why: str) -> Answer:
    """Answer that what was measured is not the noise of a mode."""
    return Answer(
        subject=_subject(mode),
        claim=": no noise floor",
        tone=Tone.OPEN,
        figures=why,
        next=DOCTOR,
    )


def noise_answers(measured: Measured) -> tuple[Answer, ...]:
    """Answer what may be chance: first in the primary metric, or another one where fixed rules
    decided that, then in all others that a headline compares."""
    telling = _telling(measured.rows)
    moving = [row for row in telling if not row.still and row.spread is not None]
    primary = [row for row in telling if row.metric.key == measured.experiment.primary]
    first, *_ = [*primary, *moving, *telling, None]
    answer = replace(
        _of_all(measured, first),
        evidence=" ".join(_evidence(measured, first, telling)),
        caveats=tuple(_apart(measured.rows)),
    )
    return answer, *(_of_metric(measured, row) for row in moving if row is not first)


def _subject(mode: str) -> str:
    return f"{mode} against itself"


def _telling(rows: Sequence[Noise]) -> list[Noise]:
    """Choose what a headline compares."""
    counts_requests = any(row.metric.key == REQUESTS for row in rows)
    keys = {*RATIOS} - {TURNS if counts_requests else REQUESTS}
    compared = [row for row in rows if row.metric.compared or row.metric.key in keys]
    return [row for row in compared if row.relative]


def _of_all(measured: Measured, row: Noise | None) -> Answer:
    answer = Answer(subject=_subject(measured.mode), claim=CANNOT_TELL, tone=Tone.OPEN)
    if problems := [*_problems(measured)]:
        figures, following = problems[0]
        return replace(answer, figures=figures, next=following)
    if row is None or (not row.still and row.spread is None):
        return replace(answer, figures="Nothing that a comparison shows was measured twice.")
    title = lowered(row.metric.title)
    if row.still:
        return replace(
            answer,
            claim=f": no noise in {title}",
            tone=Tone.GOOD,
            figures=f"Nothing varied in it here, so {_STILL}.",
            next=_next(measured, row),
        )
    return replace(_of_metric(measured, row, answer.subject), next=_next(measured, row))


def _problems(measured: Measured) -> Iterator[tuple[str, Step]]:
    """Say what a calibration lacks, and what gives it."""
    if measured.tasks.cases < 2:
        why = "With one task there is no interval, and an experiment of this size can find nothing."
        yield why, new_tasks(measured.experiment, "again with more tasks")
    if measured.runs < 2:
        why = "With one run there is no spread from run to run, so nothing shows what is noise."
        yield why, _with_runs(measured, 2)


def _of_metric(measured: Measured, row: Noise, subject: str = "") -> Answer:
    """Say of a metric that varied what may be chance."""
    title = row.metric.title
    where = f" in {lowered(title)}" if subject else ""
    answer = Answer(subject=subject or title, claim=f"{CANNOT_TELL}{where}", tone=Tone.OPEN)
    assert row.spread is not None
    if row.spread == 1:
        figures = "Its runs are alike, and the arms differ all the same."
        return replace(
            answer, claim=f": its arms are not equal{where}", tone=Tone.BAD, figures=figures
        )
    number = about(_needed(measured, row.spread), units(measured.tasks))
    figures = f"Showing that a tool saves {measured.experiment.margin * 100:g} % takes {number}"
    if row.planned:
        answer = replace(answer, claim=f": {_below(row.planned.high)}{where} may be chance")
    return replace(answer, figures=f"{figures}.")


def _next(measured: Measured, row: Noise) -> Step:
    """Return what comes next."""
    compare = _compare(measured)
    if measured.fixed_rules:
        return AGENTS
    if row.still or row.spread is None:
        return compare
    if row.spread == 1:
        return DOCTOR
    needed = _needed(measured, row.spread)
    if needed is None:
        return _with_runs(measured, 2 * measured.experiment.runs)
    number = math.ceil(needed * measured.tasks.cases / measured.tasks.independent)
    if number <= measured.tasks.cases:
        return compare
    return with_tasks(number, measured.experiment)


def _compare(measured: Measured) -> Step:
    """Advise to compare the mode on the same tasks, with the same agent."""
    experiment = measured.experiment
    same = typed(experiment, "repo", "tasks", "agent", "model")
    if measured.mode == BASELINE:
        return Step(f"swarm-bench compare{same}", "to compare a tool with it")
    modes = experiment.settings.get("modes")
    mode = quote(str(modes.value[0]) if modes else measured.mode)
    command = f"swarm-bench compare --modes {BASELINE} {mode}{same}"
    return Step(command, f"to compare it with the {BASELINE}")


def _with_runs(measured: Measured, runs: int) -> Step:
    command = f"swarm-bench calibrate --continue {session_of(measured.experiment)} --runs {runs}"
    return Step(command, "with more runs")


def _evidence(measured: Measured, first: Noise | None, telling: Sequence[Noise]) -> Iterator[str]:
    """Say what was measured, and what else it shows."""
    size = evidence(measured.tasks, "task", measured.runs)
    yield f"{size} in each of two identical arms."
    yield from (why for why, _ in [*_problems(measured)][1:])
    if first and first.planned and not first.still and first.spread != 1:
        shown = "A larger difference shows in 4 of 5 comparisons of this size"
        yield f"{shown}{_savings(measured, first)}."
    if still := [row.metric.title for row in telling if row.still and row is not first]:
        yield f"{in_a_row(still)} never varied here: {_STILL}."
    if measured.fixed_rules:
        yield BY_RULES


def _savings(measured: Measured, row: Noise) -> str:
    """Say which savings can be seen, where a tool helps with some tasks more than with others."""
    if row.spread is None or too_few(measured.tasks, units(measured.tasks)):
        return ""
    spread = _sd(math.log(row.spread), measured.runs)
    smallest = detectable(spread, measured.tasks.independent)
    savings = "no saving, however large,"
    if smallest is not None:
        savings = f"a saving of {-math.expm1(-smallest) * 100:.0f} % or more"
    return f", and {savings} if a tool's help differs between tasks by what --plan assumes"


def _apart(rows: Sequence[Noise]) -> Iterator[str]:
    """Say in which metrics identical arms would have been called different."""
    if titles := [row.metric.title for row in rows if row.is_significant]:
        yield (
            f"these arms would have been called different in {lowered(in_a_row(titles))}, as "
            "happens by chance with 5 of 100 metrics, and with more times where agents share their "
            "delays"
        )


def _needed(measured: Measured, spread: float) -> int | None:
    """Return how many tasks show a saving of the margin, with runs that differ by such a factor."""
    saving = -math.log1p(-measured.experiment.margin)
    return fewest_cases(saving, _sd(math.log(spread), measured.runs), _MOST)


def _sd(spread: float, runs: int) -> float:
    """Compute the standard deviation of what single tasks save."""
    return math.hypot(HELP, difference_sd(spread, runs))


def _below(ratio: float) -> str:
    """Say what is smaller than the ratio that 80 of 100 such experiments detect."""
    if ratio > _LARGEST:
        return f"even differences of {_LARGEST:g}×"
    if ratio >= 2:
        return f"differences below {ratio:.1f}×"
    return f"differences below {max(1, round((ratio - 1) * 100))} %"
