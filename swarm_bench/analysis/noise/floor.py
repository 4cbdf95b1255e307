"""What a calibration comes to: which differences cannot be told from noise, and what smaller ones
take."""

import math
from collections.abc import Iterable, Iterator, Sequence

from swarm_bench.analysis.comparison.compared import RATIOS, REQUESTS, TURNS
from swarm_bench.analysis.planning.chances import HELP
from swarm_bench.analysis.planning.outlook import about, units
from swarm_bench.analysis.statistics.changes import evidence
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import detectable, difference_sd, fewest_cases
from swarm_bench.analysis.wording import amount, in_a_row
from swarm_bench.core.report.calibration import Noise
from swarm_bench.core.session.designs import MARGIN

_LOWER_BOUND = (
    "The differences are lower bounds, since noise is all that is in them. The numbers of tasks "
    "assume, as --plan does, that a tool helps with some tasks more than with others."
)
_WHY = (
    "Chance does that to 5 of 100 metrics. Times suffer more: the agents of a swarm run at the "
    "same moment, so what disturbs one disturbs all of them, in every task. More runs average that "
    "out, more tasks do not, and differences in times are harder to find than is said here."
)
_MOST = 1000
_LARGEST = 10.0
"""A ratio beyond this is named no closer."""


def floor(rows: Sequence[Noise], tasks: Effect, runs: int) -> tuple[str, ...]:
    """Say which of the metrics that a headline compares varied and which did not, and in which of
    all the arms are apart."""
    counts_requests = any(row.metric.key == REQUESTS for row in rows)
    hidden = TURNS if counts_requests else REQUESTS
    keys = {*RATIOS} - {hidden}
    telling = [row for row in rows if row.metric.compared or row.metric.key in keys]
    moving = [*_moving(telling, tasks, runs)]
    sentences = [*_problems(tasks.cases, runs), *moving, *([_LOWER_BOUND] if moving else [])]
    if still := [row.metric.title for row in telling if row.still]:
        sentences.append(
            f"{in_a_row(still)} never varied here: a difference in a comparison is hardly noise."
        )
    if apart := [row.metric.title for row in rows if row.apart]:
        titles = in_a_row(apart)
        sentences.append(
            f"Two identical arms would have been called different here: {titles}. {_WHY}"
        )
    return tuple(sentences)


def _problems(tasks: int, runs: int) -> Iterator[str]:
    if tasks < 2:
        yield (
            "With one task there is no interval, and an experiment of this size can find nothing: "
            "the task is the unit that is compared. Give a suite with more tasks, or more --agents."
        )
    if runs < 2:
        yield (
            "With one run there is no spread from run to run, and so nothing to say what could be "
            "found. Give --runs 2 or more; --continue adds them to this session."
        )


def _moving(rows: Iterable[Noise], tasks: Effect, runs: int) -> Iterator[str]:
    size, noun = evidence(tasks, "task", runs), units(tasks)
    for row in rows:
        title = row.metric.title
        if row.still or row.spread is None:
            continue
        if row.spread == 1:
            yield (
                f"{title} never varied from run to run and differs between the arms all the same: "
                "something is not equal in them."
            )
        elif row.planned is None:
            yield f"{title}: {_takes(row.spread, runs, noun)}."
        else:
            hidden = f"{_below(row.planned.high)} cannot reliably be told from noise here"
            yield f"{title}: {hidden} ({size}); {_takes(row.spread, runs, noun)}."


def _takes(spread: float, runs: int, noun: str) -> str:
    needed = _needed(math.log(spread), runs, MARGIN, noun)
    return f"detecting 10 % takes {needed} × {amount(runs, 'run')}"


def savings(spread: float, size: tuple[float, int], wanted: float, noun: str) -> str:
    """Say which savings can be seen with as many tasks as these are worth, and so many runs, where
    logarithms of the runs of a task have that standard deviation."""
    tasks, runs = size
    smallest = detectable(_sd(spread, runs), tasks)
    visible = (
        "no saving, however large"
        if smallest is None
        else f"savings of {-math.expm1(-smallest):.0%} or more"
    )
    number = _needed(spread, runs, wanted, noun)
    return f"{visible}; detecting one of {wanted * 100:g} % takes {number}".replace("% or", " % or")


def _needed(spread: float, runs: int, wanted: float, noun: str) -> str:
    return about(fewest_cases(-math.log1p(-wanted), _sd(spread, runs), _MOST), noun)


def _sd(spread: float, runs: int) -> float:
    """Compute the standard deviation of what single tasks save."""
    return math.hypot(HELP, difference_sd(spread, runs))


def _below(ratio: float) -> str:
    """Say what is smaller than the ratio that 80 of 100 such experiments detect."""
    if ratio > _LARGEST:
        return f"even a factor of {_LARGEST:g}"
    if ratio >= 2:
        return f"differences below a factor of {ratio:.1f}"
    return f"differences below {max(1, round((ratio - 1) * 100))} %"
