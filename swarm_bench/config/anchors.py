"""Paths in the values of options, begun at the root: so they name the same file from any folder."""

from collections.abc import Iterable
from pathlib import Path

REPLAY = "replay:"
"""Begins a value of `--agent` that names a recording."""
COMMAND = "command"
"""The agent that a YAML file describes."""
YAML = (".yaml", ".yml")


def anchor_agent(agent: str) -> str:
    """Anchor the file in a value of `--agent`. A class has none: it is looked up by its name."""
    if agent.startswith(REPLAY):
        folder, at, own = agent.removeprefix(REPLAY).rpartition("@")
        recording = _absolute(folder if at else own)
        return f"{REPLAY}{recording}@{anchor_agent(own)}" if at else f"{REPLAY}{recording}"
    prefix = f"{COMMAND}:"
    if agent.startswith(prefix):
        return f"{prefix}{_absolute(agent.removeprefix(prefix))}"
    return _absolute(agent) if agent.endswith(YAML) else agent


def anchor_modes(modes: Iterable[str]) -> list[str]:
    """Anchor the files among names of modes."""
    from swarm_bench.config.shipped import MODES  # help and completion do without

    return [_absolute(mode) if MODES.is_path(mode) else mode for mode in modes]


def anchor_suite(suite: str) -> str:
    """Anchor the file of a task suite that is named by it."""
    from swarm_bench.config.shipped import SUITES  # help and completion do without

    return _absolute(suite) if SUITES.is_path(suite) else suite


def anchor_folder(folder: str) -> str:
    """Anchor a folder, where it really is."""
    return str(Path(folder).expanduser().resolve())


def _absolute(path: str) -> str:
    """Return the path without `..`; a file keeps its name, also when that is a link."""
    file = Path(path).expanduser()
    return str(file.parent.resolve() / file.name)
