"""Tests of problems of contests, what programs print, and what a checker says of them."""

from pathlib import Path

from swarm_bench.benchmarks.cases.problems import Problem, is_same_output
from swarm_bench.environments.python_tests import read_report
from tests.fuzz.parts import joined, parts

PROBLEMS = [
    b'{"inputs": ["1\\n", ["2", "3"]], "outputs": ["1\\n", [4]]}',
    b'{"fn_name": "f", "inputs": [[1, {"2": []}]], "outputs": [[NaN, 1e5]]}',
]
OUTPUTS = [
    joined(b"1000000007 0.5\n2 1\n", b"1000000007.0 0.50\n1 2"),
    joined(b"x -0 1e-5 inf\n", b"x 0 1E-05 nan\n"),
]
REPORTS = [
    b'{"number": "a", "end": "ended", "detail": "", "seconds": 0.1, "printed": "MQ=="}\n',
    b'{"number": "a", "end": "passed", "seconds": 1}\n{"number": "b", "end": "passed"}\n',
]


def problem(data: bytes, _: Path) -> None:
    """Those that can be read have an output for each input."""
    read = Problem.read(data.decode(errors="replace"))
    assert read is None or len(read.inputs) == len(read.outputs) > 0


def output(data: bytes, _: Path) -> None:
    """Any text is the same as itself."""
    printed, expected = (it.decode(errors="replace") for it in parts(data, 2))
    for parity in (False, True):
        assert is_same_output(printed, printed, parity=parity)
        is_same_output(printed, expected, parity=parity)


def checked(data: bytes, _: Path) -> None:
    """Nothing counts behind a line that is not the checker's."""
    text = data.decode(errors="replace")
    assert not read_report(text, "not in it" + text)
    assert len(read_report(text, "a")) <= len(text.splitlines())
