"""Finding an agent program, and asking it for its version."""

from pathlib import Path

import pytest

from swarm_bench.agents.reading.installed import installed
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH for programs, with the user's home beside it."""
    programs, home = tmp_path / "bin", tmp_path / "home"
    programs.mkdir()
    home.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(home))
    return programs


def ask(folder: Path, script: str) -> Program:
    file = folder / "tool"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return installed("some-agent", program="tool", tested="1.2.0", install="npm install -g tool")


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("2.1.329 (Claude Code)", "2.1.329"),
        ("codex-cli 0.169.0", "0.169.0"),
        ("0.61.0", "0.61.0"),
        ("v1.0.0-beta.2+5", "1.0.0-beta.2+5"),
        ("warning: made for 9.9' >&2; echo '1.0", "1.0"),
    ],
)
def test_the_version_is_what_the_program_says(folder: Path, printed: str, version: str) -> None:
    found = ask(folder, f"echo '{printed}'")

    assert found == Program(
        name="some-agent", version=version, path=str(folder / "tool"), tested="1.2.0"
    )


def test_asking_leaves_the_users_home_alone(folder: Path, tmp_path: Path) -> None:
    found = ask(folder, 'echo x > "$HOME/state"; ls "$HOME" >/dev/null && echo 1.0')

    assert found.version == "1.0"
    assert list((tmp_path / "home").iterdir()) == []


def test_keys_do_not_reach_the_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")

    assert ask(folder, 'echo "1.0${ANTHROPIC_API_KEY}"').version == "1.0"


def test_a_missing_program_is_said_with_the_command_that_installs_it(folder: Path) -> None:
    with pytest.raises(UsageError, match="not on the PATH; install it with `npm install -g it`"):
        installed("some-agent", program="not-there", tested="1", install="npm install -g it")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo broken; exit 3", "exit code 3 and printed 'broken'"),
        ("echo 'no command 1.0' >&2; exit 126", "exit code 126 and printed 'no command 1.0'"),
        ("echo hello", "printed 'hello'"),
        ("true", "printed 'nothing'"),
    ],
)
def test_a_program_without_a_version_is_refused(folder: Path, script: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ask(folder, script)


def test_a_file_that_is_no_program_is_refused(folder: Path) -> None:
    (folder / "tool").write_bytes(b"\x00\x01")
    (folder / "tool").chmod(0o755)

    with pytest.raises(UsageError, match="could not be started"):
        installed("some-agent", program="tool", tested="1", install="npm install -g tool")


def test_what_the_program_leaves_running_is_not_waited_for(folder: Path) -> None:
    assert ask(folder, "sleep 60 & echo 1.0").version == "1.0"
