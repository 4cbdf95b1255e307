"""The small environment of every process that we start."""

import os
from collections.abc import Mapping
from pathlib import Path

COMMON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""All that is let through of the user's environment, beside `LC_…` and what an agent's adapter
names. So no key reaches a program that was not meant to have it, and no `CANOPY_…` variable any."""


def small_environment(user: Mapping[str, str], inherit: tuple[str, ...] = ()) -> dict[str, str]:
    """Choose from `user` what is common, and what is inherited by name."""
    variables = {
        name: user[name]
        for name in user
        if name in COMMON or name.startswith("LC_") or name in inherit
    }
    return (
        {**variables, "PATH": _resolve_entries(variables["PATH"])}
        if "PATH" in variables
        else variables
    )


def home_folder() -> Path | None:
    """Return the user's home; `None` for a user without one."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _resolve_entries(path: str) -> str:
    """Resolve every entry from our working folder: an agent's is a stranger's repository, which
    may hold a `bin/node` of its own."""
    entries = path.split(os.pathsep)
    return os.pathsep.join(
        entry if entry.startswith("/") else str(Path(entry).absolute()) for entry in entries
    )
