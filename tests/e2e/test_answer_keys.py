"""Answer keys that lie in the repository are in no clone, and whoever reads them elsewhere is
contaminated."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences, parts
from tests.builders.repositories import commit, git
from tests.builders.searching import searching_mode
from tests.e2e.conftest import Bench
from tests.e2e.test_commits import AGENT, write_plays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
DUMP = str(Path(__file__).parent / "programs" / "dumping_agent.py")
MARK = "telling_mark"
"""A fact of the keys, which stands nowhere else."""
ASKED = "Which file tells who may sign in to this shop?"
TASKS = {
    "tasks": [
        {
            "id": f"sign-in-{number}",
            "title": "Sign in",
            "prompt": f"{ASKED} Name {number}.",
            "key": {"files": ["shop/auth.py"], "facts": [MARK]},
        }
        for number in (1, 2)
    ]
}
SEARCHING = """
texts = [p.read_text() for p in pathlib.Path().rglob("*.yaml")]
keys = [key for text in texts for key in re.findall(r"- (\\S+/\\S+)", text)]
text = " ".join(keys) or "web/app.ts"
"""


def keep(folder: Path, tasks: Any = TASKS) -> None:
    """Put the keys into a repository: as a task file, and as an earlier session has them."""
    for name, text in {
        "tasks/mine.yaml": yaml.safe_dump(tasks, width=40),
        "results/old/experiment.json": json.dumps(tasks),
        "notes/what it said.md": f"> {ASKED} Name 2.\n\nIt is in `shop/auth.py`: {MARK}.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def call(bench: Bench, *words: str, out: str = "out", repo: Path | None = None) -> str:
    where = ("--repo", str(repo or bench.repo), "--tasks", str(bench.folder / "asked.yaml"))
    done = bench.call(words[0], *where, "--quiet", "--output", out, *words[1:])
    assert done.code == 0, done.err
    return done.out + done.err


def compare(bench: Bench, *words: str, repo: Path | None = None, out: str = "out") -> str:
    modes = ("--modes", "baseline", "canopy", "--runs", "1", "--all-tasks")
    return call(bench, "compare", *modes, *AGENT, *words, repo=repo, out=out)


def dumps(bench: Bench) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in (bench.folder / "dumps").iterdir()]


@pytest.fixture
def asked(bench: Bench) -> dict[str, Any]:
    """A task file outside of the repository, and an agent that writes down all it can see."""
    (bench.folder / "asked.yaml").write_text(yaml.safe_dump(TASKS))
    write_plays(bench, {"run": [sys.executable, DUMP, str(bench.folder / "dumps")]})
    return TASKS


@pytest.mark.parametrize("kept", ["committed", "untracked", "in a folder"])
def test_no_agent_has_a_key_in_its_workspace_or_its_git(
    bench: Bench, asked: dict[str, Any], kept: str
) -> None:
    keep(bench.repo)
    words, repo = list[str](), bench.repo
    if kept == "committed":
        commit(bench.repo, "tasks", {})
    elif kept == "untracked":
        words = ["--dirty"]
    else:
        repo = bench.folder / "plain"
        shutil.copytree(bench.repo, repo, ignore=shutil.ignore_patterns(".git"))
    hidden = {"notes/what it said.md", "results/old/experiment.json", "tasks/mine.yaml"}
    plan = compare(bench, *words, "--plan", repo=repo)
    assert all(name in plan for name in hidden)
    assert not (bench.folder / "out").exists()
    compare(bench, *words, repo=repo)
    repository = bench.experiment("out")["repository"]
    assert set(repository["answers"]) == hidden
    assert "README.md" not in repository["answers"], "it names the key, and asks nothing"
    seen = dumps(bench)
    assert len(seen) == 4
    for dump in seen:
        texts = [*dump["workspace"].values(), *dump["objects"].values()]
        assert any("class AuthMiddleware" in text for text in texts)
        assert not [text for text in texts if MARK in text or ASKED in text]
        assert not [name for name in dump["workspace"] if name.endswith((*hidden,))]
    assert git(bench.repo, "status", "--porcelain") == (
        "" if kept == "committed" else "?? notes/\n?? results/\n?? tasks/"
    )


def test_nor_at_an_older_commit(bench: Bench, asked: dict[str, Any], golden: Sentences) -> None:
    keep(bench.repo)
    (bench.repo / "empty").write_text("")
    old = commit(bench.repo, "tasks", {})
    for name in ("tasks", "results", "notes"):
        shutil.rmtree(bench.repo / name)
    commit(bench.repo, "without", {"empty": None})
    of_commit = {"tasks": [{**task, "commit": old} for task in TASKS["tasks"]]}
    (bench.folder / "asked.yaml").write_text(yaml.safe_dump(of_commit))
    checked = bench.call("tasks", "check", "asked.yaml", "--repo", str(bench.repo))
    assert checked.code == 0, checked.err
    golden(checked.out)
    compare(bench)
    assert len(bench.experiment("out")["repository"]["answers"]) == 3
    for dump in dumps(bench):
        texts = [*dump["workspace"].values(), *dump["objects"].values()]
        assert any(name.endswith("/empty") for name in dump["workspace"]), "its commit"
        assert not [text for text in texts if MARK in text or ASKED in text]


def test_a_search_that_reads_keys_has_none_to_read(bench: Bench, asked: dict[str, Any]) -> None:
    keep(bench.repo)
    commit(bench.repo, "tasks", {})
    words = ("retrieve", "--modes", searching_mode(bench.folder, "cheating", SEARCHING))
    assert "3 files with answer keys" in call(bench, *words, "--plan")
    assert "3 files with answer keys" in call(bench, *words)
    assert [record["figures"]["recall_10"] for record in bench.records("out")] == [0, 0]


def test_who_reads_such_a_file_elsewhere_is_contaminated(
    bench: Bench, asked: dict[str, Any], golden: Sentences
) -> None:
    keep(bench.repo)
    commit(bench.repo, "tasks", {})
    read = {"call": {"tool": "Read", "input": {"file_path": "tasks/mine.yaml"}, "result": "none"}}
    write_plays(bench, read)
    compare(bench)
    assert {record["retrieval"] for record in bench.records("out")} <= {"not-given", "unused"}
    place = str(bench.repo / "tasks" / "mine.yaml")
    write_plays(bench, {"call": {"tool": "Read", "input": {"file_path": place}, "result": "x"}})
    said = compare(bench, out="again")
    assert {record["retrieval"] for record in bench.records("again")} == {"contaminated"}
    golden(parts(said))


def test_an_older_session_goes_on_and_says_so(bench: Bench, asked: dict[str, Any]) -> None:
    keep(bench.repo)
    commit(bench.repo, "tasks", {})
    compare(bench)
    stored = bench.folder / "out" / "experiment.json"
    before = json.loads(stored.read_text())
    del before["repository"]["answers"]
    stored.write_text(json.dumps(before))
    shutil.rmtree(bench.folder / "dumps")
    done = bench.call("compare", "--continue", "out", "--runs", "2", "--quiet", "--trust")
    assert done.code == 0, done.err
    repository = bench.experiment("out")["repository"]
    assert len(repository["answers"]) == 3
    exported = json.loads(bench.call("export", "out", "--format", "json").out)
    caveats = [it["caveat"] for it in exported["caveats"] if "answer keys" in it["caveat"]]
    assert caveats == ["2 of 4 trials had the 3 files with answer keys in their clones"] * 2
    summary = (bench.folder / "out" / "summary.md").read_text()
    assert all(summary.count(caveat) == 2 * 2 for caveat in caveats), "headline and warnings"
    assert repository["tree"] == before["repository"]["tree"]
    for dump in dumps(bench):
        assert not [text for text in dump["objects"].values() if MARK in text]


def test_a_repository_of_keys_alone_is_refused(
    bench: Bench, asked: dict[str, Any], golden: Sentences
) -> None:
    keep(bench.folder / "only")
    words = ("--repo", "only", "--tasks", "asked.yaml", "--output", "out", *AGENT)
    done = bench.call("compare", *words, "--modes", "baseline")
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "out").exists()
