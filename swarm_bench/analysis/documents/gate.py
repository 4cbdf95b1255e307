"""What became of limits, as a document."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import paragraph, quoting
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.document import (
    Block,
    Bullets,
    Document,
    Fact,
    Section,
    Span,
    Text,
    Tone,
)
from swarm_bench.core.report.gate import Gate, Kind, State, Verdict

_TONES = {State.HOLDS: Tone.GOOD, State.VIOLATED: Tone.BAD}
_ORDER = (State.HOLDS, State.VIOLATED, State.MISSING, State.INCONCLUSIVE)


def document(gate: Gate) -> Document:
    """Lay out the limits, a line for each mode."""
    bullets = Bullets(items=tuple(map(_line, gate.verdicts)))
    below = (*_caveats(gate), *(paragraph(note) for note in gate.notes))
    return Document(
        title=f"Gate: {gate.state}",
        banner=None,
        head=(
            (
                Fact(label="Session", value=gate.session),
                Fact(label="Judged by", value=f"the {gate.bound}"),
                Fact(label="Limits", value=counts(gate)),
            ),
        ),
        sections=(Section(title="Limits", blocks=(bullets, *below)),),
        brief=(bullets, *below),
    )


def _caveats(gate: Gate) -> Iterator[Block]:
    """Say what must be known of each mode, a line for each caveat."""
    items = tuple(
        (Span(text=mode, strong=True), ": ", quoting(caveat.qualification), ".")
        for mode, caveats in gate.caveats.items()
        for caveat in caveats
    )
    if items:
        yield paragraph("Caveats:")
        yield Bullets(items=items)


def counts(gate: Gate) -> str:
    """Say `2 hold, 1 is violated`."""
    numbers = {state: gate.count(state) for state in _ORDER}
    return ", ".join(f"{number} {state}" for state, number in numbers.items() if number)


def _line(verdict: Verdict) -> Text:
    mode = f"{verdict.mode}, " if verdict.mode else ""
    key = verdict.metric.key if verdict.metric else verdict.limit.metric
    meant = f" ({key})" if key != verdict.limit.metric else ""
    figure = "".join(_figure(verdict))
    return (
        f"{mode}{verdict.limit}{meant}{figure}: ",
        Span(text=verdict.state, strong=True, tone=_TONES.get(verdict.state, Tone.OPEN)),
        ". ",
        quoting(verdict.why),
    )


def _figure(verdict: Verdict) -> Iterator[str]:
    """Say `: 0.69× (95 % interval 0.58 to 0.82, 12 tasks)`."""
    if verdict.estimate is None:
        return
    yield f": {_written(verdict, verdict.estimate)} ("
    if verdict.interval:
        low, high = (_written(verdict, end) for end in verdict.interval)
        yield f"95 % interval {low} to {high}, "
    yield f"{amount(verdict.cases, verdict.noun)})"


def _written(verdict: Verdict, figure: float) -> str:
    if verdict.limit.kind is Kind.MAX_RATIO:
        return f"{figure:.2f}×" if figure >= 0.1 else f"{figure:.2g}×"
    return f"{figure:,.4g}" if abs(figure) < 10_000 else f"{figure:,.0f}"
