"""How much of a right answer there is: which of its files, functions and classes the answer names,
whether it says its facts and not everything, and which of the files the agent saw, and when."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from swarm_bench.core.outcome import Retrieved
from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.facts import SECONDS, matching, perhaps_matching
from swarm_bench.source.key_measures import ELSEWHERE, compute_measures, keys_of, share_elsewhere
from swarm_bench.source.naming import files_named, symbols_named
from swarm_bench.source.references.mentions import mentions
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of


@dataclass(frozen=True, kw_only=True)
class NamedFiles:
    """`file_recall`, `file_precision`, `file_f1`, `files_all_found`, `file_first_rank` and
    `file_ndcg`: the files that the answer names, in the order of their first mention, compared with
    those of the key. Of the order the first count, as many as the key has and a few more; precision
    is of all. `file_recall_elsewhere`: what they find of the keys of other tasks."""

    name = "files"
    version = 2
    keys = keys_of("file")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        right = frozenset(context.key.files) if context.key else frozenset()
        if not right:
            return dict.fromkeys(self.keys, Missing("the key has no files"))
        if not context.files:
            return dict.fromkeys(self.keys, Missing("the files of the repository are not known"))
        other_keys = [(task.key.files, task.weight) for task in context.others if task.key]
        return compute_measures("file", files_named(context), right, other_keys)


@dataclass(frozen=True, kw_only=True)
class NamedSymbols:
    """The measures of files, for symbols: `symbol_recall` and so on. A symbol counts as named if
    the answer names its file too."""

    name = "symbols"
    version = 2
    keys = keys_of("symbol")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        right = frozenset(context.key.symbols) if context.key else frozenset()
        if not right:
            return dict.fromkeys(self.keys, Missing("the key has no symbols"))
        if context.tree is None:
            return dict.fromkeys(self.keys, Missing("the repository cannot be read"))
        other_keys = [(task.key.symbols, task.weight) for task in context.others if task.key]
        return compute_measures("symbol", symbols_named(context, context.tree), right, other_keys)


MOST_COMPARED = 100
"""Other tasks whose facts are looked for in an answer: in a large suite, all would take seconds."""
LOOKED_AT = 1 << 16
"""Characters of an answer, from its beginning, in which facts are looked for: behind more text than
that, patterns would run out of time."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`fact_share`: the share of the key's patterns that match the answer, less the share of other
    tasks' patterns that do, `fact_share_elsewhere`; not below 0. An answer that repeats the
    question or says everything has none: patterns that match the question do not count, neither the
    key's own nor those of other tasks."""

    name = "facts"
    version = 3
    keys = ("fact_share", f"fact_share{ELSEWHERE}")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        return dict(zip(self.keys, _shares(context), strict=True))


def _shares(context: ScoreContext) -> tuple[float | Missing, float | Missing]:
    """Compute both scores. Patterns of other tasks that take too long count as matched: otherwise
    an answer that says everything at length would be right."""
    if not context.key or not context.key.facts:
        return (Missing("the key has no facts"),) * 2
    try:
        right = {*context.key.facts} - matching(context.key.facts, context.prompt)
        if not right:
            return (Missing("each fact of the key stands in the question"),) * 2
        share = len(matching(right, context.text[:LOOKED_AT])) / len(right)
    except TimeoutError:
        reason = f"the patterns of the key took longer than {SECONDS:g} s on this answer"
        return (Missing(reason),) * 2
    elsewhere = _elsewhere(context, right)
    return share if isinstance(elsewhere, Missing) else max(0.0, share - elsewhere), elsewhere


def _elsewhere(context: ScoreContext, right: set[str]) -> float | Missing:
    """Compute which share of the facts of other tasks the answer matches."""
    keys = [(task.key.facts, task.weight) for task in context.others if task.key and task.key.facts]
    keys = keys[:: math.ceil(len(keys) / MOST_COMPARED) or 1]
    foreign = set[str]().union(*(facts for facts, _ in keys)) - right
    repeated = perhaps_matching(foreign, context.prompt)
    matched = perhaps_matching(foreign - repeated, context.text[:LOOKED_AT])
    return share_elsewhere(matched, right | repeated, keys)


_SIDE = re.compile(r"\A[ab]/")
"""Prefix of a path in a diff."""


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
