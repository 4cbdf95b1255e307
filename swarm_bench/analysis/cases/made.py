"""The arms that a benchmark made after it had looked at records: which one to take, and what it has
of its own."""

import json
from collections.abc import Iterator
from statistics import fmean

from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.verdicts import primary_metric, verdict_words
from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.core.metric import Better
from swarm_bench.core.report.document import Block, Section, Verbatim
from swarm_bench.core.session.models import Arm


def made_section(session: ModelSession) -> Section | None:
    """Make the section on them; `None` where there are none."""
    models, blocks = session.experiment.models, list[Block]()
    for first in models:
        made = [arm for arm in models if arm.follows and arm.against == first.name]
        blocks += _taken(session, first, made) if made else ()
    return Section(title="What to take", blocks=tuple(blocks)) if blocks else None


def _taken(session: ModelSession, first: Arm, made: list[Arm]) -> Iterator[Block]:
    """Say which of the arms is to be taken, and show it; where none is shown to be better, the one
    with the best figure."""
    verdicts = verdict_words(session)
    better = [arm for arm in made if verdicts.get(arm.name) == "better"]
    best = max(better or [first, *made], key=lambda arm: _figure(session, arm.name))
    if better:
        yield paragraph(f"Take {best.name}: it is better than {first.name}.")
    else:
        none = f"Keep {first.name}: no arm that was made of it is shown to be better."
        yield paragraph(none if best is first else f"{none} The best figure has {best.name}.")
    for name, value in best.properties.items():
        if best is not first and value != first.properties.get(name):
            yield paragraph(f"{name} of {best.name}:")
            yield Verbatim(text=value if isinstance(value, str) else json.dumps(value))


def _figure(session: ModelSession, arm: str) -> float:
    """Return the figure of the verdict, higher where it is better."""
    metric = primary_metric(session)
    figures = [fmean(it) for it in session.figures(arm, metric).values()] if metric else []
    sign = 1 if metric and metric.better is Better.HIGHER else -1
    return sign * fmean(figures) if figures else float("-inf")
