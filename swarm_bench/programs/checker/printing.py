"""Runs a whole program that reads and prints: what it prints is compared elsewhere."""

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarm_bench.programs.checker.confining import drop_capabilities, forbid_processes
else:
    from confining import drop_capabilities, forbid_processes

NOT_COMPILED = 97


def run(preamble: str, program: str) -> None:
    """Run the program behind its imports. To exit is no failure."""
    sys.set_int_max_str_digits(0)
    drop_capabilities()
    forbid_processes()
    try:
        code = compile(program, "<answer>", "exec")
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        sys.exit(NOT_COMPILED)
    names = {"__name__": "__main__"}
    exec(compile(preamble, "<imports>", "exec"), names)
    with contextlib.suppress(SystemExit):
        exec(code, names)
