"""Says whether a program that nobody trusts passes tests that somebody does.

The tests run here, and the program runs in a child that was forked before anything secret was read.
What crosses between them are plain values, so that nothing the program does to its own process
counts: neither how it ends, nor what it prints, patches, or says of equality. This folder is run by
itself, so it imports nothing else of ours. Standard input has a JSON object:

    candidate   the program, executed in the child
    helpers     code of the data set that is executed here before the tests
    exports     names of the program that the tests may use
    tests       executed here
    timeout     seconds for all of it
    number      goes back with the result: nobody who did not read the input has it

Standard output gets {"number", "end", "detail"}; `end` is one of `passed`, `failed`, `timeout` and
`exited`.
"""

import builtins
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.confining import drop_capabilities, forbid_processes, hide
    from swarm_bench.programs.checker.crossing import (
        LONGEST_DETAIL,
        Channel,
        Exited,
        Side,
        TimedOut,
    )
    from swarm_bench.programs.checker.printing import run
else:
    from confining import drop_capabilities, forbid_processes, hide
    from crossing import LONGEST_DETAIL, Channel, Exited, Side, TimedOut
    from printing import run

_namespace: dict[str, Any] = {"__name__": "candidate", "__builtins__": builtins}
"""Of the program: a guard for `__main__` does not fire."""


def _execute(code: str) -> None:
    exec(compile(code, "<answer>", "exec"), _namespace)


def _exported(names: list[str]) -> dict[str, Any]:
    return {name: _namespace[name] for name in names if name in _namespace}


def _call(of: Any, values: list[Any], named: dict[str, Any]) -> Any:
    return of(*values, **named)


_OPERATIONS: dict[str, Any] = {
    "execute": _execute,
    "exported": _exported,
    "call": _call,
    "get": getattr,
    "set": setattr,
    "items": list,
    "length": len,
    "item": lambda of, key: of[key],
    "truth": bool,
    "text": str,
}


def _child(reads: int, writes: int) -> None:
    """Do what is asked until nobody asks any more. Nothing of the other side is open here."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
    drop_capabilities()
    forbid_processes()
    side = Side(Channel(reads, writes), _OPERATIONS, imports=True)
    while True:
        side.answer(side.channel.receive())


def _forked() -> tuple[int, Channel]:
    """Start the child. Returns its number, and what leads to it."""
    down, up = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(down[1])
        os.close(up[0])
        try:
            _child(down[0], up[1])
        finally:
            os._exit(1)
    os.close(down[0])
    os.close(up[1])
    return child, Channel(up[0], down[1])


def _tested(channel: Channel, job: dict[str, Any]) -> tuple[str, str]:
    """Run the program and its tests, and say how that ended."""
    channel.deadline = time.monotonic() + job["timeout"]
    # The program may call what it was given, and nothing else: it could get at us otherwise.
    side = Side(channel, {"call": _call})
    names: dict[str, Any] = {"__name__": "tests"}
    try:
        side.ask("execute", job["candidate"])
        exec(compile(job["helpers"], "<helpers>", "exec"), names)
        for name in job["exports"]:
            names.pop(name, None)  # helpers may have one that is right
        exported = side.ask("exported", job["exports"])
        names.update({name: exported[name] for name in job["exports"] if name in exported})
        exec(compile(job["tests"], "<tests>", "exec"), names)
    except Exited:
        return "exited", "the program ended its process"
    except TimedOut:
        return "timeout", f"it took longer than {job['timeout']:g} s"
    except BaseException as error:  # noqa: BLE001  # tests raise what they find
        return "failed", f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]
    return "passed", ""


def main() -> None:
    if len(sys.argv) > 1:  # a whole program, and its imports
        run(*sys.argv[1:])
        return
    sys.set_int_max_str_digits(0)
    child, channel = _forked()
    hide()
    job = json.loads(sys.stdin.buffer.read())
    report = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # tests may print
    end, detail = _tested(channel, job)
    os.kill(child, signal.SIGKILL)
    os.write(report, json.dumps({"number": job["number"], "end": end, "detail": detail}).encode())
    os._exit(0)  # whatever the tests have left


if __name__ == "__main__":
    main()
