"""What a session writes to a pipe while it runs."""

import io
from collections.abc import Callable, Sequence

from swarm_bench.cli.output.progress import CountedLines, PlainLines
from swarm_bench.core.events import (
    BlockEnded,
    BlockStarted,
    Event,
    RerunStarted,
    SessionStarted,
    StepStarted,
    TrialEnded,
    TrialStarted,
    WarningRaised,
)
from swarm_bench.core.session.cases import CaseRecord
from tests.builders.golden import Sentences

PLANNED = {"mine": 3}


def ends(**changes: str) -> TrialEnded:
    record = CaseRecord.model_validate({
        "arm": "mine", "case": "yes", "number": 1, "run": 1, "session": "s", "trial": "t",
        "attempt": 1, "status": "completed", "cause": "finished", "wall_seconds": 0.25, **changes,
    })  # fmt: skip
    return TrialEnded(record=record)


def events() -> list[Event]:
    none = dict.fromkeys(PLANNED, 0)
    started = SessionStarted(
        session="s", folder="out", done=none, failed=none, planned=PLANNED, groups=none,
        may_end_earlier=False,
    )  # fmt: skip
    trials: list[Event] = [
        TrialStarted(run=1, arm="mine", number=1, case="say yes"),
        ends(),
    ]
    return [started, *trials * 3, WarningRaised(message="no\nspace")]


def written(
    kind: Callable[[io.StringIO], PlainLines], story: Sequence[Event] = tuple(events())
) -> list[str]:
    """Lines without their times."""
    stream = io.StringIO()
    lines = kind(stream)
    for event in story:
        lines.emit(event)
    return [line.partition("] ")[2] for line in stream.getvalue().splitlines()]


def test_each_event_has_a_line(golden: Sentences) -> None:
    golden("\n".join(written(PlainLines)))


def test_trials_that_take_moments_are_counted_where_they_are_many(golden: Sentences) -> None:
    assert written(lambda stream: CountedLines(stream, many=4)) == written(PlainLines)
    golden("\n".join(written(CountedLines)))


def test_lines_name_the_node_and_what_runs_once_more_is_counted_once(golden: Sentences) -> None:
    start, _, ended, *_ = events()
    gone = ends(node="node-1", cause="node-lost", status="harness-failed")
    story: list[Event] = [
        start,
        BlockStarted(run=1, runs=1, number=1, of_run=2, order=("mine",), node="node-1"),
        StepStarted(run=1, arm="mine", step="workspace", node="node-1"),
        TrialStarted(run=1, arm="mine", number=1, case="say yes", node="node-1"),
        *[gone] * 3,
        BlockEnded(run=1, number=1, node="node-1"),
        RerunStarted(trials={"mine": 3}, groups={"mine": 1}),
        *[ended] * 3,
    ]
    plain, counted = written(PlainLines, story), written(CountedLines, story)
    assert counted[-1] == "run 1, mine: 3 of 3 ended"
    golden("\n".join([*plain, "", *counted]))
