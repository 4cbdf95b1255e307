"""Sessions that earlier versions stored, one of each kind for each version of `experiment.json`:
this version reports and continues them."""

import json
import shutil
from pathlib import Path

import pytest

from swarm_bench.core.session.base import EXPERIMENT_VERSION, SLICE_VERSION
from swarm_bench.testing import toy
from tests.builders.golden import GOLDEN
from tests.builders.packages import install
from tests.builders.repositories import commit, start
from tests.e2e.conftest import FILES, Bench

STORED = sorted(path.parent for path in (GOLDEN / "stored").glob("*/*/experiment.json"))
SLICE = GOLDEN / "stored" / "5" / "slice"
ANSWERS = [["    return True\n"] * 2, ["    return []\n"] * 2, ["    return number % 1.0\n"] * 2]
RUNNING = {
    "compare": ("compare",),
    "ab": ("ab",),
    "retrieve": ("retrieve",),
    "humaneval": ("run", "humaneval", "--allow-code-execution", "--environment", "unconfined"),
    "toy": ("run", "toy"),
}
"""By the name of a stored session, the command that continues it."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The repository and the files that the sessions began with."""
    repo = start(tmp_path / "shop")
    commit(repo, "one", FILES)
    made = Bench(folder=tmp_path / "here", repo=repo)
    points = "[swarm_bench.benchmarks]\ntoy = toy_package:Toy\n"
    install("toy_package", f"from {toy.__name__} import Toy\n", points, made.folder / "packages")
    (made.folder / "g.json").write_text(json.dumps(ANSWERS))
    return made


def copied(stored: Path, bench: Bench) -> Path:
    """Put a stored session into the working folder, with its repository at the place it names."""
    folder = bench.folder / "out"
    shutil.copytree(stored, folder)
    experiment = folder / "experiment.json"
    text = experiment.read_text().replace("/golden/", f"{bench.folder.parent}/")
    experiment.write_text(text)
    return folder


def test_each_version_has_one() -> None:
    versions = {
        int(folder.parent.name): json.loads((folder / "experiment.json").read_text())
        for folder in STORED
    }
    assert list(versions) == list(range(1, SLICE_VERSION + 1))
    assert all(it["schema_version"] == version for version, it in versions.items())


@pytest.mark.parametrize(
    "stored",
    [folder for folder in STORED if folder != SLICE],
    ids=lambda it: f"{it.parent.name}-{it.name}",
)
def test_a_stored_session_is_reported_and_continued(stored: Path, bench: Bench) -> None:
    folder = copied(stored, bench)
    before = bench.records("out")
    first = (folder / "metrics.jsonl").read_bytes()
    env = {"PYTHONPATH": "packages"} if stored.name == "toy" else None
    report = bench.call("report", "out", env=env)
    assert (report.code, report.err) == (0, "")
    assert all(arm in report.out for arm in {it.get("arm") or it["mode"] for it in before})
    words = (*RUNNING[stored.name], "--continue", "out", "--runs", "2", "--trust", "--quiet")
    done = bench.call(*words, env=env)
    assert done.code == 0, done.err
    after = bench.records("out")
    assert (folder / "metrics.jsonl").read_bytes().startswith(first)
    once = {it["name"] for it in bench.experiment("out").get("models", ()) if it.get("once")}
    assert len(after) == len(before) + sum(it.get("arm") not in once for it in before)
    assert bench.experiment("out")["schema_version"] == EXPERIMENT_VERSION
    assert bench.call("report", "out", env=env).code == 0


def test_a_stored_slice_is_reported_continued_and_merged(bench: Bench) -> None:
    """It has all of its trials but one."""
    copied(SLICE, bench)
    env = {"PYTHONPATH": "packages"}
    report = bench.call("report", "out", env=env)
    assert report.code == 0, report.err
    assert "slice 1/2 of a plan" in report.out
    before = len(bench.records("out"))
    done = bench.call("run", "toy", "--continue", "out", "--trust", "--quiet", env=env)
    assert done.code == 0, done.err
    assert len(bench.records("out")) == before + 1
    assert bench.experiment("out")["schema_version"] == SLICE_VERSION
    merged = bench.call("merge", "out", "--output", "whole", env=env)
    assert merged.code == 0, merged.err
    assert "1 of 2 slices (without 2)" in merged.out
    assert bench.experiment("whole")["schema_version"] == EXPERIMENT_VERSION
