"""What becomes known of a swarm while it runs, and its line in `retrieval.jsonl`; what is done to
its clone before its agents start, and what its tool changes there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.session.experiment import stable_id
from swarm_bench.retrieval.opened_mode import MOST_PATHS, OpenedMode
from swarm_bench.retrieval.preparing import call, prepare
from swarm_bench.retrieval.probes.readings import Reading
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.sink import clean_value
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.inventory import (
    Changes,
    Inventory,
    compare_inventories,
    copy_paths,
    find_folders,
    instructions,
    take_inventory,
)


@dataclass(kw_only=True)
class SwarmState:
    """What becomes known of one attempt at a swarm, under the keys that it has in its record."""

    attempt: int
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    workspace_seconds: float | None = None
    service_seconds: float | None = None
    index_seconds: float | None = None
    index_bytes: int | None = None
    index_copied: bool | None = None
    warm_up_seconds: float | None = None
    brought: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    unexpected_count: int | None = None
    instructions_changed: tuple[str, ...] = ()
    teardown_failure: str | None = None
    backend: str | None = None
    before: dict[str, Reading] = field(default_factory=dict)
    after: dict[str, Reading] = field(default_factory=dict)
    difference: dict[str, Reading] = field(default_factory=dict)
    failure: str | None = None


class WorkspacePreparation:
    """Of one swarm, whose story it adds to. Modes without a tool have none."""

    def __init__(self, kit: Kit, swarm: Swarm, tool: OpenedMode, state: SwarmState) -> None:
        self._kit = kit
        self._mode = kit.experiment.mode(swarm.arm)
        self._commit = swarm.commit
        self._tool = tool
        self._state = state
        self._changes: Changes | None = None
        self._instructions: Inventory | None = None
        self.seconds: float | None = None
        """What the preparation took; of a copied one, when it was made."""

    @property
    def has_preparation(self) -> bool:
        """Whether its preparation runs before the agents start."""
        return self._kit.experiment.prepares(self._mode)

    @property
    def created_files(self) -> tuple[str, ...]:
        """What appeared or changed in the clone before its agents."""
        change = self._changes
        return (*change.appeared, *change.changed) if change and self.has_preparation else ()

    async def begin(self) -> None:
        """Look at the clone before anything is done to it."""
        await self._tool.record_files()
        brought = find_folders(self._tool.files_before or (), self._mode.may_create)[:MOST_PATHS]
        self._state.brought = clean_value(brought, self._kit.secrets)

    async def prepare(self) -> None:
        """Prepare the clone, or copy what was made in an earlier one, and warm the tool up. Raises
        `HarnessError`."""
        step, site = self._mode.prepare, self._tool.site
        if step is not None and self.has_preparation:
            if step.copyable and (earlier := self._read_earlier()) is not None:
                await anyio.to_thread.run_sync(self._copy, earlier)
            else:
                self.seconds = await prepare(site)
                self._state.index_copied = False
                if step.copyable:
                    await anyio.to_thread.run_sync(self._save)
        if self._mode.warm_up is not None:
            self._state.warm_up_seconds = await call(site, self._mode.warm_up)

    async def record_changes(self) -> None:
        """Compare the clone with what it was before."""
        if self._tool.files_before is None:
            return
        self._changes = change = await self._tool.find_changes()
        self._instructions = instructions(self._kit.workspace)
        home_bytes = await self._tool.measure_home_growth()
        if self.has_preparation or self._mode.services:
            self._state.index_bytes = change.bytes + home_bytes
        unexpected = change.list_unexpected(self._mode.may_create)
        self._state.unexpected = clean_value(unexpected[:MOST_PATHS], self._kit.secrets)
        self._state.unexpected_count = len(unexpected)

    def record_instruction_changes(self) -> None:
        """Note which instructions for agents have changed since the agents started."""
        if self._instructions is not None:
            change = compare_inventories(self._instructions, instructions(self._kit.workspace))
            paths = (*change.appeared, *change.changed, *change.removed)[:MOST_PATHS]
            self._state.instructions_changed = clean_value(paths, self._kit.secrets)

    @property
    def _store(self) -> Path:
        # Agents can read the name: it does not say which commit it is.
        content = (
            "own" if self._commit is None else stable_id(self._kit.tools.service_key, self._commit)
        )
        return self._kit.work / "prepared" / self._mode.name / content

    def _read_earlier(self) -> dict[str, Any] | None:
        file = self._store / "made.json"
        if not file.exists():
            return None
        earlier: dict[str, Any] = json.loads(read(file))
        return earlier

    def _save(self) -> None:
        workspace = self._kit.workspace
        change = compare_inventories(self._tool.files_before or {}, take_inventory(workspace))
        paths = (*change.appeared, *change.changed)
        copy_paths(workspace, self._store / "files", paths)
        content = {"seconds": self.seconds, "paths": paths}
        write_whole(self._store / "made.json", json.dumps(content))

    def _copy(self, earlier: Mapping[str, Any]) -> None:
        copy_paths(self._store / "files", self._kit.workspace, earlier["paths"])
        self.seconds, self._state.index_copied = earlier["seconds"], True
