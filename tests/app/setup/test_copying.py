"""What a user hears of the repository that is copied."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.setup.copying import copied
from swarm_bench.config.settings import load
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Setting
from swarm_bench.runtime.workspaces.workspace import Snapshot

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder := tmp_path / "repo").mkdir()
    (folder / "main.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return folder


def commit(folder: Path) -> None:
    script = "git init -q . && git add main.py && git -c user.name=a -c user.email=a@b commit -qm 1"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)


async def heard(
    folder: Path, number: int = 1, session: dict[str, Setting] | None = None, **typed: Any
) -> tuple[Snapshot, list[str]]:
    resolved, sentences = load(typed, session=session), list[str]()
    target = folder.parent / f"{number}.git"
    return await copied(resolved, folder, target, sentences.append), sentences


async def test_patterns_that_would_include_nothing_are_refused_where_they_were_typed(
    folder: Path,
) -> None:
    stored = {"include": Setting(value=["*.pem"], source="command line")}
    (folder / "a.pem").touch()
    snapshot, sentences = await heard(folder, 1, stored)
    assert snapshot.files == {"main.py", "a.pem"}
    assert sentences == []
    commit(folder)
    snapshot, sentences = await heard(folder, 2, stored)
    assert snapshot.files == {"main.py"}
    assert sentences[0].startswith("'include' does nothing here")
    with pytest.raises(UsageError, match="add --dirty, or omit --include"):
        await heard(folder, 3, include=["*.pem"])


async def test_a_home_folder_can_be_worked_in_and_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    snapshot, sentences = await heard(folder)
    assert snapshot.files == {"main.py"}
    assert sentences == [f"{folder} is your home folder; agents see all of it that is not omitted"]
