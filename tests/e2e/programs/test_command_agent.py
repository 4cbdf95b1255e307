"""The documented example of an agent that a file describes, with the real program."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Bench, processes_of
from tests.e2e.programs.conftest import NotInstalled, RealProgram, install_python_program

pytestmark = [pytest.mark.programs, pytest.mark.timeout(900)]

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "mini-swe-agent.yaml"
PACKAGES = ("mini-swe-agent==2.4.6", "litellm==1.106.2", "mcp>=2.2,<3")


@pytest.fixture
def mini(bench: Bench, tmp_path: Path) -> RealProgram:
    try:
        executables = install_python_program("mini-swe-agent-2.4.6", *PACKAGES)
    except NotInstalled as error:
        pytest.skip(f"!!! THE REAL MINI-SWE-AGENT WAS NOT TESTED: {error}")
    home = tmp_path / "home"
    home.mkdir()
    return RealProgram(name=str(EXAMPLE), executables=executables, home=home, bench=bench)


def test_the_packages_are_those_that_the_example_names() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert "pip install mini-swe-agent==2.4.6 litellm==1.106.2 'mcp>=2.2,<3'" in text


def test_the_example_runs(mini: RealProgram) -> None:
    done = mini.compare("--modes", "baseline", "--agents", "2", "--runs", "1")

    assert done.code == 0, done.err
    records = mini.records()
    assert [record["cause"] for record in records] == ["finished"] * 2, done.out
    for record in records:
        assert record["program_version"] == "2.4.6"
        assert record["num_turns"] == record["rehearsal_requests"]
        assert record["effective_tokens"] > 0
        assert record["cost"] is None
        assert set(record["tool_calls"]) == {"bash"}
        assert record["retrieval"] == "not-given"
    assert mini.home_tree() == {}
    assert processes_of(records[0]["session"]) == []


def test_a_mode_with_a_tool_is_refused(mini: RealProgram) -> None:
    done = mini.compare("--modes", "baseline", "canopy")
    assert done.code == 2
    assert "takes no MCP servers, and canopy gives it some" in done.err
