"""What went wrong, in plain sentences, the gravest first. Each names the mode and the numbers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import fmean

from swarm_bench.analysis.caveats.declaration import describe_extension, warn_edited
from swarm_bench.analysis.caveats.integrity import describe_replaced_files
from swarm_bench.analysis.caveats.kinds import GRAVEST, KINDS, list_caveats, list_kind_warnings
from swarm_bench.analysis.caveats.missing_figures import describe_failed_metrics
from swarm_bench.analysis.caveats.order import describe_cache
from swarm_bench.analysis.comparison.verdicts import list_hypotheses
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.wording import format_places, join, quantify
from swarm_bench.core.ports import SCORED_CHARACTERS
from swarm_bench.core.report.standing import list_clauses
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.prices import find_price
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

_EFFECT = {
    Status.AGENT_FAILED: "counted as unsuccessful; what was not reported is missing, not 0",
    Status.BUDGET_REACHED: "counted as unsuccessful",
    Status.PROVIDER_LIMITED: "left out of every figure; run again by --continue",
    Status.HARNESS_FAILED: "left out of every figure; run again by --continue",
    Status.CANCELLED: "left out of every figure; run again by --continue",
}


def list_warnings(selection: Selection) -> tuple[str, ...]:
    return (
        *_explain_nothing(selection),
        *list_notes(selection.data.experiment.retrieval),
        *warn_edited(selection),
        *describe_replaced_files(selection),
        *list_kind_warnings(selection, *GRAVEST),
        *_describe_unasked(selection),
        *_list_swarm_failures(selection),
        *_describe_causes(selection),
        *_describe_odd_ends(selection),
        *_describe_not_run(selection),
        *describe_cache(selection),
        *list_kind_warnings(selection, *KINDS[len(GRAVEST) :]),
        *_describe_mixed(selection),
        *_describe_unknown_prices(selection),
        *_describe_unscored(selection),
        *describe_failed_metrics(selection),
        *selection.data.warnings,
    )


def sort_warnings(selection: Selection, all_warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings and the caveats that none of them is of, after what is to be known of all
    verdicts: that they may have been looked for. That costs are unknown comes
    last, and in a line, unless the verdicts are on costs: it is no doubt of them."""
    experiment = selection.data.experiment
    costs = (
        frozenset[str]()
        if experiment.primary == "cost"
        else frozenset(describe_unpriced(selection))
    )
    other_warnings = (warning for warning in all_warnings if warning not in costs)
    extension = describe_extension(experiment) if list_hypotheses(selection) else ()
    return (
        *extension,
        *other_warnings,
        *list_clauses({mode: list_caveats(selection, mode) for mode in selection.modes}),
        *(describe_unknown_cost(selection) if costs else ()),
    )


def list_notes(programs: Mapping[str, Program]) -> Iterator[str]:
    """Yield what must be known of the program that answers in each mode."""
    for mode, program in programs.items():
        if program.note is not None:
            yield f"{mode}: {program.note}."


def _explain_nothing(selection: Selection) -> Iterator[str]:
    if not selection.trials:
        yield "There is no record of any trial."
    elif not any(selection.get_arm(mode).measured_trials for mode in selection.modes):
        yield "Nothing could be measured: no trial ran to completion."


def _list_swarm_failures(selection: Selection) -> Iterator[str]:
    """Report failures that no trial tells of, and that no later attempt made good."""
    for swarm in selection.swarms:
        agents = frozenset(swarm.agents)
        of_run = selection.select_run(swarm.mode, swarm.run)
        trials = [trial for trial in of_run if trial.agent in agents]
        good = len(trials) == len(swarm.agents) and not any(map(is_inconclusive, trials))
        if good or swarm.failure in {trial.detail for trial in trials}:
            continue
        if swarm.failure:
            yield f"{swarm.mode}, run {swarm.run}: {swarm.failure}"
        elif swarm.service_healthy is False:
            yield f"{swarm.mode}, run {swarm.run}: its service died while the agents ran."


def _describe_causes(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        trials = selection.select(mode)
        by_cause: dict[Cause, list[TrialRecord]] = defaultdict(list)
        for trial in trials:
            if trial.cause and trial.cause is not Cause.FINISHED:
                by_cause[trial.cause].append(trial)
        for cause, cause_trials in by_cause.items():
            consequence = CONSEQUENCES[cause]
            clause = consequence.of(len(cause_trials))
            detail = next((trial.detail for trial in cause_trials if trial.detail), None)
            yield (
                f"{mode}: {len(cause_trials)} of {quantify(len(trials), 'trial')} "
                f"{clause} {format_places(cause_trials, selection)}; {_EFFECT[consequence.status]}."
                + (f" The first says: {detail}" if detail else "")
            )


def _describe_odd_ends(selection: Selection) -> Iterator[str]:
    """Count the answers of programs that did not end after them, or whose end is missing."""
    for mode in selection.modes:
        trials = selection.select(mode)
        odd = [trial for trial in trials if trial.cause is Cause.FINISHED and trial.detail]
        if odd:
            yield (
                f"{mode}: {len(odd)} of {quantify(len(trials), 'trial')} gave an answer, but did "
                f"not end as they should {format_places(odd, selection)}; the answers count. The "
                f"first says: {odd[0].detail}"
            )


def _describe_not_run(selection: Selection) -> Iterator[str]:
    how = "" if selection.data.experiment.origin else "; --continue runs them"
    yield from _describe_cost_limit(selection)
    for mode, planned in selection.data.planned.items():
        record_count = len(selection.select(mode))
        if record_count < planned:
            trials = quantify(planned, "planned trial")
            yield f"{mode}: there is no record of {planned - record_count} of {trials}{how}."


def _describe_cost_limit(selection: Selection) -> Iterator[str]:
    """Say that trials are missing because the next one, or the next block, would have exceeded
    --max-cost."""
    data = selection.data
    setting = data.experiment.settings.get("max_cost")
    costs = [trial.cost for trial in data.trials if trial.cost is not None]
    planned = sum(data.planned.values())
    missing = planned - len(selection.trials)
    limit = data.experiment.share(setting.value) if setting else None
    if limit is None or missing <= 0 or not costs:
        return
    total_cost = sum(costs) + sum(line.prompt_cost or 0.0 for line in data.overhead)
    if total_cost + max(max(costs), _count_next_block(selection) * fmean(costs)) > limit:
        yield (
            f"${total_cost:,.2f} of --max-cost {limit:g} is spent; {missing} of "
            f"{quantify(planned, 'trial')} were not started."
        )


def _count_next_block(selection: Selection) -> int:
    """Count the trials that are missing of the first block that is not whole."""
    experiment = selection.data.experiment
    trial_counts = Counter(map(selection.find_block, selection.trials))
    for run in range(1, experiment.runs + 1):
        for number, agents in enumerate(experiment.agents_of_blocks):
            if missing := len(agents) * len(experiment.modes) - trial_counts[run, number]:
                return missing
    return 0


def _describe_unasked(selection: Selection) -> Iterator[str]:
    """Report answers that did not come from the rehearsal server."""
    for mode in selection.modes:
        without_requests = [
            trial
            for trial in selection.select(mode)
            if trial.rehearsal and trial.cause is Cause.FINISHED and not trial.rehearsal_requests
        ]
        if without_requests:
            yield (
                f"{mode}: {len(without_requests)} of "
                f"{quantify(len(selection.select(mode)), 'trial')} gave an answer without asking "
                f"the rehearsal server {format_places(without_requests, selection)}: look whether "
                f"they asked a provider, who may have billed it."
            )


def _describe_mixed(selection: Selection) -> Iterator[str]:
    """Report figures of different makers, which do not compare."""
    for noun, key in (
        ("models", "model"),
        ("versions of the agent", "program_version"),
        ("token counters", "token_counter"),
    ):
        if len({getattr(trial, key) for trial in selection.various} - {None}) > 1:
            makers = Counter(map(attrgetter(key), selection.trials))
            makers.pop(None, None)
            enumeration = ", ".join(
                f"{name} ({quantify(number, 'trial')})" for name, number in makers.items()
            )
            yield f"The trials differ in their {noun}: {enumeration}."


def _describe_unknown_prices(selection: Selection) -> Iterator[str]:
    if any(trial.cost_unreliable for trial in selection.various):
        unreliable = [trial for trial in selection.trials if trial.cost_unreliable]
        models = ", ".join(sorted({trial.model or "unknown" for trial in unreliable}))
        yield (
            f"The cost of {quantify(len(unreliable), 'trial')} is unreliable: the agent's program "
            f"has no price of the model ({models}) and took that of another; prices.toml can have "
            "one, for the trials to come."
        )
    yield from describe_unpriced(selection)


def _describe_unscored(selection: Selection) -> Iterator[str]:
    cut = [trial for trial in selection.trials if trial.unscored_characters]
    if cut:
        yield (
            f"{quantify(len(cut), 'answer')} {format_places(cut, selection)} had more than a "
            f"million characters: files, headings, bullets and fences were counted in the first "
            f"{SCORED_CHARACTERS:,} only."
        )


_LONGEST = 50
"""Characters of the names of models in one line."""


def describe_unpriced(selection: Selection) -> Iterator[str]:
    """Say for which models a price is missing, and where it belongs."""
    agent = selection.data.experiment.agent.name
    for model, number in _count_models(selection).items():
        clause = f"The cost of {quantify(number, 'trial')} is missing"
        yield f"{clause}: {agent} reports none, and {_explain_missing_price(model)}."


def describe_unknown_cost(selection: Selection) -> Iterator[str]:
    """Say the same of all models in one line of a terminal."""
    models = _count_models(selection)
    if not models:
        return
    number = sum(models.values())
    share_text = "" if number == len(selection.trials) else f" of {quantify(number, 'trial')}"
    names = [model for model in models if model]
    names_text = join(names) if names else ""
    if len(names_text) > _LONGEST:
        names_text = "the model" if len(names) == 1 else f"these {len(names)} models"
    reason = f"no price table has {names_text}" if names else "nobody knows its model"
    yield f"The cost{share_text} is unknown: {reason} (swarm-bench docs prices)."


def _count_models(selection: Selection) -> Mapping[str | None, int]:
    """Count the trials of each model without a price. Sessions that stored no prices had none to
    look up."""
    experiment = selection.data.experiment
    if experiment.prices is None or selection.rehearsal:
        return {}
    prices = experiment.prices
    models = Counter(
        trial.model
        for trial in selection.trials
        if trial.cost is None and trial.effective_tokens is not None
    )
    return {model: number for model, number in models.items() if find_price(model, prices) is None}


def _explain_missing_price(model: str | None) -> str:
    if model is None:
        return "nobody knows its model; name it with --model"
    return (
        f"no price table has the model {model}; give it input, cache_write, cache_read and output "
        f'(dollars per million tokens) below ["{model}"] in prices.toml, for the trials to come'
    )
