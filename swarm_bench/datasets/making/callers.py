"""Tasks that ask which functions call those that call another one: one grep does not tell."""

from collections.abc import Iterator
from functools import partial
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.attribution import Attribution
from swarm_bench.datasets.making.code import Code, code_of, in_drawn_order, parts_of, spoken
from swarm_bench.datasets.making.made import Looked, Made, Unfit, joined_id, made_of, unwatched
from swarm_bench.models.lexical.languages import language_of
from swarm_bench.source.calls import Mention, Use, mentions
from swarm_bench.source.definitions import Definition, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, may_be_test, purpose_of

_FEWEST, _MOST = 2, 8
"""Functions of a key. Those that call directly are as many at most."""
_MOST_MENTIONS = 200
"""Of a name in a file: each of them takes a look at all that the file defines."""
_CALLING = ("function", "method")
_NOT_COUNTED = (Purpose.TEST, Purpose.DOCUMENTATION)


def make_callers(
    tree: Tree, count: int, seed: int, files: Files = UNDECLARED, looked: Looked = unwatched
) -> Made:
    """Make tasks of the functions and methods of a tree of which every call can be attributed."""
    code = code_of(tree, files)
    asked = (each for each in code.candidates() if each.kind in _CALLING)
    drawn = in_drawn_order(asked, Random(f"{seed}/callers"))
    return made_of(drawn, count, partial(_task, code), looked)


def _over_two_steps(code: Code, target: Definition) -> list[Definition]:
    """List the functions that call one that calls it, and do not call it themselves, in their
    order. Raises `Unfit`."""
    direct = callers_of(code, target)
    further = {
        at: each for caller in direct.values() for at, each in callers_of(code, caller).items()
    }
    callers = [further[at] for at in sorted(further.keys() - direct.keys() - {_at(target)})]
    if not _FEWEST <= len(callers) <= _MOST:
        raise Unfit(f"fewer than {_FEWEST} functions two calls away, or more than {_MOST}")
    if len({each.symbol for each in callers}) < len(callers):
        raise Unfit("callers of the same name in one file")
    return callers


def callers_of(code: Code, target: Definition) -> dict[tuple[str, int], Definition]:
    """Return the functions that call it, by where they are. Raises `Unfit`."""
    if not code.is_only(target):
        raise Unfit("name defined or assigned elsewhere too")
    callers = {_at(each): each for each in _calling(code, target)}
    if len(callers) > _MOST:
        raise Unfit(f"more than {_MOST} callers")
    return callers


def _at(definition: Definition) -> tuple[str, int]:
    return definition.path, definition.name_at


def _calling(code: Code, target: Definition) -> Iterator[Definition]:
    attribution = Attribution(code=code, target=target)
    for path in code.mentions[target.own_name.encode()]:
        if may_be_test(path):
            raise Unfit("name in a file that may be a test or not")
        for mention in _mentions(code, path, target.own_name):
            if mention.in_test or mention.use in (Use.TEXT, Use.DEFINITION):
                continue
            if mention.use is Use.VALUE:
                raise Unfit("used otherwise than in calls")
            caller = _around(code, path, mention.at)
            if not attribution.is_of_target(path, mention, caller):
                raise Unfit("call or import that cannot be resolved")
            if mention.use is Use.CALL:
                yield _named(target, caller)


def _mentions(code: Code, path: str, name: str) -> tuple[Mention, ...]:
    if purpose_of(path) in _NOT_COUNTED:
        return ()
    if not is_supported(path):
        raise Unfit("name in a file that cannot be parsed")
    every = mentions(path, code.texts[path], name)
    if len(every) > _MOST_MENTIONS:
        raise Unfit(f"name more than {_MOST_MENTIONS} times in a file")
    return every


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


def _task(code: Code, definition: Definition) -> Task:
    callers, name = _over_two_steps(code, definition), spoken(definition)
    return Task(
        id=joined_id("callers", *parts_of(definition)),
        title=f"Callers of the callers of {name}",
        prompt=(
            f"The {definition.kind} `{name}` is to take another argument, which the functions that "
            "call it cannot know and have to take as well. Which functions and methods call one of "
            "those, and have to change too? Name each with the path of its file, and leave out "
            f"those that call `{name}` themselves."
        ),
        keywords=definition.name.replace(".", " "),
        key=AnswerKey(
            files=tuple(sorted({each.path for each in callers})),
            symbols=tuple(each.symbol for each in callers),
        ),
        tags=("callers", language_of(definition.path) or ""),
    )
