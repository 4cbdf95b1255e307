"""What the live view shows of a running session."""

from typing import Any

from rich.console import Console

from swarm_bench.cli.output.live import State
from swarm_bench.core.events import (
    BlockStarted,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
)
from swarm_bench.core.outcome import Activity, Usage
from swarm_bench.core.session.cases import CaseRecord
from tests.builders.golden import Sentences

WHOLE = Usage(input=1000, cache_read=0, cache_create=0, output=200)


def drawn(*events: Any, spending: bool = True) -> list[str]:
    """Lines of the view."""
    state, console = State(spending=spending), Console(width=100)
    planned = {"plain": 4}
    state.take(SessionStarted(session="s", folder="out", trials=4, done=0, planned=planned))
    for event in events:
        state.take(event)
    with console.capture() as capture:
        console.print(state)
    return capture.get().splitlines()


def shown(*events: Any, spending: bool = True) -> list[str]:
    """Cells of the line of the arm."""
    (line,) = (line for line in drawn(*events, spending=spending) if line.startswith("plain"))
    return line.split()[1:]


def said(lines: list[str]) -> str:
    """What is done now."""
    (line,) = (line.strip() for line in lines if line.strip().startswith("run "))
    return line


def starts(number: int) -> TrialStarted:
    return TrialStarted(run=1, arm="plain", number=number, case="say yes")


def active(number: int, usage: Usage | None) -> TrialActive:
    activity = Activity(doing="reads", request=f"r{number}", usage=usage)
    return TrialActive(run=1, arm="plain", number=number, activity=activity)


def ends(number: int, **figures: Any) -> TrialEnded:
    record = CaseRecord.model_validate({
        "arm": "plain", "case": "yes", "number": number, "run": 1, "session": "s", "trial": "t",
        "attempt": 1, "status": "completed", "cause": "finished", **figures,
    })  # fmt: skip
    return TrialEnded(record=record)


def test_it_says_which_block_runs_and_what_it_does(golden: Sentences) -> None:
    block = BlockStarted(run=2, runs=3, number=1, of_run=4, order=("plain", "tool"))
    step = StepStarted(run=2, arm="plain", step="workspace")
    golden(said(drawn(block, step)))
    whole = BlockStarted(run=2, runs=3, number=1, of_run=1, order=("plain", "tool"))
    golden(said(drawn(whole, starts(1))))


def test_tokens_that_nobody_reported_are_not_0() -> None:
    assert shown() == ["4", "0", "0", "0"]
    assert shown(starts(1), active(1, None)) == ["3", "1", "0", "0"]
    missing = shown(starts(1), ends(1))
    assert missing == ["3", "0", "1", "0", "not", "reported", "not", "reported"]


def test_what_is_missing_is_counted_beside_the_sum() -> None:
    events = (starts(1), starts(2), ends(1, effective_tokens=5000, cost=0.25), ends(2))
    cells = ["5,000", "(1", "missing)", "$0.2500", "(1", "missing)"]
    assert shown(*events) == ["2", "0", "2", "0", *cells]
    more = shown(*events, starts(3), active(3, WHOLE), active(3, WHOLE))
    assert more[4] == "6,200"


def test_trials_that_spend_nothing_have_no_columns_of_it() -> None:
    assert shown(starts(1), ends(1), spending=False) == ["3", "0", "1", "0"]
