"""What `swarm-bench benchmarks` says of those that are installed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swarm_bench.app.benchmarks import describe, list_benchmarks, render_schema
from swarm_bench.cli.commands import app
from swarm_bench.config.compare_options import SCOPES
from swarm_bench.core.errors import ConfigError, UnknownName
from tests.builders.golden import Sentences
from tests.builders.packages import install

MODULE = """
from enum import Enum
from pydantic import BaseModel, Field
from swarm_bench.core.metric import Better, Metric, Metrics, Style

class Colour(Enum):
    RED = "red"

class Properties(BaseModel):
    rows: list[int] | None = Field(default=None, description="Which rows.")
    depth: int = 0
    strict: bool = False
    colour: Colour = Colour.RED
    source: str

class Own:
    name = "own"
    version = 3
    about = "Questions with one answer."
    properties = Properties
    def plan(self, experiment):
        return ()
    def scorers(self):
        return ()
    def metrics(self):
        style, better = Style.WHOLE, Better.HIGHER
        unit, definition = "answers", "Right answers."
        return Metrics((Metric(key="right", title="Right", unit=unit, style=style,
                               definition=definition, better=better),))

class Bare(Own):
    def scorers(self):
        return (object(),)

class Leaves(Own):
    def metrics(self):
        raise SystemExit(0)

class Plain(Own):
    properties = dict

class Dated(Own):
    version = "2026-11-22"

class Half:
    name = "half"
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [
        f"{kind.lower()} = quiz:{kind}"
        for kind in ("Own", "Half", "Gone", "Bare", "Leaves", "Plain", "Dated")
    ]
    install("quiz", MODULE, "\n".join(["[swarm_bench.benchmarks]", *kinds]), tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("packages")
def test_each_is_listed_with_its_version_or_its_problem(golden: Sentences) -> None:
    listed = {listing.name: listing for listing in list_benchmarks()}
    assert listed["own"].source == "quiz"
    assert (listed["own"].problem, listed["swarm"].problem) == (None, None)
    assert listed["half"].problem
    assert listed["gone"].problem
    done = CliRunner().invoke(app, ["benchmarks"])
    assert done.exit_code == 0
    golden(done.output)


@pytest.mark.usefixtures("packages")
def test_a_page_has_properties_metrics_and_scorers() -> None:
    page = CliRunner().invoke(app, ["benchmarks", "show", "own"]).output
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    assert page.startswith("# own, version 3\n")
    assert ["rows", "list of integer or null", "-", "Which rows."] in rows
    assert ["depth", "integer", "0", ""] in rows
    assert ["strict", "boolean", "false", ""] in rows
    assert ["colour", "red", "red", ""] in rows
    assert ["source", "string", "required", ""] in rows
    assert ["right", "answers", "higher", "Right answers."] in rows
    assert page.endswith("## Scorers\n\nNone.\n")


def test_the_page_of_the_swarm_benchmark_has_its_options() -> None:
    page = describe("swarm")
    assert "| modes " in page
    assert "canopy canopy-service" in page
    assert "| effective_tokens " in page
    assert "| references " in page
    properties = json.loads(render_schema("swarm"))["properties"]
    assert "max_turns" in properties
    assert properties.keys().isdisjoint(
        {"continue", *(name for name, it in SCOPES.items() if it.of_call)}
    )


@pytest.mark.usefixtures("packages")
def test_one_that_cannot_be_shown_says_why() -> None:
    with pytest.raises(UnknownName, match="There is no benchmark called 'swram'"):
        describe("swram")
    with pytest.raises(ConfigError, match="lacks what a scorer has"):
        describe("bare")
    with pytest.raises(
        ConfigError, match="'leaves' cannot be shown: quiz.py, line 37: SystemExit: 0; fix it"
    ):
        describe("leaves")
    for name in ("half", "plain", "dated"):
        with pytest.raises(ConfigError, match=f"'{name}' is no benchmark"):
            render_schema(name)
