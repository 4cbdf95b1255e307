"""What a session could show: before anything is spent."""

import math
from collections.abc import Iterator, Mapping, Sequence

from swarm_bench.analysis.planning.ahead import Outlook, looked_ahead
from swarm_bench.analysis.planning.chances import (
    HELP,
    QUALITY_HELP,
    chances,
    tasks_for,
)
from swarm_bench.analysis.planning.ending import Ending, endings
from swarm_bench.analysis.planning.spreads import (
    QUALITY_SPREAD,
    SPENT,
    Earlier,
)
from swarm_bench.analysis.statistics.changes import GROUPED, evidence, too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA, POWER, detectable, fewest_cases
from swarm_bench.analysis.statistics.looks import detectable_at_last
from swarm_bench.analysis.statistics.rule import FEWEST, Verdict, cases_for
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.tasks import HARD

_MOST = 1000
WRITTEN: Mapping[Verdict, str] = {
    Verdict.HELPS: "helps",
    Verdict.HURTS: "hurts",
    Verdict.EQUIVALENT: "no difference",
    Verdict.CHEAPER: "spends less, answers unclear",
    Verdict.DEARER: "spends more, answers unclear",
    Verdict.TRADE_OFF: "a trade-off",
    Verdict.INCONCLUSIVE: "cannot tell yet",
}


def outlook(
    experiment: Experiment,
    earlier: Earlier | None,
    metrics: Metrics,
    *,
    saving: float,
    fixed_rules: bool,
) -> Iterator[Entry]:
    """Say how likely each verdict is, if a mode saves so much, or what differences in quality the
    session could show; nothing where it compares nothing."""
    planned = looked_ahead(experiment, earlier, metrics, saving=saving, fixed_rules=fixed_rules)
    if planned is None:
        return
    tasks = planned.tasks
    shown = [of_quality(planned)] if fixed_rules else [*_of_verdicts(planned)]
    if few := nothing_shown(planned):
        shown = [few, *([] if fixed_rules else shown[-1:])]
    if hard := hard_of(experiment):
        shown.append(f"{hard}, which all count in this")
    grouped = [GROUPED] if tasks.groups else []
    basis = _basis(planned, earlier, fixed_rules=fixed_rules)
    yield Entry(label="Can show", texts=(*shown, *grouped, basis))


def nothing_shown(planned: Outlook) -> str:
    """Say that there are too few tasks; empty where there are enough."""
    experiment, few = planned.experiment, too_few(planned.tasks, units(planned.tasks))
    more = ""
    if experiment.tasks_asked < len(experiment.tasks):
        more = f", but --all-tasks asks each of the {len(experiment.tasks)}"
    return f"with {few} nothing can be shown{more}" if few else ""


def _of_verdicts(planned: Outlook) -> Iterator[str]:
    """Say how likely each verdict is if a mode saves so much, and what it takes for `helps`."""
    experiment, tasks, runs = planned.experiment, planned.tasks, planned.runs
    bar, noun = planned.bar, units(tasks)
    after = " after all tasks" if experiment.until_clear else ""
    yield (
        f"{evidence(tasks, 'task', runs, len(experiment.tasks))}: if a mode takes "
        f"{planned.saving * 100:g} % less {experiment.primary} (--expect), the chances{after} are:"
    )
    needed = list[str]()
    for quality in planned.qualities:
        truths = planned.truths(quality)
        finds = "where what it finds varies" if quality.differing else "where it finds the same"
        each = [chances(truth, int(tasks.independent), runs, bar) for truth in truths]
        yield f"{finds}: {_verdicts(each)}"
        if experiment.until_clear:
            ends = [endings(truth, tasks.independent, _looks(experiment), bar) for truth in truths]
            yield _ends(ends, tasks.cases)
        needed.append(f"{finds}, {number_of([tasks_for(it, runs, bar) for it in truths], noun)}")
    margin = experiment.quality_margin
    fewest = cases_for(0, margin, at_every_look=experiment.until_clear)
    least = f"; with equal answers never fewer than {fewest}" if margin > 0 else ""
    yield f"a chance of {POWER * 100:g} % for 'helps' takes, {'; '.join(needed)}{least}"


def _looks(experiment: Experiment) -> list[float]:
    """Return in which shares of its tasks a session is looked at."""
    sizes = [len(block) for block in experiment.agents_of_blocks]
    return [sum(sizes[: number + 1]) / sum(sizes) for number in range(len(sizes))]


def _ends(ends: Sequence[Ending], tasks: int) -> str:
    """Write when the verdict stands, and after how many tasks the session ends."""
    half, most = (
        _between(*(str(round(share * tasks)) for share in sorted(shares)))
        for shares in ([it.median for it in ends], [it.most for it in ends])
    )
    clear = _between(*(str(share) for share in sorted(round(100 * it.clear) for it in ends)))
    return (
        f"looked at after each block a verdict stands in {clear} %, and half of the sessions end "
        f"by {half} of {tasks} tasks, nine in ten by {most}"
    )


def _verdicts(each: Sequence[Mapping[Verdict, float]]) -> str:
    """Write `helps 49 to 79 %, is inconclusive 21 to 51 %`."""
    shares = {name: sorted(round(100 * chance[name]) for chance in each) for name in Verdict}
    return ", ".join(
        f"{WRITTEN[name]} {_between(*map(str, of_name))} %"
        for name, of_name in shares.items()
        if of_name[-1]
    )


def number_of(numbers: Sequence[int | None], noun: str) -> str:
    """Write `37 to 73 tasks`, or `37 to more than 1,000 tasks`."""
    written = [f"{number:,}" if number else f"more than {_MOST:,}" for number in numbers]
    return f"{_between(*written)} {noun}"


def _between(low: str, high: str = "") -> str:
    return f"{low} to {high}" if high not in ("", low) else low


def hard_of(experiment: Experiment) -> str:
    """Write `6 tagged hard and 44 other tasks`, of what agents get; empty without the tag."""
    tasks = experiment.tasks[: experiment.tasks_asked]
    hard = sum(HARD in task.tags for task in tasks)
    return f"{hard} tagged hard and {amount(len(tasks) - hard, 'other task')}" if hard else ""


def units(tasks: Effect) -> str:
    """Name what is counted: tasks that are not independent count as one."""
    return "groups" if tasks.groups else "tasks"


def of_quality(planned: Outlook) -> str:
    """Say what can be shown where fixed rules decide what is spent."""
    key, tasks, margin = planned.quality, planned.tasks, planned.experiment.quality_margin
    shown = planned.spreads.quality
    spread = shown.spread if shown else QUALITY_SPREAD
    sd = math.hypot(QUALITY_HELP, spread * math.sqrt(2 / planned.runs))
    size = evidence(tasks, "task", planned.runs, len(planned.experiment.tasks))
    until_clear = planned.experiment.until_clear
    smallest_of = detectable_at_last if until_clear else detectable
    smallest = smallest_of(sd, tasks.independent, ALPHA)
    if smallest is None or margin <= 0:
        return f"{size} can show no difference in {key}"
    text = f"{size} can show a difference in {key} of {smallest:.2f} or more"
    # "Not worse" takes a one-sided bound.
    needed = fewest_cases(margin, sd, _MOST, 2 * ALPHA, smallest_of)
    least = cases_for(0, margin, at_every_look=until_clear)
    differ = 2 * FEWEST if until_clear else FEWEST
    equal = ""
    if needed is not None and max(needed, tasks.independent) < least:
        equal = f", but where fewer than {differ} {units(tasks)} differ it takes {least} or more"
    if needed is not None and needed <= tasks.independent:
        return f"{text}, and 'not worse' by --quality-margin {margin:g}{equal}"
    return (
        f"{text}; to show 'not worse' by --quality-margin {margin:g} it takes "
        f"{about(needed, units(tasks))}{equal}"
    )


def about(number: int | None, noun: str) -> str:
    """Write `about 37 tasks`."""
    return f"about {max(number, FEWEST)} {noun}" if number else f"more than {_MOST:,} {noun}"


def _basis(planned: Outlook, earlier: Earlier | None, *, fixed_rules: bool) -> str:
    """Say where the noise comes from."""
    spent, quality = planned.spreads.spent, planned.spreads.quality
    low, high = SPENT
    measured, assumed = list[str](), list[str]()
    differing = "answers" if fixed_rules else "runs"
    if not fixed_rules:
        differ = f"{low:g} to {high:g}" if spent is None else f"{spent:.2f}"
        (assumed if spent is None else measured).append(f"by {differ}")
    differ = f"{quality.spread if quality else QUALITY_SPREAD:.2f}"
    (measured if quality else assumed).append(f"in {planned.quality} by {differ}")
    helps = f"a tool's help differs by {HELP:g} between tasks, in quality by {QUALITY_HELP:g}"
    if assumed:
        helps = f"{differing} differ {', '.join(assumed)}, and {helps}"
    if measured and earlier:
        return f"as in {earlier.folder}, {differing} differ {', '.join(measured)}; assumed: {helps}"
    agent = planned.experiment.agent.name
    why = (
        f"{earlier.folder} does not show how {differing} differ"
        if earlier
        else f"no earlier session of {agent} on this repository (--noise DIR names one)"
    )
    measures = (
        "a comparison shows how answers differ, a calibration by fixed rules does not"
        if fixed_rules
        else "swarm-bench calibrate measures that of runs"
    )
    return f"{why}, so all noise is assumed: {helps} (swarm-bench docs statistics); {measures}"
