"""Files of the user's repository that are copied, and what is reported of the others."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePath

import anyio
from pathspec import GitIgnoreSpec

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.tasks import TASK_FILE
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.git import git, try_git
from swarm_bench.runtime.workspaces.omissions import Omissions, describe_amount, describe_omission
from swarm_bench.runtime.workspaces.stores import BEGINNING, Stores, holds_history

INDEX = b".canopy"
"""Folder with canopy's index and counters of the original, which would reach every mode: never
copied, although it may be committed."""
_NEVER_COPIED = (INDEX, b"__pycache__")
"""Folders of a plain folder: that index, and what Python makes of the files."""
SESSION_MARK = b".swarm-bench-session"
"""File that every session's folder has."""
_DIFF = ("--relative", "--no-renames", "--no-ext-diff", "--ignore-submodules")
LARGEST_FILE = 50_000_000
"""Bytes; a larger file is hardly source code, and every clone would have a copy of it."""
_LONGEST_IGNORE = 4096
"""Bytes of a `.gitignore` that are looked at."""
_STORE = "place with history of version control"
_KEYS = "file that may hold keys"
_LARGE = f"file of more than {LARGEST_FILE // 1_000_000} MB"
_CLOSED = "unreadable file"
_OMITTED = {
    _STORE: "",
    _KEYS: "; --include PATTERN takes what it matches",
    _LARGE: "; --include PATTERN takes them",
    _CLOSED: "",
}
"""How the files that are not copied are named, and how to copy them anyway."""
FOLDER_FILES = 100_000
FOLDER_BYTES = 2_000_000_000
"""Limit of a folder that is not a checkout: a user who does not name a larger one hardly means to
have it copied. The kernel of Linux has 90,000 files and 1.5 GB."""
ENVIRONMENTS = (".env", ".env.local")
"""Omitted even if they are committed, when uncommitted changes are copied: keys are
written into them afterwards."""
FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store")
"""Folders of which all files are keys."""
FILES = (
    *(".env", ".env.*", ".envrc", "id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*", "*_rsa"),
    *("*_ed25519", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks"),
    *("*.keystore", "*.keychain", "*.kdb", "*.kdbx", "*.agilekeychain", "*.ovpn"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".s3cfg"),
    *(".boto", ".dockercfg", ".docker/config.json", ".git-credentials", ".terraformrc"),
    *("terraform.rc", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "kubeconfig"),
    *("*.kubeconfig", ".vault-token", ".vault_pass*", "*.publishsettings", "credentials"),
    *("credentials.json", "credentials.toml", "secrets.json", "secrets.toml", "secrets.y*ml"),
    *("*service*account*.json", "*firebase-adminsdk*.json", "client_secret*.json"),
)
"""Patterns; one with a `/` is about the folder too. GitHub's and gitleaks' lists have most."""
SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub")


@dataclass(frozen=True, kw_only=True)
class FileSelection:
    """Paths relative to the root, and what is omitted."""

    names: Sequence[bytes]
    omissions: Omissions


def refuse_patterns(include: Sequence[str], repo: Path) -> None:
    """Raise `UsageError` for patterns of files where only a commit is copied."""
    if include:
        raise UsageError(
            f"--include chooses among files beside a commit, and of {repo} only its commit is "
            "copied; add --dirty, or omit --include"
        )


async def list_uncommitted(repo: Path, bare: Path, tasks: Path | None = None) -> Omissions:
    """List what a commit does not have of its checkout, but for what is ours: sessions, task files
    that were made and the one with the `tasks` that are asked.

    `git status` would do, but it runs the filters that the checkout's configuration names, and
    writes its index. So files are compared with a copy of the index, by the configuration of the
    repository `bare`, which is ours.
    """
    staged = await git(
        "diff-index", "--cached", "--name-only", "-z", *_DIFF, "HEAD", "--", ".", cwd=repo
    )
    files = await _list_modified(repo, bare)
    if files is None:
        unknown = "whether there are uncommitted changes is not known; --dirty includes them"
        return Omissions(sentences=(unknown,)) + await _describe_submodules(repo)
    changes = {name for name in staged.split(b"\0") if name}
    changes |= set(await anyio.to_thread.run_sync(_find_edited, repo, files))
    stores, new = Stores(repo), await _list_files(repo, "--others", "--exclude-standard")
    new_files = (name for name in _drop_sessions(new) if not name.endswith(b"/"))
    changes |= {name for name in new_files if not stores.find_enclosing(repo / os.fsdecode(name))}
    changes -= {name for name in changes if _is_task_file(repo / os.fsdecode(name), tasks)}
    them = "it" if len(changes) == 1 else "them"
    sentence = (
        f"{describe_amount(list(changes), 'uncommitted change')} omitted; --dirty includes {them}"
    )
    omitted = Omissions(sentences=(sentence,) if changes else ())
    return omitted + _describe_nested(new) + await _describe_submodules(repo)


async def _list_modified(repo: Path, bare: Path) -> bytes | None:
    """List files with another time, size or content than the index has, in git's raw format; `None`
    for an index that is not there or in parts."""
    paths = await git("rev-parse", "--show-toplevel", "--git-path", "index", cwd=repo)
    top, index_path = paths.removesuffix(b"\n").split(b"\n")
    index, copy = repo / os.fsdecode(index_path), bare / "looked-at-index"
    try:
        modified = index.stat().st_mtime_ns
        write_whole(copy, read(index))
    except OSError:  # nothing is checked out
        return None
    os.utime(copy, ns=(modified, modified))  # git looks into files that changed as late as that
    variables = {
        "GIT_DIR": str(bare),
        "GIT_WORK_TREE": os.fsdecode(top),
        "GIT_INDEX_FILE": str(copy),
    }
    arguments = ("diff-files", "--raw", "-z", "--no-abbrev", *_DIFF, "--", ".")
    listing = await try_git(*arguments, cwd=repo, env=variables)
    copy.unlink()
    return listing.stdout if listing.returncode == 0 else None


def _find_edited(repo: Path, listing: bytes) -> Iterator[bytes]:
    """Yield those of the files whose content differs, and not only their time or size."""
    fields = listing.split(b"\0")
    for entry, name in zip(fields[::2], fields[1::2], strict=False):
        _, _, hash, _, status = entry.split()
        if status != b"M" or _compute_hash(repo / os.fsdecode(name), len(hash)) != hash.decode():
            yield name


def _compute_hash(path: Path, digits: int) -> str | None:
    """Compute git's name for a file's content; `None` when it cannot be read."""
    try:
        content = os.fsencode(path.readlink()) if path.is_symlink() else read(path)
    except OSError:
        return None
    blob = b"blob %d\0" % len(content) + content
    return hashlib.new(
        "sha1" if digits == 40 else "sha256", blob, usedforsecurity=False
    ).hexdigest()


async def select_changed(repo: Path, include: Sequence[str]) -> FileSelection:
    """Take what is tracked, or new and not ignored, of a checkout."""
    tracked = set(await _list_files(repo, "--cached"))
    new = await _list_files(repo, "--others", "--exclude-standard")
    names = sorted(tracked.union(new))
    files = _drop_sessions(names)
    selection = _select(repo, files, include, lambda name: name in tracked, Stores(repo))
    omissions = selection.omissions + _describe_nested(new) + await _describe_submodules(repo)
    return FileSelection(names=selection.names, omissions=omissions)


def _drop_sessions(names: Sequence[bytes]) -> list[bytes]:
    sessions = tuple(
        name.removesuffix(SESSION_MARK) for name in names if name.endswith(b"/" + SESSION_MARK)
    )
    return [name for name in names if not name.startswith(sessions or (b"\0",))]


def _is_task_file(path: Path, tasks: Path | None) -> bool:
    """Tell whether it is the file that is asked, or one that a program of ours made."""
    if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK):
        return False
    if tasks is not None and tasks.exists() and path.samefile(tasks):
        return True
    first_bytes = TASK_FILE.encode()
    return path.suffix == ".yaml" and _read_beginning(path, len(first_bytes)) == first_bytes


def select_folder(repo: Path, include: Sequence[str], *, is_named: bool) -> FileSelection:
    """Take all files and links of a plain folder, except in folders that ignore themselves.
    Raises `UsageError` for more than is meant to be copied, unless the user named the folder."""
    closed, stores = list[bytes](), Stores(repo)

    def note(error: OSError) -> None:
        closed.append(os.fsencode(error.filename)[len(os.fsencode(repo)) + 1 :])

    names = list(islice(_walk(repo, stores, note), None if is_named else FOLDER_FILES + 1))
    if not is_named and len(names) > FOLDER_FILES:
        raise _too_much(repo, f"{FOLDER_FILES:,} files")
    selection = _select(repo, names, include, lambda _name: False, stores)
    if (
        not is_named
        and sum(_size(repo / os.fsdecode(name)) for name in selection.names) > FOLDER_BYTES
    ):
        raise _too_much(repo, f"{FOLDER_BYTES // 1_000_000_000} GB")
    unreadable = describe_omission(closed, "unreadable folder")
    return FileSelection(names=selection.names, omissions=unreadable + selection.omissions)


def _too_much(repo: Path, amount: str) -> UsageError:
    return UsageError(
        f"{repo} has more than {amount} and is not a git checkout; name it with --repo to copy it "
        "all the same, or make it one: 'git init', and commit what agents should see"
    )


def _size(path: Path) -> int:
    """Return its bytes; 0 for what has gone meanwhile."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _select(
    repo: Path,
    names: Iterable[bytes],
    include: Sequence[str],
    is_committed: Callable[[bytes], bool],
    stores: Stores,
) -> FileSelection:
    """Choose what to copy. What `is_committed` is copied with a commit, whatever it is."""
    spec = GitIgnoreSpec.from_lines(include)
    selected, omitted = list[bytes](), defaultdict[str, list[bytes]](list)
    for name in names:
        path, committed = repo / os.fsdecode(name), is_committed(name)
        store = None if committed else _store_of(path, stores)
        if store is not None:
            if (store_name := os.fsencode(store.relative_to(repo))) not in omitted[_STORE]:
                omitted[_STORE].append(store_name)
        elif path.is_symlink() or spec.match_file(os.fsdecode(name)):
            selected.append(name)
        elif path.is_file():
            obstacle = _obstacle(path, os.fsdecode(name), committed=committed)
            (omitted[obstacle] if obstacle else selected).append(name)
    unmatched = Omissions(sentences=tuple(_find_unmatched(include, selected)))
    omissions = (
        describe_omission(omitted[obstacle], obstacle, how) for obstacle, how in _OMITTED.items()
    )
    return FileSelection(names=selected, omissions=sum((*omissions, unmatched), Omissions()))


def _store_of(path: Path, stores: Stores) -> Path | None:
    """Return the folder, the file or the link that holds history, or leads to some."""
    if path.is_symlink():
        return stores.find_enclosing(path.parent) or (path if stores.is_behind(path) else None)
    if not path.is_file():
        return stores.find_enclosing(path)
    holds = os.access(path, os.R_OK) and holds_history(_read_beginning(path, BEGINNING))
    return stores.find_enclosing(path.parent) or (path if holds else None)


def _obstacle(path: Path, name: str, *, committed: bool) -> str | None:
    """Say what a file is that is not copied; `None` for one that is."""
    if holds_keys(name, committed=committed):
        return _KEYS
    if not os.access(path, os.R_OK):
        return _CLOSED
    return _LARGE if path.stat().st_size > LARGEST_FILE and not committed else None


def _find_unmatched(include: Sequence[str], selected: Sequence[bytes]) -> Iterator[str]:
    """Yield a sentence on each pattern that does nothing."""
    for pattern in include:
        spec = GitIgnoreSpec.from_lines([pattern])
        excludes = pattern.lstrip().startswith("!")
        if not excludes and not any(spec.match_file(os.fsdecode(name)) for name in selected):
            yield f"--include {pattern} matches no file that was omitted"


def _walk(repo: Path, stores: Stores, note: Callable[[OSError], None]) -> Iterator[bytes]:
    """Yield the files and links, and the highest folders that hold history."""
    root = os.fsencode(repo)
    for folder, folders, names in os.walk(root, onerror=note):
        if folder != root and _is_made(folder, names):
            folders.clear()
            continue
        if stores.find_enclosing(Path(os.fsdecode(folder))):
            folders.clear()
            yield folder[len(root) + 1 :]
            continue
        links = [name for name in folders if Path(os.fsdecode(folder + b"/" + name)).is_symlink()]
        folders[:] = sorted(set(folders) - set(_NEVER_COPIED) - set(links))
        for name in sorted([*names, *links]):
            yield (folder + b"/" + name)[len(root) + 1 :]


def _is_made(folder: bytes, names: list[bytes]) -> bool:
    """Tell whether a folder is a session, or ignores itself as caches and environments do."""
    if b".gitignore" in names:
        ignored = Path(os.fsdecode(folder + b"/.gitignore"))
        lines = _read_beginning(ignored, _LONGEST_IGNORE).split(b"\n") if ignored.is_file() else []
        if [line.strip() for line in lines if line.strip() and line[:1] != b"#"] == [b"*"]:
            return True
    return SESSION_MARK in names


def _read_beginning(path: Path, size: int) -> bytes:
    """Read so many bytes of a file, which may be large."""
    with path.open("rb") as file:
        return file.read(size)


async def _list_files(repo: Path, *kinds: str) -> list[bytes]:
    listing = await git("ls-files", "-z", *kinds, cwd=repo)
    return [name for name in listing.split(b"\0") if name]


def _describe_nested(listing: Sequence[bytes]) -> Omissions:
    """Describe the repositories within a checkout: git lists none of their files."""
    return describe_omission(
        [name for name in listing if name.endswith(b"/")], "checkout of its own"
    )


async def _describe_submodules(repo: Path) -> Omissions:
    listing = await git("ls-files", "--stage", "-z", cwd=repo)
    names = [line.partition(b"\t")[2] for line in listing.split(b"\0") if line[:6] == b"160000"]
    omitted = describe_omission(names, "submodule")
    return replace(
        omitted, sentences=tuple(f"the content of {sentence}" for sentence in omitted.sentences)
    )


def holds_keys(path: str, *, committed: bool) -> bool:
    """Tell whether a file, by its path below the root, is omitted for its name."""
    *folders, name = PurePath(path.lower()).parts
    if committed:
        return name in ENVIRONMENTS
    if not set(FOLDERS).isdisjoint(folders):
        return True
    with_folder = "/".join([*folders[-1:], name])
    return not _fits(name, SAMPLES) and (_fits(name, FILES) or _fits(with_folder, FILES))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
