"""Which files the answer mentions, and which of them there are.

Two notions stand side by side. `references` counts as canopy's script does: every match of one
regular expression, which knows a dozen extensions, takes `Node.js` for a file and counts the same
path three times. `references_existing` asks the snapshot instead, whatever the extension.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of

# The script's expression is `[A-Za-z0-9_./-]+\.(ts|tsx|js|...)`. Its first part is greedy, so in
# each unbroken run of path characters it matches once: up to the last extension that has something
# before its dot. Looking for runs first gives the same matches, but in linear time.
_RUN = re.compile(r"[A-Za-z0-9_./-]+")
_EXTENSION = re.compile(r"\.(?:ts|tsx|js|jsx|rs|py|go|md|json|toml|ya?ml|sql|sh)")

_CODE_SPAN = re.compile(r"`([^`\n]{1,400})`")
_WORD = re.compile(r"""[^\s`"'<>()\[\]{},;|*=…“”‘’«»→←]+""")


@dataclass(frozen=True, kw_only=True)
class References:
    """`references`: matches of the script's expression, repetitions included.
    `references_distinct`: different mentions; a mention names a file of the snapshot or matches
    the expression. `references_existing`: those that name a file; `None` if the snapshot is not
    known. `grounded`: whether `references` reaches `grounded_at`.

    A mention names a file by its path, with or without `./` or the workspace's path before it, or
    by the end of the path from a `/` on (`login.py`, `auth/login.py`). A name with neither `.` nor
    `/` (`Makefile`) must stand in a code span, else every word would be a candidate.
    """

    grounded_at: int = 3
    name = "references"
    version = 1
    keys = ("references", "references_distinct", "references_existing", "grounded")

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        if not context.text:
            return dict.fromkeys(self.keys)
        references = sum(1 for _ in _script_matches(context.beginning))
        snapshot = snapshot_of(context.files, context.workspace)
        mentions = dict(_mentions(snapshot.mark(context.beginning), snapshot))
        return {
            "references": references,
            "references_distinct": len(mentions),
            "references_existing": sum(mentions.values()) if context.files else None,
            "grounded": references >= self.grounded_at,
        }


def _script_matches(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if "." in run and (match := _script_match(run)):
            yield match


def _script_match(run: str) -> str:
    end = 0
    for extension in _EXTENSION.finditer(run, 1):
        end = extension.end()
    return run[:end]


def _mentions(text: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    """Yield mentions in the order of the text, and whether each names a file of the snapshot."""
    position = 0
    for span in _CODE_SPAN.finditer(text):
        path = snapshot.relative(snapshot.marks.unmark(span[1].strip()))
        if not snapshot.has(path):
            continue
        yield from _mentions_in(text[position : span.start()], snapshot)
        yield path, True
        position = span.end()
    yield from _mentions_in(text[position:], snapshot)


def _mentions_in(text: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    for run in _WORD.findall(text):
        word = run.rstrip(".,:!?")
        if "." in word or "/" in word:
            yield from _check_paths(word, snapshot)


@lru_cache(maxsize=20_000)
def _check_paths(word: str, snapshot: Snapshot) -> tuple[tuple[str, bool], ...]:
    """Look a word up. Kept between calls: the answers of a session name the same files."""
    return tuple(_mention_in(word, snapshot))


def _mention_in(word: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    for candidate in (word, re.split("[:#]", word, maxsplit=1)[0]):
        path = snapshot.relative(snapshot.marks.unmark(candidate))
        # Behind `:` or `#` stand line numbers: `app.py:12-40`, `app.py#L12`.
        if ("." in path or "/" in path) and snapshot.has(path):
            yield path, True
            return
    for run in _RUN.findall(word):
        match = _script_match(run)
        if match:
            path = snapshot.relative(match)
            yield path, snapshot.has(path)
