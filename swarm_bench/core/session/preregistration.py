"""What is named before the first trial, and the sessions that end when their verdict stands: they
are looked at after each block."""

import hashlib
import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from swarm_bench.core.session.base import BaseExperiment, Case
from swarm_bench.core.session.designs import MARGIN, PRIMARY, QUALITY_MARGIN
from swarm_bench.core.session.tasks import Task
from swarm_bench.core.stored import Stored

REANALYSED: Literal["report"] = "report"
"""Source of a setting that `report` was given: it stands in no file."""
VERDICT_VERSION = 2
"""Version of the rules by which verdicts are reached; since 2 tasks that share something count as
one group, and losses that differ between modes end a verdict."""


class Sealed(Stored):
    """What was named before the first trial, with a checksum, which tells what was changed later;
    it is no signature."""

    verdict_version: int | None = None
    """Version of those by which verdicts were reached then; `None` in older sessions."""
    sha256: str = ""
    """Checksum of all other keys, as JSON with sorted keys and without spaces."""
    added: ClassVar[frozenset[str]] = frozenset({"verdict_version"})
    """Keys that older sessions do not have."""

    @property
    def digest(self) -> str:
        """The checksum that belongs to the content."""
        older = {key for key in self.added if getattr(self, key) is None}
        return _digest(self.model_dump(mode="json", exclude={"sha256", *older}))

    @property
    def is_whole(self) -> bool:
        return self.sha256 == self.digest

    def add_checksum(self) -> Self:
        """Return it with its checksum."""
        return self.model_copy(update={"sha256": self.digest})


class _VerdictSettings(Sealed):
    primary: str
    margin: float
    quality: str | None
    """`None`: by what the answers have."""
    quality_margin: float


VERDICT_SETTINGS = tuple(_VerdictSettings.__annotations__)
"""Settings that decide how a verdict is reached."""


class Beforehand(_VerdictSettings):
    """What was named before the first trial."""

    modes: tuple[str, ...]
    tasks: tuple[str, ...]
    """Their ids."""
    runs: int
    tasks_sha256: str | None = None
    """Hash of the tasks' questions, keys, weights, tags and groups. `None` in older sessions."""
    until_clear: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    """Whether the session ends when its verdict stands; `None` where it does not."""
    added: ClassVar[frozenset[str]] = frozenset({"verdict_version", "tasks_sha256", "until_clear"})


_OF_A_TASK = {"id", "prompt", "commit", "key", "weight", "tags", "group"}


def _content(task: Case) -> dict[str, Any]:
    """Return the content that the checksum is of; older sessions have no groups, and keep their
    checksum."""
    content = task.model_dump(mode="json", include=_OF_A_TASK)
    return {key: value for key, value in content.items() if key != "group" or value is not None}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class JudgedExperiment(BaseExperiment):
    """An experiment with a verdict. What it is on was named before the first trial, and is about
    the summary only: it stands among the settings."""

    beforehand: Beforehand | None = None
    """`None` in older sessions."""

    @model_validator(mode="after")
    def _check_margins(self) -> Self:
        for name in ("margin", "quality_margin"):
            value = self._get_setting(name, 1)
            if type(value) not in (int, float) or not 0 <= value <= 1:
                raise ValueError(f"has a {name} that is no number between 0 and 1")
        return self

    @property
    def primary(self) -> str:
        """The metric that a verdict is on; empty where none was named, and nothing is claimed."""
        return str(self._get_setting("primary", PRIMARY))

    @property
    def margin(self) -> float:
        """Return the share by which the primary metric may differ without importance."""
        return float(self._get_setting("margin", MARGIN))

    @property
    def quality(self) -> str | None:
        """Return the metric that must not be worse; `None` where none was named."""
        name = self._get_setting("quality", None)
        return None if name is None else str(name)

    @property
    def quality_margin(self) -> float:
        """Return the difference by which the recall of a mode may be lower than the reference's if
        its lower cost is to be a saving."""
        return float(self._get_setting("quality_margin", QUALITY_MARGIN))

    def _get_setting(self, name: str, otherwise: Any) -> Any:
        """Return the value of a setting; sessions of older versions have not all of them."""
        setting = self.settings.get(name)
        return setting.value if setting else otherwise

    def preregister(self) -> Self:
        """Name what the verdict is on, before there is a trial."""
        beforehand = Beforehand(
            verdict_version=VERDICT_VERSION,
            primary=self.primary,
            margin=self.margin,
            quality=self.quality,
            quality_margin=self.quality_margin,
            modes=tuple(self.arms),
            tasks=tuple(case.id for case in self.cases),
            runs=self.runs,
            tasks_sha256=self._digest_tasks({case.id for case in self.cases}),
            until_clear=bool(self._get_setting("until_clear", False)) or None,
        )
        return self.model_copy(update={"beforehand": beforehand.add_checksum()})

    def _digest_tasks(self, tasks: Collection[str]) -> str:
        cases = [case for case in self.cases if case.id in tasks]
        return _digest([_content(case) for case in cases])

    @property
    def tasks_changed(self) -> bool:
        """Whether tasks that were named are not as they were."""
        beforehand = self.beforehand
        if beforehand is None or beforehand.tasks_sha256 is None:
            return False
        return beforehand.tasks_sha256 != self._digest_tasks(set(beforehand.tasks))

    @property
    def chosen_afterwards(self) -> tuple[str, ...]:
        """The settings of the verdict that are not as they were named."""
        beforehand = self.beforehand
        if beforehand is None:
            return ()
        return tuple(
            name for name in VERDICT_SETTINGS if getattr(self, name) != getattr(beforehand, name)
        )


class InterimVerdicts(Stored):
    """What the verdicts were when a session was looked at."""

    blocks: int = Field(ge=1)
    """Number of blocks after which the session was looked at."""
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
    """Session as it was planned, if this one has only the first of its blocks: those that were run
    so far."""

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
        """Return the number of blocks after which the verdict stood; `None` where it does not
        stand."""
        last = self.looks[-1] if self.looks else None
        return last.blocks if last and last.stands else None

    @property
    def ends_after(self) -> int | None:
        """Return the number of blocks after which nothing more is run: a replay has no more than
        was recorded."""
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
