"""Which of the right files the agent saw, and when."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from swarm_bench.core.outcome import Retrieved
from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.naming import files_named
from swarm_bench.source.references.mentions import mentions
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of

_SIDE = re.compile(r"\A[ab]/")
"""What stands before a path in a diff."""


@dataclass(frozen=True, kw_only=True)
class SeenFiles:
    """What the tools put before the agent, compared with the files of the key. A file is seen when
    a call named it, in its result, or in its arguments if it did not fail.

    `seen_recall`: the share of the key's files that was seen. `seen_first_turn`, `seen_first_call`,
    `seen_first_seconds` and `seen_first_tokens`: when the first of them was seen.
    `retrieved_precision`: the share of them among all files of the repository that were seen.
    `seen_not_named`: how many were seen, and are not in the answer."""

    name = "seen"
    version = 1
    keys = (
        "seen_recall",
        "seen_first_turn",
        "seen_first_call",
        "seen_first_seconds",
        "seen_first_tokens",
        "retrieved_precision",
        "seen_not_named",
    )

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        right = frozenset(context.key.files) if context.key else frozenset()
        if (reason := _obstacle(context, right)) is not None:
            return dict.fromkeys(self.keys, Missing(reason))
        calls = context.retrieved or ()
        snapshot = snapshot_of(context.files, context.workspace)
        of_calls = [_files_of(call, snapshot) for call in calls]
        seen_files = frozenset[str]().union(*of_calls)
        nothing = Missing("no call named a file of the repository")
        return {
            "seen_recall": len(seen_files & right) / len(right),
            "retrieved_precision": len(seen_files & right) / len(seen_files)
            if seen_files
            else nothing,
            "seen_not_named": len((seen_files & right).difference(files_named(context))),
            **_first(calls, [not right.isdisjoint(files) for files in of_calls]),
        }


def _obstacle(context: ScoreContext, right: frozenset[str]) -> str | None:
    """Return why nothing can be said, as a clause."""
    if not right:
        return "the key has no files"
    if not context.files:
        return "the files of the repository are not known"
    if context.retrieved is None:
        return "the transcript does not show what the tools gave"
    return None


def _files_of(call: Retrieved, snapshot: Snapshot) -> frozenset[str]:
    return frozenset(
        path for mention in call.mentions if (path := _file(mention, snapshot)) is not None
    )


@lru_cache(maxsize=20_000)
def _file(mention: str, snapshot: Snapshot) -> str | None:
    """Look a text up as one in an answer is. Kept between calls: the tools of a session name the
    same files."""
    for mention_found in mentions(snapshot.mark(mention), snapshot):
        if mention_found.path:
            return mention_found.path
    side = _SIDE.match(mention)
    of_diff = snapshot.find_repository_path(mention[side.end() :]) if side else None
    return of_diff if of_diff in snapshot else None


def _first(calls: tuple[Retrieved, ...], hits: list[bool]) -> dict[str, Score | Missing]:
    """Return when the first call came that named a right file."""
    if True not in hits:
        keys = (key for key in SeenFiles.keys if key.startswith("seen_first"))
        return dict.fromkeys(keys, Missing("it saw no right file"))
    number = hits.index(True)
    call = calls[number]
    unsaid = Missing("its program does not say that of its calls")
    return {
        "seen_first_turn": unsaid if call.turn is None else call.turn,
        "seen_first_call": number + 1,
        "seen_first_seconds": unsaid if call.seconds is None else call.seconds,
        "seen_first_tokens": unsaid if call.tokens is None else call.tokens,
    }
