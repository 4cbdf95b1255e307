"""The life of a session, whatever its kind: it is prepared, runs in a process that ends what it
started, and has a summary, also after an error."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

import anyio

from swarm_bench.analysis.statistics.formulas import load_functions
from swarm_bench.app.result import SessionResult, Stop, count_ends
from swarm_bench.app.setup.folders import make_results_folder
from swarm_bench.app.stored.pages import write_last_page
from swarm_bench.app.stored.session import StoredSession, open_session
from swarm_bench.core.errors import HarnessError, StoreError
from swarm_bench.core.events import Emit
from swarm_bench.core.interruption import cancelling, restoring_handlers
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.core.session.designs import LOCAL
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import Block
from swarm_bench.reports.plan_text import render_plan
from swarm_bench.runtime.files import hold_lock
from swarm_bench.runtime.ownership import OWNER, this_owner
from swarm_bench.runtime.processes.guard import run_guard
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads

F = TypeVar("F", bound=Folder[Any, Any])
R = TypeVar("R", bound=SessionResult)
_NODES = (
    "those of {on}, one block at a time on each; a plan does not reach them: swarm-bench doctor "
    "--on {on} says what each has"
)
STOPS = get_args(Stop)
"""Reasons for which a session ends in order, before its end."""


class Ready(ABC, Generic[F, R]):
    """A session that is prepared: what its kind does from here on."""

    @abstractmethod
    def plan(self, continued: F | None) -> Plan:
        """Describe what would run."""

    @abstractmethod
    def to_continue(self, folder: F) -> str:
        """Return the command that continues the session."""

    @abstractmethod
    def remember(self, emit: Emit) -> None:
        """Note what this user has made, which they need not be asked about again."""

    @abstractmethod
    async def execute(self, folder: F, emit: Emit) -> bool:
        """Run to the end, or to an interruption: then it is true. Raises what ends the session
        before its end."""

    def open_stored(self, folder: F) -> StoredSession:
        """Open what is stored of it."""
        return open_session(folder.path)

    def report(self, folder: F) -> RenderedDocument:
        """Write the summary as it stands."""
        return self.open_stored(folder).report()

    @abstractmethod
    def blocks(self) -> Sequence[Block[Any]]:
        """Return the plan by which it ended."""

    @abstractmethod
    def complete(self, result: SessionResult, folder: F) -> R:
        """Add what results of this kind have beside."""


class Call(ABC, Generic[F, R]):
    """A call that begins a session, or continues one."""

    @property
    @abstractmethod
    def stem(self) -> str:
        """The name of a new folder begins with it."""

    @property
    @abstractmethod
    def output(self) -> Path | None:
        """The folder that was named for a new session."""

    @property
    @abstractmethod
    def resume(self) -> Path | None:
        """The folder of the session that is continued."""

    @property
    @abstractmethod
    def on(self) -> str:
        """The executor that was named."""

    @abstractmethod
    def open_folder(self, path: Path) -> F:
        """Return the folder of a session of this kind."""

    def check_unchanged(self, continued: F) -> None:
        """Raise `UsageError` where another call changed the session since this one read it."""

    @abstractmethod
    def prepare(
        self, continued: F | None, emit: Emit | None
    ) -> AbstractAsyncContextManager[Ready[F, R]]:
        """Prepare all that needs no folder. Without `emit` it is only to be looked at. What it
        does before it returns is outside of the event loop, for plug-ins that start one. Raises
        `UsageError` for what the options rule out."""


def run(call: Call[F, R], emit: Emit) -> R:
    """Run the session, or what remains of the one that is continued."""
    with manage_child_processes(), hold(call, writes=True) as continued:
        return anyio.run(_run, call, continued, call.prepare(continued, emit), emit)


def show_plan(call: Call[F, R], width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of that `width`. Nothing that costs is started, and
    nothing stays."""
    with cancelling(), hold(call, writes=False) as continued:
        plan = anyio.run(_plan, continued, call.prepare(continued, None))
    if call.on != LOCAL:
        nodes = Entry(label="Nodes", texts=(_NODES.format(on=call.on),))
        plan = replace(plan, entries=(*plan.entries, nodes))
    return render_plan(plan, width)


def check_output(call: Call[F, R]) -> None:
    """Refuse an `--output` that is in use before anything else is done. Raises `UsageError`."""
    if call.output is not None:
        call.open_folder(call.output.expanduser()).check_free()


def make_folder(call: Call[F, R]) -> F:
    """Make a new folder: `--output`, or one below `results/` named after the time. Raises
    `UsageError` when it cannot be made."""
    check_output(call)
    output = call.output and call.output.expanduser()
    folder = call.open_folder(output or make_results_folder(call.stem))
    folder.make()
    return folder


@contextmanager
def hold(call: Call[F, R], *, writes: bool) -> Iterator[F | None]:
    """Hold the folder of the session that is continued. Raises `UsageError`."""
    check_output(call)
    continued = call.open_folder(call.resume) if call.resume else None
    # Before anything else: both would work in the same place.
    with hold_lock(continued.lock, writes=writes) if continued else nullcontext():
        if continued:
            call.check_unchanged(continued)
        if continued and writes:
            continued.make_room()
        yield continued


async def _plan(continued: F | None, prepared: AbstractAsyncContextManager[Ready[F, R]]) -> Plan:
    async with prepared as ready:
        return ready.plan(continued)


async def _run(
    call: Call[F, R],
    continued: F | None,
    prepared: AbstractAsyncContextManager[Ready[F, R]],
    emit: Emit,
) -> R:
    stopped: Stop | None = None
    async with prepared as ready:
        folder = continued or make_folder(call)
        command = ready.to_continue(folder)
        with nullcontext() if continued else _hold_new(folder):
            if not continued:
                folder.check_free()  # another one may have come and gone meanwhile
            with summarise_on_failure(folder, partial(ready.report, folder), command):
                ready.remember(emit)
                try:
                    interrupted = await ready.execute(folder, emit)
                except STOPS as error:
                    interrupted, stopped = False, error
                summary = ready.report(folder)
            write_last_page(ready.open_stored(folder), summary.document, emit)
    result = SessionResult(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        interrupted=interrupted,
        end_counts=count_ends(folder, ready.blocks()),
        stopped=stopped,
    )
    return ready.complete(result, folder)


@contextmanager
def _hold_new(folder: Folder[Any, Any]) -> Iterator[None]:
    """Hold a new folder, which goes where nothing was begun in it."""
    with hold_lock(folder.lock):
        try:
            yield
        except BaseException:
            if not folder.holds_session():
                folder.remove_if_empty()
            raise


@contextmanager
def manage_child_processes() -> Iterator[None]:
    """Let this process start many others for the block; those that remain end with it. Raises
    `HarnessError` when foreign code in it leaves by `SystemExit`, which is no success."""
    raise_limit()
    wait_without_threads()
    with (
        cancelling(),
        restoring_handlers(),
        run_guard(f"{OWNER}={this_owner()}"),
        _refuse_system_exit(),
    ):
        yield


@contextmanager
def summarise_on_failure(
    folder: Folder[Any, Any], write_summary: Callable[[], object], to_continue: str
) -> Iterator[None]:
    """Write the summary of what there is when the block raises. Raises `StoreError` that names the
    command that continues the session."""
    load_functions()  # now, when nobody waits for the summary and no agent is measured yet
    try:
        with _refuse_system_exit():
            yield
    except StoreError as error:
        if not folder.holds_session():
            raise StoreError(f"{error}; then repeat the command") from error
        with suppress(StoreError):  # the disk may have room for a summary, or not
            write_summary()
        raise StoreError(f"{error}; then continue with: {to_continue}") from error
    except Exception:
        if folder.holds_session():
            write_summary()
        raise


@contextmanager
def _refuse_system_exit() -> Iterator[None]:
    """Turn the `SystemExit` of foreign code into a `HarnessError`: it is no success."""
    try:
        yield
    except (SystemExit, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and (
            error.subgroup(KeyboardInterrupt) or not error.subgroup(SystemExit)
        ):
            raise
        raise HarnessError(
            "An adapter, a benchmark or another part of your own ended the session by SystemExit; "
            "fix it, then repeat the command, or continue the session"
        ) from error
