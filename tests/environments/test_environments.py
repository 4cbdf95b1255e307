"""Code of models in its environments, with the real bubblewrap and the real podman."""

import os
import socket
import sys
import time
from pathlib import Path

import anyio
import psutil
import pytest

import swarm_bench
from swarm_bench.core.errors import EnvironmentFailed, UsageError
from swarm_bench.core.roles.execution import Code, Environment, Execution
from swarm_bench.environments.local import Local
from swarm_bench.environments.python_tests import (
    Checked,
    PrintingTests,
    PythonTests,
    check,
    run_each,
    try_out,
)
from swarm_bench.environments.unconfined import Unconfined
from swarm_bench.runtime.ownership import MARK, PREFIX
from tests.builders.environments import LOCAL, confined
from tests.environments.programs import FOOLING, LOOKS, RIGHT, TESTS

pytestmark = pytest.mark.anyio
WITHOUT_STARTS = pytest.mark.parametrize("environment", [LOCAL, "unconfined"], indirect=True)
"""Where a container for each would take long and test nothing else: the checker is the same."""
ANSWERS = 0.5
"""Seconds that a question to a process that is gone may take."""


async def ended(environment: Environment, candidate: str, timeout: float = 5) -> Checked:
    before = children()
    tests = PythonTests(candidate=candidate, tests=TESTS, exports=("f",), timeout=timeout)
    checked = await check(environment, tests)
    assert children() <= before
    return checked


def children() -> set[psutil.Process]:
    """Return what descends from this process and runs."""
    every = psutil.Process().children(recursive=True)
    return {it for it in every if it.is_running() and it.status() != psutil.STATUS_ZOMBIE}


async def test_a_right_answer_passes(environment: Environment) -> None:
    assert environment.program().name
    assert (await ended(environment, RIGHT)).passed


@WITHOUT_STARTS
@pytest.mark.parametrize("what", FOOLING)
async def test_no_other_passes(environment: Environment, what: str) -> None:
    assert not (await ended(environment, FOOLING[what])).passed


@WITHOUT_STARTS
@pytest.mark.parametrize("name", LOOKS)
async def test_the_process_of_the_tests_cannot_be_looked_into(
    environment: Environment, name: str
) -> None:
    checked = await ended(environment, LOOKS[name])
    assert "Permission denied" in checked.detail or "No such file" in checked.detail


@pytest.mark.parametrize(
    ("start", "detail"),
    [
        ("b = bytearray(3 * 10**9)", "MemoryError"),
        ("import os\nwhile True: os.fork()", "PermissionError"),
        (
            "with open('x', 'wb') as file:\n    while True: file.write(b'x' * 10**6)",
            "File too large",
        ),
        ("while True: print('x' * 1000)", "longer than 1 s"),
        (
            "import threading, time\n"
            "while True: threading.Thread(target=time.sleep, args=(9,)).start()",
            "thread",
        ),
    ],
)
async def test_nothing_takes_more_than_it_may(
    environment: Environment, start: str, detail: str
) -> None:
    began = time.monotonic()
    checked = await ended(environment, f"{start}\n{RIGHT}", timeout=1)
    assert not checked.passed
    assert detail in checked.detail, checked
    assert time.monotonic() - began < 10


@confined
@pytest.mark.parametrize(
    "start",
    [
        "open('/usr/x', 'w')",
        "open({home!r}).read()",
        "open('/etc/passwd').read()",
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)",
        "import os\nassert 'SECRET' in os.environ",
        "open('/proc/sys/kernel/hostname', 'w')",
        "open('/proc/self/status')",
        "open('/sys/kernel/uevent_helper', 'w')",
    ],
)
async def test_confined_code_reaches_nothing(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("secret")
    monkeypatch.setenv("SECRET", "1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = start.replace("{home!r}", repr(str(tmp_path / "key")))
        line = line.replace("{port}", str(server.getsockname()[1]))
        assert (await ended(Local(), f"{line}\n{RIGHT}")).end == "failed"


@confined
@pytest.mark.parametrize("folder", ["/", "/dev", "/proc", "/proc/self", "/usr", "/etc"])
async def test_confined_code_writes_to_its_own_folder_only(folder: str) -> None:
    """All else that is in memory has no limit."""
    write = f"open('{folder}/x', 'w').write('x')"
    assert (await ended(Local(), f"{write}\n{RIGHT}")).end == "failed"
    assert (await ended(Local(), f"open('x', 'w').write('x')\n{RIGHT}")).passed
    assert (await ended(Local(), f"open('/dev/null', 'w').write('x')\n{RIGHT}")).passed


@confined
async def test_an_environment_that_breaks_is_no_fault_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in ("exit 0", "echo 'bwrap: No space left on device' >&2; exit 1"):
        fake = tmp_path / "bwrap"
        fake.write_text(f"#!/bin/sh\n{end}\n")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with pytest.raises(EnvironmentFailed, match="The environment local broke: "):
            await ended(Local(), RIGHT)


@confined
async def test_confined_code_leaves_nothing(tmp_path: Path) -> None:
    marker = f"swarm-bench-test-{os.getpid()}"
    assert (await ended(Local(), f"open('/tmp/{marker}', 'w').write('x')\n{RIGHT}")).passed
    assert not Path("/tmp", marker).exists()  # the one place that it can write to


async def test_commands_of_other_programs_have_the_same_limits(environment: Environment) -> None:
    async def run(script: str, **limits: float) -> tuple[object, object, str]:
        argv, before = ("/bin/sh", "-c", script), children()
        done = await environment.run(Code(argv=argv, **{"timeout": 5, **limits}))  # type: ignore[arg-type]
        assert children() <= before
        return done.returncode, done.stopped, done.stdout

    assert await run("echo a; exit 3") == (3, None, "a\n")
    assert await run("sleep 60", timeout=0.1) == (None, "time", "")
    assert (await run("yes", output_bytes=10_000))[1] == "output"
    many = "for i in 1 2 3 4 5 6 7 8; do sleep 20 & done; wait"
    assert (await run(many, processes=4))[1] == "processes"


@confined
async def test_what_lies_below_the_own_folder_is_seen(tmp_path: Path) -> None:
    """As a checkout in /tmp does."""
    (tmp_path / "seen").write_text("text")
    code = Code(argv=("/bin/cat", str(tmp_path / "seen")), visible=(tmp_path,), timeout=5)
    assert (await Local().run(code)).stdout == "text"
    hidden = await Local().run(Code(argv=code.argv, timeout=5))
    assert (hidden.returncode, hidden.stdout) == (1, "")


@confined
async def test_answers_of_shipped_data_sets_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever installed them, at whatever depth of the folders that code can read."""
    package = Path(swarm_bench.__file__).parent
    installed = tmp_path / "lib/python3.9/site-packages"
    venv = tmp_path / "src/app/.venv/lib/python3.13/site-packages"
    for folder in (installed, venv):
        (folder / "swarm_bench/datasets/shipped").mkdir(parents=True)
        (folder / "swarm_bench/datasets/shipped/answers.jsonl").write_text("answers")
        (folder / "swarm_bench_plugin").mkdir()
    (tmp_path / "swarm_bench-1.0-py3-none-any.whl").write_text("answers")
    (tmp_path / "swarm-bench").write_text("a program with all in it, and its answers")
    for history in (tmp_path / "swarm-bench.git", venv / ".git"):
        history.mkdir()
        (history / "pack").write_text("answers")
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    environment = Local()

    async def printed(*argv: str) -> str:
        return (await environment.run(Code(argv=argv, timeout=5))).stdout

    assert not await printed("/bin/grep", "-rl", "answers", str(tmp_path))
    names = (await printed("/bin/ls", "-R", str(tmp_path))).split()
    assert {"swarm_bench", "swarm_bench_plugin"} <= set(names)
    (venv / "swarm_bench/datasets/shipped/answers.jsonl").unlink()
    for path in sorted((venv / "swarm_bench").rglob("*"), reverse=True):
        path.rmdir()
    (venv / "swarm_bench").rmdir()  # it was listed, and is gone
    assert (await environment.run(Code(argv=("/bin/true",), timeout=5))).returncode == 0
    monkeypatch.setattr(sys, "base_prefix", str(package.parent))
    environment = Local()
    assert not await printed("/bin/ls", str(package))
    checker = package / "programs" / "checker"
    look = Code(argv=("/bin/ls", str(checker)), visible=(checker,), timeout=5)
    assert "__main__.py" in (await environment.run(look)).stdout
    write = Code(argv=("/bin/sh", "-c", f"echo x > {package}/x"), timeout=5)
    assert (await environment.run(write)).returncode != 0
    await try_out(environment)  # its checker lies in the folder that is hidden


@confined
async def test_links_to_answers_are_followed_where_code_can_read(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path_factory.mktemp("away")
    for folder in (away / "swarm_bench", tmp_path / "store" / "1a2b"):
        (folder / "datasets/shipped").mkdir(parents=True)
        (folder / "datasets/shipped/answers.jsonl").write_text("answers")
    for name in ("SWARM_BENCH-1.0.TAR.BZ2", "swarm-bench-main.7z", "swarm_bench.zip"):
        (tmp_path / name).write_text("answers")
    (tmp_path / "swarm_bench-1.whl").symlink_to(away / "swarm_bench")
    (tmp_path / "swarm_bench-2.whl").symlink_to(tmp_path / "gone")
    for number, target in enumerate((away / "swarm_bench", tmp_path / "store" / "1a2b")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "swarm_bench").symlink_to(target)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    look = Code(argv=("/bin/grep", "-rL", "nothing", str(tmp_path)), timeout=5)
    done = await Local().run(look)
    assert "store" not in done.stdout
    find = Code(argv=("/bin/grep", "-rl", "answers", str(tmp_path)), timeout=5)
    assert not (await Local().run(find)).stdout
    assert Local().program().name == "bubblewrap"


@confined
@pytest.mark.parametrize(
    "reads",
    [
        "from pathlib import Path\nprint(Path('/dev/stdin').read_text())",
        "print(open(b'/dev/stdin').read())",
        "import io\nprint(io.open('/dev/fd/0').read())",
        "import os\nprint(os.read(os.open('/proc/self/fd/0', os.O_RDONLY), 9).decode())",
        "import os, sys\nif os.path.exists('/dev/stdin'): sys.stdin = open('/dev/stdin')\n"
        "open('/dev/stdout', 'w').write(input())",
        "import shutil\nshutil.copy('/dev/stdin', '/dev/stdout')",
        "from multiprocessing.pool import ThreadPool\n"
        "with ThreadPool(2) as pool: print(*pool.map(str, input()))",
    ],
)
async def test_streams_have_names_in_every_environment(reads: str) -> None:
    tests = PrintingTests(candidate=reads, inputs=("6", "7"), timeout=5)
    for environment in (Local(), Unconfined()):
        ended = await run_each(environment, tests)
        assert [it.printed.strip() for it in ended] == ["6", "7"]


@confined
@pytest.mark.parametrize(
    "leaves",
    [
        "open('/dev/shm/x', 'w')",
        "open('/proc/self/fd/3', 'w')",
        "os.remove('/proc/self/fd/2'); open('/proc/self/fd/2', 'w')",
        "os.mkdir('/proc/self/fd/x')",
        "os.chmod('/proc/self/fd', 0o755 ^ 0o20)",
    ],
)
async def test_what_lies_beside_the_streams_reaches_no_other_test(leaves: str) -> None:
    look = (
        "import os\nfolders = ['/dev/shm', '/proc/self/fd']\n"
        "for it in folders: print(os.stat(it).st_mode, *sorted(os.listdir(it)))\n"
        f"print(os.stat('/dev/stderr').st_rdev)\n{leaves}\n"
    )
    tests = PrintingTests(candidate=look, inputs=("", "", ""), timeout=5)
    assert len({it.printed for it in await run_each(Local(), tests)}) == 1
    for name in ("0", "1"):
        tests = PrintingTests(candidate=f"import os\nos.remove('/dev/fd/{name}')", inputs=("", ""),
                              timeout=5)  # fmt: skip
        assert [it.end for it in await run_each(Local(), tests)] == ["ended"] * 2


async def test_what_a_killed_session_left_is_ours_to_remove(tmp_path: Path) -> None:
    """The folder of unconfined code has the mark by which a later start sweeps it."""
    look = "import os; print(os.getcwd(), os.listdir('..'))"
    done = await Unconfined().run(Code(argv=("python", "-I", "-c", look), timeout=5))
    folder, _, names = done.stdout.strip().partition(" ")
    assert Path(folder).parent.name.startswith(PREFIX)
    assert MARK in names
    assert not Path(folder).parent.exists()


async def test_an_environment_is_tried_out(environment: Environment) -> None:
    await try_out(environment)


class Deaf(Unconfined):
    """Says that everything went well, and runs nothing."""

    async def run(self, code: Code) -> Execution:
        return Execution(returncode=0, stopped=None, stdout="passed", stderr="", seconds=0)


async def test_an_environment_that_runs_nothing_is_seen() -> None:
    with pytest.raises(EnvironmentFailed, match="unconfined broke: its command ended"):
        await try_out(Deaf())


async def test_without_bubblewrap_both_ways_out_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"prlimit.*install util-linux"):
        Local().program()
    limiter = tmp_path / "prlimit"
    limiter.write_text("#!/bin/sh\n")
    limiter.chmod(0o755)
    with pytest.raises(UsageError, match=r"the package bubblewrap.*--environment unconfined"):
        Local().program()


async def test_a_bubblewrap_that_cannot_confine_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"No permissions.*--environment unconfined"):
        Local().program()


FEW = """
import resource, sys, anyio
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from swarm_bench.environments.python_tests import try_out
from swarm_bench.environments.unconfined import Unconfined
anyio.run(try_out, Unconfined())
"""


async def test_code_runs_where_few_files_may_be_open() -> None:
    done = await anyio.run_process([sys.executable, "-c", FEW], check=False)
    assert (done.returncode, done.stderr) == (0, b"")
