"""What a worker prints that is hostile: nothing of it may last, grow or break this process."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import TypeAdapter

from swarm_bench.core.errors import CostLimitReached, HarnessError, StoreError
from swarm_bench.core.events import Event, StepStarted, TrialActive, TrialStarted, WarningRaised
from swarm_bench.core.figures import LARGEST, Count
from swarm_bench.core.session.base import Case, Group, Trial
from swarm_bench.executors import link as link_module
from swarm_bench.executors import received
from swarm_bench.executors.link import Link, Streams

pytestmark = pytest.mark.anyio

CASE = Case(id="c", title="c")
TRIALS = tuple(Trial(id=f"t{n}", run=1, arm="a", case=CASE, number=n) for n in (1, 2))
USAGE = {"input": 10**400, "cache_read": 0, "cache_create": 0, "output": -1}
Script = Callable[["Far"], AsyncIterator[bytes]]


class Words:
    """Groups that are the names of their arms, and deliveries of anything."""

    jobs, deliveries = TypeAdapter(str), TypeAdapter(Any)

    def find_group(self, arm: str) -> Group[Case]:
        return Group(id="g", run=1, arm=arm, trials=TRIALS)

    def owns_file(self, arm: str, file: PurePosixPath) -> bool:
        return file.parent == PurePosixPath(arm)


@dataclass
class Far:
    """A link to a worker that prints what a script says, once it has a group."""

    out: Path
    events: list[Event] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    has_job: anyio.Event = field(default_factory=anyio.Event)
    is_cancelled: anyio.Event = field(default_factory=anyio.Event)
    reads: bool = True
    scope: anyio.CancelScope = field(init=False)
    """The scope of the group, whose link goes on."""

    def __post_init__(self) -> None:
        benchmark: Any = Words()
        self.link = Link(benchmark, name="n", out=self.out, emit=self.events.append)
        self.link.END_SECONDS = 0.3

    async def send(self, content: bytes) -> None:
        self.sent += map(json.loads, content.splitlines())
        if any("job" in message for message in self.sent):
            self.has_job.set()
        if any("cancel" in message for message in self.sent):
            self.is_cancelled.set()
        if self.has_job.is_set() and not self.reads:
            await anyio.sleep_forever()

    async def run(
        self, script: Script, deliver: Callable[[Any], Awaitable[None]] | None = None
    ) -> None:
        async def receive() -> AsyncIterator[bytes]:
            yield b'{"open": true}\n'
            await self.has_job.wait()
            async for line in script(self):
                yield line
            await anyio.sleep_forever()

        async def refuse(_: Any) -> None:
            raise AssertionError("nothing is delivered")

        with anyio.fail_after(20):
            async with self.link.connect(Streams(receive(), self.send), {"benchmark": "words"}):
                with anyio.CancelScope() as self.scope:
                    await self.link("a", deliver or refuse)


@pytest.fixture
def far(tmp_path: Path) -> Far:
    return Far(tmp_path)


def say(*messages: dict[str, Any]) -> Script:
    async def script(_: Far) -> AsyncIterator[bytes]:
        yield b"".join(json.dumps(message).encode() + b"\n" for message in messages)

    return script


def make_event(kind: str, **content: Any) -> dict[str, Any]:
    return {"event": kind, "content": content}


END = {"job": "1", "ended": None}


async def flood(far: Far) -> AsyncIterator[bytes]:
    """Deliver without an end once the group was cancelled."""
    await far.is_cancelled.wait()
    number = 0
    while True:
        lines = [{"job": "1", "number": number + n, "delivery": "x"} for n in range(100)]
        number += 100
        yield b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        await anyio.sleep(0.001)


@pytest.mark.parametrize("seconds", [0.0, 0.002, 60.0])
async def test_a_group_that_is_cancelled_ends_whatever_is_delivered(
    far: Far, seconds: float
) -> None:
    async def deliver(_: Any) -> None:
        await anyio.sleep(seconds)

    started = anyio.current_time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(far.run, flood, deliver)
        await far.has_job.wait()
        far.scope.cancel()
    assert anyio.current_time() - started < 5


async def test_more_deliveries_than_can_be_waited_for_are_no_lines(far: Far) -> None:
    async def deliver(_: Any) -> None:
        await anyio.sleep(60)

    messages = [{"job": "1", "number": number, "delivery": ""} for number in range(1_100)]
    with pytest.raises(HarnessError, match="printed what is no line.* than can be stored"):
        await far.run(say(*messages), deliver)


async def test_after_its_end_nothing_of_a_group_is_stored(far: Far) -> None:
    stored = list[Any]()

    async def deliver(delivery: Any) -> None:
        stored.append(delivery)

    late = {"job": "1", "number": 2, "delivery": "late"}
    await far.run(say({"job": "1", "number": 1, "delivery": "early"}, END, late), deliver)
    assert stored == ["early"]


async def test_a_worker_that_does_not_read_is_given_up(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "MOST_WAITING", 100, raising=False)
    far.reads = False

    async def deliver(_: Any) -> None: ...

    async def script(_: Far) -> AsyncIterator[bytes]:
        for number in range(1_000):
            yield json.dumps({"job": "1", "number": number, "delivery": ""}).encode() + b"\n"
            await anyio.lowlevel.checkpoint()

    with pytest.raises(HarnessError, match="The worker on n does not read"):
        await far.run(script, deliver)


async def test_a_group_whose_delivery_was_refused_has_some_time_to_end(far: Far) -> None:
    async def deliver(_: Any) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await far.run(say({"job": "1", "number": 1, "delivery": ""}), deliver)
    assert {"refused": 1, "cost_limit": None} in far.sent


async def test_a_group_without_money_may_end_what_runs(far: Far) -> None:
    async def deliver(delivery: Any) -> None:
        if delivery == "starts":
            raise CostLimitReached("spent")
        stored.append(delivery)

    async def script(_: Far) -> AsyncIterator[bytes]:
        yield json.dumps({"job": "1", "number": 1, "delivery": "starts"}).encode() + b"\n"
        await anyio.sleep(0.6)  # twice END_SECONDS
        yield json.dumps({"job": "1", "number": 2, "delivery": "ended"}).encode() + b"\n"
        yield json.dumps(END).encode() + b"\n"

    stored = list[Any]()
    with pytest.raises(CostLimitReached, match="spent"):
        await far.run(script, deliver)
    assert stored == ["ended"]


@pytest.mark.parametrize("start", [b'{"alive": [', b'{"job": "1", "number": 1, "delivery": ['])
async def test_long_lines_are_refused_before_they_take_memory(far: Far, start: bytes) -> None:
    piece, pieces = b"{}," * (1 << 18), list[int]()

    async def script(_: Far) -> AsyncIterator[bytes]:
        yield start
        for number in range(40):
            pieces.append(number)
            yield piece
        yield b"0]}\n"

    with pytest.raises(HarnessError, match="The worker on n printed what is no line"):
        await far.run(script)
    assert len(pieces) < 10 or start.startswith(b'{"job')


def test_values_are_counted_outside_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [",[{" * 2_000_000, 'a\\"b,' * 1_000_000, "\\", ""]
    line = json.dumps({"job": "1", "number": 1, "delivery": texts}).encode()
    assert received._parse_long(line)["delivery"] == texts
    monkeypatch.setattr(received, "MOST_VALUES", 1_000)
    for value in (b'"",', b"{},", b"[1],", b"1,", b'{"a":"b"},', b'"a" , '):
        with pytest.raises(ValueError, match="values in a line"):
            received._parse_long(b'{"job": "1", "delivery": [' + value * 1_000 + b"0]}")
    for broken in (b'"' + b'\\"' * 3_000_000, b'"' * 901, b'"\\'):
        with pytest.raises(ValueError, match=r"line|column|char"):
            received._parse_long(broken)


async def test_a_long_delivery_is_stored(far: Far) -> None:
    answer, stored = "{[,äöü\U0001f600" * 1_000_000, list[Any]()

    async def deliver(delivery: Any) -> None:
        stored.append(delivery)

    await far.run(say({"job": "1", "number": 1, "delivery": [answer]}, END), deliver)
    assert stored == [[answer]]


async def test_numbers_and_texts_of_events_are_bounded(far: Far) -> None:
    activity = {"doing": "x" * 1_000_000, "usage": USAGE, "turns": -5, "over": True}
    place = {"run": 1, "arm": "a", "number": 1}
    await far.run(
        say(
            make_event("TrialActive", **place, activity=activity),
            make_event("StepStarted", run=1, arm="a", step="s", total=10**400),
            make_event("Preparing", step="s", done=10**400, total=-1),
            make_event("WarningRaised", message="w" * 1_000_000),
            END,
        )
    )
    active, step, preparing, warning = far.events
    assert isinstance(active, TrialActive)
    assert len(active.activity.doing) == 500
    assert active.activity.usage
    assert (active.activity.usage.input, active.activity.usage.output) == (LARGEST, 0)
    assert (active.activity.turns, active.activity.over) == (0, True)
    assert isinstance(step, StepStarted)
    assert (step.total, step.node) == (LARGEST, "n")
    assert str(preparing) == f"s ({LARGEST:,} of 0)"
    assert isinstance(warning, WarningRaised)
    assert len(warning.message) == 500


def list_foreign_events() -> Iterator[dict[str, Any]]:
    for place in ({"run": 1, "arm": "b"}, {"run": 2, "arm": "a"}):
        yield make_event("StepStarted", **place, step="s")
        yield make_event("TrialStarted", **place, number=1, case="c")
        yield make_event("TrialActive", **place, number=1, activity={"doing": "d"})
    place = {"run": 1, "arm": "a"}
    yield make_event("TrialStarted", **place, number=3, case="c")
    yield make_event("TrialActive", **place, number=3, activity={"doing": "d"})


async def test_events_are_of_groups_that_run_here(far: Far) -> None:
    of_group = make_event("TrialStarted", run=1, arm="a", number=2, case="c")
    after = [END, of_group]
    await far.run(say(*list_foreign_events(), of_group, of_group, *after))
    assert far.events == [TrialStarted(run=1, arm="a", number=2, case="c", node="n")]


async def test_warnings_and_steps_are_counted(far: Far) -> None:
    warnings = [make_event("WarningRaised", message=str(number)) for number in range(1_000)]
    steps = [make_event("StepStarted", run=1, arm="a", step="s")] * 1_000
    preparing = [make_event("Preparing", step="s")] * 2_000
    await far.run(say(*warnings, *steps, *preparing, END))
    told = [event.message for event in far.events if isinstance(event, WarningRaised)]
    assert told[:300] == [str(number) for number in range(300)]
    assert told[300:] == ["The node n gave 300 warnings; others are left out"]
    assert sum(isinstance(event, StepStarted) for event in far.events) == 120
    assert len(far.events) == 301 + 120 + 1_000


@pytest.mark.parametrize("error", [ValueError, TypeError, OverflowError, RecursionError, KeyError])
async def test_a_delivery_that_no_record_can_have_is_the_nodes(
    far: Far, error: type[Exception]
) -> None:
    delivered = list[Any]()

    async def deliver(delivery: Any) -> None:
        delivered.append(delivery)
        raise error("out\nof range")

    async def script(_: Far) -> AsyncIterator[bytes]:
        for number in range(3):
            yield json.dumps({"job": "1", "number": number, "delivery": number}).encode() + b"\n"
            await anyio.sleep(0.02)

    sentence = "The worker on n printed what is no line of ours: .*out.*of range"
    with pytest.raises(HarnessError, match=sentence) as raised:
        await far.run(script, deliver)
    assert "\n" not in str(raised.value)
    assert delivered == [0]


async def test_what_is_wrong_with_a_figure_is_said_in_words(far: Far) -> None:
    async def deliver(delivery: Any) -> None:
        TypeAdapter(dict[str, Count]).validate_python(delivery)

    delivery = {"input": 10**18, "output": -(10**300)}
    with pytest.raises(HarnessError) as raised:
        await far.run(say({"job": "1", "number": 1, "delivery": delivery}, END), deliver)
    sentence = "no line of ours: input must be at most 9007199254740992; end what else prints there"
    assert str(raised.value).endswith(sentence)


async def test_files_are_bounded(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "MOST_BYTES", 10, raising=False)
    monkeypatch.setattr(received, "MOST_FILES", 2, raising=False)
    piece = "eHh4eHh4"  # six bytes

    def send(*names: str) -> Script:
        return say(*({"file": f"a/{name}", "offset": 0, "content": piece} for name in names), END)

    await far.run(send("1", "1", "1", "2", "3", "4", "5"))
    assert {path.name for path in (far.out / "a").iterdir()} == {*"12345"}
    for script in (
        send(*"123456"),
        say(*({"file": "a/1", "offset": offset, "content": piece} for offset in (0, 6)), END),
        say(*({"file": f"a/{number}", "offset": 0, "content": ""} for number in range(7)), END),
    ):
        with pytest.raises(HarnessError, match="The worker on n printed what is no line"):
            await Far(far.out).run(script)


class SlowWords(Words):
    """Files of which it takes some time to know whose they are."""

    def __init__(self, far: Far) -> None:
        self._far = far

    def owns_file(self, arm: str, file: PurePosixPath) -> bool:
        import time

        time.sleep(0.2)
        return file.parent == PurePosixPath(arm)


async def test_groups_may_start_while_a_file_is_received(far: Far) -> None:
    far.link._benchmark = SlowWords(far)  # type: ignore[assignment]
    has_two = anyio.Event()

    async def start(arm: str) -> None:
        with anyio.move_on_after(1):
            await far.link(arm, lambda _: anyio.lowlevel.checkpoint())

    async def start_others() -> None:
        await far.has_job.wait()
        tasks.start_soon(start, "b")
        await anyio.sleep(0.05)
        has_two.set()
        await anyio.sleep(0.1)
        tasks.start_soon(start, "c")

    async def script(_: Far) -> AsyncIterator[bytes]:
        await has_two.wait()
        yield b'{"file": "b/x", "offset": 0, "content": ""}\n'
        yield json.dumps(END).encode() + b"\n"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start_others)
        await far.run(script)
    assert (far.out / "b" / "x").read_bytes() == b""


async def test_a_worker_that_does_not_open_is_named(tmp_path: Path) -> None:
    far = Far(tmp_path)
    far.link.OPEN_SECONDS = 0.05

    async def receive() -> AsyncIterator[bytes]:
        while True:
            await anyio.sleep(0.01)
            yield b'{"alive": true}\n'

    async with far.link.connect(Streams(receive(), far.send), {}):
        with pytest.raises(HarnessError, match="The node n did not make the session ready"):
            await far.link.wait_until_open()
