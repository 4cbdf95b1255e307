"""The tables of benchmarks that ask for labels: which was answered where which was right."""

from collections import Counter
from collections.abc import Iterator

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.core.metric import Confusion, Metric
from swarm_bench.core.report.document import Grid, Section

_NONE = "no label"
_LEGEND = (
    "A row for each right label, a column for each answer: the number of trials, of all runs "
    "together. Labels that are neither right nor answered anywhere are omitted."
)


def confusions(session: CaseSession) -> Iterator[Section]:
    """Make a section for each metric that has such a table."""
    for metric in session.metrics:
        if metric.confusion and (section := _section(session, metric, metric.confusion)):
            yield section


def _section(session: CaseSession, metric: Metric, confusion: Confusion) -> Section | None:
    arms = session.experiment.arms
    pairs = {
        arm: Counter(
            pair for it in session.counted(arm, metric) if (pair := confusion.read(it)) is not None
        )
        for arm in arms
    }
    every = sum(pairs.values(), Counter[tuple[str, str | None]]())
    if not every:
        return None
    occurring = {label for pair in every for label in pair}
    answers = [label for label in confusion.labels if label in occurring]
    right = [label for label in answers if any(label == pair[0] for pair in every)]
    columns = (*answers, *([None] if None in occurring else []))
    rows = tuple(
        (arm, label, *(str(pairs[arm][label, answer]) for answer in columns))
        for arm in arms
        for label in right
    )
    headers = ("Arm", "Right label", *(_NONE if it is None else it for it in columns))
    grid = Grid(headers=headers, labels=2, rows=rows)
    return Section(title="Answers by label", blocks=(grid, paragraph(_LEGEND)))
