"""Exports with what was asked, called and answered, of sessions that the installed command ran."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.formats import needs_readers, read_spans, read_with_harbor, read_with_inspect
from tests.e2e.conftest import Bench

TASKS = [
    {"id": "auth", "title": "Auth", "prompt": "Which class checks the token of every request?"},
    {"id": "jobs", "title": "Jobs", "prompt": "How are background jobs worked off?"},
]


@pytest.fixture
def compared(bench: Bench) -> Bench:
    """A session of two modes and two tasks in `out`, by fixed rules."""
    (bench.folder / "two.yaml").write_text(yaml.safe_dump({"tasks": TASKS}))
    words = ("--modes", "baseline", "canopy", "--runs", "1", "--tasks", "two.yaml", "--quiet")
    done = bench.call("compare", "--repo", str(bench.repo), *words, "--output", "out")
    assert done.code == 0, done.err
    return bench


def read_files(bench: Bench, folder: str) -> list[Any]:
    return [json.loads(path.read_bytes()) for path in sorted((bench.folder / folder).iterdir())]


def list_calls(trajectory: dict[str, Any]) -> list[str]:
    return [
        call["function_name"] for step in trajectory["steps"] for call in step.get("tool_calls", ())
    ]


@pytest.mark.timeout(300)
def test_each_trial_of_agents_is_a_trajectory(compared: Bench) -> None:
    done = compared.call("export", "out", "--format", "atif", "--output", "trajectories")
    assert (done.code, done.out, done.err) == (0, "", "")
    documents = {it["trajectory_id"]: it for it in read_files(compared, "trajectories")}
    records = {line["trial"]: line for line in compared.records("out")}
    assert documents.keys() == records.keys()
    for trial, record in records.items():
        document = documents[trial]
        calls = list_calls(document)
        assert {name: calls.count(name) for name in calls} == record["tool_calls"]
        asked, *_, last = document["steps"]
        assert (asked["source"], last["source"]) == ("user", "agent")
        assert record["task"] in asked["message"]
        prompts = [
            step["metrics"]["prompt_tokens"] for step in document["steps"] if "metrics" in step
        ]
        assert sum(prompts) == document["final_metrics"]["total_prompt_tokens"]
        assert "total_cost_usd" not in document["final_metrics"]  # nobody was billed
        extra = document["extra"]
        assert (extra["mode"], extra["retrieval"]) == (record["mode"], record["retrieval"])
        assert extra["evidence"]["calls"] == record["evidence"]["calls"]
        page = compared.folder / "out" / record["mode"] / f"agent-{record['agent']}.md"
        assert last["message"] in page.read_text()


@pytest.mark.timeout(300)
@needs_readers
def test_harbor_and_inspect_read_a_session_of_agents(compared: Bench) -> None:
    for kind in ("atif", "inspect"):
        done = compared.call("export", "out", "--format", kind, "--output", kind)
        assert (done.code, done.err) == (0, "")
    files = {kind: sorted((compared.folder / kind).iterdir()) for kind in ("atif", "inspect")}
    assert len(read_with_harbor(files["atif"])) == 4
    logs = read_with_inspect(files["inspect"])
    assert [log["eval"]["task"] for log in logs] == ["baseline", "canopy"]
    for log in logs:
        assert log["status"] == "success"
        assert [sample["id"] for sample in log["samples"]] == ["auth", "jobs"]
        for sample in log["samples"]:
            roles = [message["role"] for message in sample["messages"]]
            assert roles[0] == "user"
            assert roles[-1] == "assistant"
            assert "tool" in roles
            assert sample["output"]["completion"] == sample["messages"][-1]["content"]
            assert sample["scores"]


@pytest.mark.timeout(300)
def test_spans_have_the_calls_and_their_times(compared: Bench) -> None:
    done = compared.call("export", "out", "--format", "otel")
    assert (done.code, done.err) == (0, "")
    spans = read_spans(done.out)
    records = {line["trial"]: line for line in compared.records("out")}
    roots = {span["swarm_bench.trial"]: span for span in spans if not span["parent"]}
    assert roots.keys() == records.keys()
    for trial, root in roots.items():
        record = records[trial]
        calls = [span for span in spans if span["parent"] == root["id"]]
        assert len(calls) + root["swarm_bench.calls_without_time"] == sum(
            record["tool_calls"].values()
        )
        assert root["name"] == "invoke_agent scout"
        tokens = sum(record[key] for key in ("input_tokens", "cache_read", "cache_create"))
        assert root["gen_ai.usage.input_tokens"] == tokens
        assert all(0 < call["nanoseconds"] <= root["nanoseconds"] for call in calls)
    assert TASKS[0]["prompt"] not in done.out
    full = compared.call(
        "export", "out", "--format", "otel", "--contents", "--output", "spans.jsonl"
    )
    assert (full.code, full.out, full.err) == (0, "", "")
    text = (compared.folder / "spans.jsonl").read_text()
    assert TASKS[0]["prompt"] in text
    assert [span["id"] for span in read_spans(text)] == [span["id"] for span in spans]


@pytest.mark.timeout(300)
def test_a_session_of_models_has_prompts_answers_and_scores(bench: Bench) -> None:
    words = (
        "humaneval",
        "--models",
        "copy",
        "reference",
        "--limit",
        "2",
        "--quiet",
        "--allow-code-execution",
    )
    done = bench.call("run", *words, "--output", "out")
    assert done.code in (0, 1), done.err
    for kind in ("atif", "inspect"):
        done = bench.call("export", "out", "--format", kind, "--output", kind)
        assert (done.code, done.err) == (0, "")
    records = {line["trial"]: line for line in bench.records("out")}
    for document in read_files(bench, "atif"):
        asked, answer = document["steps"]
        assert (asked["source"], answer["source"]) == ("user", "agent")
        assert "def " in asked["message"]
        assert answer["message"] == records[document["trajectory_id"]]["answer"]
        assert "total_cost_usd" not in document["final_metrics"]
    first, _ = read_files(bench, "inspect")
    assert first["eval"]["model"] == "copy"
    assert all(sample["scores"] for sample in first["samples"])
    spans = read_spans(bench.call("export", "out", "--format", "otel").out)
    assert {span["name"] for span in spans} == {"text_completion copy", "text_completion reference"}


def test_what_cannot_be_exported_so_is_one_sentence(bench: Bench) -> None:
    session = str(Path(__file__).parents[1] / "golden/sessions/retrieve")
    for words, part in (
        (("--format", "atif"), "name a new folder with --output"),
        (("--format", "inspect"), "name a new folder with --output"),
        (("--format", "csv", "--contents"), "omit it"),
        (("--format", "atif", "--output", "out"), "retrieve asks tools alone"),
        (("--format", "inspect", "--output", "."), "one with --output"),
    ):
        done = bench.call("export", session, *words)
        assert (done.code, done.out) == (2, "")
        assert part in done.err
        assert len(done.err.splitlines()) == 1
    assert not (bench.folder / "out").exists()
    (root, *_) = read_spans(bench.call("export", session, "--format", "otel").out)
    assert root["gen_ai.operation.name"] == "retrieval"
