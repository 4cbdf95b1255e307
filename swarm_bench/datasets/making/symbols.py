"""Tasks that ask where something is defined."""

from collections.abc import Sequence
from functools import partial
from itertools import chain, zip_longest
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.attribution import Attribution
from swarm_bench.datasets.making.code import Code, code_of, in_drawn_order, parts_of, spoken
from swarm_bench.datasets.making.made import Made, Unfit, made_of, new_id
from swarm_bench.models.lexical.languages import language_of
from swarm_bench.source.definitions import Definition
from swarm_bench.source.files import UNDECLARED, Files

TRAP = "trap"
"""Tag of a name that a search for the text finds in many wrong places."""
_MANY = 5
"""Other files that mention a name, so that it is a trap."""
_NOT_ASKED = ("module", "namespace")


def make_symbols(tree: Tree, count: int, seed: int, files: Files = UNDECLARED) -> Made:
    """Make tasks of the definitions of a tree, half of them traps where there are enough. A name
    with another definition is dropped."""
    code = code_of(tree, files)
    return made_of(_drawn(code, Random(f"{seed}/symbols")), count, partial(_task, code))


def _drawn(code: Code, drawn: Random) -> list[Definition]:
    """Return the candidates, traps and others in turn."""
    asked = (each for each in code.candidates() if each.kind not in _NOT_ASKED)
    ordered = in_drawn_order(asked, drawn)
    traps = [each for each in ordered if _is_trap(code, each)]
    others = [each for each in ordered if not _is_trap(code, each)]
    return [each for each in chain(*zip_longest(traps, others)) if each]


def _is_trap(code: Code, definition: Definition) -> bool:
    return len(code.mentions[definition.own_name.encode()]) > _MANY


def _ambiguous(code: Code, definition: Definition) -> str | None:
    """Say why somebody could name another place."""
    if not definition.around:
        if not code.is_only(definition):
            return "name defined or assigned elsewhere too"
        attribution = Attribution(code=code, target=definition)
        elsewhere = "name also imported from outside of the repository"
        return elsewhere if attribution.is_imported_from_elsewhere() else None
    if code.is_only(definition):
        return None
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


def _task(code: Code, definition: Definition, others: Sequence[Task]) -> Task:
    if (why := _ambiguous(code, definition)) is not None:
        raise Unfit(why)
    name = spoken(definition)
    tags = ["symbols", language_of(definition.path) or ""]
    return Task(
        id=new_id(["symbol", *parts_of(definition)], others),
        title=f"Definition of {name}",
        prompt=f"Where is the {definition.kind} `{name}` defined? Name the file by its path.",
        keywords=definition.name.replace(".", " "),
        key=AnswerKey(files=(definition.path,), symbols=(definition.symbol,)),
        tags=(*tags, TRAP) if _is_trap(code, definition) else tuple(tags),
    )
