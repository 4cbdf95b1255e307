"""What stands around a function so that a model goes on with its documentation."""

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["go", "java", "javascript", "php", "python", "ruby"]
Phrase = Literal["goal", "explanation"]
PHRASES: Mapping[Phrase, str] = {
    "goal": "The goal of this function is to:",
    "explanation": "Explanation of the code above:",
}
QUOTES = ('"""', "'''")
_DANGLING = tuple(re.compile(rf"[^'\"]{quote}\s*$") for quote in "'\"")
"""One quote at the end: some docstrings have no more. What stands before it is dropped with it."""


def write_opener(language: Language, phrase: Phrase) -> str:
    """Return what begins a comment behind the code."""
    text = PHRASES[phrase]
    if language == "python":
        blank = " " if phrase == "goal" else ""
        return f'\n"""{blank}{text}\n'
    return f"\n{'=begin' if language == 'ruby' else '/*'} {text}\n"


def list_closers(language: Language) -> tuple[str, ...]:
    """Return what ends that comment."""
    if language == "python":
        return QUOTES
    return ("=end",) if language == "ruby" else ("*/",)


def cut_signature(code: str, docstring: str) -> str:
    """Return Python's code up to the docstring, whose quotes are open."""
    return f"{_find_head(code, docstring)}{QUOTES[0]}"


def drop_docstring(code: str, docstring: str) -> str:
    """Return Python's code without its docstring."""
    remainder = code[code.index(docstring) + len(docstring) :]
    for quotes in QUOTES:
        remainder = remainder.replace(quotes, "")
    return _find_head(code, docstring).strip().removesuffix(QUOTES[1]) + remainder


def _find_head(code: str, docstring: str) -> str:
    """Return what precedes the docstring and its quotes."""
    text = code[: code.index(docstring)]
    quotes = next((quote for quote in QUOTES if quote in text), None)
    text = text if quotes is None else text[: text.index(quotes)]
    for dangling in _DANGLING:
        if match := dangling.search(text):
            text = text[: match.start()]
    return text
