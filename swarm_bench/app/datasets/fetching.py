"""Fetches a data set into the cache, and says what it is called then."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from swarm_bench.analysis.wording import amount
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
from swarm_bench.datasets.fetched.repositories import FileSelection, fetch_repository
from swarm_bench.datasets.fetched.repository_list import RepositoryList, read_list
from swarm_bench.datasets.files import ENDINGS
from swarm_bench.datasets.progress import Progress, Tell
from swarm_bench.runtime.files import write_whole

_DATES = "dataset.json"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to fetch: options of a call, as they were typed."""

    source: str
    sha256: str | None = None
    name: str | None = None


def fetch(wanted: Wanted, tell: Tell, limits: Limits | None = None) -> str:
    """Fetch a data set, unless it is there already, and say how to use it. Raises `UsageError`,
    `HarnessError` for a server that does not answer, and `StoreError`."""
    limits = limits or Limits()
    if wanted.sha256 is not None:
        wanted = replace(wanted, sha256=_checked_hash(wanted.sha256))
    if "://" in wanted.source:
        name, manifest = _of_address(wanted, Progress(tell), limits)
    else:
        name, manifest = _of_list(wanted, Progress(tell), limits)
    return _report(name, manifest)


def _checked_hash(digest: str) -> str:
    digest = digest.lower()  # some programs print capital letters
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise UsageError("--sha256: it must be 64 hexadecimal digits; fix it")
    return digest


def _of_address(wanted: Wanted, progress: Progress, limits: Limits) -> tuple[str, Manifest]:
    url = checked_address(wanted.source)
    file = PurePosixPath(unquote(urlsplit(url).path)).name
    if not file.lower().endswith(ENDINGS):
        raise UsageError(
            f"{redact_url(url)} is none of {', '.join(ENDINGS)} by its name; give a file of rows"
        )
    if wanted.sha256 is None:
        raise UsageError(
            "--sha256: without the hash of the file nobody would see that it was changed; give it"
        )
    checked_name(file)
    name = checked_name(wanted.name or file.partition(".")[0])
    held = read_manifest(name)
    if held is not None:
        if held.sha256 != wanted.sha256:
            raise other_of(name)
        return name, held
    with open_stage(name) as part:
        digest = download(url, part / FILES / file, progress, limits)
        _check_same_hash(redact_url(url), digest, wanted.sha256)
        files = {file: digest}
        manifest = Manifest(fetched=_today(), url=redact_url(url), sha256=digest, files=files)
        publish(part, name, manifest)
    return name, manifest


def _check_same_hash(what: str, digest: str, expected: str) -> None:
    if digest != expected:
        raise UsageError(
            f"{what} has the SHA-256 {digest}, not {expected}; nothing was kept: look at why, or "
            "correct --sha256"
        )


def _of_list(wanted: Wanted, progress: Progress, limits: Limits) -> tuple[str, Manifest]:
    listed = read_list(Path(wanted.source).expanduser())
    name = checked_name(wanted.name or listed.title)
    held = read_manifest(name)
    if held is not None:
        asked = [(it.repo, it.commit, it.include) for it in listed.content]
        if asked != [(it.repository, it.commit, it.include) for it in held.repositories]:
            raise other_of(name)
        if wanted.sha256 is not None:
            _check_same_hash(name, held.sha256, wanted.sha256)
        return name, held
    with open_stage(name) as part:
        manifest = _fetched(listed, part, progress, limits)
        if wanted.sha256 is not None:
            _check_same_hash(name, manifest.sha256, wanted.sha256)
        publish(part, name, manifest)
    return name, manifest


def _fetched(listed: RepositoryList, part: Path, progress: Progress, limits: Limits) -> Manifest:
    taken, store = FileSelection(part / FILES, limits), part / "store"
    repositories = tuple(
        fetch_repository(it, store, taken, progress, limits) for it in listed.content
    )
    manifest = Manifest(
        fetched=_today(),
        repositories=repositories,
        sha256=hash_of_files(taken.hashes),
        files=taken.hashes,
    )
    folders = {path.partition("/")[0]: None for path in taken.hashes}
    days = dict(zip(folders, (it.committed for it in repositories), strict=True))
    dates = Dates(dates=days, licence=manifest.licence, source=manifest.source)
    write_whole(part / FILES / _DATES, dates.model_dump_json(indent=2) + "\n")
    return manifest


def _today() -> date:
    return datetime.now(UTC).date()


def _report(name: str, manifest: Manifest) -> str:
    whys = Counter(why for it in manifest.repositories for why in it.omitted.values())
    omitted = ", ".join(f"{number} × {why}" for why, number in sorted(whys.items()))
    lines = {
        "files": amount(len(manifest.files), "file"),
        "omitted": omitted or None,
        "licence": manifest.licence or "not found; look at its source before you share results",
        "sha256": manifest.sha256,
        "folder": str(cache_folder() / name),
        "use it": f"--dataset fetched:{name}",
    }
    return "".join(f"{label}: {value}\n" for label, value in lines.items() if value)
