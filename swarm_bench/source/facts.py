"""The facts of answer keys: patterns, which come from a file and can be made to take for ever."""

import time
from collections.abc import Collection
from functools import cache

import regex

SECONDS = 5.0
"""Seconds of processor time for all patterns that are looked for in one text."""
_SHARE = 0.1
"""Share of that time for one pattern, so that others need not wait for it."""


def matching(patterns: Collection[str], text: str) -> set[str]:
    """Return the patterns that match a text, whatever the case of letters; none match an answer
    that was not given. Raises `TimeoutError`."""
    if not text.strip():
        return set()
    end = time.process_time() + SECONDS
    return {pattern for pattern in patterns if _matches(pattern, text, end - time.process_time())}


def perhaps_matching(patterns: Collection[str], text: str) -> set[str]:
    """Return the patterns that match a text, or take too long to tell."""
    if not text.strip():
        return set()
    end, matched = time.process_time() + SECONDS, set[str]()
    for pattern in sorted(patterns):
        try:
            if _matches(pattern, text, min(_SHARE * SECONDS, end - time.process_time())):
                matched.add(pattern)
        except TimeoutError:
            matched.add(pattern)
    return matched


def _matches(pattern: str, text: str, seconds: float) -> bool:
    timeout = max(0.001, seconds)
    return _compile(pattern).search(text, timeout=timeout, concurrent=True) is not None


@cache
def _compile(pattern: str) -> "regex.Pattern[str]":
    """Keep them: every answer is compared with the facts of other tasks."""
    return regex.compile(pattern, regex.IGNORECASE)
