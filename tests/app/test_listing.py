"""Pages and examples of the documentation, which are installed."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swarm_bench.app.listing import list_pages, read_page
from swarm_bench.cli.commands import app
from swarm_bench.core.errors import UnknownName

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "swarm_bench"
_NAMED = re.compile(r"swarm-bench docs ([a-z][\w./-]*\w)")
_FILE = re.compile(r"\bdocs/[\w./-]+\.(?:md|json|ya?ml)")


def test_each_page_and_example_can_be_printed() -> None:
    pages = {page.name: page for page in list_pages()}
    assert {"prices", "modes", "extending/metric", "examples/codegraph.json"} <= set(pages)
    assert not any(name.startswith("design/") for name in pages)
    assert all(page.about for page in pages.values())
    for name in pages:
        assert read_page(name)
    assert json.loads(read_page("examples/codegraph.json"))["mcpServers"]
    assert read_page("docs/prices.md") == read_page("prices")


def test_the_command_lists_and_prints_them() -> None:
    listed = CliRunner().invoke(app, ["docs"]).output
    assert "examples/filesystem.json" in listed
    printed = CliRunner().invoke(app, ["docs", "examples/filesystem.json"]).output
    assert json.loads(printed)
    with pytest.raises(UnknownName, match="did you mean 'prices'"):
        read_page("price")


@pytest.mark.parametrize(
    "command", ["agents", "benchmarks", "datasets", "models", "modes", "tasks"]
)
def test_what_is_listed_names_pages_that_can_be_printed(command: str) -> None:
    listed = CliRunner().invoke(app, [command]).output
    assert listed
    assert not _FILE.findall(listed)
    assert set(_NAMED.findall(listed)) <= {page.name for page in list_pages()}


def test_they_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["docs"] == "swarm_bench/docs"


def test_what_is_said_names_pages_that_can_be_printed() -> None:
    """A file of a checkout is nowhere for whoever installed the package."""
    names = {page.name for page in list_pages()}
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        code = re.sub(r'"""(?!\s*$).*?"""', "", text, flags=re.DOTALL)
        assert not _FILE.findall(code), file
        assert set(_NAMED.findall(text)) <= names, file
    helped = [
        *(ROOT / "tests" / "golden" / "help").glob("*.txt"),
        *(ROOT / "docs").glob("*.md"),
    ]
    for file in helped:
        named = {name.rstrip(".") for name in _NAMED.findall(file.read_text(encoding="utf-8"))}
        assert named <= names, file
        assert "docs/examples/" not in file.read_text(encoding="utf-8"), file
