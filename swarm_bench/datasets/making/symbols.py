"""Tasks that ask where something is defined, by what it does."""

import re
from collections import defaultdict
from collections.abc import Mapping
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.code import Code, code_of, describe_kind, order_randomly, parts_of
from swarm_bench.datasets.making.described import description, first_sentence, is_abstract
from swarm_bench.datasets.making.made import (
    GeneratedTasks,
    Looked,
    UnsuitableCandidate,
    generate_tasks,
    ignore_progress,
    joined_id,
)
from swarm_bench.datasets.making.messages import first_words, telling_words
from swarm_bench.datasets.making.tested import describe_by_tests
from swarm_bench.source.definitions import Definition
from swarm_bench.source.files import UNDECLARED, Files
from swarm_bench.text.languages import language_of

_DOES = "that does this?"
_TESTED = "of which tests say this?"
_TERM = re.compile(r"\w+")
_CALLABLE_KINDS = ("function", "method")
"""Kinds that are asked for by their names; others are types."""


def make_symbols(
    tree: Tree, count: int, seed: int, files: Files = UNDECLARED, looked: Looked = ignore_progress
) -> GeneratedTasks:
    """Make tasks of the definitions of a tree of which the documentation, or the names of tests,
    say what they do. What another one does too is dropped, and a name with another definition."""
    code = code_of(tree, files)
    candidates = list(code.candidates())
    sentences = {definition: first_sentence(code, definition) for definition in candidates}
    tests, rivals = describe_by_tests(code, candidates), _Rivals(sentences)
    ordered = order_randomly(candidates, Random(f"{seed}/symbols"))

    def task(definition: Definition) -> Task:
        sentence = sentences[definition]
        purpose = description(sentence, definition.name) if sentence else None
        if purpose is None and definition not in tests:
            raise UnsuitableCandidate("no sentence and no test says what it does without its name")
        if purpose and rivals.has_like(definition):
            raise UnsuitableCandidate("another one does the same, as its sentence says")
        if (reason := _ambiguous(code, definition)) is not None:
            raise UnsuitableCandidate(reason)
        says = (_DOES, purpose) if purpose else (_TESTED, tests[definition])
        return _task(definition, *says)

    return generate_tasks(ordered, count, task, looked)


class _Rivals:
    """What is said of all definitions."""

    def __init__(self, sentences: Mapping[Definition, str | None]) -> None:
        self._telling = {
            definition: set(telling_words(sentence or ""))
            for definition, sentence in sentences.items()
        }
        self._sentences = {key: (sentence or "").lower() for key, sentence in sentences.items()}
        self._named = defaultdict[str, list[Definition]](list)
        self._with = defaultdict[str, set[Definition]](set)
        for definition, sentence in self._sentences.items():
            self._named[definition.own_name].append(definition)
            for term in _terms(sentence):
                self._with[term].add(definition)

    def has_like(self, definition: Definition) -> bool:
        """Tell whether the same is said of another one, and maybe more, or half of it of one of the
        same name."""
        own_terms, terms = self._telling[definition], _terms(self._sentences[definition])
        if len(set[Definition].intersection(*(self._with[term] for term in terms))) > 1:
            return True
        return any(
            2 * len(own_terms & rival_terms) >= min(len(own_terms), len(rival_terms)) > 0
            for rival_terms in (self._telling[d] for d in self._named[definition.own_name])
            if rival_terms is not own_terms
        )


def _terms(sentence: str) -> set[str]:
    return set(_TERM.findall(sentence))


def _ambiguous(code: Code, definition: Definition) -> str | None:
    """Say why somebody could name another place."""
    if code.is_only(definition):
        return None
    if not definition.parent_name:
        return "name defined or assigned elsewhere too"
    return _ambiguous_method(code, definition)


def _ambiguous_method(code: Code, method: Definition) -> str | None:
    """Say why a method whose name is common is not clear with its class either."""
    if is_abstract(code, method):
        return "method that other classes implement"
    owners = [d for d in code.definitions(method.path) if d.name == method.parent_name]
    if len(owners) != 1 or not code.is_only(owners[0]):
        return "class with a common name, or defined in another file"
    for path in {method.path, *code.other_definitions(method)}:
        names = [definition.name for definition in code.definitions(path)]
        if names.count(method.name) > (path == method.path):
            return "method defined more than once"
    return None


def _task(definition: Definition, which: str, says: str) -> Task:
    kind = definition.kind if definition.kind in _CALLABLE_KINDS else "type"
    return Task(
        id=joined_id("symbol", *parts_of(definition)),
        title=f"Definition of {describe_kind(definition)}",
        prompt=f"Where is the {kind} defined {which}\n{says}",
        keywords=first_words(telling_words(says)),
        key=AnswerKey(files=(definition.path,), symbols=(definition.symbol,)),
        tags=("symbols", language_of(definition.path) or ""),
    )
