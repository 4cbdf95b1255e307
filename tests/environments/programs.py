"""Programs that nobody should trust, and one that is right: the function is to return a square."""

TESTS = "assert f(2) == 4\nassert f(3) == 9"
RIGHT = "def f(x):\n    return x * x\n"

_AT_THE_TESTS = (
    "import json, os, sys\n"
    "frame = sys._getframe()\n"
    "while frame:\n"
    "    names = frame.f_locals\n"
    "    if 'job' in names and 'report' in names:\n"
    "        told = {'number': names['job']['number'], 'end': 'passed', 'detail': ''}\n"
    "        os.write(names['report'], json.dumps(told).encode())\n"
    "        os._exit(0)\n"
    "    frame = frame.f_back\n"
)

FOOLING = {
    "returns a module that imports a file of its own": (
        "import types\n"
        "def f(x):\n"
        f"    open('test_own.py', 'w').write({_AT_THE_TESTS!r})\n"
        "    return types.ModuleType('unittest.__main__')"
    ),
    "ends its process": "import os\nos._exit(0)",
    "ends its process in the call": "import os\ndef f(x):\n    os._exit(0)",
    "exits": "import sys\nsys.exit(0)",
    "prints a report": (
        "import os\n"
        'os.write(1, b\'{"number": "1", "end": "passed", "detail": ""}\')\n'
        "def f(x):\n    return 0"
    ),
    "is equal to everything": (
        "class E:\n"
        "    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\n"
        "def f(x):\n    return E()"
    ),
    "is a number that is equal to everything": (
        "class E(int):\n    def __eq__(self, other): return True\ndef f(x):\n    return E(7)"
    ),
    "is a list that is equal to everything": (
        "class E(list):\n    def __eq__(self, other): return True\ndef f(x):\n    return E()"
    ),
    "is a class that is equal to everything": (
        "class f:\n    def __init__(self, x): pass\n    def __eq__(self, other): return True"
    ),
    "patches what is built in": (
        "import builtins\n"
        "builtins.AssertionError = None\n"
        "builtins.exec = lambda *a: None\n"
        "builtins.compile = lambda *a: None\n"
        "def f(x):\n    return 0"
    ),
    "looks through its frames": (
        "import sys\n"
        "def f(x):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for name, value in {**frame.f_globals, **frame.f_locals}.items():\n"
        "            if name == 'number' and isinstance(value, str):\n"
        "                return x * x\n"
        "        frame = frame.f_back\n"
        "    return 0"
    ),
    "looks through all objects": (
        "import gc\n"
        "def f(x):\n"
        "    numbers = [o for o in gc.get_objects() if isinstance(o, dict) and 'number' in o]\n"
        "    tests = [o for o in gc.get_objects() if isinstance(o, str) and 'assert f(2)' in o]\n"
        "    return x * x if any(o['number'] for o in numbers) or tests else 0"
    ),
    "writes at its exit": (
        "import atexit, os\n"
        "atexit.register(lambda: [os.write(n, b'passed') for n in (1, 2)])\n"
        "def f(x):\n    return 0"
    ),
    "writes from a thread": (
        "import os, threading, time\n"
        "def write():\n"
        "    time.sleep(0.02)\n"
        "    for number in range(64):\n"
        '        try: os.write(number, b\'{"number": "1", "end": "passed"}\')\n'
        "        except OSError: pass\n"
        "threading.Thread(target=write, daemon=True).start()\n"
        "def f(x):\n    time.sleep(0.1)\n    return 0"
    ),
    "asks the tests to run code": (
        "import json, os\n"
        "def f(x):\n"
        "    message = {'ask': 'execute', 'values': ['import os; os._exit(0)']}\n"
        "    data = json.dumps(message).encode()\n"
        "    for number in range(3, 64):\n"
        "        try: os.write(number, len(data).to_bytes(8, 'big') + data)\n"
        "        except OSError: pass\n"
        "    return 0"
    ),
    "answers before it is asked": (
        "import json, os\n"
        "data = json.dumps({'value': True, 'changed': []}).encode()\n"
        "for number in range(3, 64):\n"
        "    try: os.write(number, len(data).to_bytes(8, 'big') + data)\n"
        "    except OSError: pass\n"
        "def f(x):\n    return 0"
    ),
    "kills whoever started it": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\ndef f(x):\n    return 0"
    ),
    "returns a list without end": (
        "def f(x):\n    a = []\n    for _ in range(100_000): a = [a]\n    return a"
    ),
    "returns far too much": "def f(x):\n    return 'x' * 10**8",
    "never ends": "while True: pass",
    "does nothing": "",
    "is no Python": "def f(x) return x",
}
"""By what they do; none of them is right."""

LOOKS = {
    name: (
        "import os\n"
        "def f(x):\n"
        f"    os.open(f'/proc/{{os.getppid()}}/{name}', os.O_RDONLY)\n"
        "    return x * x"
    )
    for name in ("mem", "environ", "maps", "fd/0")
}
"""Right answers of programs that can read what belongs to the process of the tests."""

STARTS = {
    "fork": "os.fork()",
    "vfork": "__import__('subprocess').run(['/bin/true'])",
    "clone": "__import__('ctypes').CDLL(None).fork() == -1 and 1 / 0",
    "unshare": "__import__('ctypes').CDLL(None).unshare(0x10000000) and 1 / 0",
}
"""Lines that start a process or a namespace, or raise."""
