"""Which files of the repository hold keys of a task file: agents could read their answers there."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.core.report.document import Section, Verbatim
from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.datasets.exposure.looking_through import LARGEST, Tell, look_through
from swarm_bench.runtime.workspaces.blobs import list_blobs, trees_at

_MOST_LINES = 50
_WHAT_TO_DO = (
    "Nothing has to be done: these files are in no clone that agents or tools of a session get. If "
    "they need one of them, keep the questions or the answers somewhere else."
)


def keys_in_repository(
    tasks: Sequence[Task], repo: Path, head: str, tell: Tell
) -> Iterator[Section]:
    """Yield a section with a line for each such file, at the commit `head` or at one that a task
    names. Raises `HarnessError`."""
    finder = Finder(tasks)
    if not finder:
        return
    trees = trees_at(repo, {head, *(task.commit for task in tasks if task.commit)})
    keys = look_through(finder, [(repo, set(trees.values()))], tell)
    if not keys.exposed and not keys.unread:
        return
    now = {blob.hash for blob in list_blobs(repo, [trees[head]])}
    lines = []
    for blob, exposed in sorted(keys.exposed.items()):
        when = "" if blob.hash in now else ", at an older commit"
        lines.append(f"{blob.path}:{exposed[0].line}: {_keys(len(exposed))}{when}")
    size = f"more than {LARGEST // 1_000_000} MB, not looked through"
    lines += [f"{blob.path}: {size}" for blob in sorted(keys.unread)]
    more = len(lines) - _MOST_LINES
    lines[_MOST_LINES:] = [f"and {more} more"] if more > 0 else []
    printable = [line.encode("utf-8", "replace").decode() for line in lines]
    blocks = (Verbatim(text="\n".join(printable)), paragraph(_WHAT_TO_DO))
    yield Section(title="Keys in the repository", blocks=blocks)


def _keys(number: int) -> str:
    return "the answer key of 1 task" if number == 1 else f"the answer keys of {number} tasks"
