"""The main job with the real Claude Code, against the rehearsal server."""

import json

import pytest

from tests.e2e.conftest import processes_of
from tests.e2e.programs.conftest import CANARY_TOKENS, MakeProgram, Trap


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_main_job_with_claude_code(real_program: MakeProgram, trap: Trap) -> None:
    claude = real_program("claude")
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": trap.command}]}]}
    servers = {"mcpServers": {"canopy": trap.server}}
    claude.commit(
        {
            "CLAUDE.md": trap.memory,
            ".mcp.json": json.dumps(servers),
            ".claude/settings.json": json.dumps(
                {"hooks": hooks, "enableAllProjectMcpServers": True}
            ),
        }
    )
    claude.write_home(
        {
            ".claude/CLAUDE.md": trap.memory,
            ".claude/settings.json": json.dumps({"hooks": hooks}),
            ".claude.json": json.dumps(servers),
        }
    )
    before = claude.home_tree()
    modes = ("--modes", "baseline", "canopy", "canopy-service")

    done = claude.compare(*modes, "--agents", "2", "--runs", "1", "--require-retrieval")

    assert done.code == 0, done.err
    records = claude.records()
    assert len(records) == 6
    assert {record["status"] for record in records} == {"completed"}, records
    for record in records:
        canopy = [tool for tool in record["rehearsal_tools"] if "canopy" in tool]
        called = [tool for tool in record["tool_calls"] if "canopy" in tool]
        with_tool = record["mode"] != "baseline"
        assert bool(canopy) is bool(called) is with_tool
        assert record["mcp_servers"] == ({"canopy": "connected"} if with_tool else {})
        assert record["retrieval"] == ("used" if with_tool else "not-given")
        assert 0 < record["rehearsal_request_tokens"] < CANARY_TOKENS
        assert (record["rehearsal_mcp_tokens"] > 0) is with_tool
        assert record["effective_tokens"] > 0
        assert record["rehearsal"] is True
        assert record["model"] == "rehearsal"
    ours = {
        tuple(tool for tool in record["rehearsal_tools"] if "canopy" not in tool)
        for record in records
    }
    assert len(ours) == 1, "the built-in tools are the same in every mode"
    assert done.out.startswith("# Swarm Benchmark Rehearsal\n")
    assert not trap.sprung
    assert claude.home_tree() == before
    assert processes_of(records[0]["session"]) == []
