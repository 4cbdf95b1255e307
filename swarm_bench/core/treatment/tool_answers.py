"""What the tools of a trial answered, tool by tool: bounded, and without their texts."""

from collections.abc import Iterable

from swarm_bench.core.outcome import ToolAnswer
from swarm_bench.core.stored import Stored

MOST_DIGESTS = 16
"""Different questions and answers that are kept of one tool; two show already that
not all are equal."""


class ToolAnswers(Stored):
    """The answers of one tool in one trial that were no errors."""

    answers: int
    empty: int = 0
    """Number of answers with nothing in them."""
    errors: int = 0
    """Number of answers that are error texts."""
    hidden: int = 0
    """Number of answers that are not text alone, or not shown."""
    images: int = 0
    """Number of hidden answers that are images alone; 0 in sessions that did not count them."""
    bytes: int = 0
    """Bytes of the answers' texts."""
    questions: tuple[str, ...] = ()
    """Digests of the different questions whose answers have something in them."""
    different: tuple[str, ...] = ()
    """Digests of these answers, each once."""


def by_tool(answers: Iterable[ToolAnswer]) -> dict[str, ToolAnswers]:
    """Sort the answers by the tool's name."""
    sorted_: dict[str, list[ToolAnswer]] = {}
    for answer in answers:
        sorted_.setdefault(answer.tool, []).append(answer)
    return {tool: _summarise(of_tool) for tool, of_tool in sorted_.items()}


def _summarise(answers: list[ToolAnswer]) -> ToolAnswers:
    readable = [answer for answer in answers if answer.kind is None and answer.answer is not None]
    return ToolAnswers(
        answers=len(answers),
        empty=sum(answer.kind == "empty" for answer in answers),
        errors=sum(answer.kind == "error" for answer in answers),
        hidden=sum(answer.answer is None for answer in answers),
        images=sum(answer.kind == "images" for answer in answers),
        bytes=sum(answer.bytes or 0 for answer in answers),
        questions=_count_digests(answer.question for answer in readable),
        different=_count_digests(answer.answer for answer in readable),
    )


def _count_digests(digests: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(digest for digest in digests if digest is not None))[:MOST_DIGESTS]
