"""Lets a session remember what was made of it."""

from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Item = TypeVar("Item")
Asked = ParamSpec("Asked")


class _Remembering(Protocol):
    """A session, in the form that the analysis reads it in."""

    @property
    def memory(self) -> dict[Hashable, Any]: ...


Session = TypeVar("Session", bound=_Remembering)


def once(
    function: Callable[Concatenate[Session, Asked], Item],
) -> Callable[Concatenate[Session, Asked], Item]:
    """Let a session remember what a function of it gave: several parts of a report ask."""

    def remember(session: Session, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Item:
        key = (function, args, *kwargs.items())
        if key not in session.memory:
            session.memory[key] = function(session, *args, **kwargs)
        answer: Item = session.memory[key]
        return answer

    return remember
