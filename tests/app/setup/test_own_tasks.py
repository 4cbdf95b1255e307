"""The tasks of a session that names none."""

from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.running import agents
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.core.events import Event, Preparing, WarningRaised
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, Design
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.datasets.making.kinds import KINDS
from swarm_bench.datasets.suites import read_suite
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start, with_changes


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with changes whose words stand rather elsewhere than where they were made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return with_changes(tmp_path / "shop")


def planned(design: Design = COMPARE, **typed: Any) -> Experiment:
    options = {"repo": Path("shop"), "modes": ["baseline"], **typed}
    return agents.plan_session(resolve(options, design, None), design).experiment


def test_they_are_made_from_the_repository(repo: Path) -> None:
    experiment = planned()
    assert experiment.suite == "repository"
    assert len(experiment.tasks) == 8
    assert all(task.key and task.commit is None for task in experiment.tasks)
    head = git(repo, "rev-parse", "HEAD")
    assert experiment.made.startswith(f"from the repository at {head[:12]}, seed 0: 8 changes")
    assert "8 of 36" in experiment.made, "fewer than are wanted is said"
    assert all({"hard", "easier"} & set(task.tags) for task in experiment.tasks)
    assert "done-already" not in {tag for task in experiment.tasks for tag in task.tags}
    files = [file for task in experiment.tasks if task.key for file in task.key.files]
    assert len(set(files)) == len(files), "one task for each file"
    assert planned().tasks == experiment.tasks, "the same again"
    assert planned(seed=5).tasks != experiment.tasks


def test_noise_is_measured_in_the_tasks_that_modes_are_compared_in(repo: Path) -> None:
    calibrated = planned(CALIBRATE)
    assert calibrated.tasks == planned().tasks
    assert calibrated.primary == planned().primary


def test_a_session_keeps_them(repo: Path) -> None:
    events: list[Event] = []
    typed = {"repo": Path("shop"), "modes": ["baseline"], "runs": 1, "output": Path("out")}
    done = agents.run(resolve(typed, COMPARE, None), COMPARE, events.append)
    steps = [event.step for event in events if isinstance(event, Preparing)]
    assert [step for step in steps if step.startswith("making tasks")] == [
        f"making tasks from {repo}: {kind}" for kind in KINDS
    ]
    kept = read_suite(done.folder / "tasks.yaml")
    assert len(kept.tasks) == 8
    assert {task.commit for task in kept.tasks} == {git(repo, "rev-parse", "HEAD")}
    assert "Tasks made" in done.summary.markdown

    again = resolve({"resume": str(done.folder)}, COMPARE, None)
    assert agents.plan_session(again, COMPARE).experiment.tasks == tuple(
        task.model_copy(update={"commit": None}) for task in kept.tasks
    )


def test_only_ab_has_tasks_of_its_own(repo: Path) -> None:
    assert planned(AB).suite == "ab"
    assert planned(CALIBRATE).tasks == planned().tasks


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ({"repo": Path("plain")}, "plain gives no tasks with answer keys: it is no git checkout"),
        ({"dirty": True}, "with --dirty agents see changes that no commit has"),
        ({"repo": Path("few")}, "too few of its functions and commits can be asked about"),
    ],
)
def test_without_them_the_shipped_ones_are_asked(
    repo: Path, typed: dict[str, Any], why: str
) -> None:
    (repo.parent / "plain").mkdir()
    (repo.parent / "plain" / "a.py").write_text("x = 1\n")
    commit(start(repo.parent / "few"), "Start", {"a.py": "def load():\n    pass\n"})
    experiment = planned(**typed)
    assert experiment.suite == "exploration"
    assert why in experiment.made


def test_a_session_says_that_it_asks_the_shipped_ones(repo: Path, golden: Sentences) -> None:
    (repo.parent / "plain").mkdir()
    (repo.parent / "plain" / "a.py").write_text("x = 1\n")
    events: list[Event] = []
    typed = {"repo": Path("plain"), "modes": ["baseline"], "runs": 1, "output": Path("out")}
    done = agents.run(resolve(typed, COMPARE, None), COMPARE, events.append)
    troubles = [event.message for event in events if isinstance(event, WarningRaised)]
    golden(*(text for text in troubles if "exploration" in text))
    assert not (done.folder / "tasks.yaml").exists()


def test_they_can_be_asked_for_by_name(repo: Path) -> None:
    assert planned(CALIBRATE, tasks="repository").suite == "repository"
