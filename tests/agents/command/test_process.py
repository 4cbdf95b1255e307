"""A real process with a real MCP server, described by a file: scout, as if we did not know it."""

import json
import subprocess
import sys
from pathlib import Path

import yaml

from swarm_bench.agents.command.adapter import Command
from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.core.outcome import AgentExit, AgentRequest
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.witnesses.treatment import label_trial
from tests.programs.scout.conftest import FILES, PROGRAM, SERVER, TASK

DESCRIBED = {
    "name": "described-scout",
    "command": [
        *PROGRAM, "-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config",
        "--max-turns", "{{ max_turns }}", "--mcp-config", "{{ mcp_config }}",
        "--seed", "{{ seed }}", ["--model", "{{ model }}"], "{{ arguments }}", "--", "{{ prompt }}",
    ],
    "output": {
        "format": "json-lines",
        "answer": "$[?@.type == 'result'].result",
        "turns": "$[?@.type == 'result'].num_turns",
        "cost": "$[?@.type == 'result'].total_cost_usd",
        "model": "$[?@.type == 'system'].model",
        "tokens": {
            "input": "$[?@.type == 'result'].usage.input_tokens",
            "cache_read": "$[?@.type == 'result'].usage.cache_read_input_tokens",
            "cache_create": "$[?@.type == 'result'].usage.cache_creation_input_tokens",
            "output": "$[?@.type == 'result'].usage.output_tokens",
        },
        "tools": {
            "calls": "$[?@.type == 'assistant'].message.content[?@.type == 'tool_use'].name",
            "offered": "$[?@.type == 'system'].tools[*]",
            "servers": "$[?@.type == 'system'].mcp_servers[?@.status == 'connected'].name",
        },
    },
}  # fmt: skip


def test_a_described_program_is_read_as_its_own_adapter_reads_it(tmp_path: Path) -> None:
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    home.mkdir()
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    (tmp_path / "scout.yaml").write_text(yaml.safe_dump(DESCRIBED), encoding="utf-8")
    servers = {"canopy": {"command": sys.executable, "args": [str(SERVER)]}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    agent = Command(str(tmp_path / "scout.yaml"))
    launch = agent.launch(
        AgentRequest(
            prompt=TASK,
            workspace=workspace,
            home=home,
            mcp_config=home / "mcp.json",
            max_turns=9,
            model=None,
            seed=1,
        )
    )
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        done = subprocess.run(
            launch.argv, cwd=workspace, env=launch.env, stdout=out, stderr=err, check=False
        )
    exit = AgentExit(
        returncode=done.returncode, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err"
    )
    seen, known = agent.outcome(exit), Scout().outcome(exit)
    assert seen.cause is Cause.FINISHED
    assert label_trial(["canopy"], seen)[0] == label_trial(["canopy"], known)[0] == "used"
    for name in ("text", "usage", "turns", "cost", "model", "tool_calls", "servers"):
        assert getattr(seen, name) == getattr(known, name) is not None, name
    assert seen.tools_offered == known.tools_offered
