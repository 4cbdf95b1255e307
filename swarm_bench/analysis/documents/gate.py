"""What became of limits, as a document and in words: of all of them, and of each on a mode."""

import re
from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.sentences.verdict_line import CANNOT_TELL, add_reasons
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.report.document import Answer, Answers, Block, Document, Fact, Section, Tone
from swarm_bench.core.report.gate import Gate, Kind, State, Verdict


def make_document(gate: Gate) -> Document:
    """Lay out whether all limits hold, then a line for each limit and mode."""
    blocks: tuple[Block, ...] = (
        Answers(items=tuple(_list_answers(gate))),
        *(paragraph(note) for note in gate.notes),
    )
    return Document(
        title=f"Gate: {gate.state}",
        banner=None,
        head=(
            (
                Fact(label="Session", value=gate.session),
                Fact(label="Judged by", value=f"the {gate.bound}"),
                Fact(label="Limits", value=describe_counts(gate)),
            ),
        ),
        sections=(Section(title="Limits", blocks=blocks),),
        brief=blocks,
    )


def _list_answers(gate: Gate) -> Iterator[Answer]:
    """Yield the caveats of a mode once, with its first limit."""
    yield make_gate_answer(gate)
    caveats_of = {
        mode: tuple(caveat.qualification for caveat in caveats)
        for mode, caveats in gate.caveats.items()
    }
    for verdict in gate.verdicts:
        yield make_limit_answer(verdict, caveats_of.pop(verdict.mode, ()))
    for mode, caveats in caveats_of.items():
        if caveats:
            yield Answer(subject=mode, claim=" has caveats", caveats=caveats)


_VERBS = {
    State.HOLDS: ("holds", "hold"),
    State.VIOLATED: ("is violated", "are violated"),
    State.MISSING: ("is not measured", "are not measured"),
    State.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
}
_OF_ALL = {
    State.HOLDS: " passes",
    State.VIOLATED: " fails",
    State.MISSING: " fails",
    State.INCONCLUSIVE: CANNOT_TELL,
}
_CLAIMS = {
    State.HOLDS: " holds",
    State.VIOLATED: " is violated",
    State.MISSING: " is not measured",
    State.INCONCLUSIVE: CANNOT_TELL,
}
_TONES = {State.HOLDS: Tone.GOOD, State.VIOLATED: Tone.BAD}


def make_gate_answer(gate: Gate) -> Answer:
    """Say whether all limits hold, and how many do."""
    is_open = gate.state is State.INCONCLUSIVE
    passing = " With --allow-inconclusive the gate passes." if is_open else ""
    claim = _OF_ALL[gate.state]
    tones = {_OF_ALL[State.HOLDS]: Tone.GOOD, CANNOT_TELL: Tone.OPEN}
    return Answer(
        subject="The gate",
        claim=claim,
        tone=tones.get(claim, Tone.BAD),
        figures=f"{_claim_all(gate)}.{passing}",
    )


def describe_counts(gate: Gate) -> str:
    """Say `2 hold and 1 is violated`."""
    numbers = {state: gate.count(state) for state in _VERBS}
    return join(
        [f"{number} {_VERBS[state][number > 1]}" for state, number in numbers.items() if number]
    )


def _claim_all(gate: Gate) -> str:
    total = len(gate.verdicts)
    if gate.count(gate.state) < total:
        return f"Of {total} limits {describe_counts(gate)}"
    singular, plural = _VERBS[gate.state]
    if total == 1:
        return f"Its limit {singular}"
    return f"{'Both' if total == 2 else f'All {total}'} limits {plural}"


def make_limit_answer(verdict: Verdict, caveats: tuple[str, ...] = ()) -> Answer:
    """Say what became of a limit, with the figure and how sure it is."""
    mode = f"{verdict.mode}: " if verdict.mode else ""
    key = verdict.metric.key if verdict.metric else verdict.limit.metric
    metric_note = f" ({key})" if key != verdict.limit.metric else ""
    answer = Answer(
        subject=f"{mode}{verdict.limit}{metric_note}",
        claim=_CLAIMS[verdict.state],
        tone=_TONES.get(verdict.state, Tone.OPEN),
        next=verdict.next,
        caveats=caveats,
    )
    if verdict.estimate is None:
        return add_reasons(answer, re.split(r"(?<=\.) |; ", verdict.why))
    evidence = f"{_describe_interval(verdict)} {verdict.why}"
    return replace(answer, figures=_describe_figures(verdict), evidence=evidence)


def _describe_figures(verdict: Verdict) -> str:
    """Say `Effective tokens: 0.80× baseline (likely 0.75× to 0.86×, all within the limit).`"""
    assert verdict.metric
    assert verdict.estimate is not None
    base = f" {verdict.reference}" if verdict.limit.kind is Kind.MAX_RATIO else " on average"
    figure = f"{verdict.metric.title}: {_format(verdict, verdict.estimate)}{base}"
    return f"{figure} ({_describe_sureness(verdict)})."


def _describe_sureness(verdict: Verdict) -> str:
    if verdict.but:
        return verdict.but
    if not verdict.interval:
        return f"the same in all {quantify(verdict.cases, verdict.noun)}"
    low, high = (_format(verdict, end) for end in verdict.interval)
    within = [verdict.limit.admits(end) for end in verdict.interval]
    side = "all within the limit" if all(within) else "all beyond the limit"
    if any(within) and not all(within):
        is_open = verdict.state is State.INCONCLUSIVE
        side = f"on both sides of the limit{'' if is_open else ', so chance may decide'}"
    return f"likely {f'about {low}' if low == high else f'{low} to {high}'}, {side}"


def _describe_interval(verdict: Verdict) -> str:
    over = quantify(verdict.cases, verdict.noun)
    if not verdict.interval:
        return f"Over {over}."
    low, high = (_format(verdict, end) for end in verdict.interval)
    return f"95 % interval {low} to {high} over {over}."


def _format(verdict: Verdict, figure: float) -> str:
    if verdict.limit.kind is Kind.MAX_RATIO:
        return f"{figure:.2f}×" if figure >= 0.1 else f"{figure:.2g}×"
    return f"{figure:,.4g}" if abs(figure) < 10_000 else f"{figure:,.0f}"
