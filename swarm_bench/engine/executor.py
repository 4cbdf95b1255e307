"""Who runs the groups of a session, and who stores what they deliver. Neither does the other's."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeVar

from swarm_bench.core.events import Emit
from swarm_bench.core.session.base import BaseExperiment
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import Block, G

D = TypeVar("D")
J_in = TypeVar("J_in", contravariant=True)
J_out = TypeVar("J_out", covariant=True)
D_out = TypeVar("D_out", covariant=True)
D_in = TypeVar("D_in", contravariant=True)

Deliver = Callable[[D], Awaitable[None]]
"""Whoever delivers waits until it is stored. Raises `StoreError`."""


class Executor(Protocol[J_in, D_out]):
    """Runs the trials of a group, wherever that is: jobs and deliveries are plain data."""

    async def __call__(self, job: J_in, deliver: Deliver[D_out], /) -> None:
        """Run the trials of the group, and deliver what is known of each as soon as it ends.
        Cancelling it stops them; what they had done is delivered too."""
        ...


class GroupStore(Protocol[J_out, D_in]):
    """Stores what a group delivers."""

    @property
    def job(self) -> J_out:
        """The group as an executor is given it."""
        ...

    async def keep(self, delivery: D_in, /) -> None:
        """Store a delivery. Raises `StoreError`."""
        ...

    def check(self) -> None:
        """Raise the error with which the session must end after this group, if there is one."""
        ...


class Store(Protocol[G, J_out, D_in]):
    """Stores what the groups of a session deliver."""

    @property
    def experiment(self) -> BaseExperiment: ...

    @property
    def folder(self) -> Folder[Any, Any]: ...

    @property
    def emit(self) -> Emit: ...

    @property
    def to_continue(self) -> str:
        """The command that continues the session."""
        ...

    def turns(self, block: Block[G], /) -> Iterable[Block[G]]:
        """Yield the parts in which a block is to run, one after the other. Raises the error with
        which the session must end before one."""
        ...

    def of_group(self, group: G, /) -> GroupStore[J_out, D_in]:
        """Make what stores the deliveries of one group. Raises the error with which the session
        must end before it, if there is one."""
        ...
