"""The other agent programs, and what providers do wrong, against the rehearsal server."""

import json
from typing import Any

import pytest

from swarm_bench.models.rehearsal import faults
from tests.e2e.conftest import processes_of
from tests.e2e.programs.conftest import CANARY_TOKENS, MakeProgram, Trap

pytestmark = [pytest.mark.programs, pytest.mark.timeout(300)]


READ_ANYWAY = {"gemini": ("GEMINI.md", ".gemini/GEMINI.md")}
"""Memory files of the repository that no setting keeps out; docs/agents.md says so."""


def traps(trap: Trap) -> dict[str, str]:
    """Settings and memory files that the programs look for, in a home and in a repository."""
    server = trap.server
    local = {"type": "local", "command": [server["command"], *server["args"]], "enabled": True}
    table = f"[mcp_servers.canopy]\ncommand = {json.dumps(server['command'])}\n"
    table += f"args = {json.dumps(server['args'])}\n"
    settings = json.dumps({"mcpServers": {"canopy": server}})
    memories: tuple[str, ...] = (
        "AGENTS.md",
        "GEMINI.md",
        "QWEN.md",
        ".codex/AGENTS.md",
        ".gemini/GEMINI.md",
    )
    memories += (".qwen/QWEN.md", ".config/opencode/AGENTS.md")
    return {
        **dict.fromkeys(memories, trap.memory),
        ".codex/config.toml": table,
        ".gemini/settings.json": settings,
        ".qwen/settings.json": settings,
        "opencode.json": json.dumps({"mcp": {"canopy": local}}),
        ".config/opencode/opencode.json": json.dumps({"mcp": {"canopy": local}}),
    }


@pytest.mark.parametrize("name", ["codex", "gemini", "opencode", "qwen"])
def test_the_main_job(name: str, real_program: MakeProgram, trap: Trap) -> None:
    program = real_program(name)
    program.commit(
        {file: text for file, text in traps(trap).items() if file not in READ_ANYWAY.get(name, ())}
    )
    program.write_home(traps(trap))
    before = program.home_tree()
    modes = ("--modes", "baseline", "canopy", "canopy-service")

    done = program.compare(*modes, "--agents", "4", "--runs", "1", "--max-turns", "20")

    assert done.code == 0, done.err
    records = program.records()
    assert len(records) == 12
    assert {record["status"] for record in records} == {"completed"}, done.out
    for record in records:
        canopy = [tool for tool in record["rehearsal_tools"] if "canopy" in tool]
        called = [tool for tool in record["tool_calls"] if tool.startswith("mcp__canopy__")]
        with_tool = record["mode"] != "baseline"
        assert bool(canopy) is bool(called) is with_tool
        assert 0 < record["rehearsal_request_tokens"] < CANARY_TOKENS
        assert (record["rehearsal_mcp_tokens"] > 0) is with_tool
        assert record["retrieval"] == ("used" if with_tool else "not-given")
        servers = {"canopy": "connected"} if with_tool else {}
        assert record["mcp_servers"] == servers
        assert record["requests"] == record["rehearsal_requests"]
        assert record["rehearsal"] is True
    assert not trap.sprung
    assert program.home_tree() == before
    assert processes_of(records[0]["session"]) == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "qwen"])
def test_what_a_program_printed_is_replayed_without_it(
    name: str, real_program: MakeProgram
) -> None:
    program = real_program(name)
    program.compare("--modes", "baseline", "canopy", "--agents", "1", "--runs", "1", "--record")

    replay = ("compare", "--agent", "replay:out", "--output", "again", "--quiet")
    done = program.bench.call(*replay)  # with the PATH of the test, where the program is not

    assert done.code == 0, done.err
    pairs = list(
        zip(map(flat, program.records()), map(flat, program.records("again")), strict=True)
    )
    changed = {key for one, other in pairs for key in one | other if one.get(key) != other.get(key)}
    of_the_tree = {"lines_invented", "symbols_misplaced", "invented_share"}
    assert changed - of_the_tree == {"session", "replayed", "sha256"}
    # The tree is not recorded, so that what an answer says of lines cannot be looked up.
    assert all(other.get(key) in (None, 0) for _, other in pairs for key in changed & of_the_tree)


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """Put the scores beside the other figures, the missing ones as such."""
    missing = dict.fromkeys(record.get("missing_scores") or ())
    return {**record, **missing, **record["scores"], "scores": None, "missing_scores": None}


FAULTS = {
    "rate-limit": ("provider-limited", "rate-limited"),
    "rate-limit-retry-after": ("provider-limited", "rate-limited"),
    "server-error": ("provider-limited", "provider-failed"),
    "overloaded": ("provider-limited", "provider-failed"),
    "unauthorized": ("provider-limited", "not-authorized"),
    "broken-stream": ("provider-limited", "provider-failed"),
    "refusal": ("agent-failed", "refused"),
    "empty-answer": ("agent-failed", "empty-answer"),
    "slow-first-token": ("completed", "finished"),
    "context-overflow": ("agent-failed", "context-overflow"),
    "cut-off": ("agent-failed", "answer-cut"),
}


def test_every_fault_is_tried() -> None:
    assert set(FAULTS) == set(faults.FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_fault_of_the_provider_has_its_status_and_cause(
    name: str, fault: str, real_program: MakeProgram
) -> None:
    program = real_program(name)
    one = ("--modes", "baseline", "--agents", "1", "--runs", "1", "--timeout", "100")

    program.compare(*one, "--fault", fault)

    (record,) = program.records()
    assert (record["status"], record["cause"]) == FAULTS[fault], record["detail"]
    assert record["rehearsal_faults"] >= 1
    assert record["wall_seconds"] < 100
    assert processes_of(record["session"]) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("claude", "rate-limit:2"),
        ("claude", "server-error:2"),
        ("claude", "broken-stream:2"),
        # Codex gives up at a rate limit that does not say when to come back.
        ("codex", "rate-limit-retry-after:2"),
        ("codex", "server-error:2"),
        ("codex", "broken-stream:2"),
    ],
)
def test_a_fault_that_passes_is_no_failure(
    name: str, fault: str, real_program: MakeProgram
) -> None:
    program = real_program(name)
    one = ("--modes", "baseline", "--agents", "1", "--runs", "1", "--timeout", "100")

    done = program.compare(*one, "--fault", fault)

    assert done.code == 0, done.err
    (record,) = program.records()
    assert record["status"] == "completed", record["detail"]
    assert record["rehearsal_faults"] == 1
