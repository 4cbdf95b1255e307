"""Unit tests run as their author wrote them, and an answer cannot get at them."""

import os
import shutil
from textwrap import dedent
from typing import Any

import pytest
from pydantic import ValidationError

from swarm_bench.benchmarks.diffs.benchmark import run_unit_tests
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.environments.unconfined import Unconfined

pytestmark = pytest.mark.anyio
RIGHT = (
    "limit = 10\n\ndef double(number):\n    return 2 * number\n\nasync def later():\n    return 5\n"
)
WRONG = RIGHT.replace("2 * number", "number").replace("5", "6").replace("10", "11")
TESTS = {
    "functions": "from main import double\ndef test_a():\n    assert double(2) == 4",
    "several, of which the last one fails": (
        "from main import double\ndef test_a():\n    assert double(0) == 0\n"
        "def test_b():\n    assert double(1) == 2"
    ),
    "another name": "from main import double as d\ndef test_a():\n    assert d(2) == 4",
    "the module": "import main\ndef test_a():\n    assert main.double(2) == 4",
    "the module by another name": "import main as m\ndef test_a():\n    assert m.limit == 10",
    "every name": "from main import *\ndef test_a():\n    assert double(2) == 4",
    "no import": "def test_a():\n    assert double(2) == 4",
    "an import within": (
        "def test_a():\n    from main import double\n    import main\n"
        "    assert main.limit == 10 and double(1) == 2"
    ),
    "by importlib": (
        "import importlib\ndef test_a():\n    assert importlib.import_module('main').double(2) == 4"
    ),
    "asserts alone": "from main import double\nassert double(3) == 6",
    "a loop": "from main import double\nfor n in range(3):\n    assert double(n) == 2 * n",
    "a table": (
        "from main import double\ndef test_a(number, twice):\n    assert double(number) == twice\n"
        "for row in [(1, 2), (0, 0)]:\n    test_a(*row)"
    ),
    "a function of another name": (
        "from main import double\ndef check():\n    assert double(2) == 4\n"
        "if __name__ == '__main__':\n    check()"
    ),
    "defaults": "from main import double\ndef test_a(n=2):\n    assert double(n) == 4",
    "a decorator": (
        "from main import double\nfrom unittest import mock\n"
        "@mock.patch.dict('os.environ', {'A': 'b'})\ndef test_a():\n    assert double(2) == 4"
    ),
    "async": "import main\nasync def test_a():\n    assert main.double(2) == 4",
    "async names": "from main import later\nasync def test_a():\n    assert await later() == 5",
    "async names that are run": (
        "import asyncio\nimport main\ndef test_a():\n    assert asyncio.run(main.later()) == 5"
    ),
    "gathered": (
        "import asyncio\nfrom main import later\nasync def test_a():\n"
        "    assert await asyncio.gather(later(), later()) == [5, 5]"
    ),
    "cases": (
        "import unittest\nfrom main import double\nclass Tests(unittest.TestCase):\n"
        "    def setUp(self):\n        self.two = 2\n"
        "    def test_a(self):\n        self.assertEqual(double(self.two), 4)\n"
        "if __name__ == '__main__':\n    unittest.main()"
    ),
    "cases that run themselves": (
        "from unittest import TestCase, main\nfrom main import double\nclass Tests(TestCase):\n"
        "    def test_a(self):\n        for n in range(3):\n            with self.subTest(n):\n"
        "                self.assertEqual(double(n), 2 * n)\nmain()"
    ),
    "cases of cases": (
        "import unittest\nfrom main import double\nclass Base(unittest.TestCase):\n    pass\n"
        "class Tests(Base):\n    @classmethod\n    def setUpClass(cls):\n        cls.two = 2\n"
        "    def test_a(self):\n        self.assertEqual(double(self.two), 4)"
    ),
    "async cases": (
        "import unittest\nfrom main import later\nclass Tests(unittest.IsolatedAsyncioTestCase):\n"
        "    async def test_a(self):\n        self.assertEqual(await later(), 5)"
    ),
    "what is set up before": (
        "import unittest\nfrom main import double\ndef setUpModule():\n    global n\n    n = 2\n"
        "class Tests(unittest.TestCase):\n    def test_a(self):\n        assert double(n) == 4"
    ),
    "errors and kinds of Python's": (
        "import unittest\nfrom main import double\nclass Tests(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertIsInstance(double(2), int)\n"
        "        self.assertEqual(double(2), 4)\n"
        "        with self.assertRaises((TypeError, ValueError)):\n            double()"
    ),
    "errors of its own": (
        "from main import double\ndef test_a():\n    try:\n        double(2, 3)\n"
        "    except Exception as error:\n        assert 'double' in str(error)\n"
        "    assert double(2) == 4"
    ),
    "from the future": (
        '"""Tests."""\nfrom __future__ import annotations\nfrom main import double\n'
        "def test_a(n: Nothing = 2):\n    assert double(n) == 4"
    ),
}
REFUSED = {
    "nothing": "x = 1",
    "only an import": "from main import double",
    "calls that assert nothing": "import random\nrandom.seed(1)\nx = [1]\nx.append(2)",
    "functions of other names": "from main import double\ndef check():\n    assert double(2) == 4",
    "the runner alone": "import unittest\nif __name__ == '__main__':\n    unittest.main()",
    "arguments": "def test_a(tmp_path):\n    assert double(2) == 4",
    "named arguments": "def test_a(*, number):\n    assert double(number) == 4",
    "generators": "def test_a():\n    assert double(2) == 3\n    yield",
    "async generators": "async def test_a():\n    yield double(2)",
    "classes of another kind": "class TestA:\n    def test_a(self):\n        assert double(2) == 4",
    "other libraries": "import pytest\ndef test_a():\n    assert double(2) == 4",
    "errors of the file": (
        "from main import Wrong, double\ndef test_a():\n    try:\n        double('a')\n"
        "    except (KeyError, Wrong):\n        pass\n    else:\n        assert False"
    ),
    "errors that are expected": (
        "import unittest, main as m\nclass Tests(unittest.TestCase):\n    def test_a(self):\n"
        "        with self.assertRaises(m.Wrong):\n            m.double('a')"
    ),
    "kinds": "from main import Pair, double\nassert isinstance(double(2), Pair)",
    "bases": "import main\nclass Other(main.Pair):\n    pass\nassert Other().double == 4",
    "relative imports": "from .main import double\ndef test_a():\n    assert double(2) == 4",
    "no Python": "def test_a(:",
}
SKIPPED = {
    "all are skipped": (
        "import unittest\nclass Tests(unittest.TestCase):\n    @unittest.skip('no')\n"
        "    def test_a(self):\n        assert double(2) == 4"
    ),
    "no tests in the cases": (
        "import unittest\nclass Tests(unittest.TestCase):\n    def test_a(self):\n        pass\n"
        "    del test_a"
    ),
}
FOOLING = {
    "names of Python's": (
        "from main import double\ndef test_a():\n    assert all(double(n) == 2*n for n in (1, 3))",
        "def all(values):\n    return True",
    ),
    "names of Python's, with every name": (
        "from main import *\ndef test_a():\n    assert all(double(n) == 2 * n for n in (1, 2))",
        "def all(values):\n    return True\n__all__ = ['all', 'double']",
    ),
    "names of Python's, without an import": (
        "def test_a():\n    assert all(double(n) == 2 * n for n in (1, 2))",
        "def all(values):\n    return True",
    ),
    "names of the tests": (
        "from main import double\ndef check(n):\n    assert double(n) == 2 * n\n"
        "def test_a():\n    check(1)\n    check(2)",
        "def check(n):\n    return True\ndef test_a():\n    return True",
    ),
    "equality": (
        "from main import double\ndef test_a():\n    assert double(2) == 4",
        "class E:\n    def __eq__(self, other):\n        return True\n"
        "def double(n):\n    return E()",
    ),
    "its end": ("from main import double\ndef test_a():\n    assert double(2) == 4",
                "import os\nos._exit(0)"),
    "an exit": ("from main import double\nassert double(2) == 4", "raise SystemExit(0)"),
    "its module": (
        "import main\ndef test_a():\n    assert main.double(2) == 4",
        "import sys\nsys.modules['main'] = sys.modules['_unittest'] = None\n_file_ = None",
    ),
    "the runner": (
        "import unittest\nfrom main import double\nclass Tests(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertEqual(double(2), 4)",
        "import unittest\nunittest.TestCase.assertEqual = lambda *values: None\n_ran = True",
    ),
}  # fmt: skip


def row(tests: str, **changes: Any) -> Edit:
    content = {"sourceCode": WRONG, "unitTests": tests, **changes}
    return Edit.model_validate(content)


async def end(tests: str, text: str, **changes: Any) -> str:
    edit = row(tests, **changes)
    return (await run_unit_tests(Unconfined(), edit, {**edit.every_file, edit.file: text}, 5)).end


@pytest.mark.parametrize("form", TESTS)
async def test_tests_pass_and_fail_as_they_say(form: str) -> None:
    assert await end(TESTS[form], RIGHT) == "passed"
    assert await end(TESTS[form], WRONG) == "failed"


async def test_files_in_folders_are_imported_by_their_paths() -> None:
    for line in (
        "from shop.tools.main import double",
        "import shop.tools.main as it\ndouble = it.double",
        "import shop.tools.main\ndouble = shop.tools.main.double",
        "from shop.tools import main\ndouble = main.double",
    ):
        tests = f"{line}\ndef test_a():\n    assert double(2) == 4"
        assert await end(tests, RIGHT, file="shop/tools/main.py") == "passed", line
        assert await end(tests, WRONG, file="shop/tools/main.py") == "failed", line


async def test_names_of_a_module_are_as_they_are_now_and_can_be_set() -> None:
    program = "count = 0\nstep = 1\ndef add():\n    global count\n    count += step\n"
    tests = "import main\ndef test_a():\n    main.add()\n    assert main.count == 1\n"
    tests += "    main.step = 5\n    main.add()\n    assert main.count == 6"
    assert await end(tests, program) == "passed"
    assert await end(tests, program.replace("+= step", "+= 1")) == "failed"


@pytest.mark.parametrize("form", REFUSED)
def test_tests_that_would_not_run_are_refused(form: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        row(REFUSED[form])
    assert len(refusal.value.errors()) == 1


@pytest.mark.parametrize("form", SKIPPED)
async def test_tests_that_did_not_run_do_not_pass(form: str) -> None:
    assert await end(SKIPPED[form], RIGHT) == "failed"


@pytest.mark.parametrize("how", FOOLING)
async def test_an_answer_cannot_get_at_the_tests(how: str) -> None:
    tests, addition = FOOLING[how]
    assert await end(tests, RIGHT) == "passed"
    assert await end(tests, f"{WRONG}\n{addition}\n") in {"failed", "exited"}


async def test_other_ends() -> None:
    tests = TESTS["functions"]
    assert await end(tests, "def double(:") == "uncompiled"
    assert await end(tests, "") == "failed"
    assert await end(tests, "def double(n):\n    while True: pass") == "timeout"
    assert await end(tests, f"{RIGHT}\nimport os\nos._exit(0)") == "exited"


async def test_a_command_runs_tests_beside_the_files() -> None:
    command = {"language": "shell", "file": "run.sh", "command": "sh {tests} 3"}
    tests = '[ "$(sh run.sh $1)" = "$(cat data/three)" ]'
    files = {"data/three": "three"}
    assert await end(tests, "echo three", files=files, **command) == "passed"
    assert await end(tests, "echo two", files=files, **command) == "failed"
    assert await end(tests, "while :; do :; done", files=files, **command) == "timeout"


async def test_python_with_a_command_is_run_as_python_does() -> None:
    tests = dedent("""
        import helpers, main
        if main.double(helpers.two) != 4:
            raise SystemExit(1)
    """)
    more = {"command": "python3 {tests}", "files": {"helpers.py": "two = 2\n"}}
    assert await end(tests, RIGHT, **more) == "passed"
    assert await end(tests, WRONG, **more) == "failed"


@pytest.mark.skipif(
    shutil.which("node") is None and "NEED_NODE" not in os.environ, reason="node: NOT TESTED"
)
async def test_javascript_is_tested_by_node() -> None:
    tests = "require('node:assert').strictEqual(require('./main.js').double(2), 4)"
    right = "exports.double = (n) => 2 * n;\n"
    assert await end(tests, right, language="javascript") == "passed"
    assert await end(tests, right.replace("2", "3"), language="javascript") == "failed"
    assert await end(tests, "process.exit(0)", language="javascript") == "passed"  # which is said
