"""What `--require-verdict` asks for."""

from collections import Counter
from pathlib import Path

import pytest

from swarm_bench.app.result import ComparisonResult, EndCounts
from swarm_bench.core.errors import GateFailed
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from tests.analysis.comparison.test_verdicts import BASELINE, TASKS, trials
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_session

HELPS, HURTS = trials("canopy", 0.7, recall=0.72), trials("canopy", 1.5, recall=0.4)
OPEN = trials("canopy", 1.0, wobble=3)


def report_of(*every: list[TrialRecord]) -> Report:
    records = [trial for of_mode in every for trial in of_mode]
    return summarise(make_session(*records, tasks=TASKS, runs=3))


def check(report: Report) -> None:
    document = Document(title="", banner=None, head=(), sections=(), brief=())
    ComparisonResult(
        folder=Path("results/s"),
        to_continue="",
        summary=RenderedDocument(document=document, markdown=""),
        interrupted=False,
        end_counts=EndCounts(causes=Counter([Cause.FINISHED]), unfinished=0),
        report=report,
    ).check_gates(require_retrieval=False, require_verdict=True)


@pytest.mark.parametrize("mode", [HELPS, HURTS])
def test_a_verdict_passes(mode: list[TrialRecord]) -> None:
    report = report_of(BASELINE, mode)
    assert [it.concluded for it in report.headline.standings] == [True]
    check(report)


def test_inconclusive_is_none(golden: Sentences) -> None:
    report = report_of(BASELINE, OPEN)
    assert [it.concluded for it in report.headline.standings] == [False]
    with pytest.raises(GateFailed) as failed:
        check(report)
    golden(str(failed.value))


@pytest.mark.parametrize("few", [(BASELINE,), (BASELINE, HELPS[:6])])
def test_nor_are_too_few_tasks_or_one_mode(few: tuple[list[TrialRecord], ...]) -> None:
    with pytest.raises(GateFailed):
        check(report_of(*few))
