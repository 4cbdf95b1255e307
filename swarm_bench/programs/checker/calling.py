"""Tests that call names of a program."""

import os
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.allowance import Allowance, Exited, TimedOut
    from swarm_bench.programs.checker.crossing import LONGEST, LONGEST_DETAIL, Channel, Side
    from swarm_bench.programs.checker.nursery import CHANNEL, Nursery
    from swarm_bench.programs.checker.outer_view import ProgramNamespace
else:
    from allowance import Allowance, Exited, TimedOut
    from crossing import LONGEST, LONGEST_DETAIL, Channel, Side
    from nursery import CHANNEL, Nursery
    from outer_view import ProgramNamespace

_PACKED = 4
"""Times as long as in a test a value can be when it crosses."""


class CallTests:
    """The tests; each begins with nothing but the helpers."""

    name, how = "candidate", "called"
    """Name of the program's module (a guard for `__main__` does not fire), and how it is tested."""

    def __init__(self, nursery: Nursery, job: dict[str, Any]) -> None:
        self._nursery, self._job = nursery, job
        self._null = os.open(os.devnull, os.O_RDWR)
        self.tests: Sequence[str] = job["tests"]

    def run(self, test: str) -> dict[str, Any]:
        """Run a test on a new process of the program, and say how that ended."""
        parent_end, child_end = socket.socketpair()
        with parent_end, child_end:
            child = self._nursery.start(self._null, self._null, child_end.fileno())
            child_end.close()
            end, detail = self._run_test(parent_end, child, test)
        try:
            _, seconds = self._nursery.end(child)
            if end == "exited" and seconds > self._job["seconds"]:  # the kernel was faster than we
                end, detail = "timeout", f"it took longer than {self._job['seconds']:g} s"
        except Exited:  # the next test needs another nursery
            sentence = "the program ended its checker"
            return {"end": "exited", "detail": sentence, "seconds": self._job["seconds"]}
        return {"end": end, "detail": detail, "seconds": seconds}

    def _run_test(self, connection: socket.socket, child: int, test: str) -> tuple[str, str]:
        names: dict[str, Any] = {"__name__": "tests"}
        exports = self._job["exports"]
        try:
            allowance = Allowance(child, self._job["seconds"])
            channel = Channel(connection.fileno(), allowance, max(LONGEST, _PACKED * len(test)))
            # The program may call what it was given, and nothing else: it could get at us else.
            side = Side(channel, {"call": _call})
            side.ask("execute", self._job["candidate"])
            exec(compile(self._job["helpers"], "<helpers>", "exec"), names)
            for name in exports:
                names.pop(name, None)  # helpers may have one that is right
            exported = side.ask("exported", exports)
            names.update({name: exported[name] for name in exports if name in exported})
            exec(compile(test, "<tests>", "exec"), names)
        except Exited:
            return "exited", "the program ended its process"
        except TimedOut as error:
            return "timeout", str(error)
        except BaseException as error:  # noqa: BLE001  # tests raise what they find
            return "failed", f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]
        return "passed", ""


def serve_calls(namespace: ProgramNamespace, _program: str) -> None:
    """Do what is asked until there are no more requests. Nothing of the other side is open here."""
    names = namespace.names
    operations = {
        "execute": namespace.execute,
        "exported": lambda requested: {name: names[name] for name in requested if name in names},
        "call": _call,
        "get": getattr,
        "set": setattr,
        "items": list,
        "length": len,
        "item": lambda container, key: container[key],
        "await": _await,
        "truth": bool,
        "text": str,
    }
    side = Side(Channel(CHANNEL, longest=sys.maxsize), operations, imports=True)
    try:
        while True:
            side.answer(side.channel.receive())
    finally:
        os._exit(1)


def _await(awaitable: Any) -> Any:
    import asyncio  # most programs await nothing

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())


def _call(function: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
    return function(*values, **keywords)
