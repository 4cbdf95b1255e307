"""The live view of a running session, with a table of the arms: what fits into the terminal, the
most telling first."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from swarm_bench.cli.output.counts import Arm, Counts, FigureSum
from swarm_bench.cli.output.pace import Pace, format_duration, format_estimate
from swarm_bench.cli.output.terminal import printable, shorten_path
from swarm_bench.core.events import (
    WORKSPACE,
    BlockEnded,
    BlockStarted,
    Emit,
    EndingAtOnce,
    Event,
    Foresight,
    PartStarted,
    Preparing,
    RerunStarted,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
    VerdictsRead,
    WarningRaised,
    step_of,
)
from swarm_bench.core.outcome import Activity
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.status import Cause

_GAP = 2
_SHORTEST = 12
"""Columns of a name."""
_Side = Literal["left", "right"]


def build_arms_table(arms: Mapping[str, Arm], width: int, height: int, *, spending: bool) -> Table:
    """Draw as many columns and rows as there is room for; the last columns go first."""
    selected = _select_rows(arms, max(height, 1))
    names = [printable(name) for name in selected]
    columns = _build_columns([arms[name] for name in selected], spending=spending)
    while len(columns) > 1 and _measure_width(names, columns, width) > width:
        columns.popitem()
    room = width - (_measure_width([], columns, width))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
    table.add_column("arm", no_wrap=True)
    for header in columns:
        table.add_column(header, justify="right", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(_shorten(name, room)), *(cells[row] for cells in columns.values()))
    if omitted := len(arms) - len(selected):
        table.add_row(Text(f"and {omitted} more", style="dim"))
    return table


def _build_columns(arms: Iterable[Arm], *, spending: bool) -> dict[str, list[str]]:
    """Return the cells below their headers, the most telling column first. What nobody reports or
    is billed for has none; failures come early where there are any."""
    arms = list(arms)
    done = [f"{arm.done:,} of {arm.planned:,}" for arm in arms]
    failed = {"failed": [f"{arm.failed:,}" for arm in arms]}
    have_failed = any(arm.failed for arm in arms)
    columns = {"done": done, **(failed if have_failed else {})}
    columns["running"] = [f"{arm.running:,}" for arm in arms]
    if spending:
        columns["tokens"] = [arm.tokens.render("{:,.0f}") for arm in arms]
        if any(arm.cost.value is not None for arm in arms):
            columns["cost"] = [arm.cost.render("${:.4f}") for arm in arms]
    return columns | failed


def _measure_width(names: Iterable[str], columns: Mapping[str, Iterable[str]], width: int) -> int:
    """Return the columns of the terminal that a table takes; a name may be shortened to a third of
    all."""
    longest = max(map(cell_len, names), default=0)
    name_width = min(longest, max(_SHORTEST, width // 3))
    cells = (max(map(cell_len, (header, *column))) for header, column in columns.items())
    return name_width + sum(cell + _GAP for cell in cells)


def _shorten(name: str, room: int) -> str:
    """Take out its middle: arms of a model differ at the end, and models at the beginning."""
    if len(name) <= room:
        return name
    size = max(room - 1, 2)
    return f"{name[: size - size // 2]}…{name[len(name) - size // 2 :]}"


def _select_rows(arms: Mapping[str, Arm], height: int) -> list[str]:
    """Choose those that run, then those that still have to, in their order."""
    if len(arms) <= height:
        return list(arms)
    ranked = sorted(
        arms, key=lambda name: (not arms[name].running, arms[name].done == arms[name].planned)
    )
    selected = set(ranked[: max(height - 1, 1)])
    return [name for name in arms if name in selected]


SHOWN_AGENTS = 12
"""Running trials that get a line of their own."""
SHOWN_NODES = 12
SHOWN_TROUBLES = 5
_OTHER_LINES = 5
"""Lines besides arms, trials and troubles."""
_ARMS_BESIDE_NODES = 4
"""Rows of the table that lines of nodes leave room for."""
_FILL_SHARE = 0.85
"""Share of a line that a sentence fills, the last one aside: words are not cut."""


class _Trial:
    """Trial that runs."""

    def __init__(self, event: TrialStarted, now: float) -> None:
        self.arm, self.number, self.case = event.arm, event.number, event.case
        self.node = event.node
        self.doing = "starting"
        self.spent = FigureSum()
        self.started = now
        self._requests = set[str]()

    def follow(self, activity: Activity) -> None:
        """Take note of what it does, and once of what a request took."""
        self.doing = activity.doing
        if activity.request is None or activity.request in self._requests:
            return
        self._requests.add(activity.request)
        if activity.usage and activity.usage.effective is not None:
            self.spent.add(activity.usage.effective)


@dataclass(kw_only=True)
class _Machine:
    """What a machine does, which runs one block at a time."""

    block: str = ""
    step: str = ""
    groups: dict[str, int] = field(default_factory=dict)
    """Which group of each arm was begun there last."""
    is_lost: bool = False

    def __str__(self) -> str:
        """Say it."""
        return "lost" if self.is_lost else "; ".join(filter(None, (self.step, self.block)))


class LiveState:
    """State of the view after all events so far."""

    def __init__(
        self, *, spending: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._spending = spending
        self._clock = clock
        self._part = ""
        self._local = _Machine(step="preparing")
        self._nodes = dict[str, _Machine]()
        """Machines elsewhere that have run a block, by their names."""
        self._session: SessionStarted | None = None
        self._verdicts: VerdictsRead | None = None
        self._pace = Pace({}, {}, clock)
        self._set_up = dict[str, int]()
        """Groups of each arm that were begun."""
        self._counts = Counts()
        self.trials: dict[tuple[int, str, int], _Trial] = {}
        """Those that run, by run, arm and number."""
        self.troubles: list[str] = []
        self.foresight = ""
        self._started = clock()
        self._lock = Lock()

    def take(self, event: Event) -> None:
        """Take an event into account. The drawing thread waits meanwhile."""
        with self._lock:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Preparing():
                self._local.step = str(event)
            case PartStarted():
                self._part, self._verdicts = f"{event}: ", None
            case SessionStarted():
                self._begin(event)
            case BlockStarted() | BlockEnded():
                self._take_block(event)
            case RerunStarted():
                self._rerun(event)
            case StepStarted():
                self._take_step(event)
            case TrialStarted() | TrialActive() | TrialEnded():
                self._take_trial(event)
            case VerdictsRead():
                self._verdicts = event
            case WarningRaised() | Foresight():
                self._take_message(event)

    def _take_trial(self, event: TrialStarted | TrialActive | TrialEnded) -> None:
        match event:
            case TrialStarted():
                self._start(event)
            case TrialActive():
                self._follow(event)
            case TrialEnded():
                self._end(event.record)

    def _begin(self, event: SessionStarted) -> None:
        self._session, self._local.block = event, ""
        self._pace = Pace(event.planned, event.groups, self._clock)
        self._set_up = dict.fromkeys(event.groups, 0)
        self._nodes.clear()
        self._counts.begin(event)

    def _find_machine(self, node: str | None) -> _Machine:
        return self._local if node is None else self._nodes.setdefault(node, _Machine())

    def _take_message(self, event: WarningRaised | Foresight) -> None:
        if isinstance(event, WarningRaised):
            self.troubles.append(printable(event.message))
        else:
            self.foresight = printable(event.message)

    def _take_block(self, event: BlockStarted | BlockEnded) -> None:
        """Take note of the block of a machine; of a node also that it has none, or soon another."""
        machine = self._find_machine(event.node)
        if isinstance(event, BlockStarted):
            machine.block = str(event)
        elif event.node is not None:
            machine.step, machine.block = "waiting", ""

    def _rerun(self, event: RerunStarted) -> None:
        self.troubles.append(str(event))
        self._counts.rerun()
        self._pace.rerun(event.trials, event.groups)
        if self._session:
            for arm, number in event.groups.items():
                self._set_up[arm] = self._session.groups[arm] - number

    def _take_step(self, event: StepStarted) -> None:
        """Take note of a step around the trials. Where a group has one workspace, it is told among
        those of the other groups."""
        machine, arm = self._find_machine(event.node), event.arm
        self._pace.set_up(arm, event.total - event.number, event.node)
        if event.step == WORKSPACE and event.number == 1:
            self._set_up[arm] = machine.groups[arm] = self._set_up.get(arm, 0) + 1
        groups = self._session.groups.get(arm, 1) if self._session else 1
        is_numbered = event.total > 1
        step = (
            str(event) if is_numbered else step_of(event.step, machine.groups.get(arm, 0), groups)
        )
        machine.step = f"{arm}: {step}"

    def _start(self, event: TrialStarted) -> None:
        self._find_machine(event.node).step = f"{event.arm}: trials"
        self._pace.run(event.arm, event.node)
        self._counts.arms[event.arm].running += 1
        self.trials[event.run, event.arm, event.number] = _Trial(event, self._clock())

    def _follow(self, event: TrialActive) -> None:
        if trial := self.trials.get((event.run, event.arm, event.number)):
            trial.follow(event.activity)

    def _end(self, record: RecordView) -> None:
        arm = self._counts.end(record)
        trial = self.trials.pop((record.run, record.arm, record.number), None)
        if trial is not None:
            arm.running -= 1
        self._pace.end(record.arm, self._clock() - trial.started if trial else None)
        if record.cause is Cause.NODE_LOST and record.node is not None:
            self._find_machine(record.node).is_lost = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Group]:
        with self._lock:
            yield self._draw(options.max_width, console.height)

    def _draw(self, width: int, height: int) -> Group:
        troubles = [Text(f"! {text}", style="red") for text in self.troubles[-SHOWN_TROUBLES:]]
        troubles += [Text(self.foresight, style="dim")] if self.foresight else []
        sentences = sum(max(2, math.ceil(len(text) / (width * _FILL_SHARE))) for text in troubles)
        room = height - sentences - _OTHER_LINES
        trials = self._draw_nodes(room) if self._nodes else self._draw_trials(SHOWN_AGENTS)
        room -= len(trials)
        table = build_arms_table(self._add_running(), width, room, spending=self._spending)
        parts: list[Text | Table] = [_cut(Text(printable(self._build_head(width)), style="bold"))]
        if self._verdicts:
            forms = [printable(form) for form in self._verdicts.forms]
            fitting = (form for form in forms if len(form) <= width)
            parts.append(_cut(Text(next(fitting, forms[-1]))))
        if self._session and not self._nodes:
            parts.append(_cut(Text(printable(str(self._local)))))
        if self._session:
            parts.append(table)
        parts += [*trials, *troubles]
        if self._session:
            parts.append(_cut(Text(f"Results: {shorten_path(self._session.folder)}", style="dim")))
        return Group(*parts)

    def _draw_trials(self, limit: int) -> list[Text]:
        """Draw a line of each trial that runs, for so many."""
        lines = [self._render_trial(trial) for trial in list(self.trials.values())[:limit]]
        return lines + _count_more(len(self.trials) - len(lines))

    def _draw_nodes(self, room: int) -> list[Text]:
        """Draw a line of each node, with its trials below it: as many as there is room for; nodes
        that have a block come first."""
        room -= min(len(self._counts.arms) + 1, _ARMS_BESIDE_NODES)
        ranked = sorted(self._nodes, key=lambda name: not self._nodes[name].block)
        selected = set(ranked[: min(SHOWN_NODES, max(1, room - 2))])
        limit = min(SHOWN_AGENTS, max(0, room - 2 - len(selected))) // len(selected)
        lines, trial_lines = list[Text](), 0
        for name in (name for name in self._nodes if name in selected):
            machine = self._nodes[name]
            style = "red" if machine.is_lost else ""
            lines.append(_cut(Text(printable(f"{name}  {machine}"), style=style)))
            trials = [trial for trial in self.trials.values() if trial.node == name][:limit]
            lines += map(self._render_trial, trials)
            trial_lines += len(trials)
        lines += _count_more(len(self.trials) - trial_lines)
        return lines + _count_more(len(self._nodes) - len(selected), " nodes", indent="")

    def _build_head(self, width: int) -> str:
        """Say how far it is, how long it will take, and, where there is room, how long it took."""
        now = format_duration(self._clock() - self._started)
        if self._session is None:
            return f"{self._part}{self._local.step}, {now}"
        done = sum(arm.done for arm in self._counts.arms.values())
        running = [(trial.arm, self._clock() - trial.started) for trial in self.trials.values()]
        remaining = self._pace.estimate_remaining(running)
        qualifier = "at most " if self._session.may_end_earlier else ""
        parts = [f"{self._part}{done:,} of {qualifier}{self._session.trials:,}"]
        if remaining is not None and done < self._session.trials:
            parts.append(f"{qualifier}{format_estimate(remaining)} left")
        head = ", ".join(parts)
        so_far = f", {now} so far"
        return head + so_far if len(head) + len(so_far) <= width else head

    def _add_running(self) -> dict[str, Arm]:
        """Return the arms with the tokens of the trials that run."""
        tokens = {name: list[float]() for name in self._counts.arms}
        for trial in self.trials.values():
            if trial.spent.value is not None:
                tokens[trial.arm].append(trial.spent.value)
        return {name: arm.add_running(tokens[name]) for name, arm in self._counts.arms.items()}

    def _render_trial(self, trial: _Trial) -> Text:
        seconds = self._clock() - trial.started
        line = f"  {trial.arm} {trial.number}  {seconds:.0f} s  {trial.case}: {trial.doing}"
        return _cut(Text(printable(line), style="cyan"))


def _count_more(number: int, noun: str = "", *, indent: str = "  ") -> list[Text]:
    """Draw the line of what there was no room for, if there is any."""
    return [Text(f"{indent}and {number} more{noun}", style="dim")] if number else []


def _cut(line: Text) -> Text:
    """Keep it on one line."""
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


@contextmanager
def open_live_view(*, spending: bool = True) -> Iterator[Emit]:
    """Draw on a screen of its own, at standard error, until the block ends: a terminal that gets
    narrower breaks lines that stay. `spending`: what trials spend is shown, where they do."""
    state = LiveState(spending=spending)
    console = Console(stderr=True)
    live = Live(
        state,
        console=console,
        refresh_per_second=4,
        screen=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )

    def take(event: Event) -> None:
        if isinstance(event, EndingAtOnce):
            live.stop()
        state.take(event)

    with live:
        yield take
    for message in state.troubles:
        console.print(Text(f"! {message}", style="red"))
