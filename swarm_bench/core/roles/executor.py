"""The role of an executor: who runs the groups of a session, in this process or elsewhere."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

D = TypeVar("D")
J_in = TypeVar("J_in", contravariant=True)
D_out = TypeVar("D_out", covariant=True)

Deliver = Callable[[D], Awaitable[None]]
"""Function that delivers, and returns once the delivery is stored. Raises `StoreError`."""


class Executor(Protocol[J_in, D_out]):
    """Runs the trials of a group, wherever that is: jobs and deliveries are plain data."""

    async def __call__(self, job: J_in, deliver: Deliver[D_out], /) -> None:
        """Run the trials of the group, and deliver what is known of each as soon as it ends.
        Cancelling it stops them; what they had done is delivered too."""
        ...
