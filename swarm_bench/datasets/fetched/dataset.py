"""The data set `fetched:NAME`: what `swarm-bench datasets fetch` brought."""

from collections.abc import Iterator
from datetime import date
from functools import cached_property
from hashlib import sha256

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.datasets.contracts import LARGEST, Contracts
from swarm_bench.datasets.fetched.cache import (
    FILES,
    Manifest,
    cache_folder,
    fetched_names,
    read_manifest,
)
from swarm_bench.datasets.files import RowFile
from swarm_bench.runtime.untrusted import read


class Fetched:
    """A file of rows, or the files of repositories. `fetched:NAME` has the Solidity files of the
    latter, `fetched:NAME/*.py` others."""

    published: date | None = None

    def __init__(self, argument: str = "") -> None:
        """Note the name; nothing is read yet."""
        self.name, _, self.pattern = argument.partition("/")

    @property
    def about(self) -> str:
        """Return what was fetched, and when."""
        if not self.name:
            return "fetched:NAME: what swarm-bench datasets fetch brought."
        return f"Fetched on {self._manifest.fetched}, files: {len(self._manifest.files):,}."

    @property
    def licence(self) -> str | None:
        """Return what was found with the files."""
        return self._manifest.licence if self.name else None

    @property
    def source(self) -> str | None:
        """Return where they are from."""
        return self._manifest.source if self.name else None

    def load(self) -> RawRows:
        """Load the rows. Raises `UsageError`, and `ConfigError` for files that were changed."""
        if not self.name:
            raise UsageError("--dataset fetched: name the data set, fetched:NAME")
        manifest, folder = self._manifest, cache_folder() / self.name / FILES
        is_pattern = "*" in self.pattern and "/" not in self.pattern
        if self.pattern and not (manifest.repositories and is_pattern):
            raise UsageError(
                f"--dataset fetched:{self.name}/{self.pattern}: behind the name stands a pattern "
                "for the names of files of repositories, as in fetched:NAME/*.py, or nothing"
            )
        if manifest.repositories:
            for sentence in self.verify():
                raise ConfigError(sentence)
            return Contracts(f"{folder}/{self.pattern}" if self.pattern else str(folder)).load()
        (name,) = manifest.files
        raw = RowFile(folder / name).load()
        if raw.sha256 != manifest.sha256:
            raise ConfigError(self._describe_change(name))
        return raw

    def verify(self) -> Iterator[str]:
        """Yield a sentence on each file of a repository that is not as it was fetched."""
        if not self.name or not self._manifest.repositories:
            return
        folder = cache_folder() / self.name / FILES
        for path, digest in self._manifest.files.items():
            try:
                content = read(folder / path, LARGEST)
            except OSError:
                yield self._describe_change(path)
            else:
                if sha256(content).hexdigest() != digest:
                    yield self._describe_change(path)

    def _describe_change(self, path: str) -> str:
        folder = cache_folder() / self.name
        return f"{folder / FILES / path} is not as it was fetched; remove {folder}, and fetch again"

    @cached_property
    def _manifest(self) -> Manifest:
        manifest = read_manifest(self.name)
        if manifest is None:
            names = ", ".join(fetched_names()) or "none"
            raise UsageError(
                f"There is no fetched data set called {self.name!r}, but {names}; fetch it: "
                "swarm-bench datasets fetch"
            )
        return manifest
