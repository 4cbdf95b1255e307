"""What a definition does, in the words of its documentation and without its name."""

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile

from swarm_bench.datasets.making.code import Code
from swarm_bench.datasets.making.messages import beginnings, sentences, telling_words
from swarm_bench.source.definitions import Definition
from swarm_bench.text.languages import language_of

_FEWEST, _LONGEST = 5, 300
"""Telling words without those of the name, and characters of all."""
_GAP = "…"
"""In the place of a word of the name."""
_WITH_TWO = 8
"""Telling words where there are two gaps; more of them, or two in a row, leave nothing to go by."""
_DOCSTRING = re.compile(rb'[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_NOTHING = re.compile(rb"\s*(?:(?:pass|\.\.\.|raise NotImplementedError[^\n]*)\s*)?")
"""A body that others have to write."""
_INNER = re.compile(rb"^\s*(?:async\s+)?(?:def|class)\s", re.MULTILINE)
_BLOCK = re.compile(r"^\s*(?:/\*\*|\*/|\*(?=\s|$))\s?|\s*\*/\s*$")
_COMMENTS = {
    "rust": re.compile(r"^\s*///\s?"),
    "go": re.compile(r"^\s*//\s?"),
    "javascript": _BLOCK,
    "typescript": _BLOCK,
}
"""How the lines of a documentation begin, by language. What stands above a function in another
comment is rather about how it does it."""
_END_OF_SENTENCE = re.compile(
    r"^\s*$|^\s*(?:[@#\-+>\\]|\*\s|:(?!\w+:`)|```|\d+\.|[A-Z][\w ]{0,20}:\s*$)"
)
"""A line after the first sentences: tags, lists, headings, code."""
_SAYS_LITTLE = re.compile(
    r"https?:|\b(?:deprecated|todo|fixme|xxx|see|alias|same as|similar to|like|nolint|eslint|"
    r"implements?|note|above|below|default implementation)\b|[{}<>|=]|#\[|#\d|:$|"
    r"^(?:technically|we)\b|^shared (?:by|between)\b|"
    r"^(?:only )?(?:used|called) (?:by|from|in|internally|when)\b",
    re.IGNORECASE,
)
"""What points elsewhere, is code, or says who needs it."""
_ROLE = re.compile(r":\w+:`[~!]?([^`]*)`|`(`[^`]*`)`")
_TOKEN = re.compile(r"`[^`]*`\S*|\S+")


def first_sentence(code: Code, definition: Definition) -> str | None:
    """Return the first sentence of its documentation, without the name that it begins with; `None`
    where that points elsewhere."""
    text = " ".join(_first_lines(_documentation(code, definition)))
    sentence = sentences(_ROLE.sub(lambda role: role[2] or f"`{role[1]}`", text))[0]
    own_name = rf"^(?:(?:The|An?)\s+)?`*{re.escape(definition.own_name)}(?:\(\))?`*\s+(?:is\s+)?"
    sentence = re.sub(own_name, "", sentence)
    return None if _SAYS_LITTLE.search(sentence) or len(sentence) > _LONGEST else sentence


def is_abstract(code: Code, definition: Definition) -> bool:
    """Tell whether what does it is written elsewhere: in Python there is nothing but the
    documentation."""
    body = code.texts[definition.path][definition.name_at : definition.span[1]]
    match = _DOCSTRING.search(body)
    return match is not None and _NOTHING.fullmatch(body, match.end()) is not None


def description(sentence: str, name: str) -> str | None:
    """Put a gap for each part of a name into a sentence; `None` where that says too little."""
    without = replace_names(sentence, name)
    if without is None:
        return None
    fewest = _WITH_TWO if without.count(_GAP) == 2 else _FEWEST
    return f"{without[:1].upper()}{without[1:]}" if len(telling_words(without)) >= fewest else None


def replace_names(sentence: str, name: str) -> str | None:
    """Put a gap for each word that begins like a part of a name; `None` where more than two are
    needed, or two in a row."""
    parts = beginnings(name)
    tokens = [_GAP if _names(token, parts) else token for token in _TOKEN.findall(sentence)]
    without = " ".join(tokens)
    return None if tokens.count(_GAP) > 2 or f"{_GAP} {_GAP}" in without else without


def _names(token: str, parts: set[str]) -> bool:
    """Tell whether a word of a sentence is a part of a name, or one of its forms."""
    return any(
        word.startswith(part) or part.startswith(word)
        for word in beginnings(token)
        for part in parts
    )


def _first_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines up to the first that is none of a sentence."""
    nonblank = dropwhile(lambda line: not line.strip(), lines)
    yield from map(str.strip, takewhile(lambda line: not _END_OF_SENTENCE.match(line), nonblank))


def _documentation(code: Code, definition: Definition) -> list[str]:
    source = code.texts[definition.path]
    language = language_of(definition.path) or ""
    if language == "python":
        body = source[definition.name_at : definition.span[1]]
        match = _DOCSTRING.search(body)
        if match is None or not body[: match.start()].rstrip().endswith(b":"):
            return []
        return [] if _INNER.search(body[: match.start()]) else _lines(match[2])
    lines_above = _lines(source[: source.rfind(b"\n", 0, definition.span[0]) + 1])
    comment = _COMMENTS[language]
    comments = list(takewhile(comment.match, reversed(lines_above)))
    return [comment.sub("", line) for line in reversed(comments)]


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").splitlines()
