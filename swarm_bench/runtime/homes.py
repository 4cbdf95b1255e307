"""Homes of what we start: folders that are empty at its start and gone afterwards, with the
variables that lead there. Nothing of the user's home is written or needed.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import anyio

from swarm_bench.core.errors import StoreError
from swarm_bench.runtime.files import remove, store_errors
from swarm_bench.runtime.ownership import PREFIX, discard, mark

INNER = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}
"""Folders below a home, by the variables that name them."""
TEMPORARY = ("TMPDIR", "TMP", "TEMP")
CACHE, BETWEEN = "caches", "between-swarms"
"""Folders of a session for all its homes, and for what waits for the next one."""
CACHES = {
    "npm_config_cache": "npm",
    "YARN_CACHE_FOLDER": "yarn",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno",
    "UV_CACHE_DIR": "uv",
    "UV_PYTHON_INSTALL_DIR": "uv-python",
    "PIP_CACHE_DIR": "pip",
    "GOMODCACHE": "go",
    "GOCACHE": "go-build",
    "HF_HOME": "huggingface",
    "TORCH_HOME": "torch",
    "FASTEMBED_CACHE_PATH": "fastembed",
    "TIKTOKEN_CACHE_DIR": "tiktoken",
}
"""Caches of what a session downloads once, for all its servers: variables of package managers and
model hubs, and the folder of each."""
SHORT = Path("/tmp")
"""Folder for a temporary folder whose path would be too long otherwise."""
LONGEST = 60
"""Characters of the path of a temporary folder. A Unix socket's may have 107, and programs put
names of up to 45 behind it."""


@dataclass(frozen=True, kw_only=True)
class Home:
    """One home, and the temporary folder that goes with it."""

    path: Path

    @property
    def temporary(self) -> Path:
        """The folder in the home, or one of its own where that is too long for sockets."""
        inside = self.path / "tmp"
        return inside if len(str(inside)) <= LONGEST else self._outside / "t"

    @property
    def variables(self) -> dict[str, str]:
        """What leads there."""
        inner = {name: f"{self.path}/{folder}" for name, folder in INNER.items()}
        return {"HOME": str(self.path), **inner, **dict.fromkeys(TEMPORARY, str(self.temporary))}

    def make(self) -> None:
        """Make it, empty; what was there before goes. Raises `StoreError`."""
        remove(self.path)
        if not self.temporary.is_relative_to(self.path):
            discard(self._outside)
            remove(self._outside)
        with store_errors(self.path):
            self.path.mkdir(parents=True, mode=0o700)
            if not self.temporary.is_relative_to(self.path):
                self._outside.mkdir(mode=0o700)
                mark(self._outside)
            self.temporary.mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove it with all that is in it. What cannot be removed stays until the folder that it
        is in goes: what one agent left is no reason to stop the others."""
        with suppress(StoreError):
            remove(self.path)
        if not self.temporary.is_relative_to(self.path):
            discard(self._outside)

    @property
    def _outside(self) -> Path:
        return SHORT.resolve() / f"{PREFIX}{sha256(str(self.path).encode()).hexdigest()[:12]}"


def add_home_variables(
    variables: Mapping[str, str], process_variables: Mapping[str, str]
) -> dict[str, str]:
    """Add the variables to those that a process has itself, which win, however they are
    spelt. A process that brings another home has the folders below that home."""
    if (home := process_variables.get("HOME")) is not None:
        inner = {name: f"{home}/{folder}" for name, folder in INNER.items() if name in variables}
        variables = {**variables, **inner}
    taken_names = {
        name.lower() for name in process_variables
    }  # npm takes its variables in any case
    added = {name: value for name, value in variables.items() if name.lower() not in taken_names}
    return {**added, **process_variables}


@dataclass(frozen=True, kw_only=True)
class Homes:
    """The homes of a session's servers, and the caches that all of them share."""

    work: Path
    """The session's own folder; it goes away at its end."""
    of_user: bool = False
    """Whether servers use the home of the user, with its caches; only the temporary folder is their
    own."""
    first: Mapping[str, str] = field(default_factory=dict)
    """Variables of the user's that come before ours."""

    @asynccontextmanager
    async def open_home(
        self, name: str, *, keep: Sequence[str] = (), owner: str = ""
    ) -> AsyncIterator[dict[str, str]]:
        """Open a home for the block, empty but for the folders `keep`, which are as the last home
        of the same `owner` left them. Yields the variables that lead a server there.

        Homes of one name, or with folders to keep for the same `owner`, are not open at the same
        time.
        """
        home, store = Home(path=self.work / name), _Store(self.work / BETWEEN / owner, keep)
        self._make(home, store)
        try:
            yield self._build_variables(home)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._remove, home, store)

    def _make(self, home: Home, store: "_Store") -> None:
        home.make()
        with store_errors(home.path):
            if not (self.work / CACHE).is_dir():
                for folder in self._caches.values():
                    Path(folder).mkdir(parents=True, exist_ok=True)
            store.bring(home.path)

    def _remove(self, home: Home, store: "_Store") -> None:
        with store_errors(home.path):
            store.fetch(home.path)
        home.remove()

    def _build_variables(self, home: Home) -> dict[str, str]:
        variables = {**home.variables, **self._caches}
        if self.of_user:
            variables = {name: variables[name] for name in TEMPORARY}
        return add_home_variables(
            variables, {name: self.first[name] for name in variables if name in self.first}
        )

    @property
    def _caches(self) -> dict[str, str]:
        caches = self.work / CACHE
        return {name: f"{caches}/{folder}" for name, folder in CACHES.items()}


class _Store:
    """Folders of a home while no home is open. They are moved: a link would show to a server. What
    a server made a link of, or lies behind one, is not kept: it may lead anywhere."""

    def __init__(self, path: Path, keep: Sequence[str]) -> None:
        inner = sorted(set(keep), key=lambda name: len(Path(name).parts))
        self._kept = [(name, path / str(number)) for number, name in enumerate(inner)]

    def bring(self, home: Path) -> None:
        """Move the folders into a home, the outer ones first."""
        for name, folder in self._kept:
            if folder.exists() and not _leads_away(home, name):
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                folder.rename(home / name)

    def fetch(self, home: Path) -> None:
        for name, folder in reversed(self._kept):
            if (home / name).exists() and not _leads_away(home, name):
                folder.parent.mkdir(parents=True, exist_ok=True)
                (home / name).rename(folder)


def _leads_away(home: Path, name: str) -> bool:
    """Tell whether something on the way from the home to the folder is a link."""
    parts = (home / name, *(home / name).parents)
    return any(part.is_symlink() for part in parts[: parts.index(home)])
