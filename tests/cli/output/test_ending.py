"""Whatever ends a call: one sentence for each error, and a documented exit code."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.cli.output.ending import report_end
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
    assert report_end(error) == code
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()) == ("", said)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("compare --xyzzy", "There is no option --xyzzy; see: swarm-bench compare --help"),
        (
            "comapre",
            "There is no command 'comapre'; is it 'compare'?; see: swarm-bench",
        ),
        ("run", "NAME is missing; see: swarm-bench run --help"),
        ("compare --runs", "--runs needs a value; see: swarm-bench --help"),
        ("diff a b c", "unexpected: c; see: swarm-bench diff --help"),
        (
            "export x --format bogus",
            "--format: 'bogus' is not one of 'csv', 'json', 'junit', 'parquet', 'atif', 'inspect', "
            "'otel'; see: swarm-bench "
            "export --help",
        ),
        (
            "tasks make --count x",
            "--count must be a whole number; see: swarm-bench tasks make --help",
        ),
        ("tasks make --since x", "--since: 'x' is no day; write it as 2026-01-31"),
    ],
)
def test_a_wrong_command_line_ends_as_any_other_error(typed: str, sentence: str) -> None:
    command = Path(sys.executable).with_name("swarm-bench")
    done = subprocess.run([command, *typed.split()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"swarm-bench: {sentence}")


def test_a_terminal_breaks_no_word_and_no_command() -> None:
    """Sixty columns."""
    script = (
        "from swarm_bench.cli.output.ending import report_end\n"
        "from swarm_bench.core.errors import UsageError\n"
        "report_end(UsageError('$1.00 of --max-cost 1.2 is spent, so no other trial of baseline "
        "was started; raise the limit, or omit it; then continue with: swarm-bench compare "
        "--continue /a/very/long/folder/of/results'))\n"
    )
    read, write = pty.openpty()
    environment = {**os.environ, "COLUMNS": "60"}
    subprocess.run([sys.executable, "-c", script], stderr=write, env=environment, check=True)
    os.close(write)
    lines = os.read(read, 4096).decode().splitlines()
    os.close(read)
    assert all(len(line) <= 60 for line in lines[:-1])
    assert lines[-1] == "  swarm-bench compare --continue /a/very/long/folder/of/results"
    assert " ".join(lines[:-1]).endswith("or omit it; then continue with:")
