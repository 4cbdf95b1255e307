"""Full-text queries that cannot fail, made of what a user typed.

Words must all occur in a node. What is glued together without a space (`foo.bar`, `job-queue`)
must occur side by side. `OR` between words separates alternatives; a trailing `*` means any ending.
"""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"[^\W_]+")
MAX_TOKENS = 64
"""Words of a query, and parts of a word, that count; more only cost time."""


def terms(text: str) -> list[str]:
    """List distinct lower-case words; what is no letter, digit or underscore separates them."""
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


def fts_query(text: str) -> str | None:
    """Build the full-text query; None when the text has no word in it."""
    groups: list[list[str]] = [[]]
    for word in text.split()[:MAX_TOKENS]:
        if word in ("OR", "|", "||"):
            groups.append([])
        elif word != "AND" and (glued := phrase(word)):
            groups[-1].append(glued)
    clauses = [" AND ".join(group) for group in groups if group]
    if len(clauses) > 1:
        return " OR ".join(f"({group})" for group in clauses)
    return clauses[0] if clauses else None


def combine(texts: Sequence[str], operator: str) -> str | None:
    """Join the queries of several texts by AND or OR."""
    queries = [query for text in texts[:MAX_TOKENS] if (query := fts_query(text))]
    return f" {operator} ".join(f"({query})" for query in queries) or None


def phrase(word: str) -> str:
    """Quote the tokens of a word side by side; nothing if it has neither letter nor digit."""
    tokens = _TOKEN.findall(word)[:MAX_TOKENS]
    if not tokens:
        return ""
    ending = "*" if word.endswith("*") and len(tokens[-1]) > 1 else ""
    return f'"{" ".join(tokens)}"{ending}'
