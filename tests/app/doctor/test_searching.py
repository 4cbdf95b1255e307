"""One real question to the tool of each mode: real servers, and the embedded canopy."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from swarm_bench.app.doctor.searching import check_search, find_frequent_name, make_question
from swarm_bench.config.layers import load
from swarm_bench.core.errors import UsageError
from swarm_bench.core.listing import Check, State
from swarm_bench.retrieval.canopy.backends import find_program
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.ownership import OWNER, this_owner
from tests.builders.golden import Sentences

pytestmark = pytest.mark.anyio
FILES = {
    "shop/auth.py": "class AuthMiddleware:\n    pass\n\n\ndef authenticate(token):\n    pass\n",
    "shop/views.py": "from shop.auth import AuthMiddleware\n\nguard = AuthMiddleware()\n",
    "README.md": "AuthMiddleware checks tokens.\n",
}
FOREIGN = ["-I", "-m", "swarm_bench.testing.misbehaving_mcp"]
INDEXED = ["-I", "-m", "swarm_bench.testing.indexed_mcp"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = "git init -q && git add -A && git -c user.name=n -c user.email=e@x commit -qm one"
    subprocess.run(["sh", "-c", script], cwd=tmp_path / "repo", check=True)
    return tmp_path / "repo"


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    (tmp_path / "work").mkdir()
    return Tools(
        programs={name: find_program(name, None) for name in ("canopy-mcp", "canopy-service")},
        user_environment={"PATH": "/usr/bin:/bin", "KEY": "sesame-of-mine"},
        work=tmp_path / "work",
    )


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))  # another test may have left them
    yield
    after = psutil.Process().children(recursive=True)
    assert [child for child in after if child not in before and _is_started(child)] == []


def _is_started(process: psutil.Process) -> bool:
    try:
        return process.environ().get(OWNER) == this_owner()
    except psutil.Error:
        return False


def write_mode(folder: Path, args: list[str], **own: Any) -> str:
    content = {
        "mcpServers": {"tool": {"command": sys.executable, "args": args}},
        "swarmBench": own,
    }
    path = folder / "mine.json"
    path.write_text(json.dumps(content))
    return str(path)


async def asked(tools: Tools, repo: Path, mode: str, **limits: Any) -> Check:
    question = await make_question(load({"repo": repo}).settings, tools.work)
    assert question.query == "AuthMiddleware"
    (found,) = find_modes([mode])
    return await check_search(tools, found, replace(question, **limits))


def places(check: Check) -> str:
    """What is said behind how long the answer took."""
    return check.finding.partition("; ")[2]


@pytest.mark.parametrize("mode", ["canopy", "canopy-service"])
async def test_the_shipped_modes_answer_with_places_that_exist(
    tools: Tools, repo: Path, mode: str, golden: Sentences
) -> None:
    check = await asked(tools, repo, mode)
    assert check.state is State.OK, check
    assert check.finding.startswith("canopy_evidence_pack, ")
    assert "'AuthMiddleware'" in check.finding
    golden(places(check))


async def test_a_tool_is_known_by_its_role_and_prepared_first(
    tools: Tools, repo: Path, tmp_path: Path, golden: Sentences
) -> None:
    stopped = tmp_path / "stopped"
    mode = write_mode(
        tmp_path,
        [*INDEXED, "serve"],
        prepare=[sys.executable, *INDEXED, "build"],
        teardown=[sys.executable, *INDEXED, "stop", str(stopped)],
    )
    check = await asked(tools, repo, mode)
    assert check.state is State.OK, check
    assert "search_code" in check.finding
    golden(places(check))
    assert stopped.read_text() == "True\n"
    assert not (repo / ".indexed").exists()


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "search_code", "inputSchema": {
            "type": "object", "properties": {"query": {"type": "string"}}}}]},
        "tools/call": {"content": [{"type": "text", "text": "ANSWER"}]},
    }.get(asked["method"])
    if result:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
SEARCH = {"tool": "canopy_evidence_pack", "arguments": {"patterns": ["{{ query }}"]}}


@pytest.mark.parametrize(
    ("fault", "search", "expected"),
    [
        ("fine", SEARCH, (State.OK, "3 of 3 places in the answer exist, in 3 files")),
        ("same-answer", SEARCH, (State.OK, "1 of 1 place in the answer exists, in 1 file")),
        ("every-call-fails", SEARCH, (State.PROBLEM, "failed: the index is broken")),
        ("dies-after:0", SEARCH, (State.PROBLEM, "the server 'tool' could not be asked")),
        ("never-answers-calls", SEARCH, (State.WARNING, "gave no answer within 1 s")),
        ("empty-answers", SEARCH, (State.WARNING, "names no file of the repository: {")),
        ("errors-as-text", SEARCH, (State.PROBLEM, "failed: Index not found")),
        ("errors-name-files", SEARCH, (State.PROBLEM, "failed: Error: cannot search")),
        ("fine", {**SEARCH, "tool": "find"}, (State.WARNING, "no tool of it is known to search")),
    ],
)
async def test_what_is_wrong_with_an_answer_is_told(
    tools: Tools, repo: Path, fault: str, search: Any, expected: tuple[State, str]
) -> None:
    mode = write_mode(repo.parent, [*FOREIGN, fault], search=search)
    check = await asked(tools, repo, mode, answer_seconds=1)
    state, words = expected
    assert (check.about, check.state) == ("search mine", state)
    assert words in check.finding


async def test_who_takes_long_to_prepare_is_not_asked(
    tools: Tools, repo: Path, tmp_path: Path, golden: Sentences
) -> None:
    mode = write_mode(tmp_path, [*FOREIGN, "fine"], prepare=["sleep", "60"], search=SEARCH)
    check = await asked(tools, repo, mode, prepare_seconds=0.5)
    assert check.state is State.WARNING
    golden(check.finding)


async def test_who_takes_long_to_warm_up_is_not_asked(
    tools: Tools, repo: Path, tmp_path: Path, golden: Sentences
) -> None:
    warm_up = {"tool": "canopy_evidence_pack", "arguments": {"patterns": ["a"]}}
    fault = [*FOREIGN, "never-answers-calls"]
    mode = write_mode(tmp_path, fault, warm_up=warm_up, search=SEARCH)
    impatient = replace(tools, index_timeout=5)
    check = await asked(impatient, repo, mode, prepare_seconds=3)
    assert check.state is State.WARNING
    golden(check.finding)


async def test_a_folder_that_nobody_named_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="name a repository with --repo"):
        await make_question(load({}).settings, tmp_path / "work")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            r"README.md\nshop/nowhere.py\nshop/gone.py",
            "; 1 of 3 places in the answer exists, in 1 file",
        ),
        (
            r"README.md\nshop/auth.py\nshop/gone.py",
            "; 2 of 3 places in the answer exist, in 2 files",
        ),
    ],
)
async def test_places_that_do_not_exist_are_not_counted(
    tools: Tools, repo: Path, tmp_path: Path, answer: str, words: str
) -> None:
    program = tmp_path / "server.py"
    program.write_text(SERVER.replace("ANSWER", answer))
    check = await asked(tools, repo, write_mode(tmp_path, [str(program)]))
    assert check.finding.endswith(words)


def test_the_name_is_a_defined_one_that_many_files_use(tmp_path: Path) -> None:
    files = {
        "a.py": "class LoginForm:\n    def setUp(self): ...\nclass Rare_Thing: ...\n"
        "class agents: ...",
        "b.py": "def setUp(): ...\nLoginForm() or agents",
        "c.ts": "new LoginForm(agents)",
        "d.md": "agents agents",
        "e.bin": "\0 LoginForm",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert find_frequent_name(tmp_path, files) == "LoginForm"
    assert find_frequent_name(tmp_path, ["d.md"]) is None
    assert find_frequent_name(tmp_path, ["x/settings.toml"]) == "settings"
