"""Scorers that other packages register: what they give is in the records, and so are failures."""

from pathlib import Path

import pytest

from tests.builders import packages
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done

MODULE = """
class Tone:
    name = "tone"
    version = 1
    keys = ("tone_words", "tone_warm")
    def score(self, context):
        return {"tone_words": len(context.text.split()), "tone_warm": True}

class Broken(Tone):
    name = "broken"
    keys = ("broken_share",)
    def score(self, context):
        raise ZeroDivisionError("a share of nothing")

class Sly(Tone):
    name = "sly"
    keys = ("cost",)
    def score(self, context):
        return {"cost": 0.0}

class Double(Tone):
    name = "references"

class Nameless(Tone):
    name = None

class Leaves(Tone):
    def __init__(self):
        raise SystemExit(0)

class Bare:
    def score(self, context):
        return {}
"""


def install(folder: Path, **scorers: str) -> Path:
    """A package as pip leaves it, in a folder of its own."""
    lines = [f"{name} = tone:{kind}" for name, kind in scorers.items()]
    packages.install("tone", MODULE, "\n".join(["[swarm_bench.scorers]", *lines]), folder)
    return folder


def compare(bench: Bench, folder: Path) -> Done:
    words = ["--modes", "baseline", "--agents", "2", "--runs", "1", "--output", "out"]
    env = {"PYTHONPATH": str(folder)}
    return bench.call("compare", "--repo", str(bench.repo), *words, env=env)


@pytest.mark.slow
def test_scores_and_failures_of_scorers_of_others_are_recorded(
    bench: Bench, golden: Sentences
) -> None:
    folder = install(bench.folder / "packages", tone="Tone", broken="Broken", sly="Sly")
    done = compare(bench, folder)
    assert done.code == 0, done.err
    records = bench.records("out")
    assert len(records) == 2
    for record in records:
        assert list(record["scores"])[-3:] == ["broken_share", "tone_words", "tone_warm"]
        assert record["scores"]["broken_share"] is None
        assert record["scores"]["tone_words"] > 5
        assert record["scores"]["tone_warm"] is True
        assert set(record["score_failures"]) == {"broken", "sly"}
        assert record["cost"] > 0
        assert record["references"] is not None
    summary = (bench.folder / "out" / "summary.md").read_text(encoding="utf-8")
    golden(parts(summary))
    assert "The scorer broken failed" in done.err
    assert bench.call("report", "out").code == 0
    assert (bench.folder / "out" / "summary.md").read_text(encoding="utf-8") == summary


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("Bare", "lacks what a scorer has"),
        ("Nameless", "has no name"),
        ("Leaves", "cannot be made: packages/tone.py, line 29: SystemExit: 0"),
        ("Missing", "cannot be loaded as one"),
        ("Double", "2 scorers are called 'references'"),
    ],
)
def test_what_is_no_scorer_is_said_before_anything_runs(bench: Bench, kind: str, why: str) -> None:
    done = compare(bench, install(bench.folder / "packages", tone=kind))
    assert done.code == 2
    assert why in done.err
    assert not (bench.folder / "out").exists()


def test_a_plan_names_a_scorer_that_there_is_not_and_loads_no_code(bench: Bench) -> None:
    (bench.folder / "own.py").write_text("raise SystemExit('loaded')\n")
    for scorer, code in (("fils", 2), ("own:Class", 0)):
        tasks = f"scorers: ['{scorer}']\ntasks: [{{id: a, title: A, prompt: 'Where?'}}]\n"
        (bench.folder / "mine.yaml").write_text(tasks)
        done = bench.call("compare", "--repo", str(bench.repo), "--tasks", "./mine.yaml", "--plan")
        assert done.code == code
        assert ("no scorer called 'fils'" in done.err) == (code == 2)
