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

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"")
_TASK_HEADING = re.compile(r"^\s*(?:#+\s*)?task\s*:?\s*$", re.IGNORECASE | re.MULTILINE)
_SUFFIXES = ("ations", "ation", "ings", "ing", "ments", "ment", "ies", "ers", "ed", "es", "s")


@dataclass(frozen=True, kw_only=True)
class _Idea:
    roots: tuple[str, ...]
    related: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Vocabulary:
    stop_words: frozenset[str]
    ideas: dict[str, _Idea]
    """By every word that names the idea."""


@cache
def _vocabulary() -> _Vocabulary:
    data = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
    ideas = {
        word: _Idea(roots=tuple(idea["roots"]), related=tuple(idea["related"]))
        for idea in data["ideas"]
        for word in idea["words"].split()
    }
    return _Vocabulary(stop_words=frozenset(data["stop_words"].split()), ideas=ideas)


@dataclass(frozen=True, kw_only=True)
class Term:
    """One idea to look for."""

    word: str
    """As it is named in the answer."""
    roots: tuple[str, ...]
    """Beginnings of words that stand for it in code, the most specific first. Lower case, or an
    identifier exactly as the task spells it."""
    related: tuple[str, ...] = ()
    """Beginnings of words that are often near it, and weaker evidence."""
    weight: float
    exact: bool = False
    """The task spells out an identifier: nothing else is meant."""


def task_of(prompt: str, tools: Sequence[ToolSpec]) -> str:
    """The task within a prompt.

    A mode may put instructions before it. What stands after a heading `Task` is the task;
    without one, paragraphs that name an MCP server or one of its tools are instructions.
    """
    headings = list(_TASK_HEADING.finditer(prompt))
    if headings and prompt[headings[-1].end() :].strip():
        return prompt[headings[-1].end() :].strip()
    names = {part.lower() for tool in tools for part in _mcp_names(tool.name)}
    paragraphs = re.split(r"\n\s*\n", prompt)
    kept = [part for part in paragraphs if not names & set(_words(part.lower()))]
    return "\n\n".join(kept).strip() or prompt


def terms_of(task: str) -> tuple[Term, ...]:
    """The terms of a task, the most important first; at most five.

    Quoted words and identifiers count most, then words in the order they are mentioned.
    """
    found: dict[str, Term] = {}
    for word in _identifiers(task):
        found.setdefault(word.lower(), Term(word=word, roots=(word,), weight=3.0, exact=True))
    position = 0
    for word in _words(task):
        lower = word.lower()
        if len(lower) < 3 or lower in _vocabulary().stop_words or lower in found:
            continue
        idea = _vocabulary().ideas.get(lower) or _Idea(roots=(stem(lower),), related=())
        if idea.roots[0] not in found:
            # The first words of a task name its subject; later ones colour it.
            weight = max(1.0, 2.0 - 0.2 * position)
            found[idea.roots[0]] = Term(
                word=lower, roots=idea.roots, related=idea.related, weight=weight
            )
            position += 1
    ranked = sorted(found.values(), key=lambda term: -term.weight)
    return tuple(ranked[:MAX_TERMS])


def stem(word: str) -> str:
    """The beginning that the forms of a word share, at least four letters."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word.removesuffix(suffix)
    return word


def _identifiers(task: str) -> list[str]:
    quoted = [first or second for first, second in _QUOTED.findall(task)]
    named = [word for text in quoted for word in _words(text) if len(word) >= 3]
    return named + [word for word in _words(task) if _is_identifier(word)]


def _is_identifier(word: str) -> bool:
    """`snake_case` and `camelCase` do not occur in prose."""
    return "_" in word.strip("_") or re.search(r"[a-z][A-Z]", word) is not None


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _mcp_names(tool: str) -> list[str]:
    parts = tool.split("__")
    return parts[1:] if parts[0] == "mcp" else []
