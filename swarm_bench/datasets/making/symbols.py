"""Tasks that ask where something is defined, by what it does."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.code import Code, code_of, in_drawn_order, parts_of, spoken
from swarm_bench.datasets.making.described import description
from swarm_bench.datasets.making.made import Made, Unfit, made_of, new_id
from swarm_bench.datasets.making.messages import telling_words
from swarm_bench.models.lexical.languages import language_of
from swarm_bench.source.definitions import Definition
from swarm_bench.source.files import UNDECLARED, Files

_NOT_ASKED = ("module", "namespace")
_KEYWORDS = 8
_CALLED = ("function", "method")
"""Kinds that are asked for by their names; others are types."""


def make_symbols(tree: Tree, count: int, seed: int, files: Files = UNDECLARED) -> Made:
    """Make tasks of the definitions of a tree whose documentation says what they are for. What
    another one says too is dropped, and a name with another definition."""
    code = code_of(tree, files)
    asked = [each for each in code.candidates() if each.kind not in _NOT_ASKED]
    purposes = {each: description(code, each) for each in asked}
    times = Counter(purposes.values())
    drawn = in_drawn_order(asked, Random(f"{seed}/symbols"))

    def task(definition: Definition, others: Sequence[Task]) -> Task:
        sentence = purposes[definition]
        if sentence is None:
            raise Unfit("no sentence says what it does without its name")
        if times[sentence] > 1:
            raise Unfit("another one does the same, as its sentence says")
        if (why := _ambiguous(code, definition)) is not None:
            raise Unfit(why)
        return _task(definition, sentence, others)

    return made_of(drawn, count, task)


def _ambiguous(code: Code, definition: Definition) -> str | None:
    """Say why somebody could name another place."""
    if code.is_only(definition):
        return None
    if not definition.around:
        return "name defined or assigned elsewhere too"
    return _ambiguous_method(code, definition)


def _ambiguous_method(code: Code, method: Definition) -> str | None:
    """Say why a method whose name is common is not clear with its class either."""
    owners = [d for d in code.definitions(method.path) if d.name == method.around]
    if len(owners) != 1 or not code.is_only(owners[0]):
        return "class with a common name, or defined in another file"
    for path in {method.path, *code.other_definitions(method)}:
        names = [each.name for each in code.definitions(path)]
        if names.count(method.name) > (path == method.path):
            return "method defined more than once"
    return None


def _task(definition: Definition, sentence: str, others: Sequence[Task]) -> Task:
    kind = definition.kind if definition.kind in _CALLED else "type"
    return Task(
        id=new_id(["symbol", *parts_of(definition)], others),
        title=f"Definition of {spoken(definition)}",
        prompt=f"Where is the {kind} defined that does this?\n{sentence}",
        keywords=" ".join(telling_words(sentence)[:_KEYWORDS]),
        key=AnswerKey(files=(definition.path,), symbols=(definition.symbol,)),
        tags=("symbols", language_of(definition.path) or ""),
    )
