"""Passages of code that a model writes questions about, and which questions are not asked."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.changes import has_copy
from swarm_bench.datasets.making.code import Code, code_of, describe_kind, order_randomly, parts_of
from swarm_bench.datasets.making.made import UnsuitableCandidate, joined_id
from swarm_bench.datasets.making.messages import beginnings, first_words, names_file, telling_words
from swarm_bench.source.definitions import Definition
from swarm_bench.source.files import Files
from swarm_bench.text.languages import language_of

QUESTIONS = "questions"
"""The kind of task that a model writes."""
LONGEST_ANSWER = 4_000
"""Characters of an answer in which a question is looked for."""
FEWEST_LINES = 4
"""Fewest lines of a definition that says something."""
_CONTEXT_LINES, _LONGEST = 8, 6_000
"""Lines before and behind it, characters of all."""
_SHORTEST_NAME = 4
_LONGEST_QUESTION, _FEWEST_WORDS, _FEWEST_TELLING = 300, 6, 3
_MOST_RARE = 1
_RARE_IN, _RARE_SHARE = 2, 0.05
"""A word is rare that so many files have at most, or such a share of them."""
_NAME = re.compile(r"[^\W\d][\w$]*")
_IS_NO_WORD = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]|\d")
_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_OPENING = r"[\s*#>_\"'“‘-]*"
_LABEL = re.compile(rf"^{_OPENING}(?:(?:question|q)\s*\d*\s*[:.)]|\d+\s*[.)]\s)?{_OPENING}", re.I)
_CLOSING = "\"'*_”’ "
_CODE = re.compile(r"https?:|www\.|[`$|<>{}\\/;=\[\]]|\w\(|--\w")


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A function or class, with the lines around it."""

    definition: Definition
    text: str

    @property
    def path(self) -> str:
        return self.definition.path

    @property
    def name(self) -> str:
        return describe_kind(self.definition)


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Passages of a tree, one of each file."""

    passages: tuple[Passage, ...]
    """Drawn by the seed."""
    tree: Tree
    commit: str
    files_with: Mapping[str, int]
    """Number of source files that have a word, by its beginning."""
    rare: int
    """Most files in which a rare word stands."""

    def check(self, passage: Passage) -> None:
        """Raise `UnsuitableCandidate` where the file could not be known."""
        if has_copy(self.tree, [passage.path]):
            raise UnsuitableCandidate("its file has a copy in the repository")

    def question(self, answer: str, passage: Passage) -> str:
        """Return the question that a model wrote. Raises `UnsuitableCandidate` for an
        answer without one, and for a question in the words of the passage."""
        question = _question_in(unicodedata.normalize("NFKC", answer))
        if names_file(question, [passage.path]) or _names_one_of(question, _identifiers(passage)):
            raise UnsuitableCandidate("an identifier of the passage in the question")
        shared = beginnings(question) & beginnings(passage.text)
        if sum(self.files_with.get(word, 0) <= self.rare for word in shared) > _MOST_RARE:
            raise UnsuitableCandidate("two rare words of the passage in the question")
        return question

    def task(self, question: str, passage: Passage) -> Task:
        """Make the task that asks a question."""
        definition = passage.definition
        return Task(
            id=joined_id("question", *parts_of(definition)),
            title=f"Question about {passage.name}",
            prompt=question,
            keywords=first_words(telling_words(question)),
            commit=self.commit,
            key=AnswerKey(files=(passage.path,), symbols=(definition.symbol,)),
            tags=(QUESTIONS, language_of(passage.path) or ""),
        )


def find_passages(tree: Tree, commit: str, seed: int, files: Files) -> Passages:
    """Find what can be asked about in a tree."""
    code = code_of(tree, files)
    ordered = order_randomly(_long_ones(code), Random(f"{seed}/{QUESTIONS}"))
    by_file = dict[str, Definition]()
    for definition in ordered:
        by_file.setdefault(definition.path, definition)
    texts = (code.texts[path].decode("utf-8", "replace") for path in code.sources)
    files_with = Counter(word for text in texts for word in beginnings(text))
    return Passages(
        passages=tuple(
            Passage(definition=definition, text=_text(code.texts[definition.path], definition))
            for definition in by_file.values()
        ),
        tree=tree,
        commit=commit,
        files_with=files_with,
        rare=max(_RARE_IN, int(_RARE_SHARE * len(code.sources))),
    )


def _long_ones(code: Code) -> Iterator[Definition]:
    for definition in code.candidates():
        lines = definition.last_line - definition.first_line + 1
        if lines >= FEWEST_LINES:
            yield definition


def _text(source: bytes, definition: Definition) -> str:
    """Return the lines of a definition, with some around them."""
    lines = source.decode("utf-8", "replace").split("\n")
    first = max(0, definition.first_line - 1 - _CONTEXT_LINES)
    return "\n".join(lines[first : definition.last_line + _CONTEXT_LINES])[:_LONGEST]


def _question_in(answer: str) -> str:
    if not answer.strip():
        raise UnsuitableCandidate("no answer, or one that was cut at its longest")
    if len(answer) >= LONGEST_ANSWER:
        raise UnsuitableCandidate("an answer too long to be a question")
    lines = [line.rstrip(_CLOSING) for line in answer.splitlines()]
    questions = [line for line in lines if line.endswith("?")]
    if len(questions) != 1 or questions[0].count("?") > 1:
        raise UnsuitableCandidate(
            "no question, or more than one" if questions else "no question in the answer"
        )
    question = " ".join(_LABEL.sub("", questions[0], count=1).split())
    if not question.isprintable():
        raise UnsuitableCandidate("characters in the question that cannot be seen")
    if _CODE.search(question):
        raise UnsuitableCandidate("code, a path or an address in the question")
    if len(question) > _LONGEST_QUESTION:
        raise UnsuitableCandidate("too long a question")
    term_count = len(telling_words(question))
    if len(question.split()) < _FEWEST_WORDS or term_count < _FEWEST_TELLING:
        raise UnsuitableCandidate("a question that says too little")
    return question


def _identifiers(passage: Passage) -> Iterator[str]:
    """Yield the names that what is asked about has, and those in its passage that are no plain
    words."""
    yield from parts_of(passage.definition)
    for name in set(_NAME.findall(passage.text)):
        if len(name) >= _SHORTEST_NAME and _IS_NO_WORD.search(name) and beginnings(name):
            yield name


def _names_one_of(question: str, names: Iterable[str]) -> bool:
    """Tell whether a question has one of the names, also spelled as words, or in one piece."""
    text, plain = f" {_split_name(question)} ", _plain(question)
    return any(
        f" {_split_name(name)} " in text or _match_letters(name).search(plain) for name in names
    )


def _split_name(text: str) -> str:
    return " ".join(part.lower() for part in _PART.findall(text))


def _plain(text: str) -> str:
    """Return letters without their marks, and without their case."""
    return unicodedata.normalize("NFKD", text).casefold()


def _match_letters(name: str) -> re.Pattern[str]:
    """Make an expression for the letters of a name, whatever stands between them."""
    letters = r"[\W_]*".join(filter(str.isalnum, _plain(name)))
    return re.compile(rf"(?<![^\W_]){letters}(?![^\W_])")
