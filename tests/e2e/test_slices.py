"""Slices of a plan as jobs of their own, and the session that they are merged into."""

import shutil
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(240)

COMPARE = ("compare", "--modes", "bm25", "grep", "--tasks", "./tasks.yaml", "--runs", "2")
BLOCKS = ("--block-size", "1", "--concurrency", "1")
RUN = ("run", "humaneval", "--models", "reference", "copy", "--limit", "5", "--generate-only")
RETRIEVE = ("retrieve", "--modes", "bm25", "grep", "--tasks", "./keyed.yaml")


@pytest.fixture(autouse=True)
def _set_up(bench: Bench) -> None:
    tasks = [{"id": f"t{n}", "title": f"t{n}", "prompt": "Where is run_worker?"} for n in range(4)]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    keyed = [{**task, "key": {"files": ["app/worker.py"]}} for task in tasks]
    (bench.folder / "keyed.yaml").write_text(yaml.safe_dump({"tasks": keyed}))


def run(bench: Bench, command: Sequence[str], output: str, *more: str) -> Done:
    repo = () if command[0] == "run" else ("--repo", str(bench.repo))
    done = bench.call(*command, *repo, "--output", output, "--quiet", *more)
    assert done.code == 0, done.err
    return done


def slices(bench: Bench, command: Sequence[str], of: int, *more: str) -> list[str]:
    names = [f"part-{number}" for number in range(1, of + 1)]
    for number, name in enumerate(names, start=1):
        run(bench, command, name, "--slice", f"{number}/{of}", *more)
    return names


def merge(bench: Bench, *parts: str) -> Done:
    return bench.call("merge", *parts, "--output", "whole")


def by_trial(bench: Bench, session: str) -> dict[str, dict[str, Any]]:
    return {record["trial"]: record for record in bench.records(session)}


def test_slices_of_a_comparison_make_the_session_that_one_machine_makes(bench: Bench) -> None:
    parts = slices(bench, (*COMPARE, *BLOCKS), 3)
    (bench.folder / parts[0] / "report-task-1.html").write_text("of one slice")
    run(bench, (*COMPARE, *BLOCKS), "one")
    done = merge(bench, *parts)
    assert done.code == 0, done.err
    one, whole = by_trial(bench, "one"), by_trial(bench, "whole")
    assert one.keys() == whole.keys()
    assert len(whole) == 16
    same = ("mode", "run", "agent", "case", "task", "attempt", "status", "cause", "answer")
    for trial, record in whole.items():
        assert {key: record.get(key) for key in same} == {key: one[trial].get(key) for key in same}
    streams = {
        path.relative_to(bench.folder / name)
        for name in ("one", "whole")
        for path in (bench.folder / name).rglob("*.stream.jsonl")
    }
    assert len(streams) == 16
    assert all((bench.folder / "whole" / path).is_file() for path in streams)
    experiments = [bench.experiment(name) for name in ("one", "whole")]
    for key in ("order", "blocks", "beforehand", "seed", "tasks", "runs"):
        assert experiments[0][key] == experiments[1][key]
    assert [part["number"] for part in experiments[1]["merged"]] == [1, 2, 3]
    assert "another session" not in done.out
    assert "merged from 3 of 3 slices" in done.out
    whole_folder = bench.folder / "whole"
    assert [*whole_folder.rglob("report*")] == [whole_folder / "report.html"]
    again = bench.call("report", "whole")
    assert again.code == 0, again.err


def test_slices_may_run_on_nodes(bench: Bench) -> None:
    words, nodes = (*COMPARE, *BLOCKS), "swarm_bench.testing.worker_nodes:TwoNodes"
    run(bench, words, "part-1", "--slice", "1/2", "--on", nodes)
    run(bench, words, "part-2", "--slice", "2/2")
    done = merge(bench, "part-1", "part-2")
    assert done.code == 0, done.err
    records = bench.records("whole")
    assert len(records) == 16
    assert {record.get("node") for record in records} == {"node-1", "node-2", None}
    assert bench.experiment("whole")["nodes"].keys() == {"node-1", "node-2"}
    assert "The trials ran on 2 nodes, and 8 of them on the machine of the session" in done.out


def test_a_block_runs_whole_in_one_slice_and_each_trial_in_one(bench: Bench) -> None:
    parts = slices(bench, (*COMPARE, *BLOCKS), 2)
    seen = [
        {(record["run"], record["agent"], record["mode"]) for record in bench.records(part)}
        for part in parts
    ]
    assert not seen[0] & seen[1]
    for own in seen:
        tasks = {(number, agent) for number, agent, _ in own}
        assert own == {(*task, mode) for task in tasks for mode in ("bm25", "grep")}
    order = bench.experiment(parts[0])["order"]
    assert order == bench.experiment(parts[1])["order"]
    assert bench.experiment(parts[0])["schema_version"] == 5  # an older version would run it all


@pytest.mark.parametrize("command", [RUN, RETRIEVE], ids=["run", "retrieve"])
def test_cases_are_dealt_with_all_arms(bench: Bench, command: Sequence[str]) -> None:
    parts = slices(bench, command, 2)
    run(bench, command, "one")
    done = merge(bench, *parts)
    assert done.code == 0, done.err
    one, whole = by_trial(bench, "one"), by_trial(bench, "whole")
    same = ("arm", "case", "number", "run", "cause", "answer", "scores")
    assert {trial: [record[key] for key in same] for trial, record in whole.items()} == {
        trial: [record[key] for key in same] for trial, record in one.items()
    }
    assert "no record of" not in (bench.folder / "part-1/summary.md").read_text()
    tables = [bench.call("export", name, "--format", "csv").out for name in ("one", "whole")]
    assert len(tables[0].splitlines()) == len(tables[1].splitlines()) > 1


def test_a_missing_slice_is_named_and_can_be_run(bench: Bench) -> None:
    parts = slices(bench, RUN, 3)
    done = merge(bench, parts[0], parts[2])
    assert done.code == 0, done.err
    assert "2 of 3 slices (without 2)" in done.out
    assert "no record of 2 of 5" in done.out
    done = bench.call("run", "humaneval", "--continue", "whole", "--generate-only", "--quiet")
    assert done.code == 0, done.err
    assert len(by_trial(bench, "whole")) == 10


def test_a_slice_is_continued_as_a_slice_and_does_not_grow(bench: Bench) -> None:
    run(bench, RUN, "part-1", "--slice", "1/2")
    lines = (bench.folder / "part-1/metrics.jsonl").read_text().splitlines()
    (bench.folder / "part-1/metrics.jsonl").write_text("\n".join(lines[:2]) + "\n")
    done = bench.call(*RUN[:2], "--continue", "part-1", "--generate-only", "--quiet")
    assert done.code == 0, done.err
    assert len(bench.records("part-1")) == len(lines) == 6
    grown = bench.call(*RUN[:2], "--continue", "part-1", "--generate-only", "--runs", "2")
    assert grown.code == 2
    assert "merge the slices" in grown.err
    other = bench.call(*RUN[:2], "--continue", "part-1", "--generate-only", "--slice", "2/2")
    assert other.code == 2
    assert "--slice" in other.err


def test_what_are_no_slices_of_one_plan_is_one_sentence(bench: Bench) -> None:
    parts = slices(bench, RUN, 2)
    run(bench, RUN, "seeded", "--slice", "2/2", "--seed", "7")
    run(bench, RUN, "whole-already")
    run(bench, RETRIEVE, "searched", "--slice", "2/2")
    shutil.copytree(bench.folder / "part-2", bench.folder / "changed")
    metrics = bench.folder / "changed/metrics.jsonl"
    metrics.write_text(metrics.read_text().replace('"attempt":1', '"attempt":2'))
    shutil.copytree(bench.folder / "part-2", bench.folder / "torn")
    torn = bench.folder / "torn/metrics.jsonl"
    torn.write_text(torn.read_text()[:-40])
    for name in ("foreign", "renumbered", "impossible"):
        shutil.copytree(bench.folder / "part-2", bench.folder / name)
    planted = (bench.folder / "part-1/metrics.jsonl").read_text().splitlines()[0]
    with (bench.folder / "foreign/metrics.jsonl").open("a") as file:
        file.write("\n" + planted + "\n")
    for name, number in (("renumbered", 1), ("impossible", 9)):
        experiment = bench.folder / name / "experiment.json"
        text = experiment.read_text()
        assert '"number": 2,\n    "total": 2' in text
        experiment.write_text(
            text.replace('"number": 2,\n    "total"', f'"number": {number},\n    "total"')
        )
    for others, clause in (
        (("seeded",), "part-1: seed"),
        (("searched",), "searched is a slice of retrieve, and"),
        (("whole-already",), "is no slice of a session"),
        (("part-2", "changed"), "with different records"),
        (("torn",), "is torn"),
        (("foreign",), "line 6 is of no trial of slice 2/2"),
        (("renumbered",), "line 1 is of no trial of slice 1/2"),
        (("impossible",), "there is no slice 9/2"),
        (("nowhere",), "is not a folder"),
    ):
        done = merge(bench, parts[0], *others)
        assert done.code == 2, done.err
        assert clause in done.err
        assert len(done.err.strip().splitlines()) == 1
        assert not (bench.folder / "whole").exists()
    same = merge(bench, *parts, "part-2")
    assert same.code == 0, same.err
    said = [line.replace(f"{bench.folder}/", "") for line in same.err.splitlines()]
    assert said[-2:] == [
        "part-2 was named more than once, and is in the session once.",
        "Results: whole",
    ]
    assert len(bench.records("whole")) == 10
    inside = bench.call("merge", *parts, "--output", "part-1/whole")
    assert inside.code == 2
    assert "is in the slice" in inside.err
    again = merge(bench, *parts)
    assert again.code == 2
    assert "is not an empty folder" in again.err


@pytest.mark.parametrize(
    ("options", "clause"),
    [
        (("--slice", "7/6"), "must be I/N, as 2/6"),
        (("--slice", "0/3"), "must be I/N, as 2/6"),
        (("--slice", "half"), "must be I/N, as 2/6"),
        (("--slice", "1/9"), "needs a block, and the plan has 8"),
        (("--slice", "1/2", "--until-clear"), "--until-clear looks at all blocks"),
        (("--slice", "1/2", "--record"), "--record keeps a whole session"),
        (("--slice", "1/2", "--agents", "1", "2"), "several --agents are several sessions"),
    ],
)
def test_what_no_slice_can_do_is_refused(bench: Bench, options: Sequence[str], clause: str) -> None:
    done = bench.call(*COMPARE, *BLOCKS, "--repo", str(bench.repo), "--output", "out", *options)
    assert done.code == 2
    assert clause in done.err
    assert not (bench.folder / "out").exists()


def test_a_slice_has_its_share_of_what_a_session_may_cost(bench: Bench) -> None:
    plan = bench.call(*RUN, "--slice", "1/3", "--max-cost", "6", "--plan")
    assert plan.code == 0, plan.err
    assert "slice 1/3 may spend $2.00 of it" in plan.out


def test_a_slice_may_have_run_in_two_sessions(bench: Bench) -> None:
    """Each has trials that the other has not: no line is foreign, and the slice counts once."""
    parts = slices(bench, RUN, 2)
    run(bench, RUN, "again", "--slice", "2/2")
    for name, keep in (("part-2", slice(0, 2)), ("again", slice(2, None))):
        metrics = bench.folder / name / "metrics.jsonl"
        metrics.write_text("".join(metrics.read_text().splitlines(keepends=True)[keep]))
    done = merge(bench, *parts, "again")
    assert done.code == 0, done.err
    assert "merged from 2 of 2 slices" in done.out
    assert len(bench.records("whole")) == 10
    assert "another session" not in done.out
