"""What became of limits, as a document."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.sentences.limits import (
    describe_counts,
    make_gate_answer,
    make_limit_answer,
)
from swarm_bench.core.report.document import Answer, Answers, Block, Document, Fact, Section
from swarm_bench.core.report.gate import Gate


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
