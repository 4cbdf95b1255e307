"""The mode files of `docs/examples/`, on a machine that has their programs."""

import json
from pathlib import Path

import pytest

from swarm_bench.retrieval.modes import read_mode, search_arguments

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.json"))
VALUES = {"workspace": "/w", "service_url": "", "canopy_mcp": ""}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH, alone."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_there_are_examples() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= {
        *("codegraph", "vibgrate", "serena", "claude-graph", "code-index"),
        *("code-search-graph", "probe", "ripgrep", "filesystem", "git"),
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_is_a_mode_that_starts_programs_by_their_bare_names(
    path: Path, programs: Path
) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    own, servers = content.get("swarmBench", {}), content["mcpServers"].values()
    commands = [server["command"] for server in servers]
    for key in ("prepare", "teardown", "version"):
        step = own.get(key) or []
        commands += (step if isinstance(step, list) else step.get("command", []))[:1]
    assert commands
    assert not {"sh", "bash", "npx", "uvx"} & set(commands)
    for command in commands:
        (programs / command).write_text("#!/bin/sh\n")
        (programs / command).chmod(0o755)
    mode = read_mode(path)
    assert mode.description
    if mode.search is not None:
        assert "words" in json.dumps(search_arguments(mode, "words", VALUES, {}))
    if mode.prepare is not None and mode.prepare.command:
        assert mode.may_create or mode.keep
