"""The list of repositories to fetch, in the form of CompChomper's configuration."""

import re
from pathlib import Path
from typing import Annotated

from pathspec import GitIgnoreSpec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.validation import first_clause
from swarm_bench.datasets.fetched.download import checked_address

_SCHEMES = ("https://", "file://")
_FOLDER = re.compile(r"(?!dataset\.json$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _address(repo: str) -> str:
    if not repo.startswith(_SCHEMES):
        raise ValueError("must begin with https:// or file://")
    if repo.startswith("https://"):
        try:
            checked_address(repo)
        except UsageError as error:
            raise ValueError("must be an address without a login") from error
    if not _FOLDER.fullmatch(name_of(repo)):
        raise ValueError("must end with the name of the repository")
    return repo


def _pattern(pattern: str) -> str:
    parts = pattern.split("/")
    if not pattern.strip() or pattern.startswith("/") or ".." in parts or "\0" in pattern:
        raise ValueError("must be a pattern below the root of the repository")
    try:
        spec_of(pattern)
    except (ValueError, re.error) as error:
        raise ValueError(f"cannot be read as a pattern ({error})") from error
    return pattern


def spec_of(pattern: str) -> GitIgnoreSpec:
    """Return what matches as a pattern does: files, and folders with all that lies in them."""
    return GitIgnoreSpec.from_lines([f"/{pattern}"])


def name_of(repo: str) -> str:
    """Return the name of a repository, which its folder has."""
    return repo.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _whole_hash(commit: str) -> str:
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(
            f"{commit!r} is not the whole hash of a commit, 40 digits as `git rev-parse` prints it"
        )
    return commit


class Repository(BaseModel):
    """A repository, and which of its files to take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repo: Annotated[str, AfterValidator(_address)]
    commit: Annotated[str, AfterValidator(_whole_hash)]
    include: tuple[Annotated[str, AfterValidator(_pattern)], ...] = Field(min_length=1)


class RepositoryList(BaseModel):
    """The list that a person writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    content: tuple[Repository, ...] = Field(min_length=1)


def read_list(path: Path) -> RepositoryList:
    """Read a list of repositories. Raises `ConfigError`."""
    text = read_text(path, "list of repositories")
    try:
        repository_list = RepositoryList.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_clause(error)}; fix it") from error
    names = [name_of(entry.repo) for entry in repository_list.content]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"{path}: two repositories are called {twice}; fetch them one by one")
    return repository_list
