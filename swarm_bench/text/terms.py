"""Search terms, drawn from a task by fixed rules.

A term is one idea of the task: the word itself and, where `vocabulary.toml` has it, words that
code uses for the same idea.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from swarm_bench.core.ports import ToolSpec

MAX_TERMS = 5
MAX_KEYWORDS = 12

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"")
_CALLERS = re.compile(
    r"\b(?:call(?:s|ed|ers?|ing)?|uses?|used|using|usages?|invoke[sd]?|refers?|references?|"
    r"depends? on|imports?|has to change|breaks?)\b",
    re.IGNORECASE,
)
_FORM = re.compile(r"\s*answer\b", re.IGNORECASE)
_SUFFIXES = ("ations", "ation", "ings", "ing", "ments", "ment", "ies", "ers", "ed", "es")


@dataclass(frozen=True, kw_only=True)
class _Idea:
    roots: tuple[str, ...]
    related: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Vocabulary:
    function_words: frozenset[str]
    """Function words of English: no question in keywords has them."""
    stop_words: frozenset[str]
    """Function words, and the words of instructions."""
    unasked: frozenset[str]
    """The words of a sentence that no tool is asked for."""
    ideas: dict[str, _Idea]
    """Ideas by every word that names them."""


@cache
def _vocabulary() -> _Vocabulary:
    data = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    ideas = {
        word: _Idea(roots=tuple(idea["roots"]), related=tuple(idea["related"]))
        for idea in data["ideas"]
        for word in idea["words"].split()
    }
    function_words = frozenset(data["function_words"].split())
    stop_words = function_words | frozenset(data["stop_words"].split())
    small_words, subjects = data["small_words"].split(), data["subjects"].split()
    return _Vocabulary(
        function_words=function_words,
        stop_words=stop_words,
        unasked=stop_words.union(small_words).difference(subjects),
        ideas=ideas,
    )


@dataclass(frozen=True, kw_only=True)
class Term:
    """One idea to look for."""

    word: str
    """Word for the idea, as it is named in the answer."""
    roots: tuple[str, ...]
    """Beginnings of words that stand for it in code, the most specific first. Lower case, or an
    identifier exactly as the task spells it."""
    related: tuple[str, ...] = ()
    """Beginnings of words that are often near it, and weaker evidence."""
    weight: float
    exact: bool = False
    """The task spells out an identifier: nothing else is meant."""


def task_of(prompt: str, tools: Sequence[ToolSpec], instructions: Sequence[str] = ()) -> str:
    """Extract the task from a prompt.

    A mode may put `instructions` before it, and a suite the form of the answer behind it.
    Paragraphs that name an MCP tool are instructions too, one that begins with "Answer" is about
    the form. So the same task gives the same terms in every mode.
    """
    prompt = _drop_instructions(prompt, instructions)
    names = {part for tool in tools for part in _list_mcp_names(tool.name)}
    paragraphs = re.split(r"\n\s*\n", prompt)
    task_parts = [
        part
        for part in paragraphs
        if not names & set(_words_in(part.lower())) and not _FORM.match(part)
    ]
    return "\n\n".join(task_parts).strip() or prompt


def _drop_instructions(prompt: str, instructions: Sequence[str]) -> str:
    texts = filter(None, map(str.strip, instructions))
    # One mode's may begin with another's.
    for text in sorted(texts, key=len, reverse=True):
        if prompt.lstrip().startswith(text):
            return prompt.lstrip().removeprefix(text).lstrip() or prompt
    return prompt


def terms_of(task: str) -> tuple[Term, ...]:
    """Choose the terms of a task, the most important first; at most five.

    Quoted words and identifiers count most, then words that the vocabulary knows, then others;
    among equals the earlier one.
    """
    terms: dict[str, Term] = {}
    for word in _find_identifiers(task):
        terms.setdefault(word.lower(), Term(word=word, roots=(word,), weight=3.0, exact=True))
    position = 0
    for word in _words_in(task):
        lower = word.lower()
        if len(lower) < 3 or lower in _vocabulary().stop_words or lower in terms:
            continue
        idea = _vocabulary().ideas.get(lower) or _Idea(roots=(stem(lower),), related=())
        if idea.roots[0] not in terms:
            # The first words of a task name its subject; later ones colour it.
            weight = (2.0 if idea.related else 1.0) * max(0.5, 1.0 - 0.1 * position)
            terms[idea.roots[0]] = Term(
                word=lower, roots=idea.roots, related=idea.related, weight=weight
            )
            position += 1
    ranked = sorted(terms.values(), key=lambda term: -term.weight)
    return tuple(ranked[:MAX_TERMS])


def used_name(task: str, terms: Sequence[Term]) -> str | None:
    """Return the name whose uses a task asks for; `None` where it asks for none."""
    names = (term.word for term in terms if term.exact)
    return next(names, None) if _CALLERS.search(task) else None


def keywords_of(question: str) -> list[str]:
    """List the words of a question that tell what it is about, in its order and as it spells them:
    those of a sentence that are no words of instructions, all of keywords; the question itself
    where it has none."""
    spelled = dict[str, str]()
    for word in _NAME.findall(question):
        if len(word) > 1:
            spelled.setdefault(word.lower(), word)
    keywords, vocabulary = list(spelled), _vocabulary()
    if vocabulary.function_words.intersection(keywords):
        keywords = [word for word in keywords if word not in vocabulary.unasked]
    return [spelled[word] for word in keywords[:MAX_KEYWORDS]] or [question]


def search_stems(text: str) -> frozenset[str]:
    """Collect the beginnings, in lower case, of everything in a text that can be looked for in
    code: its words and the parts of its names, with the other words that code uses for them."""
    parts = {
        part.casefold() for word in _LETTERS.findall(text) for part in (word, *_HUMP.findall(word))
    }
    vocabulary = _vocabulary()
    searchable = {part for part in parts if len(part) >= 3 and part not in vocabulary.stop_words}
    ideas = [vocabulary.ideas[part] for part in searchable if part in vocabulary.ideas]
    roots = {root for idea in ideas for root in idea.roots}
    return frozenset({stem(part) for part in searchable} | roots)


def stem(word: str) -> str:
    """Cut a word to the beginning that its forms share."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 5:
            return word.removesuffix(suffix)
    plural = word.endswith("s") and not word.endswith("ss") and len(word) > 3
    return word[:-1] if plural else word


def _find_identifiers(task: str) -> list[str]:
    quoted = [first or second for first, second in _QUOTED.findall(task)]
    quoted_words = [word for text in quoted for word in _words_in(text) if len(word) >= 3]
    return quoted_words + [word for word in _words_in(task) if _is_identifier(word)]


def _is_identifier(word: str) -> bool:
    """Tell whether a word is in `snake_case` or `camelCase`, which do not occur in prose."""
    return "_" in word.strip("_") or re.search(r"[a-z][A-Z]", word) is not None


def _words_in(text: str) -> list[str]:
    return _WORD.findall(text)


def _list_mcp_names(tool: str) -> list[str]:
    """List what a prompt calls an MCP tool, unless that can be an English word."""
    parts = tool.lower().split("__", 2)
    return [name for name in (tool.lower(), parts[-1]) if parts[0] == "mcp" and "_" in name]
