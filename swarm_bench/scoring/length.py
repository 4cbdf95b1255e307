"""How long the answer is."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Score, ScoreContext


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
