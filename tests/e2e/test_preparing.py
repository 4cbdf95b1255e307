"""A tool that does not start without its index: all that its mode file says, in one session."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
PROGRAM = [sys.executable, "-I", "-m", "swarm_bench.testing.indexed_mcp"]


def write_mode(bench: Bench, *more: str, **own: Any) -> None:
    command, *words = PROGRAM
    content = {
        "mcpServers": {"indexed": {"command": command, "args": [*words, "serve", *more]}},
        "swarmBench": own,
    }
    (bench.folder / "indexed.json").write_text(json.dumps(content), encoding="utf-8")


def compare(bench: Bench, *more: str) -> Any:
    words = ["compare", "--repo", str(bench.repo), "--output", "out", "--quiet", "--agents", "1"]
    return bench.call(*words, "--modes", "baseline", "./indexed.json", *more)


def swarms(bench: Bench) -> list[dict[str, Any]]:
    lines = (bench.folder / "out" / "retrieval.jsonl").read_text().splitlines()
    return [swarm for swarm in map(json.loads, lines) if swarm["mode"] == "indexed"]


def test_a_tool_is_prepared_warmed_up_and_torn_down(bench: Bench) -> None:
    stopped = bench.folder / "stopped.txt"
    write_mode(
        bench,
        prepare={"command": [*PROGRAM, "build", "--litter"], "copyable": True},
        warm_up={"tool": "search_code", "arguments": {"query": "token"}},
        teardown=[*PROGRAM, "stop", str(stopped)],
        version=[*PROGRAM, "--version"],
        search={"tool": "search_code", "arguments": {"query": "{{ query }}"}},
        may_create=[".indexed/"],
    )
    done = compare(bench, "--runs", "2")
    assert done.code == 0, done.err
    trials = [record for record in bench.records("out") if record["mode"] == "indexed"]
    assert [trial["retrieval"] for trial in trials] == ["used"] * 2

    first, second = swarms(bench)
    assert first["index_seconds"] > 0
    assert second["index_seconds"] == first["index_seconds"]  # what was copied took no time again
    assert (first["index_copied"], second["index_copied"]) == (False, True)
    assert first["index_bytes"] == second["index_bytes"] > 0
    assert first["warm_up_seconds"] > 0
    assert first["unexpected"] == second["unexpected"] == [".git/hooks/", "CLAUDE.md"]
    # Once for the ten files in which it was greeted, and once for each swarm.
    assert stopped.read_text().split() == ["True"] * 3
    assert not processes_of(bench.experiment("out")["session"])

    assert bench.experiment("out")["retrieval"]["indexed"]["version"] == "7.3.1"
    summary = (bench.folder / "out" / "summary.md").read_text()
    assert "CLAUDE.md" in summary
    overhead = (bench.folder / "out" / "overhead.jsonl").read_text().splitlines()
    [line] = [one for one in map(json.loads, overhead) if one["mode"] == "indexed"]
    assert line["problem"] is None
    assert line["prompt_tokens"] > line["tool_tokens"]


def test_an_index_that_is_committed_is_told(bench: Bench, golden: Sentences) -> None:
    for name in (".indexed/map.json", ".canopy/index.db"):
        (bench.repo / name).parent.mkdir()
        (bench.repo / name).write_text("{}")
    commit = "git -c user.name=me -c user.email=me@example.org commit -qm index"
    subprocess.run(["sh", "-c", f"git add -fA; {commit}"], cwd=bench.repo, check=True)
    write_mode(bench, prepare=[*PROGRAM, "build"], may_create=[".indexed/", "CLAUDE.md"])
    done = compare(bench, "--runs", "1")
    assert done.code == 0, done.err
    assert [swarm["brought"] for swarm in swarms(bench)] == [[".indexed/"]]
    head = done.out.partition("## Headline")[2].partition("## Warnings")
    golden(parts(done.out))
    assert ".canopy" not in head[2]


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"prepare": [*PROGRAM, "build"], "start_seconds": 1}, "no answer within 1 second"),
        ({"prepare": [*PROGRAM, "build", "--fail"]}, "the licence has ended"),
        ({"teardown": ["sh", "${NOWHERE}"]}, "needs the variable NOWHERE"),
        ({"prepare": [*PROGRAM, "build"], "version": ["false"]}, "version with false"),
        (
            {"prepare": [*PROGRAM, "build"], "warm_up": {"tool": "nonesuch"}},
            "names the tool 'nonesuch' under 'warm_up'",
        ),
    ],
)
def test_what_cannot_work_is_refused_early_with_its_last_words(
    bench: Bench, own: dict[str, Any], words: str
) -> None:
    write_mode(bench, "--after", "3", **own)
    done = compare(bench, "--runs", "1")
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (bench.folder / "out").exists()


def test_one_that_fails_in_the_repository_only_is_an_index_that_failed(
    bench: Bench, golden: Sentences
) -> None:
    """And the teardown runs all the same."""
    stopped = bench.folder / "stopped.txt"
    script = (
        f"test -e module_1.py || {{ echo 'too many tokens' >&2; exit 3; }}; {' '.join(PROGRAM)}"
    )
    write_mode(
        bench,
        prepare=["sh", "-c", f"{script} build"],
        teardown=[*PROGRAM, "stop", str(stopped)],
    )
    assert compare(bench, "--runs", "1").code == 3
    causes = {(trial["mode"], trial["cause"]) for trial in bench.records("out")}
    assert causes == {("baseline", "finished"), ("indexed", "index-failed")}
    [swarm] = swarms(bench)
    golden(swarm["failure"])
    assert stopped.read_text().split() == ["True", "False"]


def test_what_would_run_is_shown(bench: Bench) -> None:
    write_mode(
        bench,
        prepare=[*PROGRAM, "build"],
        start_seconds=45,
        search={"tool": "search_code", "arguments": {"query": "{{ query }}"}},
        may_create=[".indexed/"],
        keep=[".cache/models"],
    )
    done = compare(bench, "--plan")
    assert done.code == 0, done.err
    for words in ("indexed_mcp build", "45 s", "search_code", ".indexed/", ".cache/models"):
        assert words in done.out
    assert not (Path(bench.repo) / ".indexed").exists()


def test_what_a_tool_tells_agents_meanwhile_is_said_and_a_changed_mode_is_not_taken(
    bench: Bench, golden: Sentences
) -> None:
    build = [*PROGRAM, "build"]
    write_mode(bench, "--litter", prepare=build)
    done = compare(bench, "--runs", "1")
    assert done.code == 0
    golden(parts(done.out, "Headline", "Warnings"))
    write_mode(bench, "--litter", prepare=build, may_create=[".indexed/"])
    done = bench.call("compare", "--continue", "out", "--runs", "2")
    assert done.code == 2
    golden(done.err)
