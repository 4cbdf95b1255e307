"""Fetches a data set into the cache, and says what it is called then."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from swarm_bench.analysis.wording import quantify
from swarm_bench.core.errors import UsageError
from swarm_bench.datasets.contracts import Manifest as Dates
from swarm_bench.datasets.fetched.cache import (
    FILES,
    Manifest,
    cache_folder,
    checked_name,
    hash_of_files,
    open_stage,
    other_of,
    publish,
    read_manifest,
)
from swarm_bench.datasets.fetched.download import Limits, checked_address, download, redact_url
from swarm_bench.datasets.fetched.repositories import (
    FileSelection,
    RepositoryList,
    fetch_repository,
    read_list,
)
from swarm_bench.datasets.files import ENDINGS
from swarm_bench.datasets.progress import Progress, Tell
from swarm_bench.runtime.files import write_whole

_DATES = "dataset.json"


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """Options of a call of `datasets fetch`, as they were typed."""

    source: str
    sha256: str | None = None
    name: str | None = None


def fetch(request: FetchRequest, tell: Tell, limits: Limits | None = None) -> str:
    """Fetch a data set, unless it is there already, and say how to use it. Raises `UsageError`,
    `HarnessError` for a server that does not answer, and `StoreError`."""
    limits = limits or Limits()
    if request.sha256 is not None:
        request = replace(request, sha256=_check_hash(request.sha256))
    if "://" in request.source:
        name, manifest = _fetch_address(request, Progress(tell), limits)
    else:
        name, manifest = _fetch_list(request, Progress(tell), limits)
    return _report(name, manifest)


def _check_hash(digest: str) -> str:
    digest = digest.lower()  # some programs print capital letters
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise UsageError("--sha256: it must be 64 hexadecimal digits; fix it")
    return digest


def _fetch_address(
    request: FetchRequest, progress: Progress, limits: Limits
) -> tuple[str, Manifest]:
    url = checked_address(request.source)
    file = PurePosixPath(unquote(urlsplit(url).path)).name
    if not file.lower().endswith(ENDINGS):
        raise UsageError(
            f"{redact_url(url)} is none of {', '.join(ENDINGS)} by its name; give a file of rows"
        )
    if request.sha256 is None:
        raise UsageError(
            "--sha256: without the hash of the file nobody would see that it was changed; give it"
        )
    checked_name(file)
    name = checked_name(request.name or file.partition(".")[0])
    cached = read_manifest(name)
    if cached is not None:
        if cached.sha256 != request.sha256:
            raise other_of(name)
        return name, cached
    with open_stage(name) as part:
        digest = download(url, part / FILES / file, progress, limits)
        _check_same_hash(redact_url(url), digest, request.sha256)
        files = {file: digest}
        manifest = Manifest(fetched=_get_today(), url=redact_url(url), sha256=digest, files=files)
        publish(part, name, manifest)
    return name, manifest


def _check_same_hash(subject: str, digest: str, expected: str) -> None:
    if digest != expected:
        raise UsageError(
            f"{subject} has the SHA-256 {digest}, not {expected}; nothing was kept: look at why, "
            "or correct --sha256"
        )


def _fetch_list(request: FetchRequest, progress: Progress, limits: Limits) -> tuple[str, Manifest]:
    listing = read_list(Path(request.source).expanduser())
    name = checked_name(request.name or listing.title)
    cached = read_manifest(name)
    if cached is not None:
        requested = [(entry.repo, entry.commit, entry.include) for entry in listing.content]
        if requested != [
            (repository.repository, repository.commit, repository.include)
            for repository in cached.repositories
        ]:
            raise other_of(name)
        if request.sha256 is not None:
            _check_same_hash(name, cached.sha256, request.sha256)
        return name, cached
    with open_stage(name) as part:
        manifest = _fetch_repositories(listing, part, progress, limits)
        if request.sha256 is not None:
            _check_same_hash(name, manifest.sha256, request.sha256)
        publish(part, name, manifest)
    return name, manifest


def _fetch_repositories(
    listing: RepositoryList, part: Path, progress: Progress, limits: Limits
) -> Manifest:
    selection, store = FileSelection(part / FILES, limits), part / "store"
    repositories = tuple(
        fetch_repository(entry, store, selection, progress, limits) for entry in listing.content
    )
    manifest = Manifest(
        fetched=_get_today(),
        repositories=repositories,
        sha256=hash_of_files(selection.hashes),
        files=selection.hashes,
    )
    folders = {path.partition("/")[0]: None for path in selection.hashes}
    days = dict(zip(folders, (repository.committed for repository in repositories), strict=True))
    dates = Dates(dates=days, licence=manifest.licence, source=manifest.source)
    write_whole(part / FILES / _DATES, dates.model_dump_json(indent=2) + "\n")
    return manifest


def _get_today() -> date:
    return datetime.now(UTC).date()


def _report(name: str, manifest: Manifest) -> str:
    reasons = Counter(
        reason for repository in manifest.repositories for reason in repository.omitted.values()
    )
    omitted = ", ".join(f"{number} × {reason}" for reason, number in sorted(reasons.items()))
    lines = {
        "files": quantify(len(manifest.files), "file"),
        "omitted": omitted or None,
        "licence": manifest.licence or "not found; look at its source before you share results",
        "sha256": manifest.sha256,
        "folder": str(cache_folder() / name),
        "use it": f"--dataset fetched:{name}",
    }
    return "".join(f"{label}: {value}\n" for label, value in lines.items() if value)
