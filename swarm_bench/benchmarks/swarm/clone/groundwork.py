"""What is done to a swarm's clone before its agents start, and what its tool changed in it."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.surroundings import Surroundings
from swarm_bench.core.events import Trouble
from swarm_bench.core.session.experiment import stable_id
from swarm_bench.retrieval.preparing import Site, call, prepare, tear_down
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.inventory import (
    Changes,
    Inventory,
    changes,
    copy_below,
    folders_like,
    instructions,
    inventory,
)

MOST_PATHS = 20
"""Unexpected paths that are stored."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the groundwork adds to the record of its swarm, under the keys that it has there."""

    index_bytes: int | None
    index_copied: bool | None
    warm_up_seconds: float | None
    brought: tuple[str, ...]
    unexpected: tuple[str, ...]
    unexpected_count: int | None
    instructions_changed: tuple[str, ...]
    teardown_failure: str | None


class Groundwork:
    """Of one swarm. Modes without a tool have none."""

    def __init__(
        self, kit: Kit, swarm: Swarm, tag: str, around: Callable[[], Surroundings]
    ) -> None:
        """Mark its processes with `tag`; `around` returns the surroundings as they are by then."""
        self._kit = kit
        self._mode = kit.experiment.mode(swarm.arm)
        self._commit = swarm.commit
        self._tag = tag
        self._surroundings = around
        self._before: Inventory | None = None
        self._changes: Changes | None = None
        self._instructions: Inventory | None = None
        self._instructions_changed: tuple[str, ...] = ()
        self._home_before = 0
        self._home_bytes = 0
        self._copied: bool | None = None
        self._warm_up_seconds: float | None = None
        self._teardown_failure: str | None = None
        self.seconds: float | None = None
        """What the preparation took; of a copied one, when it was made."""

    @property
    def runs_programs(self) -> bool:
        """Whether anything beside the agents runs in its swarm, which needs a home."""
        mode = self._mode
        return bool(mode.servers or mode.services or mode.prepare or mode.teardown)

    @property
    def prepares(self) -> bool:
        """Whether its preparation runs before the agents start."""
        return self._kit.experiment.prepares(self._mode)

    @property
    def made(self) -> tuple[str, ...]:
        """What appeared or changed in the clone before its agents."""
        change = self._changes
        return (*change.appeared, *change.changed) if change and self.prepares else ()

    @property
    def figures(self) -> Ground:
        """What it adds to the record of the swarm."""
        change = self._changes
        unexpected = change.without(self._mode.may_create) if change else ()
        indexed = self.prepares or bool(self._mode.services)
        figures = Ground(
            index_bytes=change.bytes + self._home_bytes if change and indexed else None,
            index_copied=self._copied,
            warm_up_seconds=self._warm_up_seconds,
            brought=folders_like(self._before or (), self._mode.may_create)[:MOST_PATHS],
            unexpected=unexpected[:MOST_PATHS],
            unexpected_count=len(unexpected) if change else None,
            instructions_changed=self._instructions_changed,
            teardown_failure=self._teardown_failure,
        )
        return cleaned(figures, self._kit.secrets)

    @asynccontextmanager
    async def around(self) -> AsyncIterator[None]:
        """Let the tool work in the clone; the teardown ends that."""
        if self._mode.servers or self._mode.services or self._mode.prepare:
            self._before = await anyio.to_thread.run_sync(inventory, self._kit.workspace)
            self._home_before = await anyio.to_thread.run_sync(self._size_of_home)
        try:
            yield
        finally:
            if self._mode.teardown:
                self._teardown_failure = await tear_down(self._site())
                if self._teardown_failure is not None:
                    message = f"{self._mode.name}: its teardown failed: {self._teardown_failure}"
                    self._kit.emit(Trouble(message=message))

    async def lay(self) -> None:
        """Prepare the clone, or copy what was made in an earlier one, and warm the tool up. Raises
        `HarnessError`."""
        step, site = self._mode.prepare, self._site()
        if step is not None and self.prepares:
            if step.copyable and (made := self._made_before()) is not None:
                await anyio.to_thread.run_sync(self._copy, made)
            else:
                self.seconds = await prepare(site)
                self._copied = False
                if step.copyable:
                    await anyio.to_thread.run_sync(self._save)
        if self._mode.warm_up is not None:
            self._warm_up_seconds = await call(site, self._mode.warm_up)

    async def look(self) -> None:
        """Compare the clone with what it was before."""
        if self._before is not None:
            now = await anyio.to_thread.run_sync(inventory, self._kit.workspace)
            self._changes = changes(self._before, now)
            self._instructions = instructions(self._kit.workspace)
            more = await anyio.to_thread.run_sync(self._size_of_home) - self._home_before
            self._home_bytes = max(0, more)

    def look_again(self) -> None:
        """Note which instructions for agents have changed since the agents started."""
        if self._instructions is not None:
            change = changes(self._instructions, instructions(self._kit.workspace))
            self._instructions_changed = (*change.appeared, *change.changed, *change.gone)[
                :MOST_PATHS
            ]

    def _size_of_home(self) -> int:
        """Measure the home of the servers, where some tools keep their index; 0 for the user's own
        home, which has other things in it."""
        home = Path(self._surroundings().home.get("HOME", "/")).resolve()
        if not home.is_relative_to(self._kit.work.resolve()):
            return 0
        return sum(entry.size for entry in inventory(home).values())

    def _site(self) -> Site:
        kit, around = self._kit, self._surroundings()
        return Site(
            mode=self._mode,
            workspace=kit.workspace,
            env={**kit.environment({}), **kit.agent_env},
            home=around.of_servers,
            values=around.placeholders,
            variables=kit.variables,
            secrets=kit.secrets,
            tag=self._tag,
            timeout=kit.experiment.limits.index_timeout,
        )

    @property
    def _store(self) -> Path:
        # Agents can read the name: it does not say which commit it is.
        content = "own" if self._commit is None else stable_id(self._kit.service_key, self._commit)
        return self._kit.work / "prepared" / self._mode.name / content

    def _made_before(self) -> dict[str, Any] | None:
        file = self._store / "made.json"
        if not file.exists():
            return None
        made: dict[str, Any] = json.loads(read(file))
        return made

    def _save(self) -> None:
        workspace = self._kit.workspace
        change = changes(self._before or {}, inventory(workspace))
        paths = (*change.appeared, *change.changed)
        copy_below(workspace, self._store / "files", paths)
        made = {"seconds": self.seconds, "paths": paths}
        write_whole(self._store / "made.json", json.dumps(made))

    def _copy(self, made: Mapping[str, Any]) -> None:
        copy_below(self._store / "files", self._kit.workspace, made["paths"])
        self.seconds, self._copied = made["seconds"], True
