"""The program that says whether an answer passes: run by itself, with nothing that confines it."""

import base64
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import swarm_bench.environments.python_tests as python_tests
from tests.environments.programs import FOOLING, LOOKS, RIGHT, STARTS, TESTS

CHECKER = Path(python_tests.__file__).parents[1] / "programs" / "checker"


def reported(**job: Any) -> list[dict[str, Any]]:
    """Return the lines of its report; none where something else was printed."""
    usual = {"preamble": "", "seconds": 5, "in_all": None, "output_bytes": 1 << 20}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(CHECKER)],
            input=json.dumps({**usual, "number": "secret", **job}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=folder,
            start_new_session=True,
        )
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError:
        return []
    assert all(line["number"] == "secret" for line in lines)
    return lines


def checked(candidate: str, tests: str = TESTS, **more: Any) -> tuple[str, str]:
    """Return how a test of a program that is called ended, and the detail."""
    job = {"candidate": candidate, "helpers": "", "exports": ["f"], "tests": [tests], **more}
    lines = reported(**job)
    return (lines[0]["end"], lines[0]["detail"]) if lines else ("broken", "")


def printed(program: str, *inputs: str, **more: Any) -> list[str]:
    """Return what a program printed on each input, or how that ended."""
    lines = reported(candidate=program, inputs=inputs, **more)
    return [
        base64.b64decode(it["printed"]).decode() if it["end"] == "ended" else it["end"]
        for it in lines
    ]


def test_a_right_answer_passes() -> None:
    assert checked(RIGHT) == ("passed", "")


@pytest.mark.parametrize("what", FOOLING)
def test_no_other_passes(what: str) -> None:
    assert checked(FOOLING[what])[0] != "passed"


def test_only_what_is_asked_for_is_exported() -> None:
    """Not the names of the helpers, and nothing that is built in."""
    program = (
        "import sys\n"
        "def yes(*values):\n    return True\n"
        "def f(x):\n    return 0\n"
        "everything = {'f': f, 'right': yes, '__builtins__': {'abs': yes}}\n"
        "sys.modules['__main__']._OPERATIONS['exported'] = lambda names: everything\n"
    )
    helpers = "def right(a, b):\n    return abs(a - b) < 1"
    assert checked(RIGHT, "assert right(f(2), 4)", helpers=helpers) == ("passed", "")
    assert checked(program, "assert right(f(2), 4)", helpers=helpers)[0] == "failed"


@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("ends its process", "exited"),
        ("never ends", "timeout"),
        ("does nothing", "failed"),
        ("is equal to everything", "failed"),
    ],
)
def test_the_end_says_what_happened(what: str, end: str) -> None:
    assert checked(FOOLING[what])[0] == end


@pytest.mark.parametrize("name", LOOKS)
def test_the_process_of_the_tests_cannot_be_looked_into(name: str) -> None:
    end, detail = checked(LOOKS[name])
    assert (end, "Permission denied" in detail) == ("failed", True), detail


@pytest.mark.parametrize("name", STARTS)
def test_no_process_is_started(name: str) -> None:
    end, detail = checked(f"import os\n{STARTS[name]}\n{RIGHT}")
    assert end == "failed", detail
    assert "not permitted" in detail or "ZeroDivisionError" in detail, detail


def test_threads_can_be_started() -> None:
    threads = "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n"
    assert checked(threads + RIGHT) == ("passed", "")


def test_values_cross_as_they_are() -> None:
    candidate = (
        "import collections\n"
        "class Node:\n"
        "    def __init__(self, value): self.value, self.next = value, None\n"
        "def same(x): return x\n"
        "def sort(x, key=None): x.sort(key=key)\n"
        "def count(x): return collections.Counter(x)\n"
        "def some():\n    yield 1\n    yield 2\n"
        "def total(node):\n"
        "    return node.value + (total(node.next) if node.next else 0)\n"
        "def refuse(): raise ValueError('no')\n"
        "def nothing(): pass\n"
    )
    tests = (
        "for value in (1, -2.5, 'ä\\ud800', b'\\0x', (1, (2,)), {1: [2]}, {1, 2}, 1j, None, True,\n"
        "              frozenset({3}), float('inf'), 10**5000, [], {}, set()):\n"
        "    assert same(value) == value and type(same(value)) is type(value), value\n"
        "assert same(float('nan')) != same(float('nan'))\n"
        "numbers = [3, 1, 2]\n"
        "sort(numbers)\n"
        "assert numbers == [1, 2, 3]\n"
        "sort(numbers, key=lambda number: -number)\n"
        "assert numbers == [3, 2, 1]\n"
        "assert count('aab') == {'a': 2, 'b': 1}\n"
        "assert list(some()) == [1, 2]\n"
        "node = Node(1)\n"
        "node.next = Node(2)\n"
        "assert total(node) == 3 and node.next.value == 2\n"
        "assert same(node) is node and same(print) is print\n"
        "assert nothing() is None\n"
        "try:\n    refuse()\n    raise AssertionError\n"
        "except ValueError as error:\n    assert str(error) == 'no'\n"
    )
    names = ["same", "sort", "count", "some", "Node", "total", "refuse", "nothing"]
    assert checked(candidate, tests, exports=names) == ("passed", "")


def test_the_tests_have_helpers_of_their_own_which_the_answer_does_not_replace() -> None:
    helpers = (
        "import math\ndef near(a, b):\n    return math.isclose(a, b)\ndef f(x): return x * x\n"
    )
    cheat = "def near(a, b): return True\nmath = None\ndef f(x):\n    return 0\n"
    assert checked(cheat, "assert near(f(2), 4)", helpers=helpers)[0] == "failed"
    assert checked(RIGHT, "assert near(f(2), 4)", helpers=helpers)[0] == "passed"
    assert checked("", "assert near(f(2), 4)", helpers=helpers)[0] == "failed"


def test_a_name_that_is_missing_fails() -> None:
    end, detail = checked("def g(x):\n    return x * x")
    assert (end, detail) == ("failed", "NameError: name 'f' is not defined")


def test_what_the_tests_print_is_no_report() -> None:
    assert checked(RIGHT, "print('x' * 100)\n" + TESTS) == ("passed", "")
