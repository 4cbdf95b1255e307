"""What stands in an answer because of the call, and not because of what was found: times, ids,
addresses of objects, numbers of processes, and the question itself."""

import re
from collections.abc import Sequence

_UNITS = "(?:ms|msecs?|milliseconds?|µs|s|secs?|seconds?)"
TIME = re.compile(
    rf"(?<![\w.])\d{{1,15}}(?:\.\d{{1,15}})? ?{_UNITS}\b|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
)
ID = re.compile(
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|"
    r"\b(?=[0-9]{0,64}[a-f])(?=[a-f]{0,64}[0-9])[0-9a-f]{8,64}\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"(?<![\w.:/\\-])(?<!\bline )(?<!\blines )(?<! to )(?<! and )\d{1,20}(?![\w:/\\-]|\.\w| \w)"
)
"""One that counts no things, and is of no line."""

_MARK = re.compile(
    r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b|\b0x[0-9a-f]{4,16}\b|"
    r"\b(?:pid|worker|process|thread|node|host|job|task|pod|attempt)[-#:= ]{1,2}\d{1,20}\b",
    re.IGNORECASE,
)
"""A time of day, an address in memory, a number of who answered."""
_TOKEN = re.compile(r"(?<![\w+/=.-])[A-Za-z0-9+/]{10,200}={0,2}(?![\w+/=-]|\.\w)")
_CHANGES = 0.35
"""Share of the places between two characters of a random token: in names it is fewer."""
_LOCATES = re.compile(
    r"[/\\]|\w\.[A-Za-z]\w{0,5}\b|\blines? \d|:\d|^[ \t]|^\d+[\t:|]|[;{}]$|^\w+(?:: ?\w+)? ?= |^@|"
    r"^(?:export |public |private |static |async |pub )*"
    r"(?:def|class|return|raise|import|from|func|function|fn|const|let|var|throw) ",
    re.MULTILINE,
)
"""A path, a line of a file, or a line of a program."""
_GENERIC = frozenset(
    {"code", "file", "files", "index", "query", "result", "results"} | {"search", "server", "tool"}
)
"""Words that stand in an answer whatever is asked, so one of them alone is no echo."""


def remove_marks(text: str) -> str:
    """Remove what is of the call from an answer that names no place; another one stays, since
    what looks like a mark may be what was found."""
    stripped = _TOKEN.sub(_unless_random, _MARK.sub("", text))
    is_json = stripped[:1] in ("{", "[")
    return text if _LOCATES.search(stripped[1:-1] if is_json else stripped) else stripped


def remove_question(text: str, questions: Sequence[str]) -> str:
    """Remove the whole question from wherever an answer that names no place repeats it, but not
    where it is all of the answer."""
    if _LOCATES.search(text):
        return text
    stripped = text
    for terms in sorted((question.split() for question in questions), key=len, reverse=True):
        if terms and (len(terms) > 1 or (terms[0] not in _GENERIC and len(terms[0]) > 2)):
            phrase = r"[\W_]{1,3}".join(map(re.escape, terms))
            stripped = re.sub(rf"(?<![^\W_]){phrase}(?![^\W_])", "", stripped, flags=re.IGNORECASE)
    return stripped if re.search(r"\w", stripped) else text


def _unless_random(match: re.Match[str]) -> str:
    return "" if _is_random(match[0]) else match[0]


def _is_random(token: str) -> bool:
    """Tell whether a token is made by a generator: two runs of digits among its letters, or kinds
    of characters that hardly repeat."""
    if re.fullmatch(r"[A-Za-z]+(?:/[A-Za-z0-9]+)+", token) and not re.search(r"\d[A-Za-z]", token):
        return False  # a path
    kinds = [
        "d" if character.isdigit() else "u" if character.isupper() else "l" for character in token
    ]
    changes = sum(this != following for this, following in zip(kinds, kinds[1:], strict=False))
    digits = len(re.findall(r"\d+", token))
    return (
        digits > 1 and any(character.isalpha() for character in token)
    ) or changes >= _CHANGES * len(token)
