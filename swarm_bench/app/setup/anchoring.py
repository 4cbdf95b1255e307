"""Options that name files, so that they name the same ones from any folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.app.setup.agents import COMMAND, YAML
from swarm_bench.config.shipped import MODES, SUITES
from swarm_bench.core.session.experiment import Setting

REPLAY = "replay:"


def anchored(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings of a call as a session stores them: a path begins at the root."""
    return {
        name: setting.model_copy(update={"value": _ANCHORED[name](setting.value)})
        if name in _ANCHORED
        else setting
        for name, setting in settings.items()
    }


def anchored_agent(word: str) -> str:
    """The word after `--agent`. A class is found by its name only."""
    if word.startswith(REPLAY):
        folder, at, own = word.removeprefix(REPLAY).rpartition("@")
        recording = _whole(folder if at else own)
        return f"{REPLAY}{recording}@{anchored_agent(own)}" if at else f"{REPLAY}{recording}"
    prefix = f"{COMMAND}:"
    if word.startswith(prefix):
        return f"{prefix}{_whole(word.removeprefix(prefix))}"
    return _whole(word) if word.endswith(YAML) else word


def _mode(word: str) -> str:
    return _whole(word) if MODES.is_path(word) else word


def _suite(word: str) -> str:
    return _whole(word) if SUITES.is_path(word) else word


def _modes(words: list[str]) -> list[str]:
    return [_mode(word) for word in words]


def _whole(path: str) -> str:
    """The path without `..`; a file keeps its name, also when that is a link."""
    place = Path(path).expanduser()
    return str(place.parent.resolve() / place.name)


def _repo(path: str) -> str:
    return str(Path(path).expanduser().resolve())


_ANCHORED: dict[str, Callable[[Any], Any]] = {
    "agent": anchored_agent,
    "modes": _modes,
    "repo": _repo,
    "tasks": _suite,
}
