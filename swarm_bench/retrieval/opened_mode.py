"""A mode opened in a clone, with a home and its service; what its tool changes there; and its
teardown."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.service import Service, open_running_service, start_service
from swarm_bench.retrieval.preparing import tear_down
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.workspaces.inventory import (
    Changes,
    Inventory,
    compare_inventories,
    take_inventory,
)

MOST_PATHS = 20
"""Unexpected paths that are stored."""


class OpenedMode:
    """Is open for the block. Its home is there before anything else and goes last, and its service
    ends before its teardown."""

    def __init__(
        self,
        tools: Tools,
        mode: Mode,
        workspace: Path,
        *,
        home: str = "home",
        tag: str,
        secrets: tuple[str, ...] | None = None,
    ) -> None:
        """Open it in `workspace`, with a home of that name if it runs anything beside its agents.
        What is started is marked with `tag`; no `secrets` are in what it says."""
        self.site = Site(
            tools=tools,
            mode=mode,
            workspace=workspace,
            secrets=tools.collect_secrets(mode) if secrets is None else secrets,
            tag=tag,
        )
        self.files_before: Inventory | None = None
        """The files of the clone when one looked at it first; `None` where nothing changes them."""
        self.teardown_failure: str | None = None
        """Reason why the teardown failed, as a clause."""
        self._name = home
        self._home_before = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Make its home. Raises `StoreError`."""
        mode = self.site.mode
        if mode.servers or mode.services or mode.prepare or mode.teardown:
            homes = self.site.tools.homes
            open_home = homes.open_home(self._name, keep=mode.keep, owner=mode.name)
            self.site = replace(self.site, home=await self._stack.enter_async_context(open_home))
        self._stack.push_async_callback(self._tear_down)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, traceback)

    async def start_service(self, *, log: Path, secrets: tuple[str, ...], tag: str = "") -> Service:
        """Start the service of the mode, or use one that already runs. Raises `ServiceFailed`."""
        site = self.site
        started = _make_service(site.tools, site.home, site.mode, tag, log=log, secrets=secrets)
        service = await self._stack.enter_async_context(started)
        self.site = replace(site, service=service)
        return service

    async def record_files(self) -> None:
        """Note which files are there, in the clone and in the home, if a tool can change them."""
        mode = self.site.mode
        if mode.servers or mode.services or mode.prepare:
            self.files_before = await anyio.to_thread.run_sync(take_inventory, self.site.workspace)
            self._home_before = await anyio.to_thread.run_sync(self._measure_home)

    async def find_changes(self) -> Changes:
        """Compare the clone with what it was."""
        now = await anyio.to_thread.run_sync(take_inventory, self.site.workspace)
        return compare_inventories(self.files_before or {}, now)

    async def measure_home_growth(self) -> int:
        """Return how many bytes more are in the home, where some tools keep their index."""
        return max(0, await anyio.to_thread.run_sync(self._measure_home) - self._home_before)

    def _measure_home(self) -> int:
        """Return 0 for the user's own home, which has other things in it."""
        home = Path(self.site.home.get("HOME", "/")).resolve()
        if not home.is_relative_to(self.site.tools.work.resolve()):
            return 0
        return sum(entry.size for entry in take_inventory(home).values())

    async def _tear_down(self) -> None:
        self.teardown_failure = await tear_down(self.site)


@asynccontextmanager
async def open_service(tools: Tools, log: Path) -> AsyncIterator[Service]:
    """Open the service of the modes for the block, in a home of its own, where no mode asks it.
    Raises `ServiceFailed`."""
    async with (
        tools.homes.open_home("home-service") as home,
        _make_service(tools, home, log=log, secrets=tools.collect_secrets()) as service,
    ):
        yield service


def _make_service(
    tools: Tools,
    home: Mapping[str, str],
    mode: Mode | None = None,
    tag: str = "",
    *,
    log: Path,
    secrets: tuple[str, ...],
) -> AbstractAsyncContextManager[Service]:
    if tools.service_url:
        return open_running_service(tools.service_url)
    return start_service(tools.build_service_command(home, mode, tag), log=log, secrets=secrets)
