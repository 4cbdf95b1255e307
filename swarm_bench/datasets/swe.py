"""The data set `swe-dataset:FILE`: rows of SWE-bench's form, with clones of their repositories."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.roles.dataset import RawRow, RawRows
from swarm_bench.core.validation import first_clause
from swarm_bench.datasets.files import RowFile
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.objects import LARGEST, Objects, git_output

_MOST_BYTES = 256 * 1024 * 1024
"""Most bytes of the files of a commit."""
_RENAMED = re.compile(r"^rename from (.+)$", re.MULTILINE)
_LANGUAGES = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript"}


def _parse_list(value: Any) -> Any:
    """Read a list that some files have as JSON in a text. Raises `ValueError`."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"is no list in JSON ({error})") from error


_Ids = Annotated[list[str], BeforeValidator(_parse_list)]


class _Row(BaseModel):
    """What a row of SWE-bench has, and the command that runs its tests."""

    repo: str = Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")
    base_commit: str = Field(pattern=r"^[0-9a-f]{7,64}$")
    patch: str = Field(min_length=1)
    test_patch: str = Field(min_length=1)
    command: str = Field(min_length=1)
    """`{tests}` stands for the ids of the tests, or the files of `test_patch` where there are
    none."""
    problem_statement: str = ""
    instance_id: str | None = None
    to_pass: _Ids = Field(default=[], alias="FAIL_TO_PASS")
    still_to_pass: _Ids = Field(default=[], alias="PASS_TO_PASS")


class SweDataset:
    """A file of rows. The clone of OWNER/NAME lies in that folder beside it, and is only read."""

    about = "swe-dataset:FILE: rows of SWE-bench's form, with clones of their repositories."
    licence: str | None = None
    source: str | None = None
    published = None

    def __init__(self, argument: str = "") -> None:
        """Note where it lies; nothing is read yet."""
        self.path = Path(argument).expanduser() if argument else None

    def load(self) -> RawRows:
        """Load the rows, as a benchmark of diffs has them. Raises `UsageError`, and `ConfigError`
        with the line of what is wrong."""
        if self.path is None:
            raise UsageError("--dataset swe-dataset: name the file, swe-dataset:FILE")
        raw = RowFile(self.path).load()  # commits have the hash of all that is in them
        return RawRows(sha256=raw.sha256, rows=_edits(raw.rows, self.path.parent))


def texts_at(folder: Path, commit: str) -> Mapping[str, str]:
    """Return the text files of a commit, by their paths; what is no UTF-8 and what is a link is
    not among them. Raises `HarnessError`."""
    texts, size = dict[str, str](), 0
    with Objects(folder) as objects:
        tree = objects.tree(commit)
        for path, blob in tree.blobs.items():
            size += blob.size
            if size > _MOST_BYTES:
                raise HarnessError(f"{commit} has more than {_MOST_BYTES >> 20} MiB of files")
            text = _text(objects.read(blob.hash))
            if text is not None:
                texts[path] = text
    return texts


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None


def _edits(rows: Any, folder: Path) -> Iterator[RawRow]:
    for raw in rows:
        content, fault = None, raw.fault
        try:
            if fault is None:
                row = _Row.model_validate(raw.content)
                content = _edit(row, folder.resolve() / row.repo)
        except ValidationError as error:
            fault = first_clause(error)
        except HarnessError as error:
            fault = str(error)
        yield RawRow(content=content, where=raw.where, fault=fault)


def _edit(row: _Row, clone: Path) -> dict[str, Any]:
    """Return the row of a benchmark of diffs. Raises `HarnessError`."""
    if not clone.is_dir():
        raise HarnessError(f"there is no clone of {row.repo} in {clone}")
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    answer = git_output(clone, *arguments, f"{row.base_commit}^{{commit}}")
    if answer is None:
        raise HarnessError(f"{clone} has no commit {row.base_commit}")
    commit = answer.decode().strip()
    with Objects(clone) as objects:
        files, _ = _apply_patch(objects, commit, row.patch, "patch", may_make=False)
        _, tests = _apply_patch(objects, commit, row.test_patch, "test_patch", may_make=True)
    if overlap := sorted(files.keys() & tests.keys()):
        raise HarnessError(f"its patch and its test_patch both change {overlap[0]}")
    (file, text), *more_files = files.items()
    ids = [*row.to_pass, *row.still_to_pass] or sorted(tests)
    suffix = Path(file).suffix
    return {
        "id": row.instance_id or f"{row.repo}@{commit[:7]}",
        "prompt": row.problem_statement,
        "language": _LANGUAGES.get(suffix, suffix.removeprefix(".") or "text"),
        "file": file,
        "sourceCode": text,
        "files": dict(more_files),
        "unitTests": row.test_patch,
        "command": row.command.replace("{tests}", shlex.join(ids)),
        "patch": row.patch,
        "checkout": {"folder": str(clone), "commit": commit, "tests": tests},
    }


def _apply_patch(
    objects: Objects, commit: str, patch: str, name: str, *, may_make: bool
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the files that a patch changes before it and after it, as git applies it. Raises
    `HarnessError`."""
    with temporary() as home:
        folder = home / "files"
        folder.mkdir()
        path = home / "row.patch"
        path.write_text(patch, "utf-8", newline="")
        numstat = git_output(folder, "apply", "--numstat", "-z", str(path))
        if not numstat:
            raise HarnessError(f"its {name} is none that git reads")
        if git_output(folder, "apply", "--summary", str(path)) and not may_make:
            raise HarnessError(
                f"its {name} makes, renames or deletes files, or changes their modes, which no "
                "answer may"
            )
        lines = [line.split("\t", 2) for line in numstat.decode("utf-8", "replace").split("\0")]
        names = [*(line[2] for line in lines if len(line) == 3), *_RENAMED.findall(patch)]
        if outside := [
            file_name
            for file_name in names
            if file_name.startswith("/") or ".." in file_name.split("/")
        ]:
            raise HarnessError(f"its {name} is of {outside[0]}, which is not in the repository")
        texts = {file_name: _text(objects.read(f"{commit}:{file_name}")) for file_name in names}
        originals = {file_name: text for file_name, text in texts.items() if text is not None}
        for file_name, text in originals.items():
            (folder / file_name).parent.mkdir(parents=True, exist_ok=True)
            (folder / file_name).write_text(text, "utf-8", newline="")
        if git_output(folder, "apply", "--whitespace=nowarn", str(path)) is None:
            raise HarnessError(f"its {name} does not apply to {commit[:12]}")
        return originals, dict(_texts_in(folder))


def _texts_in(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_dir():
            continue  # no test needs a link that a patch makes, and it may lead anywhere
        text = _text(read(path, LARGEST))
        if text is not None:
            yield path.relative_to(folder).as_posix(), text
