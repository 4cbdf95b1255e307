"""What agents said beside their calls, by the requests in which they did."""

import json
from pathlib import Path

import pytest

from swarm_bench.core.entry_points import load
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.treatment.conversation import Conversation

SAMPLES = Path(__file__).parents[1] / "samples"
STEPS = {1: "step 0", 2: "step 1", 3: "done after tools"}


def read(agent: str, stdout: Path, stderr: Path) -> Conversation:
    conversation = (
        load("agents", agent)()
        .outcome(
            AgentExit(
                returncode=0,
                stopped=None,
                stdout=stdout,
                stderr=stderr,
                figures_only=True,
                with_conversation=True,
            )
        )
        .conversation
    )
    assert conversation is not None
    return conversation  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("agent", "sample", "turns", "texts"),
    [
        ("claude", "claude-code/partial_messages_stream", [1], {1: "step 0", 2: STEPS[3]}),
        (
            "codex",
            "codex/log_broken_stream_then_success",
            [1],
            {1: "step 0", 2: "The answer is in `src/a.py`."},
        ),
        ("codex", "codex/log_parallel_calls", [1, 1], {2: "done par"}),
        ("gemini", "gemini/tools_stream", [1, 2], STEPS),
        ("opencode", "opencode/tools", [1, 2], STEPS),
        ("qwen", "qwen/tools_stream", [1, 2], STEPS),
    ],
)
def test_texts_are_of_their_requests(
    agent: str, sample: str, turns: list[int], texts: dict[int, str], tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    stderr = SAMPLES / f"{sample}.stderr.txt"
    stdout = SAMPLES / f"{sample}.jsonl"
    found = read(agent, stdout, stderr if stderr.exists() else tmp_path / "empty")
    assert [call.turn for call in found.calls] == turns
    assert found.texts == texts


def test_without_its_log_nothing_says_in_which_request_codex_spoke(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    found = read("codex", SAMPLES / "codex" / "tools.jsonl", tmp_path / "empty")
    assert [call.turn for call in found.calls] == [None]
    assert found.texts == {}


def test_what_codex_says_while_a_call_is_open_is_of_the_request_of_that_call(
    tmp_path: Path,
) -> None:
    sample = SAMPLES / "codex" / "log_mcp_success"
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": "meanwhile"}}
    lines = sample.with_suffix(".jsonl").read_text().splitlines()
    begin = next(at for at, line in enumerate(lines) if "item.started" in line)
    lines.insert(begin + 1, json.dumps(said))
    (tmp_path / "out").write_text("\n".join(lines))
    found = read("codex", tmp_path / "out", sample.with_suffix(".stderr.txt"))
    assert [call.turn for call in found.calls] == [1, 2]
    assert found.texts == {1: "meanwhile", 3: "mcp2 done"}


def test_a_text_of_qwen_whose_request_has_no_figures_is_not_of_the_next_one(tmp_path: Path) -> None:
    lines = (SAMPLES / "qwen" / "tools_stream.jsonl").read_text().splitlines()
    call = json.loads(lines[2])
    call["message"]["usage"] = json.loads(lines[1])["message"]["usage"]
    lines[2] = json.dumps(call)
    (tmp_path / "out").write_text("\n".join(lines))
    (tmp_path / "empty").touch()
    found = read("qwen", tmp_path / "out", tmp_path / "empty")
    assert [call.turn for call in found.calls] == [None, 1]
    assert found.texts == {1: "step 1", 2: "done after tools"}
