"""What this user trusts: hashes in a file of their state folder, by folder and by session."""

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.errors import ConfigError, SwarmBenchError
from swarm_bench.runtime import untrusted
from swarm_bench.runtime.environment import home_folder
from swarm_bench.runtime.files import write_whole

MOST_BYTES = 16_000_000
MOST_KEYS = 5_000
"""Folders and sessions; the oldest are forgotten."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_CONTENT = TypeAdapter(dict[str, list[str]])


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return where a user's programs keep what is neither a setting nor a cache. Raises
    `ConfigError` for a user without a home."""
    folder, home = Path(environment.get("XDG_STATE_HOME", "")), home_folder()
    if folder.is_absolute():
        return folder.resolve() / "swarm-bench"
    if home is None:
        raise ConfigError(
            "Without a home folder what you trust cannot be remembered; set HOME or XDG_STATE_HOME"
        )
    return (home / ".local" / "state").resolve() / "swarm-bench"


class TrustFile:
    """`trust.json`: a list of hashes for each key. Raises `ConfigError` for a file that others may
    have written, or that cannot be read or written."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder(os.environ)
        self.path = self._folder / "trust.json"

    def digests(self, key: str) -> frozenset[str]:
        """Return the hashes that were remembered for a key."""
        return frozenset(self._read().get(key, ()))

    def remember(self, key: str, digests: Iterable[str]) -> None:
        """Add hashes for a key; those of other processes stay."""
        with self._errors():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._hold_lock():
                content = self._read()
                if not content:  # a home folder may be the repository; its content stays the same
                    write_whole(self._folder / ".gitignore", "*\n")
                content[key] = sorted({*content.pop(key, ()), *digests})
                write_whole(self.path, json.dumps(dict(list(content.items())[-MOST_KEYS:])))

    def _read(self) -> dict[str, list[str]]:
        with self._errors():
            try:
                self._check(self._folder.lstat())
                with untrusted.open_untrusted(self.path, MOST_BYTES) as file:
                    self._check(os.fstat(file.fileno()))
                    return _CONTENT.validate_json(file.read(MOST_BYTES))
            except FileNotFoundError:
                return {}
            except ValidationError as error:
                raise ConfigError(
                    f"{self.path} does not hold what swarm-bench wrote; remove it, and trust again"
                ) from error

    def _check(self, status: os.stat_result) -> None:
        is_private = status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE
        if stat.S_ISLNK(status.st_mode) or not is_private:
            raise ConfigError(
                f"{self.path} or its folder is a link, or can be written by others, so it is "
                "not trusted; remove it, and trust again"
            )

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        with open(self._folder / "trust.lock", "ab", opener=untrusted.opener) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except ConfigError:
            raise
        except (OSError, SwarmBenchError) as error:
            raise ConfigError(
                f"What you trust cannot be read or written in {self.path}: {error}; fix that, or "
                "set SWARM_BENCH_TRUST=1 for this call"
            ) from error
