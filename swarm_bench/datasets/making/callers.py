"""Tasks that ask which functions call another one."""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.attribution import Attribution
from swarm_bench.datasets.making.code import Code, code_of, in_drawn_order, parts_of, spoken
from swarm_bench.datasets.making.made import Made, Unfit, made_of, new_id
from swarm_bench.models.lexical.languages import language_of
from swarm_bench.source.calls import Use, mentions
from swarm_bench.source.definitions import Definition, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, may_be_test, purpose_of

FEWEST, MOST = 2, 8
"""Callers."""
_CALLING = ("function", "method")
_NOT_COUNTED = (Purpose.TEST, Purpose.DOCUMENTATION)


def make_callers(tree: Tree, count: int, seed: int, files: Files = UNDECLARED) -> Made:
    """Make tasks of the functions and methods of a tree of which every call can be attributed."""
    code = code_of(tree, files)
    asked = (each for each in code.candidates() if each.kind in _CALLING)
    drawn = in_drawn_order(asked, Random(f"{seed}/callers"))
    return made_of(drawn, count, partial(_task, code))


def _callers(code: Code, target: Definition) -> list[Definition]:
    """List the functions that call it, in their order. Raises `Unfit`."""
    if not code.is_only(target):
        raise Unfit("name defined or assigned elsewhere too")
    callers = {(each.path, each.name_at): each for each in _calling(code, target)}
    if not FEWEST <= len(callers) <= MOST:
        raise Unfit(f"fewer than {FEWEST} callers, or more than {MOST}")
    if len({each.symbol for each in callers.values()}) < len(callers):
        raise Unfit("callers of the same name in one file")
    return [callers[at] for at in sorted(callers)]


def _calling(code: Code, target: Definition) -> Iterator[Definition]:
    attribution = Attribution(code=code, target=target)
    for path in code.mentions[target.own_name.encode()]:
        if may_be_test(path):
            raise Unfit("name in a file that may be a test or not")
        if purpose_of(path) in _NOT_COUNTED:
            continue
        if not is_supported(path):
            raise Unfit("name in a file that cannot be parsed")
        for mention in mentions(path, code.texts[path], target.own_name):
            if mention.in_test or mention.use in (Use.TEXT, Use.DEFINITION):
                continue
            if mention.use is Use.VALUE:
                raise Unfit("used otherwise than in calls")
            caller = _around(code, path, mention.at)
            if not attribution.is_of_target(path, mention, caller):
                raise Unfit("call or import that cannot be resolved")
            if mention.use is Use.CALL:
                yield _named(target, caller)


def _around(code: Code, path: str, at: int) -> Definition | None:
    """Return the innermost function with a name around an offset."""
    around = [
        each
        for each in code.definitions(path)
        if each.kind in _CALLING and each.name_at < at < each.span[1]
    ]
    return around[-1] if around else None


def _named(target: Definition, caller: Definition | None) -> Definition:
    """Return the caller, when people would name it so. Raises `Unfit`."""
    if caller is None:
        raise Unfit("called outside of functions")
    if caller == target:
        raise Unfit("calls itself")
    if caller.is_local:
        raise Unfit("called in a function within a function")
    return caller


def _task(code: Code, definition: Definition, others: Sequence[Task]) -> Task:
    callers, name = _callers(code, definition), spoken(definition)
    return Task(
        id=new_id(["callers", *parts_of(definition)], others),
        title=f"Callers of {name}",
        prompt=(
            f"Which functions and methods call the {definition.kind} `{name}` directly? Name each "
            "with the path of its file."
        ),
        keywords=definition.name.replace(".", " "),
        key=AnswerKey(
            files=tuple(sorted({each.path for each in callers})),
            symbols=tuple(each.symbol for each in callers),
        ),
        tags=("callers", language_of(definition.path) or ""),
    )
