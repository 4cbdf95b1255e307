"""Whatever ends a call: one sentence for each error, and a documented exit code."""

import pytest

from swarm_bench.cli.output.ending import ending
from swarm_bench.core.errors import GateFailed, StoreError, UsageError

FULL = StoreError("out could not be written: No space left on device; make room")
CASES = {
    "an error of ours": (UsageError("no such mode"), 2, ["swarm-bench: no such mode"]),
    "in a group of groups": (
        BaseExceptionGroup("a", [ExceptionGroup("b", [FULL])]), 3, [f"swarm-bench: {FULL}"],
    ),
    "the same of two tasks": (ExceptionGroup("a", [FULL, FULL]), 3, [f"swarm-bench: {FULL}"]),
    "two that differ": (
        ExceptionGroup("a", [GateFailed("one"), OSError(28, "No space left", "b")]),
        4,
        ["swarm-bench: one", "swarm-bench: b: No space left; fix that"],
    ),
    "an interruption beside an error": (
        BaseExceptionGroup("a", [FULL, KeyboardInterrupt()]), 130, [],
    ),
    "the exit of a command": (SystemExit(4), 4, []),
    "a defect": (
        ZeroDivisionError("by zero"),
        3,
        [
            "swarm-bench: a defect of swarm-bench ended this: ZeroDivisionError: by zero; "
            "SWARM_BENCH_DEBUG=1 shows where, please report it"
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("error", "code", "said"), CASES.values(), ids=CASES)
def test_how_a_call_ends(
    error: BaseException, code: int, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(error) == code
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()) == ("", said)
