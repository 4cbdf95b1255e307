"""What MCP tools answered, call by call, as digests: whether two answers are equal, whether there
is nothing in one, and how much. The texts themselves are not kept."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from swarm_bench.core.outcome import ToolAnswer
from swarm_bench.runtime.mcp.results import json_values, read_result
from swarm_bench.text.answer_kinds import kind_of

_DIGITS = 12
_MAX_VALUES = 1000

_MAX_LINE = 500
_MAX_PHRASES = 50
_HEADING = 2
"""Lines at the beginning that can repeat a question."""
_QUOTES = "\"'`«»“”‘’"
_LABEL = (
    r"(?:for|of|about|matching|quer(?:y|ies)|q|search(?:ed|ing)?|questions?|patterns?|terms?|"
    r"keywords?|topics?|prompt|text)"
)
"""Text before a question that is repeated without quotes."""
_BETWEEN = (
    r"(?:[\s,;|&+]{1,4}(?:(?:and|or)\s)?|"
    rf"[{_QUOTES}](?:\s?[,;|&+]|\s(?:and|or)\b)?\s?[{_QUOTES}])"
)
_END = r"(?![\w/\\(-]|\.\w)"
"""Position that is not in the middle of a name or a path."""
_PATH = re.compile(r"[/\\]|\w\.[A-Za-z]\w{0,5}\b")
_RESULT = re.compile(
    r"^[ \t]|\w\.[A-Za-z]\w{0,5}\b|^\d+[\t:|]|[;{}]$|^\w+(?:: ?\w+)? ?= |^@|^//|"
    r"^(?:export |public |private |static |async |pub )*"
    r"(?:def|class|return|raise|import|from|func|function|fn|const|let|var|throw) "
)
"""Signs that a line is of a program, or names a file: it is a result of the search."""
_ID_KEY = frozenset({"request", "trace", "span", "correlation", "session"})
"""Words of a key, beside `id`, whose value is of a call and not of its answer."""
_FOOT = re.compile(r"\b(?:results?|match(?:es)?|hits?|found|search|query|took)\b", re.IGNORECASE)
"""Words of a last line that is about the answer."""
_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_CLOCK = frozenset(
    {"ms", "msec", "millis", "milliseconds", "seconds", "secs", "sec", "time", "duration"}
    | {"elapsed", "took", "timestamp", "latency"}
)
_QUESTION_KEYS = frozenset(
    {"query", "queries", "q", "question", "questions", "pattern", "patterns", "search", "term"}
    | {"terms", "keyword", "keywords", "input", "request", "prompt", "arguments", "args", "params"}
    | {"parameters", "searched"}
)
"""Words of keys whose value repeats a question, wherever they stand."""
_LOCATION = frozenset({"path", "paths", "file", "files", "filename", "uri", "url", "location"})
"""Words of keys whose value is a location, though it was asked for."""
_UNITS = "(?:ms|msecs?|milliseconds?|µs|s|secs?|seconds?)"
_TIME = re.compile(
    rf"(?<![\w.])\d{{1,15}}(?:\.\d{{1,15}})? ?{_UNITS}\b|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
)
_ID = re.compile(
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|"
    r"\b(?=[0-9]{0,64}[a-f])(?=[a-f]{0,64}[0-9])[0-9a-f]{8,64}\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.:/\\-])(?<!\bline )(?<!\blines )(?<! to )(?<! and )\d{1,20}(?![\w:/\\-]|\.\w| \w)"
)
"""Number that counts no things, and is not the number of a line."""
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


def digest_answer(tool: str, arguments: object, content: object) -> ToolAnswer:
    """Digest a result."""
    questions = sorted(set(_iterate_texts(arguments)))
    result = read_result(content)
    text = result.text if result is not None and result.is_complete else None
    kind = kind_of(text) if text is not None else None
    return ToolAnswer(
        tool=tool,
        question=_digest(" ".join(questions)) if questions else None,
        answer=None if text is None else _digest(_remove_echo(text, questions)),
        bytes=None if text is None else len(text.encode("utf-8", "replace")),
        kind="images" if result is not None and result.is_images else kind,
    )


def _iterate_texts(value: object) -> Iterator[str]:
    """Yield all texts in the arguments of a call, normalized: a limit or a switch asks nothing
    else."""
    if isinstance(value, str):
        if text := " ".join(value.casefold().split()):
            yield text
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _iterate_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _iterate_texts(inner)


def _remove_echo(text: str, questions: list[str]) -> str:
    """Remove from an answer the question that it repeats, the time that it took, and ids, by which
    two equal answers would differ."""
    echo = _Echo(questions)
    try:
        remaining = "\n".join(_parts_without_echo(text.strip(), echo)) or text
    except RecursionError:
        remaining = text
    return _remove_marks(_ID.sub("", remaining))


def _parts_without_echo(text: str, echo: "_Echo") -> Iterator[str]:
    """Yield the first JSON values and the texts between them, in order."""
    at = 0
    for begin, end, value in islice(json_values(text), _MAX_VALUES):
        yield from _text_without_echo(text[at:begin].strip(" \t\r\n,"), echo)
        yield json.dumps(echo.strip_value(value), sort_keys=True)
        at = end
    yield from _text_without_echo(text[at:], echo)


def _text_without_echo(text: str, echo: "_Echo") -> Iterator[str]:
    if text.strip():
        remaining = _remove_marks(
            "\n".join(map(_remove_numbers, echo.strip_text(text).splitlines()))
        )
        yield _remove_question(remaining, echo.phrases)


def _remove_numbers(line: str) -> str:
    """Remove the numbers of a line that is no result of the search."""
    if len(line) > _MAX_LINE or _RESULT.search(line):
        return line
    return _NUMBER.sub("", _TIME.sub("", line))


class _Echo:
    """A question, and the time that its answer took, as they stand in the answer.

    The words of the question are removed only where a heading, a last line, or a value beside the
    results repeats them as a question: in a location, or in code, they are the result."""

    def __init__(self, questions: list[str]) -> None:
        self._terms = frozenset(term for text in questions for term in text.split())
        phrases = [text for text in questions if len(text) <= _MAX_LINE][:_MAX_PHRASES]
        self.phrases = phrases
        terms = [term for text in phrases for term in text.split()][:_MAX_PHRASES]
        many = f"(?:{_match_some(phrases)}|{_match_some(terms)})"
        self._echo = re.compile(
            rf"(?P<label>\b{_LABEL}[\s:=]{{0,3}}[\[(]?)[{_QUOTES}]?{many}[{_QUOTES}]?[\])]?{_END}"
            rf"|[{_QUOTES}]{many}[{_QUOTES}]{_END}",
            re.IGNORECASE,
        )
        self._alone = re.compile(rf"[#*\s>=-]*[{_QUOTES}]?{many}[{_QUOTES}]?[*:\s]*", re.IGNORECASE)

    def strip_text(self, text: str) -> str:
        """Remove what the first two lines and the last one repeat."""
        lines = text.splitlines()
        nonblank = [at for at, line in enumerate(lines) if line.strip()]
        if len(nonblank) > 1 and self._alone.fullmatch(lines[nonblank[0]][:_MAX_LINE]):
            lines[nonblank[0]] = ""
        for at in nonblank[:_HEADING]:
            if (remaining := self._strip_line(lines[at], last=at == nonblank[-1])) is None:
                break
            lines[at] = remaining
        if len(nonblank) > 1 and _FOOT.search(foot := lines[nonblank[-1]][-_MAX_LINE:]):
            lines[nonblank[-1]] = self._strip_line(foot, last=True) or lines[nonblank[-1]]
        return "\n".join(lines)

    def _strip_line(self, line: str, *, last: bool) -> str | None:
        """Remove what a line repeats; `None` for a line of results. The last one may be all of
        them, so a path in it is no echo."""
        if len(line) > _MAX_LINE:
            return None
        if line.startswith("<"):
            tag, closed, remaining = line.partition(">")
            return self._echo.sub(_label, tag) + closed + remaining
        timeless = _TIME.sub("", line)
        keeps = last and _PATH.search(timeless)
        remainder = timeless if keeps else self._echo.sub(_label, timeless)
        return None if _RESULT.search(remainder) else remainder

    def strip_value(self, value: Any) -> Any:
        """Remove from JSON the keys that repeat, and the echo in the texts beside its results."""
        if not isinstance(value, dict):
            return self._strip_inside(value, in_list=False)
        remaining = {key: item for key, item in value.items() if not self._repeats(key, item)}
        return self._strip_inside(remaining or value, in_list=False)

    def _repeats(self, key: str, value: Any) -> bool:
        """Tell whether a value of the outermost object is the question, by whatever name."""
        return isinstance(value, str) and not _LOCATION & _key_words(key) and self._is_asked(value)

    def _strip_inside(self, value: Any, *, in_list: bool) -> Any:
        if isinstance(value, list):
            return [self._strip_inside(item, in_list=True) for item in value]
        if isinstance(value, dict):
            return {
                key: self._strip_inside(item, in_list=in_list)
                for key, item in value.items()
                if not _is_time(key, item)
                and not _is_id(key)
                and not (_QUESTION_KEYS & _key_words(key) and self._is_asked(item))
            }
        return self.strip_text(value) if isinstance(value, str) and not in_list else value

    def _is_asked(self, value: Any) -> bool:
        """Tell whether it has texts, and all their words are the question's."""
        terms = {term for text in _iterate_texts(value) for term in text.split()}
        return bool(terms) and terms <= self._terms


def _match_some(phrases: list[str]) -> str:
    """Return a pattern for some of the phrases, the longest first, in sequence."""
    by_length = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    alternatives = (
        "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in by_length) or "(?!)"
    )
    # Without a way back: phrases that are parts of others fit a text in very many ways.
    return f"(?>(?:{alternatives})(?:{_BETWEEN}(?:{alternatives})){{0,{_MAX_PHRASES}}}+)"


def _label(match: re.Match[str]) -> str:
    return match["label"] or ""


def _is_time(key: str, value: Any) -> bool:
    if not _CLOCK & _key_words(key) or isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (
        isinstance(value, str) and not _TIME.sub("", value[:_MAX_LINE]).strip()
    )


def _is_id(key: str) -> bool:
    parts = _key_words(key)
    return "id" in parts and bool(_ID_KEY & parts)


@lru_cache
def _key_words(key: str) -> frozenset[str]:
    """Split a key: `took_ms` and `tookMs` are two words each."""
    return frozenset(word.lower() for word in _KEY_WORD.findall(key[:_MAX_LINE]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def _remove_marks(text: str) -> str:
    """Remove what is of the call from an answer that names no place; another one stays, since
    what looks like a mark may be what was found."""
    stripped = _TOKEN.sub(_unless_random, _MARK.sub("", text))
    is_json = stripped[:1] in ("{", "[")
    return text if _LOCATES.search(stripped[1:-1] if is_json else stripped) else stripped


def _remove_question(text: str, questions: Sequence[str]) -> str:
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
