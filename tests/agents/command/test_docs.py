"""What docs/command-agents.md shows is what the code reads."""

import re
from pathlib import Path

import pytest

from swarm_bench.agents.command.adapter import Command
from swarm_bench.agents.command.file import PLACEHOLDERS
from swarm_bench.agents.command.output import CAUSES
from swarm_bench.core.errors import ConfigError

PAGE = (Path(__file__).parents[3] / "docs" / "command-agents.md").read_text("utf-8")
LEAST = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]


def test_the_least_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(LEAST, encoding="utf-8")
    assert Command(str(tmp_path / "a.yaml")).name == "my-agent"


@pytest.mark.parametrize("cut", ["\ncommand", "  answer", "  format"])
def test_it_is_the_least(tmp_path: Path, cut: str) -> None:
    less = re.sub(rf"{cut}.*", "", LEAST, count=1)
    (tmp_path / "a.yaml").write_text(less, encoding="utf-8")
    with pytest.raises(ConfigError, match="is missing"):
        Command(str(tmp_path / "a.yaml"))


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_placeholder_is_explained(name: str) -> None:
    assert f"`{{{{ {name} }}}}`" in PAGE


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_is_named(cause: str) -> None:
    assert f"`{cause}`" in PAGE
