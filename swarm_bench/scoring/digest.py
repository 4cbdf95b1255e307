"""Whether two answers are the same text."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from swarm_bench.core.ports import Score, ScoreContext

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
