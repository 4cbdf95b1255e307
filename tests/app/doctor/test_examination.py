"""What doctor says of the machine."""

import os
import sys
from pathlib import Path

import pytest

from swarm_bench.agents.claude.adapter import CREDENTIALS, TESTED
from swarm_bench.app.doctor.examination import (
    check_agent,
    check_descriptors,
    check_disk,
    check_git,
    check_memory,
    check_python,
    check_repository,
    estimate_clone_bytes,
    find_agent_memory,
)
from swarm_bench.config.layers import load
from swarm_bench.core.listing import Check, State
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


SECRET = "sk-the-value-of-a-key"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, a PATH with one folder of ours, and no key."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def install(home: Path, version: str) -> None:
    program = home.parent / "bin" / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
    program.chmod(0o755)


def of(name: str, **given: object) -> Check:
    checks = {check.about: check for check in check_agent(load(given).settings, os.environ)}
    return checks[f"agent {name}"]


def test_agents_that_nobody_asked_for_are_not_mentioned(home: Path) -> None:
    install(home, "0.1")
    (check,) = check_agent(load({}).settings, os.environ)
    assert (check.about, check.state) == ("agent scout", State.OK)


def test_what_the_searches_of_an_agent_need_is_looked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home.parent / "bin" / "opencode"
    program.write_text(f"#!{sys.executable}\nprint('1.18.33')\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(home.parent / "bin"))
    settings = load({"agent": "opencode", "model": "rehearsal"}).settings
    _, needed = check_agent(settings, os.environ)
    assert (needed.about, needed.state) == ("rg", State.WARNING)
    searching = home.parent / "bin" / "rg"
    searching.write_text("#!/bin/sh\n", encoding="utf-8")
    searching.chmod(0o755)
    _, needed = check_agent(settings, os.environ)
    assert (needed.finding, needed.state) == (str(searching), State.OK)


def test_the_program_that_was_asked_for_may_not(home: Path) -> None:
    assert of("claude", agent="claude").state is State.PROBLEM
    assert of("claud", agent="claud").state is State.PROBLEM


def test_a_key_is_named_and_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home, TESTED)
    without = of("claude", agent="claude")
    assert without.state is State.PROBLEM
    assert "ANTHROPIC_API_KEY" in (without.advice or "")

    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    check = of("claude", agent="claude")
    assert check.state is State.OK
    assert "ANTHROPIC_API_KEY is set" in check.finding
    assert SECRET not in str(check)


def test_a_key_for_the_agents_alone_is_one(home: Path) -> None:
    install(home, TESTED)
    check = of("claude", agent="claude", agent_env=[f"ANTHROPIC_API_KEY={SECRET}"])
    assert check.state is State.OK
    assert SECRET not in str(check)


def test_a_rehearsal_needs_none(home: Path) -> None:
    install(home, TESTED)
    assert of("claude", agent="claude", model="rehearsal").state is State.OK


def test_a_log_in_counts_where_the_agents_have_the_users_home(home: Path) -> None:
    install(home, TESTED)
    (home / ".claude").mkdir()
    (home / ".claude" / ".credentials.json").write_text(SECRET)
    assert of("claude", agent="claude").state is State.PROBLEM
    check = of("claude", agent="claude", inherit_settings=True)
    assert check.state is State.OK
    assert ".claude/.credentials.json" in check.finding
    assert SECRET not in str(check)


@pytest.mark.parametrize(
    ("version", "state"), [("2.9.0", State.OK), ("3.0.0", State.WARNING), ("1.0", State.WARNING)]
)
def test_a_version_out_of_range_is_a_warning(home: Path, version: str, state: State) -> None:
    install(home, version)
    check = of("claude", agent="claude", model="rehearsal")
    assert check.state is state
    assert version in check.finding


def test_the_memory_of_an_agent_is_known_where_it_was_measured(home: Path) -> None:
    assert find_agent_memory(load({"agent": "claude"}).settings) == 268
    assert find_agent_memory(load({"agent": "nobody"}).settings) is None
