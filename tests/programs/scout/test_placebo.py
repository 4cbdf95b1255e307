"""Scout with a server that answers every question with the same irrelevant places."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs.scout.conftest import Done, citations

PLACES = [f"lorem/{name}.py:1-60" for name in "abcd"]


@pytest.fixture
def placebo(workspace: Path) -> Callable[[str], str]:
    """The option that connects the server, with the kind of tools that are named."""
    (workspace / "lorem").mkdir()
    for name in "abcd":
        lines = [f"{name}_{number} = 'dolor sit amet, consectetur'" for number in range(80)]
        (workspace / "lorem" / f"{name}.py").write_text("\n".join(lines), encoding="utf-8")

    def option(tools: str) -> str:
        module = ["-I", "-m", "swarm_bench.testing.same_places_mcp", "--tools", tools]
        server = {"command": sys.executable, "args": [*module, *PLACES]}
        return "--mcp-config=" + json.dumps({"mcpServers": {"canopy": server}})

    return option


@pytest.mark.parametrize("tools", ["search", "canopy"])
def test_it_saves_nothing(
    scout: Callable[..., Done], placebo: Callable[[str], str], tools: str
) -> None:
    alone, served = scout(), scout(placebo(tools))
    assert served.calls[0][0].startswith("mcp__canopy__")
    # Then everything is done that is done without it.
    assert served.calls[-len(alone.calls) :] == alone.calls
    for figure in ("cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"):
        assert served.result["usage"][figure] > alone.result["usage"][figure]
    assert ("shop/auth.py", 2) in citations(served.result["result"])
