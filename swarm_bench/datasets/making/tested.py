"""What a definition does, in the names of its tests and without its own."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from swarm_bench.datasets.making.code import Code
from swarm_bench.datasets.making.described import replace_names
from swarm_bench.datasets.making.messages import telling_words
from swarm_bench.source.definitions import Definition, definitions, is_supported
from swarm_bench.source.files import Purpose
from swarm_bench.source.grammars import grammar_of, is_wide, matches, parse
from swarm_bench.text.languages import language_of

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
"""What makes a function or class a test, in its name."""
_CALL = re.compile(rb"([A-Za-z_$][\w$]*)(?:<[^<>()]*>)?(?:\(|\{)")
_PART = re.compile(r"[A-Z]+v\d+|[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]")
_SHORTEST = 8
"""Letters of a name that is more than one word and may stand anywhere in a title."""
_MAX_TITLES, _FEWEST_OF_ONE, _FEWEST = 3, 2, 7
"""Titles of a question; telling words of each, and of all."""
_LONGEST = 120
_CODE = re.compile(r"[{}<>|=\\$\n]|https?:|#\d|\bissues?\b|\bbugs?\b")
"""What is no sentence, or points elsewhere."""


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
