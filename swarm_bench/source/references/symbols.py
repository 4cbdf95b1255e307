"""Names of functions and classes: which a text ties to a file, and which it mentions at all."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from swarm_bench.source.references.mentions import Mention

_IDENTIFIER = r"[A-Za-z_$][\w$]*"
_DOTTED = rf"{_IDENTIFIER}(?:(?:\.|::|#){_IDENTIFIER}){{0,8}}"
_SPAN = re.compile(
    rf"(?<!`)`({_DOTTED})(?:\([\w\s,.*:$]{{0,80}}\))?`(?!`)"
    rf"|\*\*({_DOTTED})\*\*(?= \((?!file|import|route)\w+\))"
)
_PLAIN_NAME = re.compile(rf"(?<![\w$./:#-])({_DOTTED})(\(\))?(?![\w$/-])")
_TELLING_NAME = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|\A_\w|[\w$](?:\.|::|#)[A-Za-z_$].*\(\)\Z")

_KIND = (
    r"(?:(?:the|its|a|an|this|async|public|main) ){0,2}(?:class|function|method|struct|trait"
    r"|type|interface|enum|fn|func|def|file|module|helper|constructor|constant|variable|macro"
    r"|middleware|decorator|property|hook)(?:e?s)?"
)
_STANDS = r"(?:(?:is|are|was|lives?|stands?|sits?|and|which|that|all|both)\s+)*"
_IN = (
    rf"{_STANDS}(?:defined |implemented |declared |located |found |handled |done )?"
    rf"(?:in|at|from|of|inside|within|under)(?: {_KIND})?"
)
_BEFORE_FILE = re.compile(
    rf"[*_\s]{{0,4}}(?:\([\w ]{{1,20}}\)|{_KIND})?[\s*,]{{0,4}}"
    rf"(?:[(\[](?:in|at|from)?|—|–|-|:|@|\||→|->|{_IN}|)[\s*`(\[]{{0,6}}\Z"
)
"""Text that may stand between a name and the file that it stands in."""
_BEHIND_FILE = re.compile(
    r"(?:[`*_]{0,4},|[`*_\s)\]]{0,4}(?:—|–|-|:|\(|\||→|->|['’]s|"
    r"(?:has|defines?|contains|implements|declares|exports|provides|with)(?: \w{1,12}){0,2}|))"
    rf" ?(?:{_KIND})?[\s*`(]{{0,6}}\Z"
)
_AND = re.compile(r"[\s*]{0,3}(?:,|and|&|, and|/)[\s*]{0,3}\Z")
_LIST_START = re.compile(r"[`*]{0,3}\s?(?:—|:)\s?(?=[\w$.]+(?:\(\w+\)|:\d))")
_ENTRY = re.compile(rf"({_DOTTED})(?:\((\w+)\)|:\d{{1,9}})(?:,\s)?")
_USES = frozenset({"calls", "references", "imports", "import", "file", "route"})
_FRAME = re.compile(rf"\bat (?:async )?({_DOTTED}) \(\Z|[-*] ({_DOTTED}) \(\w+\) - \Z")
_IN_FRAME = re.compile(rf"\", line \d{{1,9}}, in ({_IDENTIFIER})")
_BREAK = re.compile(r"\n\s*(?:\n|[-*+#>|]|\d+[.)]\s)|\0")
_NEAR = 80
"""Characters between a name and the file that it stands in, at most."""


@dataclass(frozen=True)
class _Name:
    start: int
    end: int
    text: str


def names(text: str) -> tuple[str, ...]:
    """Return the names of code that a text mentions, each once: those in code spans, and others
    that are written as no word is (`Class.method()`, `snake_case`, `camelCase`)."""
    spans = [match[1] or match[2] for match in _SPAN.finditer(text)]
    plain_names = dict.fromkeys(_PLAIN_NAME.findall(text))
    telling_names = (name for name, call in plain_names if _is_telling(name + call))
    return tuple(dict.fromkeys([*spans, *telling_names]))


@lru_cache(maxsize=20_000)
def _is_telling(word: str) -> bool:
    is_plain = word.isalpha() and word[1:].islower()
    return not is_plain and _TELLING_NAME.search(word) is not None


def find_associated_names(text: str, mentions: Sequence[Mention]) -> list[list[str]]:
    """Return for each mention the names that the text says to stand in its file."""
    result = [_names_nearby(text, mention) for mention in mentions]
    starts = [mention.start for mention in mentions]
    for row in _rows(text, _names(text, mentions)):
        following = bisect_left(starts, row[-1].end)
        texts = [name.text for name in row]
        if following < len(mentions) and _is_tied(
            text, row[-1].end, starts[following], _BEFORE_FILE
        ):
            result[following] += texts
        elif following and _is_tied(text, mentions[following - 1].end, row[0].start, _BEHIND_FILE):
            between = text[mentions[following - 1].end : row[0].start]
            if between.strip("`* ") or "(" not in text[row[0].start : row[0].end]:
                result[following - 1] += texts
    return result


def _rows(text: str, ordered: Sequence[_Name]) -> Iterator[list[_Name]]:
    """Yield the names that are enumerated together."""
    row: list[_Name] = []
    for name in ordered:
        if row and not _AND.match(text[row[-1].end : name.start][:_NEAR]):
            yield row
            row = []
        row.append(name)
    if row:
        yield row


def _names(text: str, mentions: Sequence[Mention]) -> list[_Name]:
    """Find the names in code spans that are no files."""
    mention_starts = {mention.start for mention in mentions}
    return [
        _Name(match.start(), match.end(), match[1] or match[2])
        for match in _SPAN.finditer(text)
        if match.start() + 1 not in mention_starts
    ]


def _is_tied(text: str, start: int, end: int, glue: re.Pattern[str]) -> bool:
    between = text[start:end]
    if not 0 <= end - start <= _NEAR or _BREAK.search(between):
        return False
    return glue.match(between) is not None


def _names_nearby(text: str, mention: Mention) -> list[str]:
    """Read names that need no marks, since their place says what they are."""
    preceding = text[max(0, mention.start - _NEAR) : mention.start]
    if preceding.endswith(("(", " ")) and (frame := _FRAME.search(preceding)):
        return [frame[1] or frame[2]]
    if frame := _IN_FRAME.match(text, mention.end):
        return [frame[1]]
    if mention.spelling.symbol:
        return [mention.spelling.symbol]
    return list(_read_list(text, mention.end))


def _read_list(text: str, at: int) -> Iterator[str]:
    """Yield names as in `a.py: run:12, stop:30` and `a.py — run(function), stop(calls)`."""
    opening = _LIST_START.match(text, at)
    at = opening.end() if opening else len(text)
    while entry := _ENTRY.match(text, at):
        if entry[2] not in _USES:
            yield entry[1]
        at = entry.end()
