"""Tasks that ask which functions call those that call another one: one grep does not tell."""

from collections.abc import Iterator
from functools import partial
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.attribution import Attribution
from swarm_bench.datasets.making.code import Code, code_of, describe_kind, order_randomly, parts_of
from swarm_bench.datasets.making.made import (
    GeneratedTasks,
    Looked,
    UnsuitableCandidate,
    generate_tasks,
    ignore_progress,
    joined_id,
)
from swarm_bench.source.calls import Mention, Use, mentions
from swarm_bench.source.definitions import Definition, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, may_be_test, purpose_of
from swarm_bench.text.languages import language_of

_MIN_CALLERS, _MAX_CALLERS = 2, 8
"""Functions of a key. Those that call directly are as many at most."""
_MOST_MENTIONS = 200
"""Of a name in a file: each of them takes a look at all that the file defines."""
_CALLING = ("function", "method")
_NOT_COUNTED = (Purpose.TEST, Purpose.DOCUMENTATION)


def make_callers(
    tree: Tree, count: int, seed: int, files: Files = UNDECLARED, looked: Looked = ignore_progress
) -> GeneratedTasks:
    """Make tasks of the functions and methods of a tree of which every call can be attributed."""
    code = code_of(tree, files)
    candidates = (definition for definition in code.candidates() if definition.kind in _CALLING)
    ordered = order_randomly(candidates, Random(f"{seed}/callers"))
    return generate_tasks(ordered, count, partial(_task, code), looked)


def _over_two_steps(code: Code, target: Definition) -> list[Definition]:
    """List the functions that call one that calls it, and do not call it themselves, in their
    order. Raises `Unfit`."""
    direct = find_callers(code, target)
    further = {
        at: definition
        for caller in direct.values()
        for at, definition in find_callers(code, caller).items()
    }
    callers = [further[at] for at in sorted(further.keys() - direct.keys() - {_key_of(target)})]
    if not _MIN_CALLERS <= len(callers) <= _MAX_CALLERS:
        raise UnsuitableCandidate(
            f"fewer than {_MIN_CALLERS} functions two calls away, or more than {_MAX_CALLERS}"
        )
    if len({definition.symbol for definition in callers}) < len(callers):
        raise UnsuitableCandidate("callers of the same name in one file")
    return callers


def find_callers(code: Code, target: Definition) -> dict[tuple[str, int], Definition]:
    """Return the functions that call it, by where they are. Raises `Unfit`."""
    if not code.is_only(target):
        raise UnsuitableCandidate("name defined or assigned elsewhere too")
    callers = {_key_of(definition): definition for definition in _calling(code, target)}
    if len(callers) > _MAX_CALLERS:
        raise UnsuitableCandidate(f"more than {_MAX_CALLERS} callers")
    return callers


def _key_of(definition: Definition) -> tuple[str, int]:
    return definition.path, definition.name_at


def _calling(code: Code, target: Definition) -> Iterator[Definition]:
    attribution = Attribution(code=code, target=target)
    for path in code.mentions[target.own_name.encode()]:
        if may_be_test(path):
            raise UnsuitableCandidate("name in a file that may be a test or not")
        for mention in _mentions(code, path, target.own_name):
            if mention.in_test or mention.use in (Use.TEXT, Use.DEFINITION):
                continue
            if mention.use is Use.VALUE:
                raise UnsuitableCandidate("used otherwise than in calls")
            caller = _find_enclosing(code, path, mention.at)
            if not attribution.is_of_target(path, mention, caller):
                raise UnsuitableCandidate("call or import that cannot be resolved")
            if mention.use is Use.CALL:
                yield _name_caller(target, caller)


def _mentions(code: Code, path: str, name: str) -> tuple[Mention, ...]:
    if purpose_of(path) in _NOT_COUNTED:
        return ()
    if not is_supported(path):
        raise UnsuitableCandidate("name in a file that cannot be parsed")
    found_mentions = mentions(path, code.texts[path], name)
    if len(found_mentions) > _MOST_MENTIONS:
        raise UnsuitableCandidate(f"name more than {_MOST_MENTIONS} times in a file")
    return found_mentions


def _find_enclosing(code: Code, path: str, at: int) -> Definition | None:
    """Return the innermost function with a name around an offset."""
    enclosing = [
        definition
        for definition in code.definitions(path)
        if definition.kind in _CALLING and definition.name_at < at < definition.span[1]
    ]
    return enclosing[-1] if enclosing else None


def _name_caller(target: Definition, caller: Definition | None) -> Definition:
    """Return the caller, when people would name it so. Raises `Unfit`."""
    if caller is None:
        raise UnsuitableCandidate("called outside of functions")
    if caller == target:
        raise UnsuitableCandidate("calls itself")
    if caller.is_local:
        raise UnsuitableCandidate("called in a function within a function")
    return caller


def _task(code: Code, definition: Definition) -> Task:
    callers, name = _over_two_steps(code, definition), describe_kind(definition)
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
            files=tuple(sorted({caller.path for caller in callers})),
            symbols=tuple(caller.symbol for caller in callers),
        ),
        tags=("callers", language_of(definition.path) or ""),
    )
