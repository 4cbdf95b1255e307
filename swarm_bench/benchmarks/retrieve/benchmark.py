"""The benchmark of retrieval alone: questions with known answers, put to the tools themselves. Each
of its figures is declared once."""

from functools import partial

from pydantic import BaseModel

from swarm_bench.core.metric import Better, Column, How, Metric, Metrics, Row, Style
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import get_figure


class Properties(BaseModel, extra="forbid"):
    """What the options of its command are not."""


class RetrieveBenchmark:
    """Is run by the command `retrieve`."""

    name = RETRIEVE.name
    version = 1
    about = "Questions with known answers, put to a retrieval tool itself: retrieve."
    properties: type[BaseModel] = Properties

    def scorers(self) -> tuple[Scorer, ...]:
        """Return none: what was found is in the figures."""
        return ()

    def metrics(self) -> Metrics:
        """Return the figures of an answer."""
        return METRICS


TABLE = "Found"


def _make_share(key: str, title: str, definition: str, phrase: str = "") -> Metric:
    return Metric(
        key=key,
        title=title,
        phrase=phrase,
        unit="share",
        style=Style.FRACTION,
        definition=definition,
        better=Better.HIGHER,
        relative=False,
        read=partial(get_figure, key=key),
        row=Row(table=TABLE, how=How.MEAN),
        column=Column(title=title),
    )


def _make_recall(k: int) -> Metric:
    at = f"the first {k} files" if k > 1 else "the first file"
    return _make_share(
        f"recall_{k}",
        f"recall@{k}",
        f"The share of the right files among {at}.",
        f"found {{}} of the files in {k} results"
        if k > 1
        else "found {} of the files in its first result",
    )


def _make_count(key: str, title: str, unit: str, definition: str) -> Metric:
    return Metric(
        key=key,
        title=title,
        unit=unit,
        style=Style.WHOLE,
        definition=definition,
        better=None if key == "files" else Better.LOWER,
        read=partial(get_figure, key=key),
        row=Row(table="Answers", how=How.MEAN),
        column=Column(title=title),
    )


def _make_time(key: str, title: str, unit: str, style: Style, definition: str) -> Metric:
    return Metric(
        key=key,
        title=title,
        unit=unit,
        style=style,
        definition=definition,
        better=Better.LOWER,
        read=partial(get_figure, key=key),
        row=Row(table="Time", how=How.MEDIAN),
    )


METRICS = Metrics(
    (
        _make_recall(1),
        _make_recall(5),
        _make_recall(10),
        _make_share("recall", "Recall", "The share of the right files among all that are named."),
        _make_share(
            "reciprocal_rank", "MRR", "One divided by the rank of the first right file; the mean."
        ),
        _make_share(
            "ndcg_10",
            "nDCG@10",
            "The discounted gain of the first 10 files, divided by that of the best order.",
        ),
        _make_count(
            "files", "Files", "files", "Different files of the repository that the answer names."
        ),
        _make_count("tokens", "Tokens", "tokens", "Of the answer, as utf8-bytes/4."),
        _make_count(
            "empty", "Empty", "answers", "Answers without an error that name no file of the "
            "repository.",
        ),
        _make_count("failed", "Failed", "answers", "Calls that ended with an error, or too late."),
        _make_time(
            "first_seconds", "First call", "seconds", Style.SECONDS,
            "The first call to the server after its start.",
        ),
        _make_time(
            "later_seconds", "Later calls", "seconds", Style.SECONDS,
            "All calls but the first one.",
        ),
        _make_time(
            "index_seconds", "Index", "seconds", Style.SECONDS,
            "What preparing the tool took, by its mode file or its service.",
        ),
        _make_time(
            "index_bytes", "Index size", "bytes", Style.WHOLE,
            "What the preparation added to the workspace and to the home of the servers.",
        ),
    )
)  # fmt: skip
