"""100,000 trials on 200 nodes, as a model: what the driver does meanwhile, and how late it is.

    python perf/many_machines.py [NODES ...]

The driver is one server, since one thread at a time runs Python; beside it is the disk, which sees
each record to its end before the next. Nodes, agents and providers are as fast as they like. The
constants are measured: `perf/driver.py` prints them for a machine. Some minutes for 200 nodes.
`docs/design/027-many-machines.md` has what came of it.
"""

import heapq
import itertools
import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PIECE = 1 << 20
"""Bytes that an actor reads of its worker at a time."""
MOST_PIECES = 1
"""Pieces of a node that wait for the driver; the worker is held up by more."""
ALIVE_SECONDS = 5.0
RAY_PIECE = 0.9e-3
RAY_CALL = 1.0e-3
LINE = 0.05e-3
"""Of an event: read, checked, shown."""
FSYNC = 3.3e-3
TRIALS = 100_000


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is run; times in seconds, of the driver where they are not of a trial."""

    name: str
    shortest: float
    longest: float
    at_once: int
    group: int
    """Trials of one arm in a block."""
    arms: int
    bursts: int
    """Times in a trial that it says what it does."""
    lines: int
    """Events in each."""
    begins: bool
    """Whether its start waits for an answer too."""
    end_bytes: int
    """Of its files and its delivery, as lines."""
    end: float
    """Processor time for its delivery: checked, scored, stored, shown."""
    files: int
    """Files that the loop itself sees to the disk."""


AGENTS = Work(
    name="swarms of agents", shortest=60, longest=120, at_once=40, group=40, arms=2, bursts=30,
    lines=2, begins=False, end_bytes=410_000, end=8e-3, files=2,
)  # fmt: skip
CASES = Work(
    name="run", shortest=0.05, longest=1.0, at_once=8, group=100, arms=2, bursts=0, lines=0,
    begins=True, end_bytes=1_500, end=1.5e-3, files=0,
)  # fmt: skip


@dataclass
class Node:
    """A node: what its worker has printed, and what the driver has to tell it."""

    waiting: deque[tuple[int, int, Callable[[], None] | None]] = field(default_factory=deque)
    """Bytes, events, and what follows once the driver has taken them."""
    pieces: int = 0
    answers: list[Callable[[], None]] = field(default_factory=list)
    is_sending: bool = False


class Model:
    """A session."""

    def __init__(self, work: Work, nodes: int, trials: int) -> None:
        self.work = work
        self.now = 0.0
        self.driver_free = self.driver_busy = self.disk_free = self.disk_busy = 0.0
        self.latest = 0.0
        """The longest that something waited for the driver."""
        self.ended = 0
        self._events = list[tuple[float, int, Callable[[], None]]]()
        self._count = itertools.count()
        self.draw = random.Random(1)
        self._blocks = trials // (work.group * work.arms)
        self.trials = self._blocks * work.group * work.arms
        self._nodes = [Node() for _ in range(nodes)]

    def run(self) -> float:
        """Return how long it takes."""
        for number, node in enumerate(self._nodes):
            self._next_group(node, 0)
            self.at(number * ALIVE_SECONDS / len(self._nodes), self._show_life, node)
        while self.ended < self.trials:
            self.now, _, action = heapq.heappop(self._events)
            action()
        return self.now

    def at(self, when: float, action: Callable[..., None], *arguments: Any) -> None:
        heapq.heappush(self._events, (when, next(self._count), lambda: action(*arguments)))

    def _serve(self, seconds: float) -> float:
        """Have the driver do something. Returns when it is done."""
        start = max(self.now, self.driver_free)
        self.latest = max(self.latest, start - self.now)
        self.driver_free = start + seconds
        self.driver_busy += seconds
        return self.driver_free

    def _show_life(self, node: Node) -> None:
        self._serve(RAY_CALL)
        self.at(self.now + ALIVE_SECONDS, self._show_life, node)

    def _next_group(self, node: Node, arms_left: int) -> None:
        """Start a group of the block, or a block."""
        if arms_left == 0:
            if self._blocks == 0:
                return
            self._blocks, arms_left = self._blocks - 1, self.work.arms
        _Group(self, node, lambda: self._next_group(node, arms_left - 1)).start()

    def end(self, node: Node, finish: Callable[[], None]) -> None:
        def store() -> None:
            done = self._serve(self.work.end + self.work.files * FSYNC)
            self.disk_free = max(done, self.disk_free) + FSYNC
            self.disk_busy += FSYNC
            self.at(self.disk_free, self.answer, node, finish)

        rest = self.work.end_bytes
        while rest > PIECE:
            self.print(node, PIECE, 0, None)
            rest -= PIECE
        self.print(node, rest, 0, store)

    def print(self, node: Node, size: int, lines: int, then: Callable[[], None] | None) -> None:
        node.waiting.append((size, lines, then))
        self._read(node)

    def _read(self, node: Node) -> None:
        """Send a piece of what waits, unless too many are on their way."""
        while node.waiting and node.pieces < MOST_PIECES:
            size = lines = 0
            after = list[Callable[[], None]]()
            while node.waiting and size + node.waiting[0][0] <= PIECE:
                more, events, then = node.waiting.popleft()
                size, lines = size + more, lines + events
                after += [then] if then else []
            node.pieces += 1
            self.at(self._serve(RAY_PIECE + lines * LINE), self._take, node, after)

    def _take(self, node: Node, after: list[Callable[[], None]]) -> None:
        node.pieces -= 1
        for then in after:
            then()
        self._read(node)

    def answer(self, node: Node, then: Callable[[], None]) -> None:
        """Tell a node that something is stored; what else there is to tell goes along."""
        node.answers.append(then)
        if not node.is_sending:
            self._send(node)

    def _send(self, node: Node) -> None:
        told, node.answers = node.answers, []
        node.is_sending = bool(told)
        if told:
            self.at(self._serve(RAY_CALL), self._arrive, node, told)

    def _arrive(self, node: Node, told: list[Callable[[], None]]) -> None:
        for then in told:
            then()
        self._send(node)


class _Group:
    """Trials of one arm, some at the same time."""

    def __init__(self, model: Model, node: Node, then: Callable[[], None]) -> None:
        self._model, self._node, self._then = model, node, then
        self._left = self._to_start = model.work.group

    def start(self) -> None:
        """Start as many as may run."""
        for _ in range(self._model.work.at_once):
            self._start_one()

    def _start_one(self) -> None:
        if self._to_start == 0:
            return
        self._to_start -= 1
        model, node = self._model, self._node
        if model.work.begins:
            model.print(node, 400, 0, lambda: model.answer(node, self._begin))
        else:
            self._begin()

    def _begin(self) -> None:
        model, work = self._model, self._model.work
        seconds = model.draw.uniform(work.shortest, work.longest)
        for burst in range(work.bursts):
            moment = model.now + seconds * (burst + model.draw.random()) / work.bursts
            model.at(moment, model.print, self._node, 240 * work.lines, work.lines, None)
        model.at(model.now + seconds, model.end, self._node, self._finish)

    def _finish(self) -> None:
        self._model.ended += 1
        self._left -= 1
        self._start_one()
        if self._left == 0:
            self._then()


def simulate(numbers: list[int]) -> None:
    """Print a line for each number of nodes."""
    for work in (AGENTS, CASES):
        print(f"{work.name}, {TRIALS:,} trials:")
        for nodes in numbers:
            model = Model(work, nodes, TRIALS)
            took = model.run()
            mean = (work.shortest + work.longest) / 2
            ideal = model.trials * mean / (nodes * work.at_once)
            print(
                f"  {nodes:3} nodes: {took:6,.0f} s, ideal {ideal:6,.0f} ({ideal / took:.2f}); "
                f"driver {model.driver_busy / took:.0%}, disk {model.disk_busy / took:.0%}, "
                f"at most {model.latest:.1f} s late, {model.ended / took * 60:,.0f} trials a minute"
            )


if __name__ == "__main__":
    simulate([*map(int, sys.argv[1:])] or [10, 200])
