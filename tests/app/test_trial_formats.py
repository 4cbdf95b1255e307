"""What is exported with what was asked and answered: as the programs that read it see it."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.exporting import TrialFormat, export_trials, read_traces
from swarm_bench.app.stored.agent_trials import MOST_TRANSCRIPT_BYTES
from swarm_bench.core.errors import UsageError
from swarm_bench.reports.formats.otel import CONVENTIONS
from tests.builders.contradicted import store_contradicted
from tests.builders.formats import needs_readers, read_spans, read_with_harbor, read_with_inspect

GOLDEN = Path(__file__).parents[1] / "golden"
SESSIONS = sorted(
    file.parent
    for file in GOLDEN.glob("**/experiment.json")
    if not file.parent.name.startswith(("agents-", "toy", "slice")) and "slice" not in file.parts
)
NEWEST = [path for path in SESSIONS if path.parent.name == "sessions"]
STREAM = "canopy/agent-1.stream.jsonl"


def export(session: Path, kind: TrialFormat, output: Path) -> list[Path]:
    """Export a session to a folder, and return its files."""
    export_trials(session, kind, output, contents=False)
    return sorted(output.iterdir())


def trace(session: Path, *, contents: bool = False) -> list[dict[str, Any]]:
    return read_spans("".join(read_traces(session, contents=contents).lines))


def read_records(session: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (session / "metrics.jsonl").read_bytes().splitlines()]


def change_records(session: Path, changes: dict[str, Any]) -> None:
    lines = [{**line, **changes} for line in read_records(session)]
    for line in lines:
        line.pop("sha256", None)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (session / "metrics.jsonl").write_text(text)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A session by Claude Code, with its streams."""
    store_contradicted(tmp_path / "session")
    times = {"started_at": "2026-11-27T10:00:00Z", "ended_at": "2026-11-27T10:00:02Z"}
    figures = {"input_tokens": 10, "cache_read": 2000, "cache_create": 300, "output_tokens": 40}
    change_records(tmp_path / "session", {**times, **figures, "turn_usage": None})
    return tmp_path / "session"


@needs_readers
@pytest.mark.timeout(300)
def test_every_kind_of_session_is_read_by_harbor_and_inspect(tmp_path: Path) -> None:
    trajectories, logs, refused = list[Path](), list[Path](), set[str]()
    for number, session in enumerate(NEWEST):
        logs += export(session, "inspect", tmp_path / f"inspect-{number}")
        try:
            trajectories += export(session, "atif", tmp_path / f"atif-{number}")
        except UsageError as error:
            refused.add(str(error).partition(" ")[0])
            assert not (tmp_path / f"atif-{number}").exists()
    assert refused == {"atif"}  # sessions of retrieve
    for document in read_with_harbor(trajectories):
        assert document["schema_version"] == "ATIF-v1.7"
        assert {"arm", "case", "run", "status", "counts"} <= document["extra"].keys()
    for log in read_with_inspect(logs):
        assert log["version"] == 2
        assert len({(sample["id"], sample["epoch"]) for sample in log["samples"]}) == len(
            log["samples"]
        )


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: str(path.relative_to(GOLDEN)))
def test_every_kind_of_session_has_spans_that_opentelemetry_reads(session: Path) -> None:
    spans = trace(session, contents=True)
    timed = {line["trial"] for line in read_records(session) if line["started_at"]}
    assert {span["swarm_bench.trial"] for span in spans if not span["parent"]} == timed
    assert {span["swarm_bench.conventions.commit"] for span in spans} == {CONVENTIONS}
    assert len({span["id"] for span in spans}) == len(spans)


def test_prompt_tokens_of_a_trajectory_include_cached_ones(stored: Path, tmp_path: Path) -> None:
    first, *_ = export(stored, "atif", tmp_path / "out")
    document = json.loads(first.read_text())
    metrics = document["final_metrics"]
    assert metrics["total_prompt_tokens"] == 10 + 2000 + 300
    assert (metrics["total_cached_tokens"], metrics["total_completion_tokens"]) == (2000, 40)
    assert document["extra"]["mode"] == document["extra"]["arm"] == "baseline"


def test_a_trajectory_has_the_calls_of_the_transcript(stored: Path, tmp_path: Path) -> None:
    path = export(stored, "atif", tmp_path / "out")[0]
    document = json.loads(path.read_text())
    stream = (stored / "baseline/agent-1.stream.jsonl").read_text()
    calls = [call for step in document["steps"] for call in step.get("tool_calls", ())]
    assert calls
    assert all(call["tool_call_id"] in stream for call in calls)
    assert document["extra"]["transcript"] == "read"
    assert [step["source"] for step in document["steps"]][0] == "user"
    assert document["steps"][0]["message"].startswith("Explain a.")
    assert "is_error" not in document["steps"][-1]
    results = [
        result
        for step in document["steps"]
        for result in step.get("observation", {"results": ()})["results"]
    ]
    assert {result["source_call_id"] for result in results} <= {
        call["tool_call_id"] for call in calls
    }
    assert any(result.get("content") for result in results)


@needs_readers
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("agent", "sample", "texts"),
    [
        ("codex", "log_broken_stream_then_success", ["step 0", "The answer is in `src/a.py`."]),
        ("gemini", "tools_stream", ["step 0", "step 1", "done after tools"]),
        ("opencode", "tools", ["step 0", "step 1", "done after tools"]),
        ("qwen", "tools_stream", ["step 0", "step 1", "done after tools"]),
    ],
)
def test_what_was_said_between_calls_is_in_its_step(
    agent: str, sample: str, texts: list[str], stored: Path, tmp_path: Path
) -> None:
    experiment = json.loads((stored / "experiment.json").read_text())
    experiment["agent"]["name"] = agent
    (stored / "experiment.json").write_text(json.dumps(experiment))
    change_records(stored, {"program": agent, "cause": "finished", "status": "completed"})
    samples = Path(__file__).parents[1] / "agents" / "samples" / agent
    stream = stored / "baseline" / "agent-1.stream.jsonl"
    stream.write_bytes((samples / f"{sample}.jsonl").read_bytes())
    log = samples / f"{sample}.stderr.txt"
    (stream.parent / "agent-1.stderr.log").write_bytes(log.read_bytes() if log.exists() else b"")
    trajectories = read_with_harbor(export(stored, "atif", tmp_path / "atif"))
    messages = [
        [step["message"] for step in it["steps"] if step["source"] == "agent"]
        for it in trajectories
    ]
    assert texts in messages
    logs = read_with_inspect(export(stored, "inspect", tmp_path / "inspect"))
    assert any("step 0" in str(it["samples"]) for it in logs)


def test_what_is_missing_is_in_no_format_and_never_0(stored: Path, tmp_path: Path) -> None:
    tokens = ("input_tokens", "cache_read", "cache_create", "output_tokens", "cost")
    change_records(stored, dict.fromkeys(tokens))
    document = json.loads(export(stored, "atif", tmp_path / "atif")[0].read_text())
    assert document["final_metrics"] == {"total_steps": len(document["steps"])}
    (log, *_) = (json.loads(path.read_text()) for path in export(stored, "inspect", tmp_path / "i"))
    assert all("model_usage" not in sample for sample in log["samples"])
    assert all(sample["metadata"]["tokens"] == {} for sample in log["samples"])
    assert not any("usage" in key for span in trace(stored) for key in span)


def test_no_span_has_contents_unless_they_are_asked_for(stored: Path) -> None:
    quoted = {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments"}
    assert not any(quoted & span.keys() for span in trace(stored))
    assert quoted & {key for span in trace(stored, contents=True) for key in span}
    assert "Explain a." not in str(trace(stored))
    assert "Explain a." in str(trace(stored, contents=True))


def test_transcripts_that_cannot_be_read_are_left_out_and_counted(
    stored: Path, tmp_path: Path
) -> None:
    (stored / STREAM).unlink()
    (stored / "canopy/agent-2.stream.jsonl").write_bytes(b'{"type": "assistant", "mess')
    with (stored / "canopy/agent-3.stream.jsonl").open("wb") as file:
        file.truncate(MOST_TRANSCRIPT_BYTES + 1)
    (stored / "canopy/agent-4.stream.jsonl").unlink()
    (stored / "canopy/agent-4.stream.jsonl").symlink_to(stored / "canopy/agent-5.stream.jsonl")
    sentences = export_trials(stored, "atif", tmp_path / "out", contents=False)
    assert [sentence.partition(" trials ")[0] for sentence in sentences] == [
        "2 of 16",
        "1 of 16",
        "1 of 16",
    ]
    states = [
        json.loads(path.read_text())["extra"]["transcript"]
        for path in sorted((tmp_path / "out").iterdir())
    ]
    assert states[8:13] == ["missing", "not-shown", "too-large", "missing", "read"]


@needs_readers
def test_hostile_transcripts_make_documents_that_are_read(stored: Path, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    hostile = {
        "half": "\ud800",
        "deep": deep,
        "big": 10**40,
        "none": float("nan"),
        "\udfff": "\x1b]",
    }
    block = {"type": "tool_use", "id": "t\ud800", "name": "a\ud800\x1b[31m", "input": hostile}
    odd = {"type": "tool_use", "id": "odd", "name": "odd", "input": ["no", "object"]}
    result = {
        "type": "tool_result",
        "tool_use_id": "odd",
        "content": "\ud800 \x7f",
        "is_error": True,
    }
    events = [
        {"type": "assistant", "message": {"id": "m", "model": "x", "content": [block, odd]}},
        {
            "type": "user",
            "timestamp": "0001-01-01T00:00:00+14:00",
            "message": {"content": [result]},
        },
    ]
    text = "".join(f"{json.dumps(event)}\n" for event in events)
    (stored / STREAM).write_bytes(text.encode() + b'\xff\xfe{"type"\n')
    trajectories = read_with_harbor(export(stored, "atif", tmp_path / "atif"))
    steps = next(it["steps"] for it in trajectories if it["extra"]["trial"] == "canopy-a")
    first, second = next(step["tool_calls"] for step in steps if "tool_calls" in step)
    assert first["function_name"] == "a\ufffd\x1b[31m"
    assert first["arguments"]["half"] == "\ufffd"
    assert first["arguments"]["big"] == f"{10**40:#x}"
    assert second["arguments"] == {"value": ["no", "object"]}
    read_with_inspect(export(stored, "inspect", tmp_path / "inspect"))
    root = next(
        span for span in trace(stored, contents=True) if span.get("swarm_bench.trial") == "canopy-a"
    )
    assert root["swarm_bench.calls_without_time"] == 2
    lines = read_traces(stored, contents=True).lines
    assert all(line.isascii() and line[:-1].isprintable() for line in lines)


@pytest.mark.parametrize("kind", ["atif", "inspect", "otel"])
def test_what_is_there_is_not_replaced(stored: Path, tmp_path: Path, kind: TrialFormat) -> None:
    for output in (tmp_path / "taken", tmp_path / "link"):
        if output.name == "taken":
            output.mkdir()
        else:
            output.symlink_to(tmp_path / "nowhere")
        with pytest.raises(UsageError, match="exists; remove it"):
            export_trials(stored, kind, output, contents=False)
    assert not list((tmp_path / "taken").iterdir())
    assert not (tmp_path / "nowhere").exists()


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="asks tools alone"):
        export_trials(GOLDEN / "sessions/retrieve", "atif", tmp_path / "out", contents=False)
    assert not list(tmp_path.iterdir())


def test_the_session_stays_as_it_is(stored: Path, tmp_path: Path) -> None:
    def read_all() -> dict[str, bytes]:
        files = (path for path in stored.rglob("*") if path.is_file())
        return {str(path.relative_to(stored)): path.read_bytes() for path in files}

    before = read_all()
    for kind in ("atif", "inspect", "otel"):
        export_trials(stored, kind, tmp_path / kind, contents=True)
    assert read_all() == before


def test_several_agents_on_one_task_are_several_samples(stored: Path, tmp_path: Path) -> None:
    change_records(stored, {"task": "a", "task_id": "a"})
    for path in export(stored, "inspect", tmp_path / "out"):
        ids = [sample["id"] for sample in json.loads(path.read_text())["samples"]]
        assert ids == [f"a #{number}" for number in range(1, 9)]


def test_a_session_of_models_without_its_requests_has_the_answers(tmp_path: Path) -> None:
    sentences = export_trials(
        GOLDEN / "sessions/humaneval", "atif", tmp_path / "out", contents=False
    )
    assert [sentence.partition(" have")[0] for sentence in sentences] == ["9 of 9 trials"]
    documents = [json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()]
    assert {step["source"] for it in documents for step in it["steps"]} == {"agent"}
    assert {it["agent"]["name"] for it in documents} == {"swarm-bench"}
