"""What a session writes to a pipe while it runs."""

import io
from collections.abc import Callable

from swarm_bench.cli.output.progress import CountedLines, PlainLines
from swarm_bench.core.events import Event, SessionStarted, TrialEnded, TrialStarted, WarningRaised
from swarm_bench.core.session.cases import CaseRecord
from tests.builders.golden import Sentences

PLANNED = {"mine": 3}


def events() -> list[Event]:
    record = CaseRecord.model_validate({
        "arm": "mine", "case": "yes", "number": 1, "run": 1, "session": "s", "trial": "t",
        "attempt": 1, "status": "completed", "cause": "finished", "wall_seconds": 0.25,
    })  # fmt: skip
    none = dict.fromkeys(PLANNED, 0)
    started = SessionStarted(
        session="s", folder="out", done=none, failed=none, planned=PLANNED, groups=none,
        may_end_earlier=False,
    )  # fmt: skip
    trials: list[Event] = [
        TrialStarted(run=1, arm="mine", number=1, case="say yes"),
        TrialEnded(record=record),
    ]
    return [started, *trials * 3, WarningRaised(message="no\nspace")]


def written(kind: Callable[[io.StringIO], PlainLines]) -> list[str]:
    """Lines without their times."""
    stream = io.StringIO()
    lines = kind(stream)
    for event in events():
        lines.emit(event)
    return [line.partition("] ")[2] for line in stream.getvalue().splitlines()]


def test_each_event_has_a_line(golden: Sentences) -> None:
    golden("\n".join(written(PlainLines)))


def test_trials_that_take_moments_are_counted_where_they_are_many(golden: Sentences) -> None:
    assert written(lambda stream: CountedLines(stream, many=4)) == written(PlainLines)
    golden("\n".join(written(CountedLines)))
