"""What programs expect of the interpreter that runs them, and what they are kept from."""

import pytest

from tests.programs.checker.test_checker import checked, printed, reported

IDIOMS = {
    "exit": "print(6)\nexit()\nprint(7)",
    "quit with a code": "print(6)\nquit(1)",
    "exit in a function": "def main():\n    print(6)\n    exit(0)\nmain()",
    "help and credits": "print(6 if callable(help) and callable(credits) else copyright)",
    "a guard": "def main():\n    print(int(input()))\nif __name__ == '__main__':\n    main()",
    "the main module": "import __main__, sys\nx = 6\nprint(sys.modules['__main__'].x)",
    "globals": "globals()['x'] = 6\nprint(x)",
    "a closure of names": "exec('x = 6')\nprint(eval('x'), end='')",
    "arguments": "import sys\nif len(sys.argv) > 1: sys.stdin = open(sys.argv[1])\nprint(input())",
    "a parser of arguments": "import argparse\nargparse.ArgumentParser().parse_args()\nprint(6)",
    "files or the input": "import fileinput\nfor line in fileinput.input(): print(line)",
    "the input as a file": "print(open(0).read())",
    "the input by its device": "print(open('/dev/stdin').read().strip())",
    "the input's descriptor": "import os\nprint(os.read(0, 100).decode())",
    "the input's bytes": "import sys\nprint(sys.stdin.buffer.readline().decode())",
    "the input in memory": "import mmap\nprint(mmap.mmap(0, 0, prot=mmap.PROT_READ)[:1].decode())",
    "bytes out": "import os, sys\nsys.stdout.buffer.write(b'6')\nsys.stdout.flush()",
    "a descriptor out": "import os\nos.write(1, b'6\\n')",
    "the end of the input": "input()\ntry: input()\nexcept EOFError: print(6)",
    "an output of its own": (
        "import io, os, sys\n"
        "class Out(io.StringIO):\n"
        "    def flush(self): os.write(1, self.getvalue().encode()); self.truncate(0)\n"
        "sys.stdout = Out()\nprint(6)"
    ),
    "at its exit": "import atexit\natexit.register(lambda: print(6))",
    "no output any more": "import sys\nprint(6)\ndel sys.stdout",
    "an end of an object": "class A:\n    def __del__(self): print(6)\na = A()",
    "a large stack": (
        "import sys, threading\n"
        "sys.setrecursionlimit(10**6)\n"
        "threading.stack_size(2**27)\n"
        "def down(n): return 0 if n == 0 else 1 + down(n - 1)\n"
        "def main(): print(6 if down(50_000) == 50_000 else 0)\n"
        "threading.Thread(target=main).start()"
    ),
    "as deep as elsewhere": "def f(n): return 6 if n == 1 else f(n - 1)\nprint(f(990))",
    "a pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as pool: print(sum(pool.map(int, '123')))"
    ),
    "an event loop": "import asyncio\nasync def f(): print(6)\nasyncio.run(f())",
    "long integers": "print(6 if len(str(10**9999)) == 10_000 else 0)",
    "a byte order mark": "\ufeffprint(input())",
    "the end of a generator": (
        "def f():\n    try: yield\n    finally: print(x)\nx = 6\ng = f()\nnext(g)"
    ),
    "the end of a cycle": (
        "class A:\n    def __del__(self): print(x)\nx = 6\na = A()\na.own = a\ndel a"
    ),
    "a list of generators": (
        "def f(n):\n    with open(1, 'w', closefd=False) as out:\n        yield\n"
        "        print(n, file=out)\ng = [f(6)]\nnext(g[0])\nprint(6)"
    ),
    "its own source": (
        "import inspect\ndef f():\n    return 6\n"
        "print(6 if inspect.getsource(f).startswith('def f') else 0)"
    ),
    "its own file": "import os\nprint(6 if os.path.basename(__file__) else 0)",
    "annotations of the future": (
        "from __future__ import annotations\ndef f(x: Missing) -> None: pass\nprint(6)"
    ),
}
"""Whole programs that print 6, where 6 is what they read."""
DEFINITIONS = {
    "a dataclass": (
        "from dataclasses import dataclass, field\n"
        "@dataclass\nclass Node:\n    value: int\n    next: 'Optional[Node]' = None\n"
        "def f(x): return Node(x * x).value"
    ),
    "frozen with slots": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass(frozen=True, slots=True)\nclass P:\n    x: int\n    o: P | None = None\n"
        "def f(x): return P(x).x ** 2"
    ),
    "pickle": (
        "import pickle\nclass A:\n    def __init__(self, x): self.x = x\n"
        "def f(x): return pickle.loads(pickle.dumps(A(x))).x ** 2"
    ),
    "a copy": (
        "import copy\nfrom collections import namedtuple\nP = namedtuple('P', 'x')\n"
        "def f(x): return copy.deepcopy(P(x)).x ** 2"
    ),
    "type hints": (
        "import typing\nclass A:\n    x: 'A'\n"
        "def f(x): return x * x if typing.get_type_hints(A) == {'x': A} else 0"
    ),
    "a typed tuple": (
        "from typing import NamedTuple, TypedDict\n"
        "class P(NamedTuple):\n    x: 'int'\nclass D(TypedDict):\n    y: 'P'\n"
        "def f(x): return P(x).x * D(y=P(x))['y'].x"
    ),
    "an enum": (
        "import enum, pickle\nclass C(enum.Enum):\n    A = 1\n"
        "def f(x): return x * x if pickle.loads(pickle.dumps(C.A)) is C.A else 0"
    ),
    "its module": "import sys\ndef f(x): return sys.modules[f.__module__].f and x * x",
    "a dispatch": (
        "from functools import singledispatch\n@singledispatch\ndef g(x): return 0\n"
        "@g.register\ndef _(x: int): return x * x\ndef f(x): return g(x)"
    ),
    "no guard": "def f(x): return x * x\nif __name__ == '__main__':\n    raise SystemExit",
}
"""Programs that define a square."""


@pytest.mark.parametrize("what", IDIOMS)
def test_a_program_runs_as_it_would_elsewhere(what: str) -> None:
    (line,) = printed(IDIOMS[what], "6")
    assert line.strip() == "6"


@pytest.mark.parametrize("what", DEFINITIONS)
def test_classes_live_in_a_module(what: str) -> None:
    assert checked(DEFINITIONS[what]) == ("passed", "")


@pytest.mark.parametrize("preamble", ["", "import math\n", "from __future__ import annotations\n"])
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_what_stands_before_a_program_takes_nothing_from_it(preamble: str, future: str) -> None:
    """The one may say `from __future__`, and so may the other; it holds for all that follows."""
    program = f"{future}def f(x: 'int' = 0) -> int:\n    return x * x\n"
    wanted = "'int'" if preamble.startswith("from") or future else "int"
    tests = f"assert f(2) == 4\nassert str(f.__annotations__['return']) == str({wanted})"
    program += "f.__annotations__ = {k: str(v) for k, v in f.__annotations__.items()}\n"
    assert checked(program, tests, preamble=preamble) == ("passed", "")
    whole = f"{future}print(input() if 'x' else math)"
    assert printed(whole, "6", preamble=preamble) == ["6\n"]


def test_a_future_that_comes_late_is_an_error_as_everywhere() -> None:
    late = "import math\nfrom __future__ import annotations\n"
    assert printed(f"{late}print(6)", "6") == ["uncompiled"]
    assert checked(f"{late}def f(x): return x * x")[1].startswith("SyntaxError")


def test_names_of_the_preamble_are_the_programs() -> None:
    assert printed("print(sqrt(int(input())))", "36", "49", preamble="from math import *") == [
        "6.0\n",
        "7.0\n",
    ]


def test_a_preamble_that_fails_is_said() -> None:
    end, detail = checked("def f(x): return x * x", preamble="1 / 0")
    assert (end, detail) == ("failed", "ZeroDivisionError: division by zero")


def test_each_test_begins_anew() -> None:
    """Neither names nor files nor messages of one are there in the next."""
    count = "count = 0\ndef f(x):\n    global count\n    count += 1\n    return count"
    lines = reported(candidate=count, helpers="", exports=["f"], tests=["assert f(0) == 1"] * 3)
    assert [line["end"] for line in lines] == ["passed"] * 3
    leaves = "open('left', 'a').write('x')\nprint(len(open('left').read()))"
    assert printed(leaves, "", "", "") == ["1\n"]  # the others need another environment
    locks = "import os\nos.chmod('.', 0o500)\nprint(1)"
    assert printed(locks, "", "") == ["1\n"]
    tidy = "import os\nopen('left', 'a').write('x')\nos.remove('left')\nprint(1)"
    assert printed(tidy, "", "") == ["1\n"]  # times say so


@pytest.mark.parametrize(
    "leaves",
    [
        "os.utime('.', (12345, 12345))",
        "try: os.setxattr('.', 'user.x', b'1')\nexcept OSError: os.utime('.')",
    ],
)
def test_what_is_said_of_the_folder_reaches_no_other_test(leaves: str) -> None:
    assert printed(f"import os\n{leaves}\nprint(1)", "", "") == ["1\n"]


@pytest.mark.parametrize(
    ("call", "is_refused"),
    [
        ("resource.prlimit({}, resource.RLIMIT_MEMLOCK, (4096, 4096))", True),
        ("os.sched_setscheduler({}, os.SCHED_BATCH, os.sched_param(0))", True),
        ("os.sched_setaffinity({}, os.sched_getaffinity(0))", True),
        ("os.setpriority(os.PRIO_PROCESS, {}, 19)", True),
        ("os.setpriority(os.PRIO_PGRP, 0, 19)", True),
        ("os.setpriority(os.PRIO_USER, 0, 19)", True),
        ("libc.syscall(IOPRIO, 1, {}, 3 << 13) and 1 / 0", True),
        ("resource.prlimit(0, resource.RLIMIT_MEMLOCK, (4096, 4096))", False),
        ("resource.setrlimit(resource.RLIMIT_STACK, (2**20, 2**20))", False),
        ("os.sched_setaffinity(0, os.sched_getaffinity(0))", False),
        ("os.nice(1)", False),
    ],
)
def test_a_program_sets_limits_for_itself_alone(call: str, is_refused: bool) -> None:
    """What starts one test starts the next, and they would have them from it."""
    start = (
        "import ctypes, os, platform, resource\nlibc = ctypes.CDLL(None)\n"
        "IOPRIO = 251 if platform.machine() == 'x86_64' else 30\n"
    )
    for other in ("os.getppid()", "1"):
        program = f"{start}{call.format(other)}\nprint(6)"
        assert printed(program, "") == ["failed" if is_refused else "6\n"]


def test_a_program_that_could_not_begin_is_no_answer() -> None:
    """Its limits cannot be set: it has no output, which is no wrong one, or a right empty one."""
    lines = reported(candidate="", inputs=["", ""], output_bytes="")
    assert [line["end"] for line in lines] == ["exited"] * 2


@pytest.mark.parametrize(
    "start",
    [
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "import ctypes\nassert ctypes.CDLL(None).shmget(5, 9, 0o1600) == -1\n1 / 0",
        "import ctypes\nassert ctypes.CDLL(None).msgget(5, 0o1600) == -1\n1 / 0",
        "import ctypes\nassert ctypes.CDLL(None).semget(5, 1, 0o1600) == -1\n1 / 0",
    ],
)
def test_nothing_outlives_a_program(start: str) -> None:
    assert printed(start, "") == ["failed"]


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("while True: pass", "timeout"),
        (
            "import threading\n"
            "def burn():\n    while True: pass\n"
            "for _ in range(3): threading.Thread(target=burn).start()",
            "timeout",
        ),
        ("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (99, 99))", "failed"),
        ("import signal\nsignal.signal(signal.SIGXCPU, print)\nwhile True: pass", "timeout"),
        ("import os\nos.kill(os.getppid(), 9)\nprint(6)", "exited"),
        ("import os\nos._exit(0)", ""),
        ("print('x' * (1 << 20))", "failed"),
        ("import time\ntime.sleep(3)\nprint(6)", "6\n"),
        ("import threading\nthreading.Lock().acquire() and threading.Event().wait()", "timeout"),
        ("import time\nwhile True: time.sleep(1)", "timeout"),
    ],
)
def test_limits_are_of_processor_time_and_cannot_be_evaded(program: str, end: str) -> None:
    assert printed(program, "", seconds=0.5) == [end]


def test_all_tests_together_have_a_limit_too() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(6)"
    assert printed(busy, *[""] * 9, in_all=0.7) == ["6\n"] * 3
    ends = "import os\nos.kill(os.getppid(), 9)"
    (line,) = reported(candidate=ends, inputs=[""], seconds=2)
    assert (line["end"], line["seconds"]) == ("exited", 2)
