"""The questions of the demo hold for what is installed, and what does not is omitted."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from swarm_bench.app.demo import PACKAGES, QUESTIONS, InstalledFiles, build_questions, resolve_demo
from swarm_bench.core.errors import UsageError
from swarm_bench.datasets.suites import read_suite
from tests.builders.golden import Sentences

ROOT = Path(__file__).resolve().parents[2]


def pinned() -> bool:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return all(f"{name}=={version(name)}" in lines for name in PACKAGES)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(resolve_demo({}).settings.repo)


def installed(source: Path) -> dict[str, bytes]:
    return {str(path.relative_to(source)): path.read_bytes() for path in source.rglob("*.py")}


def test_every_key_holds_for_the_pinned_versions_and_each_is_of_another_file(source: Path) -> None:
    assert pinned(), "these tests run with the versions of constraints.txt"
    shipped = read_suite(QUESTIONS).tasks
    assert [task.id for task in build_questions(InstalledFiles(installed(source))).tasks] == [
        task.id for task in shipped
    ]
    keys = [task.key for task in shipped if task.key]
    assert len({key.files for key in keys}) == len(shipped) == 36
    assert all(len(key.files) == len(key.symbols) == 1 for key in keys)


def test_the_readme_says_what_is_asked_about_what() -> None:
    """What is found is compared with a whole session by `tests/e2e/test_readme.py`."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    count = len(read_suite(QUESTIONS).tasks)
    assert (
        f"{count} questions about the source of {', '.join(PACKAGES[:-1])} and {PACKAGES[-1]}"
        in readme
    )


def test_no_prompt_has_the_name_of_its_answer() -> None:
    for task in read_suite(QUESTIONS).tasks:
        assert task.key is not None
        (symbol,) = task.key.symbols
        path, _, name = symbol.partition("::")
        names = {*name.split("."), Path(path).stem}
        assert not [one for one in names if one.strip("_").lower() in task.prompt.lower()], task.id


def test_a_question_whose_key_does_not_hold_is_omitted_and_counted(
    source: Path, golden: Sentences
) -> None:
    contents = installed(source)
    del contents["rich/_ratio.py"]
    moved = contents["mcp/client/stdio.py"].replace(b"_stop_server_process", b"_end")
    contents["mcp/client/stdio.py"] = moved
    other = build_questions(InstalledFiles(contents))
    assert {"flexible-rows", "stubborn-child"}.isdisjoint(task.id for task in other.tasks)
    assert len(other.tasks) == 34
    with pytest.raises(UsageError) as refused:
        build_questions(InstalledFiles({}))
    golden(other.made.partition("; ")[2], str(refused.value))


def test_what_is_laid_out_is_used_again_and_not_trusted_when_changed(
    source: Path, golden: Sentences
) -> None:
    again = resolve_demo({"quiet": True}).settings
    assert (Path(again.repo), again.quiet) == (source, True)
    (source / "more.py").write_text("x = 1\n")
    with pytest.raises(UsageError) as refused:
        resolve_demo({})
    golden(str(refused.value).partition(" is ")[2])
    assert not [path for path in Path("results").iterdir() if path.name.startswith(".demo")]


@pytest.mark.parametrize("what", ["link to a folder", "link to a file", "pipe"])
def test_what_is_laid_out_has_no_link_and_no_pipe(what: str, source: Path, tmp_path: Path) -> None:
    (planted := tmp_path / "planted").mkdir()
    (planted / "answers.py").write_text("x = 1\n")
    link = source / "rich" / "color.py"
    if what == "pipe":
        os.mkfifo(source / "rich" / "x.py")
    elif what == "link to a folder":
        (source / "planted").symlink_to(planted)
    else:
        link.symlink_to(link.rename(planted / link.name))
    with pytest.raises(UsageError, match="is not what the demo wrote there any more"):
        resolve_demo({})


def test_settings_of_the_surroundings_do_not_count(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del source
    monkeypatch.setenv("SWARM_BENCH_AGENT", "claude")
    Path("swarm-bench.toml").write_text("runs = 9\n")
    settings = resolve_demo({}).settings
    assert (settings.agent, settings.runs) == ("scout", 1)
