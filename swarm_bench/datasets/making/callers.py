"""Tasks that ask which functions call another one."""

from collections import Counter
from collections.abc import Iterator
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.attribution import Attribution
from swarm_bench.datasets.making.code import (
    Code,
    code_of,
    in_drawn_order,
    spoken,
    symbol,
    task_id,
)
from swarm_bench.datasets.making.made import Made
from swarm_bench.source.calls import Use, mentions
from swarm_bench.source.definitions import Definition, is_supported
from swarm_bench.source.files import Purpose, language_of, purpose_of

FEWEST, MOST = 2, 8
"""Callers."""
_SHORTEST = 4
_CALLING = ("function", "method")
_NOT_COUNTED = (Purpose.TEST, Purpose.DOCUMENTATION)


class _Unclear(Exception):
    """A name whose callers nobody can list for sure; its text says why."""


def make_callers(tree: Tree, count: int, seed: int) -> Made:
    """Make tasks of the functions and methods of a tree of which every call can be attributed."""
    code = code_of(tree)
    tasks: list[Task] = []
    dropped: Counter[str] = Counter()
    asked = (each for each in code.candidates() if _can_be_asked(code, each))
    for definition in in_drawn_order(asked, Random(f"{seed}/callers")):
        if len(tasks) == count:
            break
        try:
            callers = _callers(code, definition)
        except _Unclear as why:
            dropped[str(why)] += 1
        else:
            id = task_id("callers", definition, [task.id for task in tasks])
            tasks.append(_task(definition, callers, id))
    return Made(
        tasks=tuple(tasks),
        dropped=dict(dropped.most_common()),
        looked_at=len(tasks) + dropped.total(),
    )


def _can_be_asked(code: Code, definition: Definition) -> bool:
    name = definition.own_name
    is_plain = name.replace("$", "").isidentifier() and not name.startswith("__")
    return definition.kind in _CALLING and len(name) >= _SHORTEST and is_plain


def _callers(code: Code, target: Definition) -> list[Definition]:
    """List the functions that call it, in their order. Raises `_Unclear`."""
    if not code.is_only(target):
        raise _Unclear("name defined or assigned elsewhere too")
    callers = {(each.path, each.name_at): each for each in _calling(code, target)}
    if not FEWEST <= len(callers) <= MOST:
        raise _Unclear(f"fewer than {FEWEST} callers, or more than {MOST}")
    if len({symbol(each) for each in callers.values()}) < len(callers):
        raise _Unclear("callers of the same name in one file")
    return [callers[at] for at in sorted(callers)]


def _calling(code: Code, target: Definition) -> Iterator[Definition]:
    attribution = Attribution(code=code, target=target)
    for path in code.mentions[target.own_name.encode()]:
        if purpose_of(path) in _NOT_COUNTED:
            continue
        if not is_supported(path):
            raise _Unclear("name in a file that cannot be parsed")
        for mention in mentions(path, code.texts[path], target.own_name):
            if mention.in_test or mention.use in (Use.TEXT, Use.DEFINITION):
                continue
            if mention.use is Use.VALUE:
                raise _Unclear("used otherwise than in calls")
            caller = _around(code, path, mention.at)
            if not attribution.is_of_target(path, mention, caller):
                raise _Unclear("call or import that cannot be resolved")
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
    """Return the caller, when people would name it so. Raises `_Unclear`."""
    if caller is None:
        raise _Unclear("called outside of functions")
    if caller == target:
        raise _Unclear("calls itself")
    if caller.is_local:
        raise _Unclear("called in a function within a function")
    return caller


def _task(definition: Definition, callers: list[Definition], id: str) -> Task:
    name = spoken(definition)
    return Task(
        id=id,
        title=f"Callers of {name}",
        prompt=(
            f"Which functions and methods call the {definition.kind} `{name}` directly? Name each "
            "with the path of its file."
        ),
        keywords=definition.name.replace(".", " "),
        key=AnswerKey(
            files=tuple(sorted({each.path for each in callers})),
            symbols=tuple(symbol(each) for each in callers),
        ),
        tags=("callers", language_of(definition.path) or ""),
    )
