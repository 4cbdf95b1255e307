"""What is remembered, and what vouches for nothing: links, FIFOs, files that others may write."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.runtime.trusted import TrustFile, state_folder


def test_what_is_remembered_is_known_for_its_key_alone(tmp_path: Path) -> None:
    TrustFile(tmp_path / "state").remember("folder /a", ["1", "2"])
    TrustFile(tmp_path / "state").remember("folder /a", ["3"])
    file = TrustFile(tmp_path / "state")
    assert file.digests("folder /a") == {"1", "2", "3"}
    assert file.digests("folder /b") == frozenset()
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_those_who_remember_at_once_lose_nothing(tmp_path: Path) -> None:
    def remember(number: int) -> None:
        TrustFile(tmp_path).remember("k", [str(number)])

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert TrustFile(tmp_path).digests("k") == {str(number) for number in range(20)}
    names = [".gitignore", "trust.json", "trust.lock"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def planted(file: Path, other: Path) -> None:
    other.write_text(json.dumps({"k": ["1"]}))
    other.chmod(0o600)
    file.symlink_to(other)


def writable(file: Path, other: Path) -> None:
    file.write_text(json.dumps({"k": ["1"]}))
    file.chmod(0o666)


def folder_writable(file: Path, other: Path) -> None:
    file.write_text(json.dumps({"k": ["1"]}))
    file.parent.chmod(0o777)


def fifo(file: Path, other: Path) -> None:
    os.mkfifo(file, 0o600)


def endless(file: Path, other: Path) -> None:
    file.symlink_to("/dev/zero")


def nonsense(file: Path, other: Path) -> None:
    file.write_text('{"k": 1}')
    file.chmod(0o600)


@pytest.mark.parametrize("plant", [planted, writable, folder_writable, fifo, endless, nonsense])
def test_what_others_may_have_written_vouches_for_nothing(
    plant: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    plant(state / "trust.json", tmp_path / "other.json")
    before = sorted((path, path.lstat().st_mode) for path in tmp_path.rglob("*"))
    with pytest.raises(ConfigError):
        TrustFile(state).digests("k")
    with pytest.raises(ConfigError):
        TrustFile(state).remember("k", ["2"])
    after = sorted((path, path.lstat().st_mode) for path in tmp_path.rglob("*"))
    assert [one for one in after if one[0].name != "trust.lock"] == before


def test_a_lock_that_is_a_link_truncates_nothing(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("content")
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "trust.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(ConfigError):
        TrustFile(state).remember("k", ["1"])
    assert (tmp_path / "precious").read_text() == "content"


@pytest.mark.parametrize("given", ["", "relative/state"])
def test_a_state_folder_that_is_no_place_is_not_used(given: str) -> None:
    assert state_folder({"XDG_STATE_HOME": given}).is_relative_to(Path.home())
    assert state_folder({"XDG_STATE_HOME": "/x"}) == Path("/x/swarm-bench")
