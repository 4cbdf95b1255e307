"""What holds of containers alone, with the real podman."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

import swarm_bench
from swarm_bench.core import entry_points
from swarm_bench.core.errors import EnvironmentFailed, SwarmBenchError
from swarm_bench.core.roles.execution import PYTHON, Code
from swarm_bench.environments.container import Container
from swarm_bench.environments.engines import Docker, reason
from swarm_bench.environments.python_tests import try_out
from swarm_bench.runtime.ownership import OWNER, this_owner
from tests.builders.environments import (
    contained,
    containers,
    own_root_folder,
    root_folder,
    root_folder_with_python,
)
from tests.builders.golden import Sentences

pytestmark = [pytest.mark.anyio, contained]
FOREVER = Code(argv=("/bin/sh", "-c", "while true; do sleep 1; done"), timeout=60)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return root_folder(tmp_path / "root")


def code(text: str, timeout: float = 5) -> Code:
    return Code(argv=(PYTHON, "-I", "-S", "-c", text), timeout=timeout)


async def test_the_root_folder_stays_as_it_was(root: Path) -> None:
    before = sorted(root.rglob("*"))
    word = f"container:{root}"
    environment = entry_points.make("environments", word)
    assert environment.program().name == "podman"
    look = "import os; print(os.listdir('/usr/bin') != [], os.getcwd(), os.listdir('.'))"
    assert (await environment.run(code(look))).stdout == "True /tmp []\n"
    for folder in ("/", "/usr", "/etc", "/run", "/var", "/root"):
        write = await environment.run(code(f"open('{folder}/x', 'w')"))
        assert (write.returncode, write.stdout) == (1, ""), folder
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("{ echo 'Error: busy' >&2; exit 125; }", "Error: busy"),
        ("{ trap '' TERM; sleep 300; sleep 300; }", "longer than 20 s"),
    ],
)
async def test_a_container_that_cannot_be_removed_is_said(
    end: str, why: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, podman = tmp_path / "bin", shutil.which("podman")
    programs.mkdir()
    removal = f'[ "$1" != rm ] || {end}'
    (programs / "podman").write_text(f'#!/bin/sh\n{removal}\nexec {podman} "$@"\n')
    (programs / "podman").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        with pytest.raises(EnvironmentFailed, match=why) as caught:
            await Container(str(root)).run(code("import time; time.sleep(60)", timeout=0.1))
    removed = await anyio.run_process(str(caught.value).partition("with: ")[2].split())
    assert removed.stdout
    assert containers(this_owner()) == []


@pytest.fixture
def image(tmp_path: Path) -> Iterator[str]:
    """An image with a user, a program and variables of its own, which is not fetched."""
    name = f"localhost/swarm-bench-test:{os.getpid()}"
    root, archive = root_folder_with_python(tmp_path / "image"), tmp_path / "image.tar"
    subprocess.run(["tar", "-C", str(root), "-cf", str(archive), "."], check=True)
    changes = ("USER 1000", 'ENTRYPOINT ["/bin/false"]', "WORKDIR /usr", "ENV OF_IMAGE=1")
    words = [word for change in changes for word in ("--change", change)]
    subprocess.run(["podman", "import", "--quiet", *words, str(archive), name], check=True)
    yield name
    subprocess.run(["podman", "rmi", "--force", name], check=True)


async def test_an_image_that_is_here_is_run(image: str, tmp_path: Path) -> None:
    environment = Container(image)
    assert environment.program().name == "podman"
    await try_out(environment)
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "private/file").write_text("text")
    look = (
        f"import os; print(os.getcwd(), os.environ['OF_IMAGE'], os.listdir('{tmp_path}/private'))"
    )
    argv = (PYTHON, "-I", "-S", "-c", look)
    done = await environment.run(Code(argv=argv, visible=(tmp_path / "private",), timeout=5))
    assert done.stdout == "/tmp 1 ['file']\n"
    write = await environment.run(code("open('/usr/x', 'w')"))
    assert "Read-only file system" in write.stderr


async def test_exit_codes_of_programs_are_not_those_of_podman(root: Path) -> None:
    environment = Container(str(root))
    for number in (0, 1, 125, 126, 127, 255):
        hides = f"import os, sys; sys.stderr.write('Error: no container'); os._exit({number})"
        assert (await environment.run(code(hides))).returncode == number
    missing = Code(argv=("/usr/bin/no-such-program",), timeout=5)
    with pytest.raises(EnvironmentFailed, match="started no container"):
        await environment.run(missing)


@pytest.mark.parametrize(
    "text",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import mmap, time\nown = mmap.mmap(-1, 3 * 2**30)\nwhile own.write(b'x' * 2**20): pass",
    ],
)
async def test_what_the_engine_limits_itself_ends_too(root: Path, text: str) -> None:
    """More at once than is looked at ten times in a second."""
    done = await Container(str(root)).run(code(text))
    assert done.stopped in ("processes", "memory")


async def test_who_empties_its_environment_at_once_is_watched(root: Path) -> None:
    forks = "import os, time; [os.fork() for _ in range(7)]; time.sleep(60)"
    text = f"import os, sys; os.execve(sys.executable, [sys.executable, '-c', {forks!r}], {{}})"
    assert (await Container(str(root)).run(code(text))).stopped == "processes"


async def test_a_program_sees_nobody_elses_processes(root: Path) -> None:
    look = "import os; os.kill(-1, 0)"
    done = await Container(str(root)).run(code(look))
    assert "ProcessLookupError" in done.stderr
    look = "import os; print([it for it in os.listdir('/proc') if it.isdigit()])"
    assert (await Container(str(root)).run(code(look))).stdout == "['1']\n"
    look = "import os; print(sorted(it for it in os.environ if 'SECRET' in it or 'PROXY' in it))"
    os.environ |= {"A_SECRET": "1", "HTTP_PROXY": "http://user:password@127.0.0.1:9"}
    try:
        assert (await Container(str(root)).run(code(look))).stdout == "[]\n"
    finally:
        del os.environ["A_SECRET"], os.environ["HTTP_PROXY"]


async def test_answers_of_shipped_data_sets_are_hidden(root: Path) -> None:
    """In the root folder as in what is shown in it."""
    package = root / "opt/app/lib/site-packages"
    (package / "swarm_bench/datasets/shipped").mkdir(parents=True)
    (package / "swarm_bench/datasets/shipped/answers.jsonl").write_text("answers")
    (package / "plugin").mkdir()
    (package / "plugin/code.py").write_text("no answers")
    (root / "opt/swarm_bench-1.0-py3-none-any.whl").write_text("answers")
    environment = Container(str(root))
    grep = Code(argv=("/bin/grep", "-rl", "answers", "/opt"), timeout=5)
    assert (await environment.run(grep)).stdout == "/opt/app/lib/site-packages/plugin/code.py\n"
    write = code("open('/opt/app/lib/site-packages/swarm_bench/x', 'w')")
    assert (await environment.run(write)).returncode == 1


async def test_the_checker_is_shown_in_a_folder_that_is_hidden(root: Path) -> None:
    """As where the root folder has the folder that swarm-bench was installed into."""
    package = Path(swarm_bench.__file__).parent
    copy = root / package.relative_to("/")
    shutil.copytree(package / "datasets/shipped/mbpp", copy / "datasets/shipped/mbpp")
    environment = Container(str(root))
    look = Code(argv=("/bin/ls", str(package)), timeout=5)
    assert (await environment.run(look)).stdout == ""
    await try_out(environment)


async def test_whoever_is_cancelled_leaves_no_container(root: Path) -> None:
    environment = Container(str(root))
    for seconds in (0.05, 0.2, 0.5, 1.5):
        with anyio.move_on_after(seconds):
            await environment.run(FOREVER)
        assert containers(this_owner()) == []


def test_containers_of_killed_sessions_are_removed_by_the_next_start(root: Path) -> None:
    here = this_owner().partition("@")[2]
    gone, elsewhere = f"{2**22 + 1}-1.00@{here}", "1-1.00@another/1"
    limits = ("--ulimit", "nofile=64:64", "--ulimit", "nproc=64:64", "--network", "none")
    names = list[str]()
    for owner in (gone, elsewhere):
        name = f"test-{os.getpid()}-{len(names)}"
        argv = ["podman", "create", "--name", name, "--label", f"{OWNER}={owner}", *limits]
        subprocess.run([*argv, "--rootfs", f"{root}:O", "/bin/true"], check=True)
        names.append(name)
    try:
        Container(str(root)).program()
        assert containers(gone) == []
        assert names[1] in containers(elsewhere)
    finally:
        subprocess.run(["podman", "rm", "--force", "--ignore", *names], check=True)


def refused(argument: str) -> str:
    with pytest.raises(SwarmBenchError) as caught:
        Container(argument).program()
    return str(caught.value)


def test_what_cannot_be_run_is_one_sentence(tmp_path: Path, golden: Sentences) -> None:
    words = ("", "--privileged", "a b", "/", "localhost/no-such-image:1", str(tmp_path / "none"))
    golden(*map(refused, words), refused(str(own_root_folder(tmp_path / "own"))))
    (tmp_path / "file").write_text("")
    golden(refused(str(tmp_path / "file")), refused("~nobody-of-this-name/root"))


def test_an_engine_without_a_container_does_not_say_that_python_is_missing(tmp_path: Path) -> None:
    root = root_folder(tmp_path / 'no,overlay"')
    assert "podman cannot run a container here" in refused(str(root))


def test_what_docker_says_of_its_failure(tmp_path: Path) -> None:
    said = "docker: Cannot connect to the daemon.\n\nRun 'docker run --help' for more information\n"
    failed = subprocess.CompletedProcess((), 125, stdout="", stderr=said)
    assert reason(failed) == "docker: Cannot connect to the daemon."
    (tmp_path / "docker").write_text("#!/bin/sh\necho\nexit 1\n")  # as where there is none
    (tmp_path / "docker").chmod(0o755)
    assert not Docker(path=str(tmp_path / "docker")).has_started("none", tmp_path)


@pytest.mark.parametrize(
    "does", ["exit 2", "kill -9 $$", "sleep 60"], ids=["fails", "is killed", "hangs"]
)
async def test_an_engine_that_starts_nothing_is_no_fault_of_the_code(
    root: Path, tmp_path: Path, does: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "podman").write_text(f'#!/bin/sh\n[ "$1" = run ] || exit 0\n{does}\n')
    (programs / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(EnvironmentFailed, match="started no container"):
        await Container(str(root)).run(code("", timeout=0.1))


@pytest.mark.parametrize(
    "engines",
    [
        {},
        {"docker": "exit 0"},
        {"podman": "echo 'cannot set up namespace' >&2; exit 125"},
        {"podman": '[ "$1" = run ] || exit 0; echo "Error: no cgroups" >&2; exit 126'},
    ],
    ids=["none", "docker", "unusable", "no container"],
)
def test_engines_that_run_nothing_say_why(
    root: Path,
    tmp_path: Path,
    engines: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    golden: Sentences,
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in engines.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    golden(refused(str(root)))
