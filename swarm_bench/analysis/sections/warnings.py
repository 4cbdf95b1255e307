"""What went wrong, in plain sentences, the gravest first. Each names the mode and the numbers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import fmean

from swarm_bench.analysis.caveats.afterwards import edited, extended
from swarm_bench.analysis.caveats.integrity import about_set_aside
from swarm_bench.analysis.caveats.kinds import GRAVEST, KINDS, caveats, warned
from swarm_bench.analysis.caveats.order.cache import about_cache
from swarm_bench.analysis.caveats.package_metrics import failed_metrics
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.sections.unpriced import cost_unknown, unpriced
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.wording import amount, places
from swarm_bench.core.ports import SCORED_CHARACTERS
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

_EFFECT = {
    Status.AGENT_FAILED: "counted as unsuccessful; what was not reported is missing, not 0",
    Status.BUDGET_REACHED: "counted as unsuccessful",
    Status.PROVIDER_LIMITED: "left out of every figure; run again by --continue",
    Status.HARNESS_FAILED: "left out of every figure; run again by --continue",
    Status.CANCELLED: "left out of every figure; run again by --continue",
}


def warnings(selection: Selection) -> tuple[str, ...]:
    return (
        *_nothing(selection),
        *noted(selection.data.experiment.retrieval),
        *edited(selection),
        *about_set_aside(selection),
        *warned(selection, *GRAVEST),
        *_unasked(selection),
        *_swarm_failures(selection),
        *_causes(selection),
        *_odd_ends(selection),
        *_not_run(selection),
        *about_cache(selection),
        *warned(selection, *KINDS[len(GRAVEST) :]),
        *_mixed(selection),
        *_unknown_prices(selection),
        *_unscored(selection),
        *failed_metrics(selection),
        *selection.data.warnings,
    )


def gravest(selection: Selection, warned: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings and the caveats that none of them is of, after what is to be known of all
    verdicts: that they may have been looked for. That costs are unknown comes
    last, and in a line, unless the verdicts are on costs: it is no doubt of them."""
    experiment = selection.data.experiment
    costs = frozenset[str]() if experiment.primary == "cost" else frozenset(unpriced(selection))
    others = (warning for warning in warned if warning not in costs)
    grown = extended(experiment) if hypotheses(selection) else ()
    return (*grown, *others, *clauses(selection), *(cost_unknown(selection) if costs else ()))


def clauses(selection: Selection) -> Iterator[str]:
    """Yield the caveats that no warning is of."""
    for mode in selection.modes:
        for caveat in caveats(selection, mode):
            if caveat.warning is None:
                yield f"{mode}: {caveat.qualification}."


def noted(programs: Mapping[str, Program]) -> Iterator[str]:
    """Yield what must be known of the program that answers in each mode."""
    for mode, program in programs.items():
        if program.note is not None:
            yield f"{mode}: {program.note}."


def _nothing(selection: Selection) -> Iterator[str]:
    if not selection.trials:
        yield "There is no record of any trial."
    elif not any(selection.arm(mode).measured for mode in selection.modes):
        yield "Nothing could be measured: no trial ran to completion."


def _swarm_failures(selection: Selection) -> Iterator[str]:
    """Report failures that no trial tells of, and that no later attempt made good."""
    for swarm in selection.swarms:
        agents = frozenset(swarm.agents)
        of_run = selection.of_run(swarm.mode, swarm.run)
        trials = [trial for trial in of_run if trial.agent in agents]
        good = len(trials) == len(swarm.agents) and not any(map(is_inconclusive, trials))
        if good or swarm.failure in {trial.detail for trial in trials}:
            continue
        if swarm.failure:
            yield f"{swarm.mode}, run {swarm.run}: {swarm.failure}"
        elif swarm.service_healthy is False:
            yield f"{swarm.mode}, run {swarm.run}: its service died while the agents ran."


def _causes(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        trials = selection.of(mode)
        by_cause: dict[Cause, list[TrialRecord]] = defaultdict(list)
        for trial in trials:
            if trial.cause and trial.cause is not Cause.FINISHED:
                by_cause[trial.cause].append(trial)
        for cause, ended in by_cause.items():
            consequence = CONSEQUENCES[cause]
            ends = consequence.of(len(ended))
            detail = next((trial.detail for trial in ended if trial.detail), None)
            yield (
                f"{mode}: {len(ended)} of {amount(len(trials), 'trial')} "
                f"{ends} {places(ended, selection)}; {_EFFECT[consequence.status]}."
                + (f" The first says: {detail}" if detail else "")
            )


def _odd_ends(selection: Selection) -> Iterator[str]:
    """Count the answers of programs that did not end after them, or whose end is missing."""
    for mode in selection.modes:
        trials = selection.of(mode)
        odd = [trial for trial in trials if trial.cause is Cause.FINISHED and trial.detail]
        if odd:
            yield (
                f"{mode}: {len(odd)} of {amount(len(trials), 'trial')} gave an answer, but did not "
                f"end as they should {places(odd, selection)}; the answers count. The first says: "
                f"{odd[0].detail}"
            )


def _not_run(selection: Selection) -> Iterator[str]:
    how = "" if selection.data.experiment.origin else "; --continue runs them"
    yield from _cost_limit(selection)
    for mode, planned in selection.data.planned.items():
        there = len(selection.of(mode))
        if there < planned:
            trials = amount(planned, "planned trial")
            yield f"{mode}: there is no record of {planned - there} of {trials}{how}."


def _cost_limit(selection: Selection) -> Iterator[str]:
    """Say that trials are missing because the next one, or the next block, would have exceeded
    --max-cost."""
    data = selection.data
    setting = data.experiment.settings.get("max_cost")
    costs = [trial.cost for trial in data.trials if trial.cost is not None]
    planned = sum(data.planned.values())
    missing = planned - len(selection.trials)
    if setting is None or setting.value is None or missing <= 0 or not costs:
        return
    spent = sum(costs) + sum(line.prompt_cost or 0.0 for line in data.overhead)
    if spent + max(max(costs), _next_block(selection) * fmean(costs)) > setting.value:
        yield (
            f"${spent:,.2f} of --max-cost {setting.value:g} is spent; {missing} of "
            f"{amount(planned, 'trial')} were not started."
        )


def _next_block(selection: Selection) -> int:
    """Count the trials that are missing of the first block that is not whole."""
    experiment = selection.data.experiment
    there = Counter(map(selection.block_of, selection.trials))
    for run in range(1, experiment.runs + 1):
        for number, agents in enumerate(experiment.agents_of_blocks):
            if missing := len(agents) * len(experiment.modes) - there[run, number]:
                return missing
    return 0


def _unasked(selection: Selection) -> Iterator[str]:
    """Report answers that did not come from the rehearsal server."""
    for mode in selection.modes:
        unasked = [
            trial
            for trial in selection.of(mode)
            if trial.rehearsal and trial.cause is Cause.FINISHED and not trial.rehearsal_requests
        ]
        if unasked:
            yield (
                f"{mode}: {len(unasked)} of {amount(len(selection.of(mode)), 'trial')} gave an "
                f"answer without asking the rehearsal server {places(unasked, selection)}: look "
                "whether they asked a provider, who may have billed it."
            )


def _mixed(selection: Selection) -> Iterator[str]:
    """Report figures of different makers, which do not compare."""
    for what, key in (
        ("models", "model"),
        ("versions of the agent", "program_version"),
        ("token counters", "token_counter"),
    ):
        if len({getattr(trial, key) for trial in selection.various} - {None}) > 1:
            makers = Counter(map(attrgetter(key), selection.trials))
            makers.pop(None, None)
            listed = ", ".join(
                f"{name} ({amount(number, 'trial')})" for name, number in makers.items()
            )
            yield f"The trials differ in their {what}: {listed}."


def _unknown_prices(selection: Selection) -> Iterator[str]:
    if any(trial.cost_unreliable for trial in selection.various):
        unreliable = [trial for trial in selection.trials if trial.cost_unreliable]
        models = ", ".join(sorted({trial.model or "unknown" for trial in unreliable}))
        yield (
            f"The cost of {amount(len(unreliable), 'trial')} is unreliable: the agent's program "
            f"has no price of the model ({models}) and took that of another; prices.toml can have "
            "one, for the trials to come."
        )
    yield from unpriced(selection)


def _unscored(selection: Selection) -> Iterator[str]:
    cut = [trial for trial in selection.trials if trial.unscored_characters]
    if cut:
        yield (
            f"{amount(len(cut), 'answer')} {places(cut, selection)} had more than a million "
            "characters: files, headings, bullets and fences were counted in the first "
            f"{SCORED_CHARACTERS:,} only."
        )
