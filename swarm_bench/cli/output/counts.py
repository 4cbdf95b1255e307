"""How far the arms of a session are, as its events say."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from swarm_bench.core.events import SessionStarted
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.status import Cause, Status


@dataclass(kw_only=True)
class FigureSum:
    """A figure of trials, and how many have none."""

    value: float | None = None
    missing: int = 0

    def add(self, figure: float | None) -> None:
        """Take a trial into account."""
        if figure is None:
            self.missing += 1
        else:
            self.value = (self.value or 0) + figure

    def take_back(self, figure: float | None) -> None:
        """Take a trial into account no more."""
        if figure is None:
            self.missing -= 1
        else:
            self.value = (self.value or 0) - figure

    def render(self, style: str) -> str:
        """Write the sum; nothing before there is any."""
        if self.value is None:
            return "not reported" if self.missing else ""
        missing = f" ({self.missing} missing)" if self.missing else ""
        return style.format(self.value) + missing


@dataclass(kw_only=True)
class Arm:
    """How far an arm is, with what an earlier call did of it."""

    planned: int
    done: int = 0
    failed: int = 0
    """Failed trials among those that have ended."""
    running: int = 0
    tokens: FigureSum = field(default_factory=FigureSum)
    cost: FigureSum = field(default_factory=FigureSum)

    def add_running(self, tokens: Iterable[float]) -> "Arm":
        """Return it with what trials that run have spent so far."""
        total = replace(self.tokens)
        for figure in tokens:
            total.add(figure)
        return replace(self, tokens=total)

    def end(self, record: RecordView) -> None:
        """Count a trial that has ended."""
        self.done += 1
        self.failed += record.status is not Status.COMPLETED
        self.tokens.add(record.effective_tokens)
        if record.is_billed:
            self.cost.add(record.cost)

    def take_back(self, record: RecordView) -> None:
        """Count it no more."""
        self.done -= 1
        self.failed -= record.status is not Status.COMPLETED
        self.tokens.take_back(record.effective_tokens)
        if record.is_billed:
            self.cost.take_back(record.cost)


class Counts:
    """Arms of a session, by their names."""

    def __init__(self) -> None:
        self.arms = dict[str, Arm]()
        self._node_lost = list[RecordView]()
        """Records of trials that were lost with their node, and may run once more."""

    def begin(self, event: SessionStarted) -> None:
        """Count what earlier calls have run."""
        self._node_lost.clear()
        self.arms = {
            name: Arm(
                planned=number + event.done[name],
                done=event.done[name],
                failed=event.failed[name],
            )
            for name, number in event.planned.items()
        }

    def end(self, record: RecordView) -> Arm:
        """Count a trial that has ended. Returns its arm."""
        arm = self.arms[record.arm]
        arm.end(record)
        if record.cause is Cause.NODE_LOST:
            self._node_lost.append(record)
        return arm

    def rerun(self) -> None:
        """Count no more what runs once more."""
        for record in self._node_lost:
            self.arms[record.arm].take_back(record)
        self._node_lost.clear()
