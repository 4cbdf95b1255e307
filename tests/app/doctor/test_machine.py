"""What doctor says of the machine."""

from pathlib import Path

import pytest

from swarm_bench.app.doctor.machine import (
    check_descriptors,
    check_disk,
    check_git,
    check_memory,
    check_python,
    check_repository,
    estimate_clone_bytes,
)
from swarm_bench.core.checks import State
from swarm_bench.runtime.processes.launching import needed_descriptors
from tests.builders.golden import Sentences


@pytest.mark.anyio
async def test_what_is_needed_is_here() -> None:
    assert check_python().state is State.OK
    assert (await check_git()).state is State.OK


@pytest.mark.anyio
async def test_without_git_there_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git cannot be started" in (await check_git()).finding
    assert (await check_git()).state is State.PROBLEM


@pytest.mark.anyio
async def test_what_cannot_be_copied_is_a_problem_when_it_was_asked_for(
    tmp_path: Path, golden: Sentences
) -> None:
    found = await check_repository(tmp_path, is_named=True)
    assert (found.state, found.finding) == (State.OK, f"{tmp_path}, a plain folder")
    found = await check_repository(tmp_path / "absent", is_named=True)
    assert found.state is State.PROBLEM
    golden(found.finding)
    assert (await check_repository(Path("/"), is_named=False)).state is State.WARNING


def test_a_folder_that_is_still_to_be_made_has_the_room_of_its_parent(tmp_path: Path) -> None:
    check = check_disk(tmp_path / "not" / "yet")
    assert check.state in {State.OK, State.WARNING}
    assert str(tmp_path / "not" / "yet") in check.finding


@pytest.mark.anyio
async def test_a_clone_that_has_no_room_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x" * 1_000_001)
    needed = await estimate_clone_bytes(tmp_path)
    assert 1_000_001 < needed < 2_000_000
    assert await estimate_clone_bytes(tmp_path / "absent") == 0
    assert check_disk(tmp_path, 0).state is not State.PROBLEM
    found = check_disk(tmp_path, 10**15)
    assert (found.state, "one of them needs" in found.finding) == (State.PROBLEM, True)


def test_memory_is_what_all_agents_take_together() -> None:
    assert check_memory(4, "claude", 1).state is State.OK
    assert check_memory(1000, "claude", 1_000_000).state is State.PROBLEM
    assert "was not measured" in check_memory(4, "mine", None).finding


def test_all_agents_at_once_must_be_able_to_open_their_files() -> None:
    assert check_descriptors(4).state is State.OK
    assert 131 <= needed_descriptors(20) <= 256  # a session of 20 was seen to have 131
    too_many = check_descriptors(10**8)
    assert (too_many.state, bool(too_many.advice)) == (State.PROBLEM, True)
