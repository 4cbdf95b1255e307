"""What the answer of a search is worth: the figures of one trial."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.retrieval.locations import Unreadable, list_files, read_locations
from swarm_bench.source.key_measures import ndcg_at, recall_at, reciprocal_rank
from swarm_bench.source.references.snapshot import snapshot_of
from swarm_bench.text import tokens
from swarm_bench.text.answer_kinds import kind_of

CUTS = (1, 5, 10)
"""Numbers of files at which recall is measured."""
_SMOOTHING = 60
"""How little the first place counts more than the second one, where rankings are merged: as
Cormack, Clarke and Büttcher have it (2009), who chose it on other collections."""
_PAGE = 20
"""Files of a list up to which its order is taken for the tool's: a longer one is hardly ranked, and
what it names counts the less the longer it is."""


@dataclass(frozen=True, kw_only=True)
class ToolReply:
    """What became of a question."""

    text: str
    parts: tuple[str, ...] = ()
    """The answers to its words, where each was asked by itself; `text` has all of them."""
    seconds: float
    failed: bool = False
    """Whether the call ended with an error, or too late."""
    first: bool = False
    """Whether the server had just been started."""


def join_replies(answers: Sequence[ToolReply], *, first: bool) -> ToolReply:
    """Put the answers to the words of a question together. It failed where all of them did."""
    successful = [reply for reply in answers if not reply.failed]
    texts = [reply.text for reply in successful or answers[:1]]
    return ToolReply(
        text="\n\n".join(texts),
        parts=tuple(texts) if len(answers) > 1 else (),
        seconds=sum(reply.seconds for reply in answers),
        failed=not successful,
        first=first,
    )


@dataclass(frozen=True, kw_only=True)
class AnswerSpace:
    """What an answer can name."""

    workspace: str
    files: Collection[str]


def compute_figures(
    reply: ToolReply,
    search: SearchTool | None,
    answer_space: AnswerSpace,
    relevant: Collection[str],
) -> dict[str, float | None]:
    """Return the figures of a reply. A list that is empty, or that there is none of, has found
    nothing: its recall is 0, and why is in figures of their own. Nor has an error or "nothing was
    found" in words, as `compare` knows them, whatever files it names."""
    snapshot = snapshot_of(frozenset(answer_space.files), answer_space.workspace)
    relevant = [snapshot.find_repository_path(path) for path in relevant]
    texts = () if reply.failed else reply.parts or (reply.text,)
    readable = [
        ranking for text in texts if (ranking := _rank(text, search, answer_space)) is not None
    ]
    ranked, failed = merge_rankings(readable), not readable
    return {
        **{f"recall_{k}": recall_at(ranked, relevant, k) for k in CUTS},
        "recall": recall_at(ranked, relevant, max(1, len(ranked))),
        "reciprocal_rank": reciprocal_rank(ranked, relevant),
        "ndcg_10": ndcg_at(ranked, relevant, 10),
        "files": len(ranked),
        "tokens": tokens.count(reply.text),
        "empty": not ranked and not failed,
        "failed": failed,
    }


def _rank(text: str, search: SearchTool | None, answer_space: AnswerSpace) -> list[str] | None:
    """List the files that an answer names; `None` where it is an error."""
    kind = kind_of(text)
    reads = search is not None and bool(search.pattern or search.json_path)
    if kind == "error":
        return None
    if kind is not None and not reads:
        return []
    try:
        return rank_files(text, search, answer_space)
    except Unreadable:
        return None if kind is None else []


def merge_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Merge the files that were named for each word of a question: those named for several words
    and early come first, by reciprocal rank fusion."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for position, path in enumerate(ranking):
            scores[path] += 1 / (_SMOOTHING + max(position, len(ranking) - _PAGE))
    return sorted(scores, key=lambda path: -scores[path])


def rank_files(text: str, search: SearchTool | None, answer_space: AnswerSpace) -> list[str]:
    """List the files of the repository that an answer names, each once, in its order. Raises
    `Unreadable`."""
    return list_files(read_locations(text, search, answer_space.workspace, answer_space.files))


def best_search(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that searches best, by its name and its schema; `None` where none does."""
    from swarm_bench.text.tool_roles import rate_tool, role  # only for a mode that does not say

    searching = [tool for tool in tools if role(tool.name, tool) == "search"]
    return max(searching, key=lambda tool: rate_tool(tool.name, tool), default=None)
