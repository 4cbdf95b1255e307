"""What a session could show: before anything is spent."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarm_bench.analysis.planning.chances import (
    HELP,
    QUALITY_HELP,
    Bar,
    Truth,
    are_too_few,
    classify_changes,
    classify_qualities,
    compute_chances,
    count_tasks,
)
from swarm_bench.analysis.planning.forecast import (
    COST_SPREADS,
    QUALITY_SPREAD,
    Outlook,
)
from swarm_bench.analysis.statistics.changes import GROUPED, describe_size, describe_too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    ALPHA,
    POWER,
    compute_detectable,
    compute_difference_sd,
    count_fewest_cases,
)
from swarm_bench.analysis.statistics.looks import compute_detectable_at_last, compute_half_width
from swarm_bench.analysis.statistics.verdict_rule import (
    FEWEST,
    OPEN,
    Change,
    Quality,
    Verdict,
    count_cases,
    find_verdict,
)
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.tasks import HARD

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

_SESSIONS = 2_000
_NAMES = list(Verdict)
_TABLE = [[_NAMES.index(find_verdict(cost, quality)) for cost in Change] for quality in Quality]
"""The rule, by number."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Time at which a session ends, in shares of its tasks, and the verdict that it ends with."""

    verdicts: Mapping[Verdict, float]
    """The chance of each, when it ends or when all tasks are used up."""
    median: float
    long_end: float
    """Share of the tasks by which nine in ten sessions have ended."""

    @property
    def clear(self) -> float:
        """The chance that it ends with a verdict that stands."""
        return sum(chance for name, chance in self.verdicts.items() if name not in OPEN)


def compute_endings(
    truth: Truth, independent: float, look_shares: Sequence[float], bar: Bar
) -> Ending:
    """Draw sessions of so many independent tasks, looked at when there are these shares of them."""
    import numpy as np

    tasks = int(independent)
    rng = np.random.default_rng(tasks)
    sd = math.hypot(HELP, compute_difference_sd(truth.spread, 1))
    cost_sums = _add_up(rng.normal(math.log1p(-truth.saving), sd, (_SESSIONS, tasks)))
    differences = rng.normal(0.0, 1.0, (_SESSIONS, tasks)) * _compute_spread(truth)
    recall = _add_up(differences * (rng.random((_SESSIONS, tasks)) < truth.differing))
    end_shares, verdict_numbers = (
        np.ones(_SESSIONS),
        np.full(_SESSIONS, _NAMES.index(Verdict.INCONCLUSIVE)),
    )
    runs_on = np.full(_SESSIONS, True)
    for share in look_shares:
        cases = int(share * tasks + 1e-9)
        if cases < FEWEST:
            continue
        cost = classify_changes(
            _LookedSessions(cases, *(sums[:, cases - 1] for sums in cost_sums)), bar
        )
        quality = classify_qualities(
            _LookedSessions(cases, *(sums[:, cases - 1] for sums in recall)), bar
        )
        now = np.array(_TABLE)[quality, cost]
        verdict_numbers = np.where(runs_on, now, verdict_numbers)
        stops = runs_on & ~np.isin(now, [_NAMES.index(name) for name in OPEN])
        end_shares[stops] = share
        runs_on &= ~stops
    counts = np.bincount(verdict_numbers, minlength=len(_NAMES)) / _SESSIONS
    median, long_end = np.quantile(end_shares, [0.5, 0.9], method="higher")
    return Ending(
        verdicts=dict(zip(_NAMES, counts.tolist(), strict=True)),
        median=float(median),
        long_end=float(long_end),
    )


def _compute_spread(truth: Truth) -> float:
    """Return the standard deviation of the differences in what is found, where there are any."""
    if not truth.differing:
        return 0.0
    return math.hypot(QUALITY_HELP, truth.quality_spread * math.sqrt(2)) / math.sqrt(
        truth.differing
    )


def _add_up(
    values: "NDArray[float64]",
) -> "tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]]":
    """Add up task by task the values, their squares, losses, and what differs at all."""
    return (
        values.cumsum(1),
        (values**2).cumsum(1),
        (values < 0).cumsum(1, dtype=float),
        (values != 0).cumsum(1, dtype=float),
    )


class _LookedSessions:
    """What sessions show of one metric at a look."""

    def __init__(
        self,
        cases: int,
        total: "NDArray[float64]",
        squares: "NDArray[float64]",
        losses: "NDArray[float64]",
        differing: "NDArray[float64]",
    ) -> None:
        import numpy as np

        self._cases = cases
        self._losses, self._differing = losses.astype(int), differing.astype(int)
        self.means = total / cases
        self._deviations = np.sqrt(np.maximum(squares / cases - self.means**2, 0.0))
        self.is_beyond_noise = np.full(len(total), True)  # as the interval says

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the interval of each session that holds at every look."""
        import numpy as np

        width = compute_half_width(1.0, self._cases, 1 - confidence)
        deviation = (
            width * self._deviations if math.isfinite(width) else np.full_like(self.means, width)
        )
        return self.means - deviation, self.means + deviation

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each session whether too few tasks differ in it, as the rule does."""
        return are_too_few(self._cases, self._losses, self._differing, margin, at_every_look=True)


_MAX_TASKS = 1000
VERDICT_PHRASES: Mapping[Verdict, str] = {
    Verdict.HELPS: "helps",
    Verdict.HURTS: "hurts",
    Verdict.EQUIVALENT: "no difference",
    Verdict.CHEAPER: "spends less, answers unclear",
    Verdict.DEARER: "spends more, answers unclear",
    Verdict.TRADE_OFF: "a trade-off",
    Verdict.INCONCLUSIVE: "cannot tell yet",
}


def describe_outlook(planned: Outlook) -> Entry:
    """Say how likely each verdict is, if a mode saves so much, or what differences in quality the
    session could show."""
    fixed_rules = planned.fixed_rules
    texts = [describe_quality(planned)] if fixed_rules else [*_describe_verdicts(planned)]
    if few := explain_too_few(planned):
        texts = [few, *([] if fixed_rules else texts[-1:])]
    if hard := describe_hard(planned.experiment):
        texts.append(f"{hard}, which all count in this")
    group_notes = [GROUPED] if planned.tasks.groups else []
    return Entry(label="Can show", texts=(*texts, *group_notes, _describe_basis(planned)))


def explain_too_few(planned: Outlook) -> str:
    """Say that there are too few tasks; empty where there are enough."""
    experiment, few = planned.experiment, describe_too_few(planned.tasks, name_units(planned.tasks))
    option = ""
    if experiment.tasks_asked < len(experiment.tasks):
        option = f", but --all-tasks asks each of the {len(experiment.tasks)}"
    return f"with {few} nothing can be shown{option}" if few else ""


def _describe_verdicts(planned: Outlook) -> Iterator[str]:
    """Say how likely each verdict is if a mode saves so much, and what it takes for `helps`."""
    experiment, tasks, runs = planned.experiment, planned.tasks, planned.runs
    bar, noun = planned.bar, name_units(tasks)
    condition = " after all tasks" if experiment.until_clear else ""
    yield (
        f"{describe_size(tasks, 'task', runs, len(experiment.tasks))}: if a mode takes "
        f"{planned.saving * 100:g} % less {experiment.primary} (--expect), the chances{condition} "
        f"are:"
    )
    needed = list[str]()
    for quality in planned.qualities:
        truths = planned.list_truths(quality)
        finds = "where what it finds varies" if quality.differing else "where it finds the same"
        all_chances = [
            compute_chances(truth, int(tasks.independent_cases), runs, bar) for truth in truths
        ]
        yield f"{finds}: {_format_verdicts(all_chances)}"
        if experiment.until_clear:
            session_ends = [
                compute_endings(truth, tasks.independent_cases, _list_looks(experiment), bar)
                for truth in truths
            ]
            yield _describe_ends(session_ends, tasks.cases)
        needed.append(
            f"{finds}, {format_numbers([count_tasks(truth, runs, bar) for truth in truths], noun)}"
        )
    margin = experiment.quality_margin
    fewest = count_cases(0, margin, at_every_look=experiment.until_clear)
    least = f"; with equal answers never fewer than {fewest}" if margin > 0 else ""
    yield f"a chance of {POWER * 100:g} % for 'helps' takes, {'; '.join(needed)}{least}"


def _list_looks(experiment: Experiment) -> list[float]:
    """Return in which shares of its tasks a session is looked at."""
    sizes = [len(block) for block in experiment.agents_of_blocks]
    return [sum(sizes[: number + 1]) / sum(sizes) for number in range(len(sizes))]


def _describe_ends(session_ends: Sequence[Ending], tasks: int) -> str:
    """Write when the verdict stands, and after how many tasks the session ends."""
    median_text, long_text = (
        _format_range(*(str(round(share * tasks)) for share in sorted(shares)))
        for shares in ([end.median for end in session_ends], [end.long_end for end in session_ends])
    )
    clear = _format_range(
        *(str(share) for share in sorted(round(100 * end.clear) for end in session_ends))
    )
    return (
        f"looked at after each block a verdict stands in {clear} %, and half of the sessions end "
        f"by {median_text} of {tasks} tasks, nine in ten by {long_text}"
    )


def _format_verdicts(all_chances: Sequence[Mapping[Verdict, float]]) -> str:
    """Write `helps 49 to 79 %, is inconclusive 21 to 51 %`."""
    shares = {name: sorted(round(100 * chance[name]) for chance in all_chances) for name in Verdict}
    return ", ".join(
        f"{VERDICT_PHRASES[name]} {_format_range(*map(str, of_name))} %"
        for name, of_name in shares.items()
        if of_name[-1]
    )


def format_numbers(numbers: Sequence[int | None], noun: str) -> str:
    """Write `37 to 73 tasks`, or `37 to more than 1,000 tasks`."""
    texts = [f"{number:,}" if number else f"more than {_MAX_TASKS:,}" for number in numbers]
    return f"{_format_range(*texts)} {noun}"


def _format_range(low: str, high: str = "") -> str:
    return f"{low} to {high}" if high not in ("", low) else low


def describe_hard(experiment: Experiment) -> str:
    """Write `6 tagged hard and 44 other tasks`, of what agents get; empty without the tag."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    hard = sum(HARD in task.tags for task in tasks)
    return f"{hard} tagged hard and {quantify(len(tasks) - hard, 'other task')}" if hard else ""


def name_units(tasks: Effect) -> str:
    """Name what is counted: tasks that are not independent count as one."""
    return "groups" if tasks.groups else "tasks"


def describe_quality(planned: Outlook) -> str:
    """Say what can be shown where fixed rules decide what is spent."""
    key, tasks, margin = planned.quality, planned.tasks, planned.experiment.quality_margin
    quality_spread = planned.spreads.quality
    spread = quality_spread.spread if quality_spread else QUALITY_SPREAD
    sd = math.hypot(QUALITY_HELP, spread * math.sqrt(2 / planned.runs))
    size = describe_size(tasks, "task", planned.runs, len(planned.experiment.tasks))
    until_clear = planned.experiment.until_clear
    smallest_of = compute_detectable_at_last if until_clear else compute_detectable
    smallest = smallest_of(sd, tasks.independent_cases, ALPHA)
    if smallest is None or margin <= 0:
        return f"{size} can show no difference in {key}"
    text = f"{size} can show a difference in {key} of {smallest:.2f} or more"
    # "Not worse" takes a one-sided bound.
    needed = count_fewest_cases(margin, sd, _MAX_TASKS, 2 * ALPHA, smallest_of)
    least = count_cases(0, margin, at_every_look=until_clear)
    differ = 2 * FEWEST if until_clear else FEWEST
    equal = ""
    if needed is not None and max(needed, tasks.independent_cases) < least:
        equal = (
            f", but where fewer than {differ} {name_units(tasks)} differ it takes {least} or more"
        )
    if needed is not None and needed <= tasks.independent_cases:
        return f"{text}, and 'not worse' by --quality-margin {margin:g}{equal}"
    return (
        f"{text}; to show 'not worse' by --quality-margin {margin:g} it takes "
        f"{format_about(needed, name_units(tasks))}{equal}"
    )


def format_about(number: int | None, noun: str) -> str:
    """Write `about 37 tasks`."""
    return f"about {max(number, FEWEST)} {noun}" if number else f"more than {_MAX_TASKS:,} {noun}"


def _describe_basis(planned: Outlook) -> str:
    """Say where the noise comes from."""
    earlier, fixed_rules = planned.earlier, planned.fixed_rules
    cost_spread, quality = planned.spreads.cost, planned.spreads.quality
    low, high = COST_SPREADS
    shown_spreads, assumed = list[str](), list[str]()
    differing = "answers" if fixed_rules else "runs"
    if not fixed_rules:
        differ = f"{low:g} to {high:g}" if cost_spread is None else f"{cost_spread:.2f}"
        (assumed if cost_spread is None else shown_spreads).append(f"by {differ}")
    differ = f"{quality.spread if quality else QUALITY_SPREAD:.2f}"
    (shown_spreads if quality else assumed).append(f"in {planned.quality} by {differ}")
    helps = f"a tool's help differs by {HELP:g} between tasks, in quality by {QUALITY_HELP:g}"
    if assumed:
        helps = f"{differing} differ {', '.join(assumed)}, and {helps}"
    if shown_spreads and earlier:
        return (
            f"as in {earlier.folder}, {differing} differ {', '.join(shown_spreads)}; assumed: "
            f"{helps}"
        )
    agent = planned.experiment.agent.name
    reason = (
        f"{earlier.folder} does not show how {differing} differ"
        if earlier
        else f"no earlier session of {agent} on this repository (--noise DIR names one)"
    )
    measures = (
        "a comparison shows how answers differ, a calibration by fixed rules does not"
        if fixed_rules
        else "swarm-bench calibrate measures that of runs"
    )
    return f"{reason}, so all noise is assumed: {helps} (swarm-bench docs statistics); {measures}"
