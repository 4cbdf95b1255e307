"""Check of whether an untrusted program passes trusted tests.

The tests run here, and the program runs in a child of a process that was forked before anything
secret was read: in a new one for each test. What crosses between them are plain values, so that
nothing the program does to its own process counts: neither how it ends, nor what it prints,
patches, or says of equality. This folder is run by itself, so it imports nothing else of ours.
Standard input has a JSON object:

    preamble    executed in the program's module before it, once for all tests
    candidate   the program
    seconds     of processor time that it may take in a test
    in_all      seconds of all tests, after which no other is run; null for none
    number      goes back with each result: nobody who did not read the input has it

and what makes up the tests, either of a program whose names are called

    helpers     code of the data set that is executed here before each test
    exports     names of the program that the tests may use
    tests       each executed here

or of one that reads and prints:

    inputs      of each test

Beside them stands `output_bytes`, of each file that the program writes or prints.

Standard output gets a line for each test that was run, {"number", "end", "detail", "seconds",
"printed"}. `end` is one of `passed`, `failed`, `timeout` and `exited`; of a program that prints,
which whoever knows what is expected compares, also `ended`, `uncompiled` and `output`. There are
fewer lines than tests where one has left something that the next could see, or printed much: the
others need an environment of their own.
"""

import base64
import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.allowance import Exited
    from swarm_bench.programs.checker.calling import CallTests, serve_calls
    from swarm_bench.programs.checker.confining import forbids_processes, hide
    from swarm_bench.programs.checker.nursery import Nursery
    from swarm_bench.programs.checker.places import Folders
    from swarm_bench.programs.checker.printing import PrintTests, run_program
else:
    from allowance import Exited
    from calling import CallTests, serve_calls
    from confining import forbids_processes, hide
    from nursery import Nursery
    from places import Folders
    from printing import PrintTests, run_program

_MOST_PRINTED = 4 * 1024 * 1024
"""Bytes of all tests together."""


def main() -> None:
    """Run the tests one by one."""
    sys.set_int_max_str_digits(0)
    hide()
    nursery = Nursery({"called": serve_calls, "printing": run_program})
    job = json.loads(sys.stdin.buffer.read())
    report = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # tests may print
    with suppress(Exited):
        _run(nursery, job, report)
    os._exit(0)  # whatever the tests have left


def _run(nursery: Nursery, job: dict[str, Any], report: int) -> None:
    folders = Folders()
    suite = PrintTests(nursery, job, folders) if "inputs" in job else CallTests(nursery, job)
    form = {name: job[name] for name in ("preamble", "candidate", "seconds", "output_bytes")}
    broken = nursery.prepare({**form, "name": suite.name, "run": suite.how})
    initial_state, printed, seconds = folders.describe(), 0, 0.0
    for test in suite.tests:
        result = _build_failure(broken) if broken else suite.run(test)
        output = result.pop("printed", b"")
        encoded = base64.b64encode(output).decode()
        line = {**result, "number": job["number"], "printed": encoded}
        _write(report, json.dumps(line).encode() + b"\n")
        late = result["end"] == "timeout"
        seconds += max(result["seconds"], job["seconds"]) if late else result["seconds"]
        if job["in_all"] is not None and seconds > job["in_all"]:
            return
        printed += len(output)
        if (
            not forbids_processes()
            or printed > _MOST_PRINTED
            or folders.describe() != initial_state
        ):
            return


def _build_failure(detail: str) -> dict[str, Any]:
    return {"end": "failed", "detail": detail, "seconds": 0.0}


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main()
