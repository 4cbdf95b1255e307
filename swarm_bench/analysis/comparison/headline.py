"""What a comparison says, how far it can be believed, or why it says nothing."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.caveats.kinds import list_caveats
from swarm_bench.analysis.caveats.no_verdict import explain_no_verdict
from swarm_bench.analysis.comparison.answers import answer_mode, answer_no_verdict
from swarm_bench.analysis.comparison.correctness import (
    RIGHT,
    compute_correctness,
    list_found_metrics,
)
from swarm_bench.analysis.comparison.headline_metrics import list_headline_metrics
from swarm_bench.analysis.comparison.pairs import (
    RECALLS,
    SUCCESS,
    group_metric,
    is_at_every_look,
    pair_metric,
    select_planned_tasks,
)
from swarm_bench.analysis.comparison.quality import describe_loss, find_less
from swarm_bench.analysis.comparison.ratios import compute_ratios
from swarm_bench.analysis.comparison.verdicts import compute_adjusted_p, list_hypotheses
from swarm_bench.analysis.documents.blocks import choose_scale, paragraph
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials, is_connected
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.sentences.contrast import describe_figure
from swarm_bench.analysis.sentences.verdict_line import IS_REFERENCE
from swarm_bench.analysis.statistics.effects import clip_interval, compute_mcnemar, compute_wilson
from swarm_bench.analysis.wording import describe_size, quantify
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import (
    Answer,
    Block,
    Cell,
    Grid,
    Interval,
    Scale,
    Section,
    Tone,
    Value,
)
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import Treatment


def make_headline(selection: Selection) -> Headline:
    obstacle = _explain_nothing(selection)
    standings = [] if obstacle else [_make_standing(selection, mode) for mode in selection.modes]
    no_verdict = obstacle or _explain_no_reference(standings)
    excluded = {standing.mode for standing in standings if standing.no_verdict}
    real = [mode for mode in selection.modes if not selection.is_placebo(mode)]
    compared_modes = [] if no_verdict else [mode for mode in selection.modes[1:] if mode in real]
    modes = [mode for mode in compared_modes if mode not in excluded]
    columns = [column for mode in modes for column in _list_columns(selection, mode)]
    tools = [get_mode_trials(selection, mode) for mode in real if selection.has_tool(mode)]
    compared_ratios = (
        compute_ratios(selection, columns, list_headline_metrics(selection)) if columns else None
    )
    return Headline(
        no_verdict=no_verdict,
        standings=tuple(_select_standings(selection, standings, no_verdict)),
        ratios=compared_ratios and replace(compared_ratios, found_less=find_less(selection, modes)),
        details=_make_details(selection, modes),
        size=describe_size(
            len({trial.task_key for trial in selection.trials}), "task", selection.runs
        ),
        correctness=None if obstacle else compute_correctness(selection),
        all_used=bool(tools) and all(map(_is_all_used, tools)),
    )


def _is_all_used(mode_trials: ModeTrials) -> bool:
    """Tell whether those that are compared are those that used the tool."""
    used_count = sum(trial.retrieval is Treatment.USED for trial in mode_trials.compared_trials)
    return used_count == len(mode_trials.compared_trials) == len(mode_trials.used_trials)


def _is_proved(mode_trials: ModeTrials) -> bool:
    """Tell whether counters were held against the transcripts of all its swarms."""
    swarms = [swarm for swarm in mode_trials.swarms if not swarm.failure]
    return bool(swarms) and all(swarm.counters for swarm in swarms)


def _select_standings(
    selection: Selection, standings: list[Standing], no_verdict: str | None
) -> Iterator[Standing]:
    """Yield those that say something. Without a reference, each mode is said to have no verdict:
    its line may be quoted alone."""
    for position, standing in enumerate(standings):
        if no_verdict:
            reason = standing.no_verdict or "there is nothing to compare it with."
            explanation = reason if position else None
            standing = Standing(
                mode=standing.mode,
                answer=answer_no_verdict(standing.mode, explanation) if explanation else None,
                treatment=standing.treatment,
                use=standing.use,
                no_verdict=explanation,
            )
        if replace(standing, concluded=None) != Standing(mode=standing.mode):
            yield (
                standing
                if standing.answer
                else replace(standing, answer=_answer_uncompared(selection, standing.mode))
            )


def _answer_uncompared(selection: Selection, mode: str) -> Answer:
    """Answer for a mode that no rule compares."""
    if mode == selection.modes[0]:
        figures = _describe_reference(selection)
        return Answer(subject=mode, claim=IS_REFERENCE, figures=figures)
    if not selection.data.experiment.primary:
        reason = "Nothing was named before these trials, so their figures are exploratory."
        return answer_no_verdict(mode, reason)
    return Answer(subject=mode, claim=" is a control")


def _describe_reference(selection: Selection) -> str:
    """Say what the reference found, which others are held against; empty where nothing was
    judged."""
    correctness = compute_correctness(selection)
    for row in correctness.rows if correctness else ():
        figure = row.figures[0]
        if row.metric.key in RECALLS and figure and figure.value is not None:
            return f"It {describe_figure(row.metric, figure.value, 'task')}."
    return ""


def _list_columns(selection: Selection, mode: str) -> Iterator[Column]:
    """Yield the columns of a mode: as used only where it differs, and where an agent used the
    tool."""
    yield Column(mode=mode)
    if not selection.has_tool(mode):
        return
    # A reference without a tool has nothing to use.
    with_tool = filter(selection.has_tool, (selection.modes[0], mode))
    trials_by_side = [get_mode_trials(selection, side).compared_trials for side in with_tool]
    used_counts = [
        sum(trial.retrieval is Treatment.USED for trial in trials) for trials in trials_by_side
    ]
    if all(used_counts) and used_counts != list(map(len, trials_by_side)):
        yield Column(mode=mode, as_used=True)


def _explain_nothing(selection: Selection) -> str | None:
    if not selection.trials:
        return "there is no record of any trial."
    if all(map(is_inconclusive, selection.trials)):
        return "nothing could be measured, since no trial ran to completion."
    return None


def _explain_no_reference(standings: list[Standing]) -> str | None:
    """Say why there is nothing to compare with: the reference has no verdict."""
    reference, *modes = standings
    if not modes or reference.no_verdict is None:
        return None
    return f"everything is compared with {reference.mode}, and {reference.no_verdict}"


def _make_standing(selection: Selection, mode: str) -> Standing:
    mode_trials, explanation = get_mode_trials(selection, mode), explain_no_verdict(selection, mode)
    answer = answer_no_verdict(mode, explanation) if explanation else answer_mode(selection, mode)
    is_open = answer is None or answer.tone is Tone.OPEN
    return Standing(
        mode=mode,
        answer=answer,
        concluded=not is_open if mode in list_hypotheses(selection) else None,
        treatment=_describe_treatment(mode_trials) if selection.has_tool(mode) else "",
        use=_describe_use(mode_trials) if selection.has_tool(mode) else "",
        no_verdict=explanation,
        qualifications=()
        if explanation
        else tuple(caveat.qualification for caveat in list_caveats(selection, mode)),
        correctness="" if explanation else describe_loss(selection, mode),
    )


def _describe_use(mode_trials: ModeTrials) -> str:
    """Say `tool used in 11 of 12 trials`, and where no counter confirms it."""
    trials = len(mode_trials.counted_trials)
    if not trials or not mode_trials.assessable:
        return "use of its tool is not proved"
    used = f"tool used in {len(mode_trials.used_trials)} of {quantify(trials, 'trial')}"
    return used if _is_proved(mode_trials) else f"{used}, by transcripts alone"


def _describe_treatment(mode_trials: ModeTrials) -> str:
    """Say `Connected in 12 of 12 trials, used in 11, by transcripts and counters.`"""
    trials = len(mode_trials.counted_trials)
    if not trials or not mode_trials.assessable:
        return ""
    connected = sum(is_connected(trial) is True for trial in mode_trials.counted_trials)
    by = "transcripts and counters" if _is_proved(mode_trials) else "transcripts alone"
    count_text = f"{connected} of {quantify(trials, 'trial')}"
    return f"Connected in {count_text}, used in {len(mode_trials.used_trials)}, by {by}."


_LEGEND = (
    "Hodges-Lehmann is the median of the averages of all pairs of tasks, a ratio or a difference, "
    "with the interval of the signed ranks; below six tasks there is none. Less, equal and more "
    "count the tasks. p is that of the test that flips the signs of the differences; it could not "
    "have been smaller than its floor. Holm's is the p of the t test, adjusted for all modes: only "
    "what the verdicts are on has one, and everything else is exploratory."
)
_YES_OR_NO = (
    "The interval of a share is Wilson's, of a mode by itself. p is the mid-p of McNemar's test "
    "against the reference."
)
_EFFECT_HEADERS = (
    "Mode", "Metric", "Hodges-Lehmann", "95 % interval", "Less", "Equal", "More", "p", "Floor",
    "Holm's p",
)  # fmt: skip


def _make_details(selection: Selection, modes: Sequence[str]) -> Section | None:
    """Make the section that a statistician reads; `None` where no mode is compared."""
    metrics = [
        m for m in (*list_found_metrics(selection), *list_headline_metrics(selection)) if m.better
    ]
    rows = tuple(
        row
        for mode in modes
        for metric in metrics
        if (row := _make_effect(selection, mode, metric))
    )
    if not rows:
        return None
    blocks: list[Block] = [Grid(headers=_EFFECT_HEADERS, labels=2, rows=rows), paragraph(_LEGEND)]
    if shares := tuple(_make_shares(selection, modes)):
        headers = ("Mode", "Metric", "Share", "Tasks", "95 % interval", "p")
        blocks += [Grid(headers=headers, labels=2, rows=shares), paragraph(_YES_OR_NO)]
    return Section(title="Effects in detail", blocks=tuple(blocks))


def _make_effect(selection: Selection, mode: str, metric: Metric) -> tuple[Cell, ...] | None:
    pairs, scale = pair_metric(selection, mode, metric).pairs, choose_scale(metric)
    if not pairs.cases:
        return None
    effect, write = pairs.effect, math.exp if metric.relative else float
    middle, bounds = effect.hodges_lehmann, clip_interval(effect.wilcoxon_interval)
    adjusted = compute_adjusted_p(selection, mode, metric)
    return (
        mode,
        metric.title,
        None if middle is None else Value(scale=scale, value=write(middle)),
        bounds and Interval(scale=scale, low=write(bounds[0]), high=write(bounds[1])),
        *(Value(scale=Style.WHOLE, value=count) for count in effect.signs),
        *map(_make_probability, (effect.sign_flip_p, effect.floor, adjusted)),
    )


def _make_probability(p: float | None) -> Value | None:
    return None if p is None else Value(scale=Scale.PROBABILITY, value=p)


def _make_shares(selection: Selection, modes: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each mode where each task was asked once."""
    metric = selection.metrics[RIGHT if selection.keyed_weights else SUCCESS]
    reference = _read_answers(selection, selection.modes[0], metric)
    for mode in (selection.modes[0], *modes):
        answers = _read_answers(selection, mode, metric)
        if not answers:
            continue
        pairs = [(answers[task], reference[task]) for task in answers if task in reference]
        is_tested = mode != selection.modes[0] and pairs and not is_at_every_look(selection)
        passed, tasks = sum(answers.values()), len(answers)
        low, high = compute_wilson(passed, tasks)
        yield (
            mode,
            metric.title,
            Value(scale=Style.PERCENT, value=passed / tasks),
            Value(scale=Style.WHOLE, value=tasks),
            Interval(scale=Style.PERCENT, low=low, high=high),
            _make_probability(compute_mcnemar(pairs) if is_tested else None),
        )


def _read_answers(selection: Selection, mode: str, metric: Metric) -> dict[str, bool]:
    """Return yes or no of each task; nothing where one was asked several times, or some share a
    group, as these are no further evidence."""
    values = group_metric(selection, mode, metric)
    if any(len(runs) > 1 for runs in values.values()):
        return {}
    if select_planned_tasks(selection, metric).list_groups(values):
        return {}
    return {task: bool(runs[0]) for task, runs in values.items()}
