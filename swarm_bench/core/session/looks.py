"""Sessions that end when their verdict stands: they are looked at after each block."""

from typing import TYPE_CHECKING, Self

from pydantic import Field, PrivateAttr

from swarm_bench.core.session.beforehand import JudgedExperiment
from swarm_bench.core.session.tasks import Task
from swarm_bench.core.stored import Stored


class InterimVerdicts(Stored):
    """What the verdicts were when a session was looked at."""

    blocks: int = Field(ge=1)
    """After which it was."""
    tasks: int
    verdicts: dict[str, str]
    """Verdicts by mode, of those that are compared."""
    stands: bool
    """Whether all of them stand, so that nothing more is run."""


class LookedAt(JudgedExperiment):
    """An experiment that may be looked at while it runs. That is decided beforehand: its intervals
    hold at every look. Tasks stand in a drawn order, block by block."""

    looks: tuple[InterimVerdicts, ...] = Field(default=(), exclude_if=lambda looks: not looks)
    _planned: "LookedAt | None" = PrivateAttr(default=None)
    """What it was named as, where these are the first of its blocks: what was run so far."""

    if TYPE_CHECKING:  # an experiment of the swarm has both

        @property
        def blocks(self) -> tuple[tuple[int, ...], ...] | None: ...

        @property
        def tasks(self) -> tuple[Task, ...]: ...

        @property
        def replayed(self) -> str | None: ...

    @property
    def until_clear(self) -> bool:
        """Whether it ends when its verdict stands."""
        return bool(self.beforehand and self.beforehand.until_clear)

    @property
    def stands_after(self) -> int | None:
        """After how many blocks the verdict stood; `None` where it does not stand."""
        last = self.looks[-1] if self.looks else None
        return last.blocks if last and last.stands else None

    @property
    def ends_after(self) -> int | None:
        """After how many blocks nothing more is run: a replay has no more than was recorded."""
        return self.looks[-1].blocks if self.replayed and self.looks else self.stands_after

    @property
    def tasks_named(self) -> int:
        """How many tasks there are, run or not."""
        return len((self._planned or self).tasks)

    @property
    def tasks_changed(self) -> bool:
        """Whether tasks that were named are not as they were, run or not."""
        return self._planned.tasks_changed if self._planned else super().tasks_changed

    def first_blocks(self, number: int) -> Self:
        """Return the experiment as if it had only so many of its blocks: at least one."""
        blocks = (self.blocks or ())[:number]
        if len(blocks) == len(self.blocks or ()):
            return self
        tasks = self.tasks[: max(map(max, blocks))]
        first = {"blocks": blocks, "order": self.order[:number], "tasks": tasks}
        shortened = self.model_copy(update=first)
        shortened._planned = self._planned or self
        return shortened
