"""Regular expressions for the terms, in the subset that ripgrep and Python read alike."""

import re
from collections.abc import Iterable

from swarm_bench.text.terms import Term

_KEYWORDS = "def|class|func|fn|function|interface|type|struct|trait|enum|impl|module|const"
_MODIFIERS = (
    r"(?:export |default |pub |public |private |protected |static |abstract |async |final )*"
)
# What follows a name that is defined. Without it, "function returns a value" in a comment would
# define `returns`.
_END_OF_NAME = (
    r"(?:\s*[(:{<=\[;]|\s*$|\s+(?:extends|implements|for|where|struct|interface|func|map)\b)"
)
DEFINITION = re.compile(
    rf"^\s*{_MODIFIERS}(?P<kind>{_KEYWORDS})\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w*){_END_OF_NAME}"
)
"""A line that defines something, in the languages that look like Python, Go, Rust or JavaScript."""
HEADING = re.compile(r"^#{1,6}\s+(?P<name>\S.*)$")


def match_mention(term: Term) -> str:
    """Build the pattern of lines that mention a term: beginnings of words, in three spellings. Case
    matters, because a search that ignores case is slow and finds `auth` in everything."""
    return "|".join(_spellings(root, exact=term.exact) for root in term.roots)


def match_related(terms: Iterable[Term]) -> str:
    """Build the pattern of lines that have a word often near the terms; empty when there is
    none."""
    roots = dict.fromkeys(root for term in terms for root in term.related)
    return "|".join(_spellings(root, exact=False) for root in roots)


def match_mentions(terms: Iterable[Term]) -> str:
    """Build the pattern of lines that mention any of the terms."""
    return "|".join(match_mention(term) for term in terms)


def match_definitions(terms: Iterable[Term]) -> str:
    """Build the pattern of lines that define something whose name has a term in it."""
    roots = [root for term in terms for root in term.roots]
    names = "|".join(_match_in_name(root) for root in roots)
    return rf"^\s*{_MODIFIERS}(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?\w*(?:{names})\w*{_END_OF_NAME}"


def match_definition_of(names: Iterable[str]) -> str:
    """Build the pattern of lines that define one of the names."""
    return (
        rf"^\s*{_MODIFIERS}(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?(?:{'|'.join(names)}){_END_OF_NAME}"
    )


def match_in_text(term: Term) -> re.Pattern[str]:
    """Compile `mention`, to look at lines that have been read."""
    return re.compile(match_mention(term))


def _spellings(root: str, *, exact: bool) -> str:
    if exact:
        return rf"\b{root}\b"
    if len(root) >= 5:
        return f"{_anywhere(root)}|{root.upper()}"
    # A short root is looked for as a whole word or a part of a name: `auth` is in `author`.
    return (
        rf"\b{_anywhere(root)}(?:s?\b|s?_|[A-Z])|_{root}(?:s?\b|s?_)"
        rf"|[a-z]{root.capitalize()}(?:s?\b|[A-Z])|\b{root.upper()}(?:\b|_)"
    )


def _match_in_name(root: str) -> str:
    """Build the pattern of a part of a name; of a short root only where the name's part ends with
    it."""
    return _anywhere(root) if len(root) >= 5 else rf"{_anywhere(root)}(?:s?\b|_|[A-Z])"


def _anywhere(root: str) -> str:
    return f"(?:{root}|{root[0].upper()}{root[1:]})"
