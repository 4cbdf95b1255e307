"""What a server writes into its home, cache or temporary folder ends with its swarm, and nothing
of it is the user's."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.testing.remembering_mcp import FILE, KEPT
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
PLACES = ("home", "cache", "temporary")


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The variables that lead to the user's own places, which are empty."""
    user = {"HOME": tmp_path / "user", "TMPDIR": tmp_path / "t"}
    for place in user.values():
        place.mkdir()
    return {name: str(place) for name, place in user.items()}


def write_mode(bench: Bench, *, keep: list[str], **env: str) -> Path:
    """A mode with a server that remembers, and the log of its starts."""
    log = bench.folder / "starts.jsonl"
    words = ["-I", "-m", "swarm_bench.testing.remembering_mcp", str(log)]
    server = {"command": sys.executable, "args": words, "env": env}
    own = {"index": {"tool": "build_index"}, "keep": keep}
    content = {"mcpServers": {"remembering": server}, "swarmBench": own}
    (bench.folder / "remembering.json").write_text(json.dumps(content), encoding="utf-8")
    return log


def starts(log: Path) -> list[dict[str, Any]]:
    """The starts of the server; each with who started it."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    log.unlink()
    return lines


def seen(starts: list[dict[str, Any]], *places: str) -> list[list[int]]:
    return [[start["seen"][place] for place in places] for start in starts]


def home_of(start: dict[str, Any]) -> str:
    return str(start["variables"]["HOME"])


def left_in(user: dict[str, str]) -> list[Path]:
    """What a session left in the places of the user, but for what we remember of trust."""
    ours = ("trust.json", "trust.lock", ".gitignore")
    found = (path for place in user.values() for path in Path(place).rglob("*"))
    return [path for path in found if path.is_file() and path.name not in ours]


def test_every_swarm_begins_without_a_memory_and_keeps_what_its_mode_names(
    bench: Bench, user: dict[str, str]
) -> None:
    log = write_mode(bench, keep=[KEPT])
    words = ["compare", "--repo", str(bench.repo), "--quiet", "--runs", "2", "--agents", "1"]
    done = bench.call(*words, "--modes", "./remembering.json", "--index", "warm", env=user)
    assert done.code == 0, done.err
    handshake, *others = starts(log)
    (home,) = [home for home, number in Counter(map(home_of, others)).items() if number == 4]
    swarms = [start for start in others if home_of(start) == home]
    (overhead,) = [start for start in others if home_of(start) != home]
    assert seen([handshake, overhead], *PLACES) == [[0] * 3] * 2
    # In each an index is built, and an agent asks.
    assert seen(swarms, *PLACES) == [[0] * 3, [1] * 3] * 2
    assert seen([handshake, *swarms], "kept") == [[0], [1], [2], [3], [4]]
    assert not Path(home).exists()
    # The next session is another one. Doctor greets the server, and asks it a question.
    words = ["doctor", "--repo", str(bench.repo), "--modes", "./remembering.json", "canopy-service"]
    bench.call(*words, env=user)
    assert seen(starts(log), *PLACES, "kept") == [[0, 0, 0, 0], [0, 0, 0, 1]]
    assert left_in(user) == []


@pytest.mark.parametrize(
    ("env", "option"), [({"HOME": "${HOME}"}, "--agents=1"), ({}, "--inherit-settings")]
)
def test_a_server_is_led_into_the_users_home_when_they_say_so(
    bench: Bench, user: dict[str, str], env: dict[str, str], option: str
) -> None:
    log = write_mode(bench, keep=[], **env)
    for number in range(2):
        bench.call("doctor", "--modes", "./remembering.json", option, env=user)
        (start,) = starts(log)
        assert start["variables"]["HOME"] == user["HOME"]
        assert seen([start], *PLACES) == [[number, number, 0]]
    assert (Path(user["HOME"]) / ".cache" / FILE).exists()
