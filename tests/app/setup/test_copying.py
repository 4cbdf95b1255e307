"""What a user hears of the repository that is copied."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.setup.copying import check_commits, take_session_snapshot
from swarm_bench.config.layers import load
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Setting, Task
from swarm_bench.runtime.workspaces.workspace import Snapshot
from tests.builders.golden import Sentences

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder := tmp_path / "repo").mkdir()
    (folder / "main.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return folder


def commit(folder: Path) -> str:
    script = "git init -q . && git add main.py && git -c user.name=a -c user.email=a@b commit -qm 1"
    script += "; git rev-parse HEAD"
    done = subprocess.run(["sh", "-c", script], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


async def heard(
    folder: Path, number: int = 1, session: dict[str, Setting] | None = None, **typed: Any
) -> tuple[Snapshot, list[str]]:
    resolved, sentences = load(typed, session=session), list[str]()
    target = folder.parent / f"{number}.git"
    return await take_session_snapshot(resolved, folder, target, sentences.append), sentences


async def test_patterns_that_would_include_nothing_are_refused_where_they_were_typed(
    folder: Path,
    golden: Sentences,
) -> None:
    stored = {"include": Setting(value=["*.pem"], source="command line")}
    (folder / "a.pem").touch()
    snapshot, sentences = await heard(folder, 1, stored)
    assert snapshot.files == {"main.py", "a.pem"}
    assert sentences == []
    commit(folder)
    snapshot, sentences = await heard(folder, 2, stored)
    assert snapshot.files == {"main.py"}
    golden(sentences[0])
    with pytest.raises(UsageError, match="add --dirty, or omit --include"):
        await heard(folder, 3, include=["*.pem"])


async def test_a_home_folder_can_be_worked_in_and_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    snapshot, sentences = await heard(folder)
    assert snapshot.files == {"main.py"}
    golden(*sentences)


async def test_a_commit_that_is_not_there_is_refused_with_its_tasks(folder: Path) -> None:
    here = commit(folder)
    snapshot, _ = await heard(folder)
    tasks = [
        Task(id=id, title=id, prompt=id, commit=at)
        for id, at in {"own": None, "here": here, "gone": "0" * 40, "shallow": "1" * 40}.items()
    ]
    await check_commits(snapshot.repository, tasks[:2])
    words = r"does not have 000000000000, 111111111111, on which .* \(gone, shallow\); fetch"
    with pytest.raises(UsageError, match=words):
        await check_commits(snapshot.repository, tasks * 2)  # once per mode
    (folder / "inner").mkdir()
    inner = snapshot.repository.model_copy(update={"path": str(folder / "inner")})
    with pytest.raises(UsageError, match=here[:12]):
        await check_commits(inner, tasks[:2])
    plain = snapshot.repository.model_copy(update={"commit": None})
    await check_commits(plain, tasks[:1])
    with pytest.raises(UsageError, match="is no checkout of git, and the task 'here'"):
        await check_commits(plain, tasks)
