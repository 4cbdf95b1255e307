"""What the live view shows of a running session."""

from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from swarm_bench.cli.output.counts import Arm
from swarm_bench.cli.output.live import LiveState, build_arms_table
from swarm_bench.core.events import (
    BlockEnded,
    BlockStarted,
    Foresight,
    PartStarted,
    RerunStarted,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
    VerdictsRead,
)
from swarm_bench.core.outcome import Activity, Usage
from swarm_bench.core.session.cases import CaseRecord
from tests.builders.golden import Sentences

WHOLE = Usage(input=1000, cache_read=0, cache_create=0, output=200)
TOOL = "http://127.0.0.1:8080/v1#qwen temperature=0.2"


def session(**changes: Any) -> SessionStarted:
    values = {
        "session": "s", "folder": "out", "done": {"plain": 0}, "failed": {"plain": 0},
        "planned": {"plain": 4}, "groups": {"plain": 1}, "may_end_earlier": False, **changes,
    }  # fmt: skip
    return SessionStarted(**values)


def drawn(
    *events: Any, spending: bool = True, width: int = 100, height: int = 40, start: Any = None
) -> list[str]:
    """Lines of the view."""
    state = LiveState(spending=spending, clock=lambda: 0.0)
    state.take(start or session())
    for event in events:
        state.take(event)
    return lines_of(state, width, height)


def lines_of(state: Any, width: int, height: int = 40) -> list[str]:
    console = Console(width=width, height=height)
    with console.capture() as capture:
        console.print(state)
    return capture.get().splitlines()


def shown(*events: Any, spending: bool = True) -> list[str]:
    """Cells of the line of the arm."""
    (line,) = (line for line in drawn(*events, spending=spending) if line.startswith("plain "))
    return line.split()[1:]


def starts(number: int, arm: str = "plain") -> TrialStarted:
    return TrialStarted(run=1, arm=arm, number=number, case="say yes")


def active(number: int, usage: Usage | None) -> TrialActive:
    activity = Activity(doing="reads", request=f"r{number}", usage=usage)
    return TrialActive(run=1, arm="plain", number=number, activity=activity)


def ends(number: int, arm: str = "plain", **figures: Any) -> TrialEnded:
    record = CaseRecord.model_validate({
        "arm": arm, "case": "yes", "number": number, "run": 1, "session": "s", "trial": "t",
        "attempt": 1, "status": "completed", "cause": "finished", **figures,
    })  # fmt: skip
    return TrialEnded(record=record)


def test_it_says_which_block_runs_and_what_it_does(golden: Sentences) -> None:
    block = BlockStarted(run=2, runs=3, number=1, of_run=4, order=("plain", "tool"))
    step = StepStarted(run=2, arm="plain", step="workspace")
    golden(drawn(block, step)[1])
    whole = BlockStarted(run=2, runs=3, number=1, of_run=1, order=("plain", "tool"))
    golden(drawn(whole, starts(1))[1])


def test_of_several_workspaces_it_says_which(golden: Sentences) -> None:
    several = session(groups={"plain": 3})

    def step(name: str, **which: Any) -> StepStarted:
        return StepStarted(run=1, arm="plain", step=name, **which)

    begun = [step("workspace"), step("index"), starts(1), step("workspace")]
    golden(drawn(*begun[:1], start=several)[1], drawn(*begun, step("index"), start=several)[1])
    of_group = step("index", number=2, total=11)
    golden(drawn(step("workspace", number=2, total=11), of_group)[1])
    golden(drawn(step("index"))[1])


def test_tokens_that_nobody_reported_are_not_0() -> None:
    assert shown() == ["0", "of", "4", "0", "0"]
    assert shown(starts(1), active(1, None)) == ["0", "of", "4", "1", "0"]
    missing = shown(starts(1), ends(1))
    assert missing == ["1", "of", "4", "0", "not", "reported", "0"]


def test_what_is_missing_is_counted_beside_the_sum() -> None:
    events = (starts(1), starts(2), ends(1, effective_tokens=5000, cost=0.25), ends(2))
    cells = ["5,000", "(1", "missing)", "$0.2500", "(1", "missing)", "0"]
    assert shown(*events) == ["2", "of", "4", "0", *cells]
    more = shown(*events, starts(3), active(3, WHOLE), active(3, WHOLE))
    assert more[4] == "6,200"


def test_trials_that_spend_nothing_have_no_columns_of_it() -> None:
    assert shown(starts(1), ends(1), spending=False) == ["1", "of", "4", "0", "0"]


def test_nobody_sees_dollars_that_nobody_is_billed_for() -> None:
    class Free:
        """A record as scout's are."""

        is_billed = False

        def __getattr__(self, name: str) -> Any:
            return getattr(ends(1, effective_tokens=10, cost=0.5).record, name)

    free: Any = TrialEnded(record=Free())
    assert not any("$" in line or "cost" in line for line in drawn(starts(1), free))
    assert any("$0.5000" in line for line in drawn(starts(1), ends(1, cost=0.5)))


def test_what_was_done_before_the_call_counts() -> None:
    start = session(done={"plain": 13}, failed={"plain": 2}, planned={"plain": 35})
    head, *_ = drawn(start=start)
    assert head.startswith("13 of 48")
    (line,) = (line for line in drawn(start=start) if line.startswith("plain "))
    assert line.split()[1:] == ["13", "of", "48", "2", "0"]
    (header,) = (line for line in drawn(start=start) if line.startswith("arm "))
    assert header.split() == ["arm", "done", "failed", "running", "tokens"]


def running(clock: Callable[[], float], start: SessionStarted) -> LiveState:
    state = LiveState(clock=clock)
    state.take(start)
    return state


def test_the_head_says_how_far_it_is_and_how_long_it_will_take(golden: Sentences) -> None:
    now = [0.0]
    state = running(lambda: now[0], session(planned={"plain": 48}))
    assert "left" not in lines_of(state, 60)[0]
    for number in range(12):
        state.take(starts(number))
        now[0] += 5
        state.take(ends(number))
    golden(*(lines_of(state, width)[0] for width in (60, 30)))


def test_a_session_that_may_end_earlier_says_so(golden: Sentences) -> None:
    now = [0.0]
    state = running(lambda: now[0], session(planned={"plain": 48}, may_end_earlier=True))
    state.take(starts(1))
    now[0] += 100
    state.take(ends(1))
    golden(lines_of(state, 60)[0])


@pytest.mark.parametrize("width", [100, 60, 40])
def test_it_says_how_far_the_verdict_is(width: int, golden: Sentences) -> None:
    def lines(*events: Any) -> list[str]:
        start = session(planned={"plain": 48}, may_end_earlier=True)
        return drawn(*events, start=start, width=width)

    assert not any("verdict" in line for line in lines(starts(1)))
    looks = [
        VerdictsRead(tasks=12, max_tasks=36, stand={"canopy": False}),
        VerdictsRead(tasks=18, max_tasks=36, stand={"canopy": True}),
        VerdictsRead(tasks=24, max_tasks=36, stand={"canopy": True, "serena": False}),
        VerdictsRead(tasks=24, max_tasks=1036, stand=dict.fromkeys(["a" * 30, "b" * 30], False)),
    ]
    shown = [[line for line in lines(look) if "verdict" in line] for look in looks]
    assert [len(found) for found in shown] == [1, 1, 1, 1]
    assert all(len(line.rstrip()) <= width for (line,) in shown)
    golden("\n".join(line.rstrip() for (line,) in shown))
    only_last = [line for line in lines(*looks[:2]) if "verdict" in line]
    assert only_last == shown[1]


def test_of_several_sessions_it_says_which(golden: Sentences) -> None:
    golden(drawn(PartStarted(part="swarms of 4", number=2, parts=3))[0])


ARMS = {
    "baseline": Arm(planned=36, done=17, running=4),
    TOOL: Arm(planned=36, done=18),
}


@pytest.mark.parametrize(
    ("width", "headers"),
    [
        (100, ["arm", "done", "running", "tokens", "cost", "failed"]),
        (60, ["arm", "done", "running", "tokens", "cost"]),
        (50, ["arm", "done", "running", "tokens"]),
        (40, ["arm", "done", "running"]),
        (24, ["arm", "done"]),
    ],
)
def test_columns_go_by_priority(width: int, headers: list[str]) -> None:
    for arm in ARMS.values():
        arm.tokens.value, arm.cost.value = 862_649.0, 1.557
    console = Console(width=width)
    with console.capture() as capture:
        console.print(build_arms_table(ARMS, width, 20, spending=True))
    header, *rows = capture.get().splitlines()
    assert header.split() == headers
    assert [row.rstrip().endswith("…") for row in rows] == [False, False]
    assert "17 of 36" in rows[0]
    assert rows[1].split()[0][0:3] == "htt"
    assert "0.2 " in rows[1]
    assert max(map(len, (header, *rows))) <= width


def test_failures_come_early_once_there_are_any() -> None:
    failing = {"plain": Arm(planned=4, done=2, failed=1)}
    console = Console(width=30)
    with console.capture() as capture:
        console.print(build_arms_table(failing, 30, 20, spending=True))
    assert capture.get().split()[:3] == ["arm", "done", "failed"]


def test_of_many_arms_those_that_run_are_shown() -> None:
    arms = [f"arm{number}" for number in range(30)]
    zero = dict.fromkeys(arms, 0)
    start = session(planned=dict.fromkeys(arms, 1), done=zero, failed=zero, groups=zero)
    lines = drawn(starts(1, "arm27"), start=start, height=12)
    assert len(lines) <= 12
    assert any(line.startswith("arm27 ") for line in lines)
    assert any("more" in line for line in lines)


@pytest.mark.parametrize("width", [60, 100])
def test_what_a_session_could_show_leaves_room_for_the_rest(width: int) -> None:
    arms = [f"arm{number}" for number in range(30)]
    start = session(
        done=dict.fromkeys(arms, 0), failed=dict.fromkeys(arms, 0),
        planned=dict.fromkeys(arms, 4), groups=dict.fromkeys(arms, 1),
    )  # fmt: skip
    told = Foresight(message="of ten such sessions " * 14)
    lines = drawn(told, starts(1, "arm27"), start=start, width=width, height=20)
    assert len(lines) <= 20
    assert sum("of ten" in line for line in lines) > 2
    assert lines[-1].startswith("Results: ")


def block(run: int, node: str | None, **changes: Any) -> BlockStarted:
    values = {"runs": 3, "number": 1, "of_run": 1, "order": ("plain",), **changes}
    return BlockStarted(run=run, node=node, **values)


def on_node(run: int, number: int, node: str) -> TrialStarted:
    return TrialStarted(run=run, arm="plain", number=number, case="say yes", node=node)


def test_nodes_have_lines_with_their_trials_below(golden: Sentences) -> None:
    doing = TrialActive(run=2, arm="plain", number=1, activity=Activity(doing="reads app.py"))
    begun = [block(1, "node-1"), block(2, "node-2"), on_node(1, 1, "node-1")]
    lines = drawn(*begun, on_node(2, 1, "node-2"), doing)
    assert sum("reads app.py" in line for line in lines) == 1
    assert shown(*begun, on_node(2, 1, "node-2"))[3] == "2"
    gone = ends(1, node="node-1", status="harness-failed", cause="node-lost")
    ended = [gone, ends(1, run=2, node="node-2"), BlockEnded(run=2, number=1, node="node-2")]
    later = drawn(*begun, on_node(2, 1, "node-2"), *ended)
    golden("\n".join(line.rstrip() for line in [*lines, *later]))


def test_two_nodes_that_set_up_the_same_arm_count_groups_apart() -> None:
    def step(name: str, node: str) -> StepStarted:
        return StepStarted(run=1, arm="plain", step=name, node=node)

    begun = [step("workspace", "node-1"), step("workspace", "node-2"), step("index", "node-1")]
    lines = drawn(*begun, start=session(groups={"plain": 3}))
    assert any(line.startswith("node-1  plain: index, workspace 1 of 3") for line in lines)
    assert any(line.startswith("node-2  plain: workspace 2 of 3") for line in lines)


def test_what_runs_once_more_is_counted_once() -> None:
    def arm_of(*events: Any) -> list[str]:
        return shown(*[block(1, "node-1"), starts(1), starts(2), *events])

    lost = [
        ends(number, node="node-1", status="harness-failed", cause="node-lost") for number in (1, 2)
    ]
    assert arm_of(*lost)[:4] == ["2", "of", "4", "2"]
    again = RerunStarted(trials={"plain": 2}, groups={"plain": 1})
    assert arm_of(*lost, again)[:5] == ["0", "of", "4", "0", "0"]
    good = [ends(number, effective_tokens=500) for number in (1, 2)]
    assert arm_of(*lost, again, *good) == ["2", "of", "4", "0", "1,000", "0"]
    twice = [*lost, again, ends(1, effective_tokens=500), lost[1]]
    assert arm_of(*twice)[:4] == ["2", "of", "4", "1"]


@pytest.mark.parametrize("height", [12, 16, 24, 50])
def test_of_many_nodes_those_with_a_block_are_shown(height: int) -> None:
    events: list[Any] = [BlockStarted(
        run=number, runs=200, number=1, of_run=1, order=("plain",), node=f"node-{number}"
    ) for number in range(1, 201)]  # fmt: skip
    events += [on_node(number, 1, f"node-{number}") for number in range(1, 201)]
    events += [BlockEnded(run=number, number=1, node=f"node-{number}") for number in range(1, 150)]
    lines = drawn(*events, height=height)
    assert len(lines) <= height
    nodes = [line for line in lines if line.startswith("node-")]
    assert nodes
    assert not any("waiting" in line for line in nodes)
    assert f"and {200 - len(nodes)} more nodes" in (line.rstrip() for line in lines)
    assert lines[-1].startswith("Results: ")
