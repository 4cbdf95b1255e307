"""What the tools of servers answered, as far as a command file says where that stands."""

from collections.abc import Callable

from swarm_bench.agents.command.locators import Material, Places, find_all, first_text
from swarm_bench.agents.command.output import Answers
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.core.outcome import ToolAnswer

MOST_ANSWERS = 10_000


def answers_in(
    answers: Answers | None, material: Material, common_name: Callable[[str], str]
) -> tuple[ToolAnswer, ...] | None:
    """`None` when the file does not say, or there are more than an agent can have asked for."""
    if answers is None or not material.readable:
        return None
    nodes = find_all(answers.each, material, MOST_ANSWERS + 1)
    if len(nodes) > MOST_ANSWERS:
        return None
    found = ToolAnswers()
    for number, node in enumerate(nodes):
        one = material.inside(node)
        if (tool := first_text(answers.tool, one)) is None:
            continue
        found.ask(str(number), common_name(tool), _values(answers.arguments, one))
        failed = any(_says(value) for value in _values(answers.failed, one))
        found.answer(str(number), _content(answers.result, one), failed=failed)
    return found.all()


def _values(places: Places, material: Material) -> list[object]:
    """What stands at the first place that has anything."""
    return next(filter(None, (place.values(material) for place in places)), [])


def _content(places: Places, material: Material) -> object:
    """A text, or blocks; `None` when nothing stands there."""
    values = _values(places, material)
    return values[0] if len(values) == 1 else (first_text(places, material) if values else None)


def _says(value: object) -> bool:
    return value is not None and value is not False
