"""Whole sessions of the installed command, and what it says of itself, held against the bytes that
somebody looked at. `make golden` writes them anew; then read the difference."""

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main

from swarm_bench.app.setup import retrieve
from swarm_bench.app.trust.demands import list_session_demands
from swarm_bench.app.trust.run_demands import list_benchmark_demands, list_run_demands
from swarm_bench.benchmarks.cases.folder import open_case_folder
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.cli.commands import app
from swarm_bench.config.layers import load
from swarm_bench.config.trust import Demand, list_marks
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.runtime.trusted import TrustFile
from tests.builders.golden import GOLDEN, RENEWED, hold
from tests.builders.packages import install
from tests.builders.prompting import MARKS, answering, is_opinion, tasks, write_rows
from tests.builders.repositories import commit, start
from tests.builders.settled import masked, settle
from tests.e2e.conftest import FILES, Bench

MINE = """
tasks:
- id: auth
  title: Authentication
  prompt: Which class checks the token of every request?
  keywords: token request middleware
  key: {files: [shop/auth.py]}
- id: jobs
  title: Jobs
  prompt: Where are background jobs worked off?
  key: {files: [shop/jobs.py]}
- id: orders
  title: Orders
  prompt: Which class holds the items of an order?
  keywords: order items user
  key: {symbols: ["shop/models.py::Order"]}
"""
TASKS = ("--repo", "../shop", "--tasks", "mine.yaml")
AGENTS = (*TASKS, "--concurrency", "1")
MODELS = ("--allow-code-execution", "--environment", "unconfined", "--concurrency", "1")
COMMANDS = {
    name: (*words.split(), *more)
    for name, words, more in (
        ("compare", "compare --modes baseline canopy canopy-service --runs 1", AGENTS),
        ("ab", "ab --modes baseline ./own.json --runs 2", TASKS),
        ("calibrate", "calibrate --mode baseline --runs 2", AGENTS),
        ("growing", "compare --modes canopy --agents 1 2 --runs 1", AGENTS),
        ("retrieve", "retrieve --modes canopy bm25", TASKS),
        (
            "humaneval",
            "run humaneval --models reference copy generations:g.json --limit 3",
            MODELS,
        ),
        ("apps", "run apps --limit 2", MODELS),
        ("completion", "run completion --dataset holes.jsonl --models reference copy empty", ()),
        ("unified-diff", "run unified-diff --dataset diffs.jsonl --models reference copy", MODELS),
        (
            "prompt-optimisation",
            "run prompt-optimisation --dataset tasks.jsonl -p maxImprovementRuns=1 -p heldOut=0.7 "
            "--models http://models.test#one --judge http://models.test#judge",
            MODELS,
        ),
        ("toy", "run toy --runs 2", ()),
    )
}
"""By session, the command that makes it."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

OWN = {
    "mcpServers": {
        "own": {
            "command": "{{ python }}",
            "args": ["-I", "-m", "swarm_bench.programs.lexical", "bm25", "--root", "{{workspace}}"],
        }
    },
    "swarmBench": {"instructions": "Start with search_code.", "may_create": [".bm25/"]},
}  # fmt: skip
ANSWERS = [["    return True\n"], ["    return []\n"], ["    return number % 1.0\n"]]
CONTRACT = "contract A {\n    uint256 public total;\n"
HOLES = [
    {"path": path, "part": part, "prefix": CONTRACT + before, "middle": hole, "suffix": "}\n"}
    for path, part, before, hole in (
        ("a.sol", "whole_line", "", "    uint256 public supply;\n"),
        ("b.sol", "whole_line", "", "    total += 1;\n"),
        ("b.sol", "until_eol", "    total +=", " 1;\n"),
    )
]
DIFFS = [
    {
        "id": name,
        "prompt": f"Let double() return {factor} times the number.",
        "sourceCode": "def double(number):\n    return number\n",
        "unitTests": f"from main import double\n\n\ndef test():\n    assert double(4) == {four}\n",
        "solution": f"def double(number):\n    return {factor} * number\n",
    }
    for name, factor, four in (("right", 2, 8), ("fails", 3, 8))
]
POINTS = "[swarm_bench.benchmarks]\ntoy = toy_package:Toy\n"
CODE = "from swarm_bench.testing.toy import Toy\n"


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A working folder with the same commit everywhere, and a path of the same length: scout's
    prompt has the path."""
    root = Path("/tmp", f"golden-{secrets.token_hex(4)}")
    root.mkdir(mode=0o700)
    yield made(Bench(folder=root / "here", repo=start(root / "shop")))
    shutil.rmtree(root)


def made(bench: Bench) -> Bench:
    commit(bench.repo, "one", FILES)
    install("toy_package", CODE, POINTS, bench.folder / "packages")
    (bench.folder / "mine.yaml").write_text(MINE)
    (bench.folder / "own.json").write_text(json.dumps(OWN))
    (bench.folder / "g.json").write_text(json.dumps(ANSWERS))
    for name, rows in (("holes", HOLES), ("diffs", DIFFS)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (bench.folder / f"{name}.jsonl").write_text(text)
    write_rows(bench, tasks(8))
    return bench


def knows(model: str, system: str, number: int) -> bool:
    """Solve some tasks, and more of them with the judge's prompt."""
    return number % 3 == 0 or (number % 3 == 1 and "Return" in system)


def judges(text: str, number: int) -> str:
    return f"Say what is wanted.\n{MARKS}" if is_opinion(text) else "Return what is asked for."


@contextmanager
def environment_of(name: str) -> Iterator[Mapping[str, str]]:
    """Give the environment of a command. Where it asks models, these stand behind a proxy, so that
    no name has the number of a port."""
    if "models.test" not in " ".join(COMMANDS[name]):
        yield {}
        return
    with answering(knows, judges) as asked:
        yield {"HTTP_PROXY": asked.url}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_session_is_the_one_that_was_looked_at(
    name: str, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.folder)
    packages = {"PYTHONPATH": "packages"} if name == "toy" else {}
    with environment_of(name) as env:
        done = bench.call(*COMMANDS[name], "--quiet", "--output", "out", env={**env, **packages})
    assert done.err == f"Results: {bench.folder / 'out'}\n"
    folder = bench.folder / "out"
    assert done.out == (folder / "summary.md").read_text()
    again = bench.call("report", "out", env=packages)
    assert (again.code, again.out) == (0, done.out), again.err
    for session in sessions(folder):
        check_trusted(bench, session)
    settle(folder)
    for path in {folder, *sessions(folder)}:
        again = bench.call("report", str(path), env=packages)
        assert again.code == 0, again.err
    for file in ("experiment.json", "metrics.jsonl", "summary.md", "details.md"):
        for path in sorted(folder.rglob(file)):
            text = masked(path.read_text(encoding="utf-8"), bench.folder.parent)
            path.write_text(text, encoding="utf-8")
            hold(f"sessions/{name}/{path.relative_to(folder)}", text)
    monkeypatch.chdir("/")  # digests of models have the folder that they are asked from
    trust = [shown(demand) for session in sessions(folder) for demand in asked(session)]
    result = {"command": " ".join(COMMANDS[name]), "exit code": done.code, "trust": trust}
    hold(f"sessions/{name}/command.json", json.dumps(result, indent=1) + "\n")


def sessions(folder: Path) -> list[Path]:
    """The session in a folder, or those of a series."""
    return sorted(file.parent for file in folder.rglob("experiment.json"))


def check_trusted(bench: Bench, folder: Path) -> None:
    """Whoever makes a session vouches for what it asks for when it is continued, and no more."""
    demands = asked(folder)
    (id,) = {json.loads((folder / "experiment.json").read_text())["session"]}
    file = TrustFile(bench.folder / ".local" / "state" / "swarm-bench")
    assert file.digests(f"session {id}") == list_marks(demands)


def asked(folder: Path) -> list[Demand]:
    """What a session asks for when it is continued."""
    benchmark = json.loads((folder / "experiment.json").read_text())["benchmark"]
    if benchmark == "swarm":
        return asked_by_agents(SessionFolder(folder).read_experiment())
    if benchmark == "retrieve":
        return asked_by_agents(retrieve.read_experiment(retrieve.open_folder(folder)))
    experiment = open_case_folder(folder).read_experiment()
    return [*list_run_demands(experiment), *list_benchmark_demands(experiment)]


def asked_by_agents(experiment: AnyExperiment) -> list[Demand]:
    options = load({}, session=experiment.settings)
    return list_session_demands(experiment, options, made_now=True)


def shown(demand: Demand) -> dict[str, str]:
    return {"option": demand.option, "what": demand.what, "digest": demand.digest}


def commands(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of every command and of those below it."""
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *words, name)


def test_every_command_says_what_was_looked_at(bench: Bench) -> None:
    names = set()
    for words in commands(typer.main.get_command(app)):
        done = bench.call(*words, "--help")
        assert (done.code, done.err) == (0, "")
        names.add("-".join(("swarm-bench", *words)) + ".txt")
        hold(f"help/{'-'.join(('swarm-bench', *words))}.txt", done.out)
    for path in (GOLDEN / "help").iterdir():
        if path.name not in names and RENEWED:
            path.unlink()
    assert {path.name for path in (GOLDEN / "help").iterdir()} == names
