"""What a mode says of the time its servers need reaches every agent program that can be told."""

import json
import tomllib
from pathlib import Path

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.codex.adapter import Codex
from swarm_bench.agents.opencode.adapter import OpenCode
from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.core.outcome import AgentRequest
from swarm_bench.core.ports import Agent


def request(folder: Path, seconds: float) -> AgentRequest:
    config = folder / "mcp.json"
    config.write_text('{"mcpServers": {"s": {"command": "s"}}}', encoding="utf-8")
    return AgentRequest(
        prompt="", workspace=folder, home=folder, mcp_config=config, max_turns=1, model=None,
        seed=1, start_seconds=seconds,
    )  # fmt: skip


@pytest.mark.parametrize("agent", [Claude(), Scout()])
def test_claude_and_scout_wait_as_long_as_the_mode_says(tmp_path: Path, agent: Agent) -> None:
    assert agent.launch(request(tmp_path, 90.5)).env["MCP_TIMEOUT"] == "90500"
    assert "MCP_TIMEOUT" not in agent.launch(request(tmp_path, 30)).env


@pytest.mark.parametrize(("seconds", "waits"), [(90.5, 90), (5, 60)])
def test_codex_and_opencode_wait_a_minute_or_longer(
    tmp_path: Path, seconds: float, waits: int
) -> None:
    launch = OpenCode().launch(request(tmp_path, seconds))
    settings = json.loads(Path(launch.env["OPENCODE_CONFIG"]).read_text(encoding="utf-8"))
    (server,) = settings["mcp"].values()
    assert server["timeout"] // 1000 == waits
    Codex().launch(request(tmp_path, seconds))
    (file,) = tmp_path.rglob("config.toml")
    (server,) = tomllib.loads(file.read_text(encoding="utf-8"))["mcp_servers"].values()
    assert server["startup_timeout_sec"] == waits
