"""Tasks that ask where something is defined, by what it does: in the words of its documentation, or
in the names of its tests, and without its own name."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise, takewhile
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.code import Code, code_of, describe_kind, order_randomly, parts_of
from swarm_bench.datasets.making.made import (
    GeneratedTasks,
    Looked,
    UnsuitableCandidate,
    generate_tasks,
    ignore_progress,
    joined_id,
)
from swarm_bench.datasets.making.messages import beginnings, first_words, sentences, telling_words
from swarm_bench.source.definitions import Definition, definitions, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose
from swarm_bench.source.grammars import grammar_of, is_wide, matches, parse
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
    """Say why the question could mean another place."""
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


_ECMA = """
(call_expression
  function: [(identifier) @called (member_expression object: (identifier) @called)]
  arguments: (arguments . [(string) (template_string)] @title)) @test
"""
_GO = """
(call_expression
  function: (selector_expression field: (field_identifier) @called)
  arguments: (argument_list . (interpreted_string_literal) @title)) @test
"""
_QUERIES = {"javascript": _ECMA, "typescript": _ECMA, "go": _GO}
_TITLED = frozenset({"describe", "context", "suite", "it", "test", "Run"})
"""Functions whose first argument is the name of a test, or of several."""
_TEST_NAME = re.compile(r"^[Tt]ests?(?=_|[A-Z0-9]|$)_?|(?<=[a-z])Tests?$")
"""Part of a name that marks a function or class as a test."""
_CALL = re.compile(rb"([A-Za-z_$][\w$]*)(?:<[^<>()]*>)?(?:\(|\{)")
_PART = re.compile(r"[A-Z]+v\d+|[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]")
_SHORTEST = 8
"""Letters of a name that is more than one word and may stand anywhere in a title."""
_MAX_TITLES, _FEWEST_OF_ONE, _FEWEST = 3, 2, 7
"""Titles of a question; telling words of each, and of all."""
_LONGEST = 120
_CODE = re.compile(r"[{}<>|=\\$\n]|https?:|#\d|\bissues?\b|\bbugs?\b")
"""Text that is no sentence, or points elsewhere."""


@dataclass(frozen=True, kw_only=True)
class _Test:
    """A test that holds no other one."""

    titles: tuple[str, ...]
    """Its own is the last; those of what it stands in come before."""
    called_names: frozenset[str]
    """Names of what it calls."""


def describe_by_tests(code: Code, candidates: Sequence[Definition]) -> Mapping[Definition, str]:
    """Return what tests say of those definitions that they call, name in their titles, and that
    nothing else in the repository shares its name with."""
    by_name = defaultdict[str, list[Definition]](list)
    for definition in candidates:
        by_name[definition.own_name].append(definition)
    titles = defaultdict[Definition, list[str]](list)
    for test in _tests(code):
        subject = _subject(test, by_name)
        if subject is not None and code.is_only(subject):
            titles[subject].append(test.titles[-1])
    purposes = (
        (definition, _purpose(definition, titles_of)) for definition, titles_of in titles.items()
    )
    return {definition: purpose for definition, purpose in purposes if purpose}


def _subject(test: _Test, by_name: Mapping[str, list[Definition]]) -> Definition | None:
    """Return what a test is about: of the definitions that it calls the one with the longest name
    in its titles."""
    candidates = (name for name in test.called_names if name in by_name)
    names = [name for name in candidates if any(_names(title, name) for title in test.titles)]
    longest = max(names, key=lambda name: (len(name), name), default=None)
    return by_name[longest][0] if longest and len(by_name[longest]) == 1 else None


def _names(title: str, name: str) -> bool:
    """Tell whether a title is a name, or has it in one piece where that is no plain word."""
    parts = _parts(name)
    is_plain = len(parts) == 1 or len(name) < _SHORTEST
    if not title.replace("_", "").isalnum():  # a sentence, which has names as they are
        pattern = rf"(?:^|/){re.escape(name)}$" if is_plain else rf"(?<!\w){re.escape(name)}(?!\w)"
        return re.search(pattern, title) is not None
    if title[:1].islower() and name[:1].isupper() and "_" not in title:
        return False  # `namespaces` is no name of a class
    title_parts = _parts(title)
    return title_parts == parts or (
        not is_plain
        and any(title_parts[at : at + len(parts)] == parts for at in range(len(title_parts)))
    )


def _purpose(definition: Definition, titles: Sequence[str]) -> str | None:
    """Join the titles that say most, with gaps for the parts of the name; `None` where that says
    too little."""
    own_parts = _parts(definition.own_name)
    sentences = (_sentence(title, own_parts) for title in titles if not _CODE.search(title))
    gapped = dict.fromkeys(replace_names(sentence, definition.name) for sentence in sentences)
    rated = [
        (len(telling_words(title)), title) for title in gapped if title and len(title) <= _LONGEST
    ]
    good = (pair for pair in rated if pair[0] >= _FEWEST_OF_ONE)
    best = sorted(good, key=lambda pair: -pair[0])[:_MAX_TITLES]
    text = "; ".join(title for _, title in best)
    return text if len(telling_words(text)) >= _FEWEST else None


def _sentence(title: str, name: list[str]) -> str:
    """Write the name of a test as words, without the name that it begins with."""
    if " " in title:
        return title
    parts = _parts(title)
    return " ".join(parts[len(name) :] if parts[: len(name)] == name else parts)


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _tests(code: Code) -> Iterator[_Test]:
    for path, text in code.texts.items():
        if not is_supported(path) or code.files.purpose_of(path) is not Purpose.TEST:
            continue
        enclosing = list[tuple[str, tuple[int, int]]]()
        found_titles = _find_titles(path, text)
        ordered = sorted(found_titles, key=lambda titled: (titled[1][0], -titled[1][1]))
        for (title, span), (_, following) in pairwise([*ordered, ("", (len(text) + 1, 0))]):
            enclosing = [outer for outer in enclosing if span[1] <= outer[1][1]] + [(title, span)]
            if following[0] >= span[1]:
                called_names = (name.decode() for name in _CALL.findall(text[slice(*span)]))
                titles = tuple(title for title, _ in enclosing)
                yield _Test(titles=titles, called_names=frozenset(called_names))


def _find_titles(path: str, text: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the tests of a file and what holds several, each with its bytes."""
    grammar, language = grammar_of(path), language_of(path) or ""
    for definition in definitions(path, text):
        if _TEST_NAME.search(definition.own_name):
            yield _TEST_NAME.sub("", definition.own_name), definition.span
    root = parse(grammar, text) if grammar and language in _QUERIES else None
    if root is None or is_wide(root) or grammar is None:
        return
    for captures in matches(grammar, _QUERIES[language], root):
        (called_node,), (title,), (test,) = captures["called"], captures["title"], captures["test"]
        if (called_node.text or b"").decode("utf-8", "replace") in _TITLED:
            quoted = (title.text or b"").decode("utf-8", "replace")[1:-1]
            yield quoted, (test.start_byte, test.end_byte)


_FEWEST_WORDS, _LONGEST_GIST = 5, 300
"""Telling words without those of the name, and characters of all."""
_GAP = "…"
"""Sign that replaces a word of the name."""
_WITH_TWO = 8
"""Telling words where there are two gaps; more of them, or two in a row, leave nothing to go by."""
_DOCSTRING = re.compile(rb'[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_NOTHING = re.compile(rb"\s*(?:(?:pass|\.\.\.|raise NotImplementedError[^\n]*)\s*)?")
"""A body that others have to write."""
_INNER = re.compile(rb"^\s*(?:async\s+)?(?:def|class)\s", re.MULTILINE)
_BLOCK = re.compile(r"^\s*(?:/\*\*|\*/|\*(?=\s|$))\s?|\s*\*/\s*$")
_COMMENTS = {
    "rust": re.compile(r"^\s*///\s?"),
    "go": re.compile(r"^\s*//\s?"),
    "javascript": _BLOCK,
    "typescript": _BLOCK,
}
"""How the lines of a documentation begin, by language. What stands above a function in another
comment is rather about how it does it."""
_END_OF_SENTENCE = re.compile(
    r"^\s*$|^\s*(?:[@#\-+>\\]|\*\s|:(?!\w+:`)|```|\d+\.|[A-Z][\w ]{0,20}:\s*$)"
)
"""A line after the first sentences: tags, lists, headings, code."""
_SAYS_LITTLE = re.compile(
    r"https?:|\b(?:deprecated|todo|fixme|xxx|see|alias|same as|similar to|like|nolint|eslint|"
    r"implements?|note|above|below|default implementation)\b|[{}<>|=]|#\[|#\d|:$|"
    r"^(?:technically|we)\b|^shared (?:by|between)\b|"
    r"^(?:only )?(?:used|called) (?:by|from|in|internally|when)\b",
    re.IGNORECASE,
)
"""Text that points elsewhere, is code, or says who needs it."""
_ROLE = re.compile(r":\w+:`[~!]?([^`]*)`|`(`[^`]*`)`")
_TOKEN = re.compile(r"`[^`]*`\S*|\S+")


def first_sentence(code: Code, definition: Definition) -> str | None:
    """Return the first sentence of its documentation, without the name that it begins with; `None`
    where that points elsewhere."""
    text = " ".join(_first_lines(_documentation(code, definition)))
    sentence = sentences(_ROLE.sub(lambda role: role[2] or f"`{role[1]}`", text))[0]
    own_name = rf"^(?:(?:The|An?)\s+)?`*{re.escape(definition.own_name)}(?:\(\))?`*\s+(?:is\s+)?"
    sentence = re.sub(own_name, "", sentence)
    return None if _SAYS_LITTLE.search(sentence) or len(sentence) > _LONGEST_GIST else sentence


def is_abstract(code: Code, definition: Definition) -> bool:
    """Tell whether what does it is written elsewhere: in Python there is nothing but the
    documentation."""
    body = code.texts[definition.path][definition.name_at : definition.span[1]]
    match = _DOCSTRING.search(body)
    return match is not None and _NOTHING.fullmatch(body, match.end()) is not None


def description(sentence: str, name: str) -> str | None:
    """Put a gap for each part of a name into a sentence; `None` where that says too little."""
    without = replace_names(sentence, name)
    if without is None:
        return None
    fewest = _WITH_TWO if without.count(_GAP) == 2 else _FEWEST_WORDS
    return f"{without[:1].upper()}{without[1:]}" if len(telling_words(without)) >= fewest else None


def replace_names(sentence: str, name: str) -> str | None:
    """Put a gap for each word that begins like a part of a name; `None` where more than two are
    needed, or two in a row."""
    parts = beginnings(name)
    tokens = [_GAP if _is_part(token, parts) else token for token in _TOKEN.findall(sentence)]
    without = " ".join(tokens)
    return None if tokens.count(_GAP) > 2 or f"{_GAP} {_GAP}" in without else without


def _is_part(token: str, parts: set[str]) -> bool:
    """Tell whether a word of a sentence is a part of a name, or one of its forms."""
    return any(
        word.startswith(part) or part.startswith(word)
        for word in beginnings(token)
        for part in parts
    )


def _first_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines up to the first that is none of a sentence."""
    nonblank = dropwhile(lambda line: not line.strip(), lines)
    yield from map(str.strip, takewhile(lambda line: not _END_OF_SENTENCE.match(line), nonblank))


def _documentation(code: Code, definition: Definition) -> list[str]:
    source = code.texts[definition.path]
    language = language_of(definition.path) or ""
    if language == "python":
        body = source[definition.name_at : definition.span[1]]
        match = _DOCSTRING.search(body)
        if match is None or not body[: match.start()].rstrip().endswith(b":"):
            return []
        return [] if _INNER.search(body[: match.start()]) else _lines(match[2])
    lines_above = _lines(source[: source.rfind(b"\n", 0, definition.span[0]) + 1])
    comment = _COMMENTS[language]
    comments = list(takewhile(comment.match, reversed(lines_above)))
    return [comment.sub("", line) for line in reversed(comments)]


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").splitlines()
