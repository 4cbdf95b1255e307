"""The live view of a running session."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from swarm_bench.cli.output.terminal import printable
from swarm_bench.core.events import (
    BlockStarted,
    Emit,
    Event,
    Preparing,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
    Trouble,
)
from swarm_bench.core.outcome import Activity
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.status import Status

SHOWN_AGENTS = 12
"""Running trials that get a line of their own."""
SHOWN_TROUBLES = 5


@dataclass(kw_only=True)
class _Sum:
    """A figure of the trials that have ended."""

    value: float | None = None
    missing: int = 0

    def add(self, figure: float | None) -> None:
        if figure is None:
            self.missing += 1
        else:
            self.value = (self.value or 0) + figure

    def written(self, style: str, running: Iterable[float | None] = ()) -> str:
        """Write it with what trials that still run have reported; nothing before there is any."""
        figures = [figure for figure in (self.value, *running) if figure is not None]
        if not figures:
            return "not reported" if self.missing else ""
        return style.format(sum(figures)) + (f" ({self.missing} missing)" if self.missing else "")


@dataclass(kw_only=True)
class _Arm:
    planned: int
    running: int = 0
    done: int = 0
    failed: int = 0
    tokens: _Sum = field(default_factory=_Sum)
    cost: _Sum = field(default_factory=_Sum)

    @property
    def pending(self) -> int:
        return self.planned - self.running - self.done - self.failed


@dataclass(kw_only=True)
class _Trial:
    arm: str
    number: int
    case: str
    doing: str = "starting"
    tokens: int | None = None
    started: float = field(default_factory=time.monotonic)
    requests: set[str] = field(default_factory=set)

    def follow(self, activity: Activity) -> None:
        self.doing = activity.doing
        if activity.request is None or activity.request in self.requests:
            return
        self.requests.add(activity.request)
        spent = activity.usage.effective if activity.usage else None
        if spent is not None:
            self.tokens = (self.tokens or 0) + spent


class State:
    """What the events add up to."""

    def __init__(self, *, spending: bool = True) -> None:
        self._spending = spending
        self.title = "preparing"
        self.block = ""
        self.step = ""
        self.arms: dict[str, _Arm] = {}
        self.agents: dict[tuple[str, int], _Trial] = {}
        self.troubles: list[str] = []
        self.started = time.monotonic()
        self._lock = Lock()

    def take(self, event: Event) -> None:
        """Take an event into account. The drawing thread waits meanwhile."""
        with self._lock:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Preparing():
                self.step = event.step
            case SessionStarted():
                self.arms = {name: _Arm(planned=n) for name, n in event.planned.items()}
                self.title = f"{event.trials} trials, {event.done} done before; {event.folder}"
            case BlockStarted():
                self.block = f"{event} ({', '.join(event.order)})"
            case StepStarted():
                self.step = f"{event.arm}: {event.step}"
            case TrialStarted():
                self._start(event)
            case TrialActive():
                if agent := self.agents.get((event.arm, event.number)):
                    agent.follow(event.activity)
            case TrialEnded():
                self._end(event.record)
            case Trouble():
                self.troubles.append(printable(event.message))

    def _start(self, event: TrialStarted) -> None:
        self.step = f"{event.arm}: trials"
        self.arms[event.arm].running += 1
        agent = _Trial(arm=event.arm, number=event.number, case=event.case)
        self.agents[event.arm, event.number] = agent

    def _end(self, record: RecordView) -> None:
        arm = self.arms[record.arm]
        if self.agents.pop((record.arm, record.number), None) is not None:
            arm.running -= 1
        if record.status is Status.COMPLETED:
            arm.done += 1
        else:
            arm.failed += 1
        arm.tokens.add(record.effective_tokens)
        arm.cost.add(record.cost)

    def __rich__(self) -> Group:
        with self._lock:
            return self._drawn()

    def _drawn(self) -> Group:
        elapsed = time.monotonic() - self.started
        head = Text(f"{elapsed:6.0f} s  {self.title}", style="bold", no_wrap=True)
        parts: list[Text | Table] = [
            head,
            Text(f"          {'; '.join(filter(None, (self.block, self.step)))}", no_wrap=True),
            self._table(),
        ]
        parts += [self._line(agent) for agent in list(self.agents.values())[:SHOWN_AGENTS]]
        if len(self.agents) > SHOWN_AGENTS:
            parts.append(Text(f"  and {len(self.agents) - SHOWN_AGENTS} more", style="dim"))
        parts += [Text(f"! {message}", style="red") for message in self.troubles[-SHOWN_TROUBLES:]]
        return Group(*parts)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        spent_in = ("tokens", "cost") if self._spending else ()
        for name in ("arm", "waiting", "running", "done", "failed", *spent_in):
            table.add_column(name, justify="left" if name == "arm" else "right")
        for name, arm in self.arms.items():
            running = (agent.tokens for agent in self.agents.values() if agent.arm == name)
            spent = (arm.tokens.written("{:,.0f}", running), arm.cost.written("${:.4f}"))
            counts = (arm.pending, arm.running, arm.done, arm.failed)
            table.add_row(Text(name), *map(str, counts), *spent[: len(spent_in)])
        return table

    def _line(self, agent: _Trial) -> Text:
        seconds = time.monotonic() - agent.started
        line = f"  {agent.arm} {agent.number}  {seconds:4.0f} s  {agent.case}: {agent.doing}"
        return Text(printable(line), no_wrap=True, overflow="ellipsis", style="cyan")


@contextmanager
def live_view(*, spending: bool = True) -> Iterator[Emit]:
    """Draw on standard error until the block ends; what trials spend, where they do."""
    state = State(spending=spending)
    console = Console(stderr=True)
    with Live(state, console=console, refresh_per_second=4, transient=True):
        yield state.take
    for message in state.troubles:
        console.print(Text(f"! {message}", style="red"))
