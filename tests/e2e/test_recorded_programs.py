"""Verdicts on what real agent programs once printed, replayed."""

from pathlib import Path

import pytest

from swarm_bench.testing.recordings import Sample, Side, make_recording
from tests.builders.answers import answer_lines
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SAMPLES = Path(__file__).parents[1] / "agents" / "samples"
PLAIN_AND_WITH_TOOL = {
    "claude": ("claude-code/success_stream.jsonl", "claude-code/mcp_success_stream.jsonl"),
    "codex": ("codex/success.jsonl", "codex/mcp_success.jsonl"),
    "gemini": ("gemini/success_json.json", "gemini/mcp_success_stream.jsonl"),
    "opencode": ("opencode/success.jsonl", "opencode/mcp_success.jsonl"),
}
SAID = {
    # One sample, eight times: its answers say nothing, and what it spends more stays.
    "claude": (": no verdict.", "Effective tokens: 69 % fewer"),
    "codex": (" spends more, answers unchecked.", "Effective tokens: 186 % more"),
    "gemini": (" hurts.", "Effective tokens: 181 % more"),
    "opencode": (" hurts.", "Effective tokens: 186 % more"),
}


@pytest.mark.parametrize("agent", SAID)
def test_the_ratio_is_that_of_what_the_program_reported(bench: Bench, agent: str) -> None:
    plain, with_tool = (
        Sample(stdout=(SAMPLES / name).read_bytes()) for name in PLAIN_AND_WITH_TOOL[agent]
    )
    sides = {
        "baseline": Side(samples=[plain] * 8),
        "canopy": Side(samples=[with_tool] * 8, servers=("canopy",)),
        "same": Side(samples=[plain] * 8),
    }
    make_recording(bench.folder / "received", agent, sides)
    done = bench.call("compare", "--agent", "replay:received", "--output", "rep")
    assert done.code == 0, done.err
    claim, evidence = SAID[agent]
    assert answer_lines(done.out, "canopy").startswith(f"- **canopy{claim}**")
    assert evidence in answer_lines(done.out, "canopy")
    assert ": cannot tell yet.**" in answer_lines(done.out, "same")
    assert "Effective tokens: no difference (0 of 8 tasks differ" in answer_lines(done.out, "same")
    assert "helps" not in done.out.partition("## Warnings")[0]
