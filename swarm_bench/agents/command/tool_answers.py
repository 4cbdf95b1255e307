"""What the tools of servers answered, as far as a command file describes where that stands."""

from collections.abc import Callable, Iterable

from swarm_bench.agents.command.locators import Locators, Material, find_all, first_text
from swarm_bench.agents.command.output import Answers
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.core.outcome import Retrieved, ToolAnswer

MAX_ANSWERS = 10_000


def answers_in(
    answers: Answers | None,
    material: Material,
    common_name: Callable[[str], str],
    files: frozenset[str],
) -> tuple[tuple[ToolAnswer, ...], tuple[Retrieved, ...]] | None:
    """Digest the answers, and return what they put before the agent; `None` when the file does not
    describe where they stand, or there are more than an agent can have asked for."""
    if answers is None or not material.readable:
        return None
    nodes = find_all(answers.each, material, MAX_ANSWERS + 1)
    if len(nodes) > MAX_ANSWERS:
        return None
    collected, retrievals = ToolAnswers(), Retrievals(files)
    for number, node in enumerate(nodes):
        inner = material.inside(node)
        if (tool := first_text(answers.tool, inner)) is None:
            continue
        call, name, arguments = (
            str(number),
            common_name(tool),
            _find_values(answers.arguments, inner),
        )
        collected.add_call(call, name, arguments)
        retrievals.add_call(call, name, arguments)
        failed = is_set(_find_values(answers.failed, inner))
        content = _find_content(answers.result, inner)
        collected.add_answer(call, content, failed=failed)
        retrievals.add_answer(call, content, failed=failed)
    return collected.all(), retrievals.all(Timeline())


def _find_values(locators: Locators, material: Material) -> list[object]:
    """Return what the first locator that leads to anything has."""
    return next(filter(None, (locator.values(material) for locator in locators)), [])


def _find_content(locators: Locators, material: Material) -> object:
    """Return a text, or blocks; `None` when nothing stands there."""
    values = _find_values(locators, material)
    return values[0] if len(values) == 1 else (first_text(locators, material) if values else None)


def is_set(values: Iterable[object]) -> bool:
    """Tell whether something stands there: `error: null` and `is_error: false` are nothing."""
    return any(value is not None and value is not False for value in values)
