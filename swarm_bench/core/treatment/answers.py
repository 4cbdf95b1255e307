"""What the tools of a trial answered, tool by tool: bounded, and without their texts."""

from collections.abc import Iterable

from swarm_bench.core.outcome import ToolAnswer
from swarm_bench.core.stored import Stored

MOST_DIGESTS = 16
"""Different questions and answers that are kept of one tool; one more than one tells already that
not all are equal."""


class ToolAnswers(Stored):
    """The answers of one tool in one trial that were no errors."""

    answers: int
    empty: int = 0
    """Those with nothing in them."""
    errors: int = 0
    """Those that are error texts."""
    hidden: int = 0
    """Those that are not text alone, or not shown."""
    bytes: int = 0
    """Of their texts."""
    questions: tuple[str, ...] = ()
    """Digests of the different questions whose answers have something in them."""
    different: tuple[str, ...] = ()
    """Digests of these answers, each once."""


def by_tool(answers: Iterable[ToolAnswer]) -> dict[str, ToolAnswers]:
    """The answers by the tool's name."""
    sorted_: dict[str, list[ToolAnswer]] = {}
    for answer in answers:
        sorted_.setdefault(answer.tool, []).append(answer)
    return {tool: _of(found) for tool, found in sorted_.items()}


def _of(answers: list[ToolAnswer]) -> ToolAnswers:
    whole = [one for one in answers if one.kind is None and one.answer is not None]
    return ToolAnswers(
        answers=len(answers),
        empty=sum(one.kind == "empty" for one in answers),
        errors=sum(one.kind == "error" for one in answers),
        hidden=sum(one.answer is None for one in answers),
        bytes=sum(one.bytes or 0 for one in answers),
        questions=_digests(one.question for one in whole),
        different=_digests(one.answer for one in whole),
    )


def _digests(found: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in found if one is not None))[:MOST_DIGESTS]
