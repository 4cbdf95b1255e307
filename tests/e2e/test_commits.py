"""Tasks with answer keys, each in the repository as it was before its answer."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.repositories import commit, git
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
AGENT = ["--agent", "swarm_bench.agents.scripted:Scripted", "--model", "plays.yaml"]
LATER = "written_later"
"""Stands in the texts, names and messages of later commits."""
MARK = "telling_mark"
"""Stands in the keys."""


@pytest.fixture
def commits(bench: Bench) -> dict[str, str]:
    """The first is that of the bench; agents work on the two in the middle."""
    made = {
        "old": commit(bench.repo, "old", {"old.py": "OLD = 1\n"}),
        "middle": commit(bench.repo, f"middle {LATER}_1", {"middle.py": "MIDDLE = 1\n"}),
        "new": commit(bench.repo, f"new {LATER}_4", {f"{LATER}_2.py": f"NEW = '{LATER}_3'\n"}),
    }
    git(bench.repo, "tag", f"{LATER}_5")
    return made


def write_tasks(bench: Bench, *tasks: dict[str, Any]) -> None:
    entries = [{"title": "a task", "prompt": "where is the answer", **task} for task in tasks]
    (bench.folder / "mine.yaml").write_text(yaml.safe_dump({"tasks": entries}))


def write_plays(bench: Bench, *steps: dict[str, Any]) -> None:
    answer = {"answer": {"text": "See `old.py`.", "turns": 1, "usage": {"input": 1, "output": 1}}}
    plays = [{"steps": [{"init": {}}, *steps, answer]}]
    (bench.folder / "plays.yaml").write_text(yaml.safe_dump(plays))


def compare(bench: Bench, *words: str, out: str = "out") -> tuple[int, str]:
    call = [
        "compare",
        "--repo",
        str(bench.repo),
        "--tasks",
        "mine.yaml",
        "--all-tasks",
        "--quiet",
        "--runs",
        "1",
    ]
    done = bench.call(*call, *AGENT, "--output", out, *words)
    return done.code, done.err + done.out


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value, names too, with where they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield path, name
            yield from texts(inner, f"{path}/{name}")
    else:
        yield path, str(value)


def test_an_agent_is_given_its_commit_and_nothing_of_the_answer(
    bench: Bench, commits: dict[str, str]
) -> None:
    key = {"files": ["old.py"], "facts": [MARK]}
    write_tasks(
        bench,
        {"id": "id-of-task-1", "commit": commits["old"], "key": key},
        {"id": "id-of-task-2", "commit": commits["middle"], "key": key, "keywords": MARK},
        {"id": "id-of-task-3", "commit": commits["old"], "key": key},
    )
    dump = str(Path(__file__).parent / "programs" / "dumping_agent.py")
    write_plays(bench, {"run": [sys.executable, dump, str(bench.folder / "dumps")]})
    code, said = compare(bench, "--modes", "baseline", "canopy-service", "--keep-workspaces")
    assert code == 0, said
    dumps = [json.loads(file.read_text()) for file in (bench.folder / "dumps").iterdir()]
    assert len(dumps) == 6
    olds = [dump for dump in dumps if not any("middle.py" in name for name in dump["workspace"])]
    assert len(olds) == 4, "two tasks in two modes"
    telling = [*commits.values(), MARK, "id-of-task", str(bench.repo), "mine.yaml"]
    telling += [str(bench.folder / "out"), f"{LATER}_"]
    for dump in dumps:
        assert "OLD = 1\n" in dump["objects"].values()
        everybodys = dump.pop("commands of all")
        assert everybodys
        found = [(where, word) for where, text in texts(dump) for word in telling if word in text]
        assert found == []
        assert not [text for _, text in texts(everybodys) if MARK in text or f"{LATER}_" in text]
    for dump in olds:
        assert not [where for where, text in texts(dump) if "MIDDLE" in text]
    names = {swarm["swarm"] for swarm in bench.lines("out", "retrieval.jsonl")}
    assert len(names) == 4, "tasks of one commit share a swarm"
    (kept,) = bench.folder.glob("tmp/swarm-bench-*/kept")
    assert {path.name for path in kept.iterdir()} == {f"{name}-1" for name in names}
    assert not [*kept.parent.glob("*.git")], "copies go away"


def test_who_reads_where_the_answers_are_is_contaminated(
    bench: Bench, commits: dict[str, str]
) -> None:
    key = {"files": ["old.py"]}
    write_tasks(bench, {"id": "keyed", "commit": commits["old"], "key": key})
    place = str(bench.repo / "old.py")
    write_plays(bench, {"call": {"tool": "Read", "input": {"file_path": place}, "result": "x"}})
    code, said = compare(bench, "--modes", "baseline", "canopy")
    assert code == 0, said
    labels = {r["mode"]: r["retrieval"] for r in bench.records("out")}
    assert labels == {"baseline": "contaminated", "canopy": "contaminated"}
    sentence = "reached what may tell the answer (agent 1): It reached the original repository"
    assert sentence in said
    write_tasks(bench, {"id": "open"})
    code, said = compare(bench, "--modes", "baseline", out="free")
    assert code == 0, said
    (record,) = bench.records("free")
    assert record["retrieval"] == "not-given", "nothing can be copied there"


def test_who_reads_answers_that_lie_elsewhere_is_contaminated(
    bench: Bench, commits: dict[str, str]
) -> None:
    prompts = {"one": "Which file has the older way?", "two": "Which file has the way of today?"}
    tasks = [
        {"id": id, "prompt": prompt, "commit": commits["old"], "key": {"files": ["old.py"]}}
        for id, prompt in prompts.items()
    ]
    write_tasks(bench, *tasks)
    copied = "\n".join(f"{it['prompt']} {it['key']}" for it in tasks)
    write_plays(
        bench, {"call": {"tool": "Read", "input": {"file_path": "/notes"}, "result": copied}}
    )
    code, said = compare(bench, "--modes", "baseline", "canopy")
    assert code == 0, said
    assert {r["retrieval"] for r in bench.records("out")} == {"contaminated"}
    assert "It reached questions and answers of 1 other task" in said


def test_the_repository_may_move_on_while_a_session_waits(
    bench: Bench, commits: dict[str, str]
) -> None:
    asked = {"one": "old", "two": "new"}
    write_tasks(bench, *({"id": id, "commit": commits[name]} for id, name in asked.items()))
    write_plays(bench, {"run": ["cp", "-r", ".", str(bench.folder / "copy")]})
    code, said = compare(bench, "--modes", "baseline")
    assert code == 0, said
    before = bench.records("out")
    commit(bench.repo, "newer", {"newer.py": "NEWER = 1\n"})
    done = bench.call("compare", "--continue", "out", "--runs", "2", "--quiet", "--trust")
    assert done.code == 0, done.err
    records = bench.records("out")
    assert records[:2] == before
    assert [record["task_id"] for record in records[2:]] == ["one", "two"]
    assert not [*bench.folder.glob("copy/**/newer.py")]
    git(bench.repo, "checkout", "-q", "--orphan", "x")
    commit(bench.repo, "rewritten", {"a.py": ""})
    git(bench.repo, "tag", "-d", f"{LATER}_5")
    git(bench.repo, "branch", "-D", "main")
    git(bench.repo, "reflog", "expire", "--expire=now", "--all")
    git(bench.repo, "gc", "-q", "--prune=now")
    done = bench.call("compare", "--continue", "out", "--runs", "3", "--quiet", "--trust")
    assert done.code == 2
    assert f"does not have {commits['old'][:12]}, {commits['new'][:12]}" in done.err
    assert "(one, two)" in done.err
