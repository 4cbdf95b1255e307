"""The role of an executor: who runs the groups of a session, in this process or elsewhere."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Generic, Protocol, TypeVar

from pydantic import TypeAdapter

from swarm_bench.core import entry_points
from swarm_bench.core.errors import (
    UnknownName,
    wrap_foreign_errors,
)
from swarm_bench.core.events import Emit
from swarm_bench.core.figures import LARGEST
from swarm_bench.core.listing import Check
from swarm_bench.core.session.base import Group, Machine
from swarm_bench.core.session.designs import LOCAL
from swarm_bench.core.stored import Stored

J = TypeVar("J")
D = TypeVar("D")
T = TypeVar("T")
J_in = TypeVar("J_in", contravariant=True)
D_out = TypeVar("D_out", covariant=True)

Deliver = Callable[[D], Awaitable[None]]
"""Function that delivers, and returns once the delivery is stored. Raises `StoreError`."""


OUT = "out"
"""Folder for the files of a benchmark, below the one that it works in on another machine."""
_LONGEST_NAME = 200
"""Characters."""
_OWN_PACKAGE = "swarm_bench.executors."
"""Modules whose errors are defects of swarm-bench."""


class Executor(Protocol[J_in, D_out]):
    """Runs the trials of a group, wherever that is: jobs and deliveries are plain data."""

    async def __call__(self, job: J_in, deliver: Deliver[D_out], /) -> None:
        """Run the trials of the group, and deliver what is known of each as soon as it ends.
        Cancelling it stops them; what they had done is delivered too."""
        ...


@dataclass(frozen=True)
class Host(Generic[J, D]):
    """Where a block runs, whole."""

    execute: Executor[J, D]
    node: str | None = None
    """Name of the machine; `None` for this one."""


@dataclass(frozen=True, kw_only=True)
class OpenedExecutor(Generic[J, D]):
    """What runs the blocks of a session."""

    reserve_host: Callable[[], AbstractAsyncContextManager[Host[J, D]]]
    """Finds the place of a block."""
    blocks_at_once: int = 1
    groups_at_once: int = 1
    """Groups of one block that run at the same time."""
    nodes: Mapping[str, Machine] = field(default_factory=dict)
    """Machines that they run on, by name, as `BaseExperiment.machine`; none for this one."""


def run_here(execute: Executor[J, D], groups_at_once: int = 1) -> OpenedExecutor[J, D]:
    """Return what runs one block after the other in this process."""
    return OpenedExecutor(
        reserve_host=lambda: nullcontext(Host(execute)), groups_at_once=groups_at_once
    )


class Portable(Protocol[J, D]):
    """Runs groups in another interpreter: all that they need is JSON."""

    @property
    def jobs(self) -> TypeAdapter[J]: ...

    @property
    def deliveries(self) -> TypeAdapter[D]: ...

    def unpacked(
        self, context: bytes, folder: Path, emit: Emit
    ) -> AbstractAsyncContextManager[Executor[J, D]]:
        """Open what runs groups, from the JSON that the session packed. It works below the folder,
        and its files go to `OUT` there."""
        ...

    def find_end(self, delivery: D) -> str | None:
        """Return the id of the trial that ends with a delivery; `None` for any other."""
        ...

    def find_group(self, job: J) -> Group[Any]:
        """Return the trials of a job: no other is told of by another machine."""
        ...

    def owns_file(self, job: J, file: PurePosixPath) -> bool:
        """Tell whether a file of that name, below the folder of the session, can be of one of the
        trials of a group, or of what it set up: no other is taken from another machine."""
        ...

    def describe_lost(self, job: J, finished_ids: Collection[str], detail: str) -> Iterator[D]:
        """Yield what is delivered of a group whose node was lost: the end of each of its trials
        that has none yet."""
        ...


@dataclass(frozen=True, kw_only=True)
class PackedSession:
    """A session as plain data, to be run by workers elsewhere."""

    benchmark: str
    """Name of the `Portable` that runs its groups, or `module:Class`."""
    portable: Portable[Any, Any]
    context: bytes
    """JSON that it is opened with; no key is in it."""
    out: Path
    """Folder for the files of its trials."""
    emit: Emit


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a machine has to have."""

    agents_at_once: int = 1
    """Programs that one block starts at the same time."""

    programs: tuple[str, ...] = ()
    """Programs on its PATH."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Variables of which one has to be set, for each thing that takes a key."""
    memory_mb: int | None = None
    """`None` where nobody knows; it is not checked then."""
    disk_mb: int | None = None
    """The same."""
    agents: tuple[str, ...] = ()
    """Names of agents, whose programs are asked for their versions."""
    optional_programs: tuple[str, ...] = ()
    """Programs that some sessions use: it is said whether they are there."""
    optional_keys: tuple[str, ...] = ()
    """Variables that can be of use: it is said which are set."""


_Opening = AbstractAsyncContextManager[OpenedExecutor[Any, Any]]
OpenPacked = Callable[[PackedSession], _Opening]
"""Opens what runs the groups of a session elsewhere. Raises `UsageError` and `HarnessError` where
that cannot be."""


class ExecutorKind(Protocol):
    """What `--on` names; packages register theirs as `swarm_bench.executors`. It is made without
    arguments, or with what stands behind a colon."""

    def connect(self, needs: Needs, emit: Emit) -> AbstractAsyncContextManager[OpenPacked]:
        """Reach the machines for the block, before anything is paid for, and examine them. Yields
        what opens a session there, and another one when that has ended. Raises `UsageError`
        where none can be reached, and `HarnessError` that names a machine which lacks something."""
        ...

    async def examine(self, needs: Needs) -> list[Check]:
        """Return what each machine has, and what to do about what it lacks: a problem where it
        cannot run a session with these needs. Raises `UsageError` where none can be reached."""
        ...


def check_executor_name(name: str) -> None:
    """Raise `UnknownName` for a name that no package registers; nothing is imported, nor looked for
    in the working folder."""
    names = [plugin.name for plugin in entry_points.list_plugins("executors")]
    if name != LOCAL and not entry_points.is_class("executors", name) and name not in names:
        raise UnknownName("executor", name, [LOCAL, *names])


def find_executor_kind(name: str) -> ExecutorKind:
    """Return what `--on` names, but for this process; what it gives is checked. Raises as
    `entry_points.make` does, and `ConfigError` for what is no executor."""
    check_executor_name(name)
    with _wrap_errors(name, "cannot be made"):
        kind = entry_points.make("executors", name)
        for method in ("connect", "examine"):
            if not callable(getattr(kind, method, None)):
                raise TypeError(f"it has no {method}()")
    is_own = type(kind).__module__.startswith(_OWN_PACKAGE)
    return kind if is_own else _CheckedKind(name, kind)


def find_executor(name: str) -> ExecutorKind | None:
    """Return what `--on` names; `None` for this process. Raises as `find_executor_kind` does."""
    return None if name == LOCAL else find_executor_kind(name)


@dataclass(frozen=True)
class _CheckedKind:
    """An executor of somebody else: what it raises and gives is checked."""

    name: str
    kind: ExecutorKind

    @asynccontextmanager
    async def connect(self, needs: Needs, emit: Emit) -> AsyncIterator[OpenPacked]:
        """Reach the machines. Raises `ConfigError` for what is no executor."""
        make = partial(self.kind.connect, needs, emit)
        async with self._enter("connect()", make, _check_open_packed) as open_packed:
            yield partial(self._open_session, open_packed)

    @asynccontextmanager
    async def _open_session(
        self, open_packed: OpenPacked, session: PackedSession
    ) -> AsyncIterator[OpenedExecutor[Any, Any]]:
        opening = self._enter("opening a session", partial(open_packed, session), _check_opened)
        async with opening as executor:
            yield replace(
                executor,
                nodes=_check_nodes(executor.nodes),
                reserve_host=lambda: self._enter(
                    "reserve_host()", executor.reserve_host, _check_host
                ),
            )

    async def examine(self, needs: Needs) -> list[Check]:
        """Return what each machine has. Raises `ConfigError` for what is no executor."""
        with _wrap_errors(self.name, "examine() fails"):
            checks = await self.kind.examine(needs)
            if not isinstance(checks, list) or not all(isinstance(item, Check) for item in checks):
                raise TypeError(f"it returns {checks!r}, and no list of Check")
        return checks

    @asynccontextmanager
    async def _enter(
        self,
        method: str,
        make: Callable[[], AbstractAsyncContextManager[T]],
        check: Callable[[T], None],
    ) -> AsyncIterator[T]:
        """Open what a method makes. What the block raises passes untouched."""
        has_ended = False
        try:
            async with AsyncExitStack() as stack:
                with _wrap_errors(self.name, f"{method} fails"):
                    value = await stack.enter_async_context(make())
                    check(value)
                yield value
                has_ended = True
        except Exception:
            if has_ended:
                with _wrap_errors(self.name, f"{method} does not end well"):
                    raise
            raise


def _check_open_packed(value: Any) -> None:
    if not callable(value):
        raise TypeError(f"it yields {value!r}, and nothing that opens a session")


class _Nodes(Stored):
    nodes: dict[str, Machine]


def _check_opened(executor: Any) -> None:
    """Raise `TypeError` and `ValueError` for what runs nothing."""
    if not isinstance(executor, OpenedExecutor):
        raise TypeError(f"it yields {executor!r}, and no OpenedExecutor")
    if not callable(executor.reserve_host):
        raise TypeError("its reserve_host is no function")
    for number in (executor.blocks_at_once, executor.groups_at_once):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"with {number!r} blocks or groups at once it runs nothing")
    _check_nodes(executor.nodes)


def _check_nodes(nodes: Any) -> dict[str, Machine]:
    checked = _Nodes(nodes=dict(nodes)).nodes
    for name, machine in checked.items():
        _check_name(name)
        for key, value in machine.items():
            if not isinstance(value, str) and abs(value) > LARGEST:
                raise ValueError(f"the {key} of {name} is out of range")
    return checked


def _check_host(host: Any) -> None:
    if not isinstance(host, Host) or not callable(host.execute):
        raise TypeError(f"it yields {host!r}, and no Host")
    if host.node is not None:
        _check_name(host.node)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise ValueError(f"{str(name)[:_LONGEST_NAME]!r} cannot be the name of a node")


def _wrap_errors(name: str, clause: str) -> AbstractContextManager[None]:
    """Name the executor in what its own code raises. Raises `ConfigError`."""
    return wrap_foreign_errors(f"--on {name}:", clause)
