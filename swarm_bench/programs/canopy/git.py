"""Questions to git about a checkout; nothing in the checkout decides what runs."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_bench.runtime.environment import small_environment

# A checkout's own configuration may name programs to run; asking about it must not start them.
_GIT = (
    "git",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
)
_NOTHING_FETCHED = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""A missing object stays missing: older versions of git know only the second."""
_FILTER_SETTINGS = {"clean": "", "smudge": "", "process": "", "required": "false"}
TIMEOUT_SECONDS = 60.0
"""A git that is silent for longer hangs."""


def ask_git(root: Path, *arguments: str, seconds: float = TIMEOUT_SECONDS) -> str | None:
    """Return what git prints, with bytes that are no text as `os.fsdecode` has them; None if it
    fails."""
    variables = {**small_environment(os.environ, ("XDG_CONFIG_HOME",)), **_NOTHING_FETCHED}
    try:
        config = _run(root, ("config", "--list", "--name-only", "-z"), variables, seconds)
        return os.fsdecode(
            _run(root, arguments, {**variables, **_disable_filters(config)}, seconds)
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _run(root: Path, arguments: Sequence[str], env: Mapping[str, str], seconds: float) -> bytes:
    done = subprocess.run(
        [*_GIT, "-C", str(root), *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=env,
        timeout=seconds,
        check=True,
    )
    return done.stdout


def _disable_filters(config: bytes) -> dict[str, str]:
    """Build variables that turn off every filter among the names of settings."""
    names = {os.fsdecode(name.rpartition(b".")[0]) for name in config.split(b"\0")}
    settings = [
        (f"{name}.{key}", value)
        for name in sorted(names)
        if name.startswith("filter.")
        for key, value in _FILTER_SETTINGS.items()
    ]
    # Not with `-c`, which takes the first `=` of a name for the end of it.
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
