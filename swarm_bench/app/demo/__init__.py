"""The main job on code that every installation has and that was not written for it."""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swarm_bench.app.setup.folders import RESULTS, make_results
from swarm_bench.config.layers import NOTHING, Resolved
from swarm_bench.core.errors import Refused, UsageError
from swarm_bench.core.ports import Tree
from swarm_bench.datasets.checking import wrong_keys
from swarm_bench.datasets.suites import TaskFile, located_suite, read_suite, write_suite
from swarm_bench.runtime.files import store_errors, write_whole
from swarm_bench.runtime.untrusted import read, remove_tree

QUESTIONS = Path(__file__).parent / "questions.yaml"
PACKAGES = ("rich", "pydantic", "mcp")
_NOT_COPIED = ("rich/_unicode_data/", "pydantic/v1/")
"""Tables of widths, and an older release within the newer one, which has a second file for many
an answer."""


def resolve_demo(options: Mapping[str, Any]) -> Resolved:
    """Lay out the demo beside its session, and return its settings; what is set in the environment
    or in files does not count. Raises `UsageError`."""
    if output := NOTHING.resolve(options).settings.output:
        parent = output.expanduser().parent
    else:
        parent = RESULTS
        make_results()
    folder = _lay_out(InstalledFiles(_read_source_files()), parent)
    defaults = {
        "repo": folder / "source",
        "tasks": str(folder / "demo.yaml"),
        "runs": 1,
        "block_size": 18,  # each block indexes twice, so two take less time than six
    }
    return NOTHING.resolve(options, defaults=defaults)


@dataclass(frozen=True, eq=False)
class InstalledFiles:
    """Files of the packages as a tree, each below the name of its package."""

    contents: Mapping[str, bytes]

    @property
    def files(self) -> frozenset[str]:
        return frozenset(self.contents)

    @property
    def sizes(self) -> Mapping[str, int]:
        return {path: len(content) for path, content in self.contents.items()}

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)


def build_questions(tree: Tree) -> TaskFile:
    """Return the questions whose keys hold for a tree; what is omitted is counted in `made`.
    Raises `UsageError` when none is left."""
    suite, located = read_suite(QUESTIONS), located_suite(QUESTIONS)
    wrong = {
        number
        for number, task in enumerate(suite.tasks)
        if any(wrong_keys(located, number, task, tree))
    }
    if len(wrong) == len(suite.tasks):
        raise UsageError(
            f"No question of the demo fits the versions of {', '.join(PACKAGES)} that are "
            "installed; install swarm-bench again in an environment of its own"
        )
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    omitted = f"; {len(wrong)} omitted, whose keys do not hold there" if wrong else ""
    return TaskFile(
        description=suite.description,
        answer_format=suite.answer_format,
        made=f"by hand, about {versions}{omitted}",
        since=None,
        tasks=[task for number, task in enumerate(suite.tasks) if number not in wrong],
    )


def _read_source_files() -> dict[str, bytes]:
    return {path: read(file.resolve()) for path, file in _find_source_files()}


def _find_source_files() -> Iterator[tuple[str, Path]]:
    for name in PACKAGES:
        spec = find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            for file in Path(folder).rglob("*.py"):
                path = f"{name}/{file.relative_to(folder).as_posix()}"
                if not path.startswith(_NOT_COPIED):
                    yield path, file


def _lay_out(tree: InstalledFiles, parent: Path) -> Path:
    """Write files and questions into a folder that is named after what they say, so that a session
    can be continued; one that is there is used again. Raises `UsageError`."""
    texts = {f"source/{path}": content for path, content in tree.contents.items()}
    texts["demo.yaml"] = write_suite(build_questions(tree)).encode()
    folder = parent / f"demo-{_compute_digest(texts)}"
    with store_errors(folder):
        if not folder.exists():
            parent.mkdir(parents=True, exist_ok=True)
            _write(texts, folder)
        is_intact = _is_intact(folder, texts)
    if not is_intact:
        raise UsageError(f"{folder} is not what the demo wrote there any more; remove it")
    return folder


def _is_intact(folder: Path, texts: Mapping[str, bytes]) -> bool:
    """Tell whether nothing but these files is there; a link or a pipe is another thing."""
    existing = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    try:
        return existing.keys() == texts.keys() and all(
            read(path) == texts[name] for name, path in existing.items()
        )
    except Refused:
        return False


def _write(texts: Mapping[str, bytes], folder: Path) -> None:
    """Write the files all at once: another call may do so at the same time."""
    staging = Path(tempfile.mkdtemp(prefix=".demo-", dir=folder.parent))
    try:
        for path, content in texts.items():
            (staging / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(staging / path, content)
        staging.rename(folder)
    except OSError:
        remove_tree(staging)
        if not folder.exists():
            raise


def _compute_digest(texts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for path, content in sorted(texts.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:12]
