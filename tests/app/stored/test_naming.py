"""A session is named by its folder, the name of that, its id, or as the newest."""

import json
import os
from pathlib import Path

import pytest

from swarm_bench.app.stored.past import (
    LATEST,
    find_newest,
    find_recorded_folder,
    find_session_folder,
    list_session_folders,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.recording import FOLDER
from swarm_bench.engine.folder import EXPERIMENT

RESULTS = Path("results")


@pytest.fixture(autouse=True)
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three sessions, the last of them one of a series."""
    monkeypatch.chdir(tmp_path)
    write("swarm-20261124-101500", "aaaa1111", "swarm", age=30)
    write("retrieve-20261125-101500", "bbbb2222", "retrieve", age=20)
    write("swarm-20261126-101500/agents-2", "cccc3333", "swarm", age=10)


def write(name: str, session: str, benchmark: str, age: float) -> None:
    file = RESULTS / name / EXPERIMENT
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"session": session, "benchmark": benchmark}))
    os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("", "swarm-20261126-101500"),
        (LATEST, "swarm-20261126-101500"),
        ("retrieve-20261125-101500", "retrieve-20261125-101500"),
        ("results/swarm-20261124-101500", "swarm-20261124-101500"),
        ("aaaa1111", "swarm-20261124-101500"),
        ("cccc3333", "swarm-20261126-101500/agents-2"),
    ],
)
def test_each_way_to_name_it(word: str, name: str) -> None:
    assert find_session_folder(word) == RESULTS / name


def test_what_was_continued_last_is_the_newest() -> None:
    (RESULTS / "swarm-20261124-101500" / EXPERIMENT).touch()
    assert find_session_folder(LATEST) == RESULTS / "swarm-20261124-101500"
    assert find_newest("retrieve") == RESULTS / "retrieve-20261125-101500"
    assert find_session_folder("", lambda: find_newest("retrieve")).name.startswith("retrieve")


@pytest.mark.parametrize("word", ["swarm-20261124-10150", "results/swarm-20261124-10150"])
def test_a_name_with_a_typo_is_guessed(word: str) -> None:
    with pytest.raises(UsageError, match="did you mean 'swarm-20261124-101500'"):
        find_session_folder(word)


def test_a_path_elsewhere_is_left_to_who_reads_it(tmp_path: Path) -> None:
    assert find_session_folder("elsewhere/x") == Path("elsewhere/x")
    assert find_session_folder(str(tmp_path / "absent")) == tmp_path / "absent"


def test_a_folder_here_that_is_called_like_a_word_wins() -> None:
    Path("aaaa1111").mkdir()
    assert find_session_folder("aaaa1111") == Path("aaaa1111")


def test_the_newest_recording_need_not_be_of_the_newest_session() -> None:
    with pytest.raises(UsageError, match="--record"):
        find_recorded_folder(LATEST)
    (RESULTS / "swarm-20261124-101500" / FOLDER).mkdir()
    assert find_recorded_folder(LATEST) == RESULTS / "swarm-20261124-101500"
    assert find_recorded_folder("bbbb2222") == RESULTS / "retrieve-20261125-101500"


def test_what_cannot_be_read_has_no_id_and_hides_no_other() -> None:
    damaged = RESULTS / "damaged" / EXPERIMENT
    damaged.parent.mkdir()
    damaged.write_text("{")
    assert len(list_session_folders(RESULTS)) == 4
    assert find_session_folder("aaaa1111") == RESULTS / "swarm-20261124-101500"


def test_where_there_is_none_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for word in ("", "aaaa1111"):
        with pytest.raises(UsageError, match="no session below results"):
            find_session_folder(word)


def test_a_session_in_a_folder_of_folders_is_named_as_it_is_listed() -> None:
    write("archive/s2", "dddd4444", "swarm", age=0)
    assert [*map(str, list_session_folders(RESULTS))][0] == "results/archive/s2"
    for word in ("", LATEST, "archive/s2", "s2", "dddd4444"):
        assert find_session_folder(word) == RESULTS / "archive" / "s2"
    assert find_session_folder("swarm-20261126-101500/agents-2").name == "agents-2"


def test_what_lies_in_a_session_is_none() -> None:
    write("swarm-20261124-101500/canopy", "dddd4444", "swarm", age=0)
    assert len(list_session_folders(RESULTS)) == 3
    assert find_session_folder(LATEST) == RESULTS / "swarm-20261126-101500"


def test_what_several_are_called_names_none() -> None:
    write("copy", "aaaa1111", "swarm", age=0)
    write("archive/copy", "dddd4444", "swarm", age=0)
    write("older/s2", "eeee5555", "swarm", age=0)
    write("archive/s2", "ffff6666", "swarm", age=0)
    with pytest.raises(UsageError) as caught:
        find_session_folder("aaaa1111")
    for name in ("copy", "swarm-20261124-101500"):
        assert f"results/{name}" in str(caught.value)
    with pytest.raises(UsageError, match="results/archive/s2 and results/older/s2"):
        find_session_folder("s2")
    assert find_session_folder("copy") == RESULTS / "copy"
    write("agents-3", "0a0a0a0a", "swarm", age=-1)
    assert find_session_folder(LATEST) == RESULTS / "agents-3"
