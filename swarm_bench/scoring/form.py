"""How the answer is laid out (headings, bullets, code fences), how long it is, and whether two
answers are the same text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from swarm_bench.core.ports import Score, ScoreContext

_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_BULLET = re.compile(r"\s{0,3}[-*]\s")
# Indented as deep as one likes: agents put fences into list items.
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Counts lines as canopy's script does, but only those outside of code fences: there, a line
    with `#` is a comment. A fence that is never closed reaches to the end, as in any renderer.

    `headings`, `bullets` (`-` and `*`), `fences` (opening ones), and `structured`.
    """

    headings_at: int = 3
    bullets_at: int = 5
    fences_at: int = 1
    name = "structure"
    version = 1
    keys = ("headings", "bullets", "fences", "structured")

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        if not context.text:
            return dict.fromkeys(self.keys)
        kinds = list(_kinds(context.beginning))
        headings, bullets, fences = (kinds.count(kind) for kind in ("heading", "bullet", "fence"))
        return {
            "headings": headings,
            "bullets": bullets,
            "fences": fences,
            "structured": headings >= self.headings_at
            and (bullets >= self.bullets_at or fences >= self.fences_at),
        }


def _kinds(text: str) -> Iterator[str]:
    """Classify the lines that count; one pass, whatever the text is."""
    open_fence = ""
    for line in text.split("\n"):
        marker, after_fence = _fence(line)
        if open_fence:
            # A closing fence is at least as long as the opening one and stands alone.
            if marker.startswith(open_fence) and not after_fence.strip():
                open_fence = ""
        elif marker and not (marker[0] == "`" and "`" in after_fence):
            open_fence = marker
            yield "fence"
        elif _HEADING.match(line):
            yield "heading"
        elif _BULLET.match(line):
            yield "bullet"


def _fence(line: str) -> tuple[str, str]:
    match = _FENCE.match(line)
    return (match[1], match[2]) if match else ("", "")


_CHARACTERS = 16


@dataclass(frozen=True, kw_only=True)
class Digest:
    """`answer_digest`: the beginning of the SHA-256 of the answer in UTF-8, without white space
    around it; `None` when there is no answer."""

    name = "digest"
    version = 1
    keys = ("answer_digest",)

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        text = context.text.strip()
        digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:_CHARACTERS]
        return {"answer_digest": digest if text else None}


@dataclass(frozen=True, kw_only=True)
class Length:
    """`result_lines`: lines of the answer, line breaks at its end not counted; `None` when there
    is no answer (canopy's script counts its placeholder "No result" as one line)."""

    name = "length"
    version = 1
    keys = ("result_lines",)

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        return {"result_lines": lines_of(context.text)}


def lines_of(text: str | None) -> int | None:
    """Count the lines of an answer."""
    return text.rstrip("\n").count("\n") + 1 if text else None
