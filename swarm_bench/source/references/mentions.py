"""The files that prose names: in words, code spans, links and addresses."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from swarm_bench.source.references.marking import MARKS, has_mark
from swarm_bench.source.references.meanings import Spelling, can_be_file, meaning_of
from swarm_bench.source.references.snapshot import Snapshot

STOPS = r"\s\0`\"'<>()\[\]{},;|*=&…“”‘’„«»‹›→←—（）、。，；：！？「」【】†"
"""Characters that only a marked name can have, as a class of a pattern has them."""
_TOKEN = re.compile(
    r"(?P<url>\b(?!file:)[a-z][a-z+.-]{1,15}://(?:/?\([\w-]{1,40}\)(?=/))?[^\s<>\"'`)\]}|]{1,2000})"
    r"|(?P<double>``(?:[^`\n]|`(?!`)){1,400}``)"
    r"|`(?P<span>[^`\n]{1,400})`"
    r"|\]\((?P<target>[^()\s]{1,400})\)"
    # Most words have no mark of a path, and are not stopped at.
    rf"|(?<![^{STOPS}])(?P<word>[^{STOPS}./\\]*+[./\\][^{STOPS}]*+"
    rf"|[A-Z][a-z]+file(?:[:#](?:L?\d[^{STOPS}]*+)?)?(?![^{STOPS}]))"
)
_WRAPPED = re.compile(r"\r?\n[ \t>]{0,20}([\w./:#-]{1,200})")
_BRACES = re.compile(r"\{[^{}\s]{1,200}\}[\w./-]{0,100}")
_ASCII = re.compile(rf"[\w.+~@:#/\\–{MARKS}-]+", re.ASCII)
_ARGUMENT = re.compile(r"[^\s`\"'()\[\]{}<>,;|=]++(?![(\[{<])")
"""A word of a command or of source that is not called there."""
_FORGE = re.compile(
    r"(?:/(?:blob|tree|raw|src|edit|blame|browse)/|/\+/|//raw\.[^/]+/[^/]+/[^/]+/)"
    r"(?:branch/|commit/|tag/|refs/heads/|refs/tags/)?(.+)\Z"
)
"""Text before the revision and the path in an address of a forge."""
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+/", re.ASCII)
_MOST_OF_REVISION = 5
"""Segments that the name of a branch may have."""
_AUTHORITY = re.compile(
    r"\A[a-z+.-]+://?(?:/[^?]{1,500}/(?:contents|\.)(?=/)|/?(?:repo|files?|contents|workspace|project))?/"
)
"""Text before the path in an address of a server of its own, or of a bundler."""
_QUERY_PATH = re.compile(r"[?&](?:path|file|file_path|uri)=([^&#]+)")
_LINE = re.compile(r"\?(?:[^#]*&)?(?:start_?)?line=(\d{1,9})(?![^&#]).*|[?][^#]*", re.IGNORECASE)
_FRAGMENT = re.compile(r"#(?!L?\d).*")
_WRITTEN_ENDS = re.compile(r"(?<!\\)\\+[nrt]")
_TO = r"(?:\s{0,3}(?:-|–|—|to)\s{0,3}L?(\d{1,9}))?"
_LINES_AFTER = re.compile(
    r"[`\"'*_)\]]{0,4}\s{0,2}[,:]?\s{0,2}[(\[]?[`*]{0,2}(?:at |on )?"
    r"(?:[Ll]ines?:?|ll?\.|L\.?)\s{0,2}(\d{1,9})" + _TO
)
_LINES_BEFORE = re.compile(
    r"\b(?:[Ll]ines?|L)\s{0,2}(\d{1,9})" + _TO + r"\s{1,2}(?:of|in|from)\s{1,2}[`\"'*_(\[]{0,4}\Z"
)
_NAME = re.compile(r"`?([A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?:\(\))?`?\Z")
_NEAR = 60
"""Characters around a mention in which its lines may stand."""
MAX_MENTIONS = 5000
"""Most mentions in one text."""
_MAX_WORD = 400


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A part of a text that names a file."""

    start: int
    end: int
    text: str
    spelling: Spelling
    path: str | None


def mentions(text: str, snapshot: Snapshot) -> list[Mention]:
    """Return the files that a text names, in its order."""
    result: list[Mention] = []
    end = 0
    for token in _TOKEN.finditer(text):
        if len(result) >= MAX_MENTIONS:
            break
        kind = token.lastgroup or ""
        inner = token[kind].strip("`<>")
        if token.start() < end or not can_be_file(inner, is_alone=kind in ("span", "target")):
            continue
        if kind == "target":
            _link(text, token, snapshot, result)
        elif kind == "word" and (braces := _match_braces(text, token)):
            end = braces.end()
            result.extend(_braces(text[token.start() : end], token.start(), snapshot))
        elif kind == "word" and (wrapped := _join_wrapped(text, token, snapshot)):
            end = wrapped.end
            result.append(wrapped)
        elif kind == "word" and _is_rest(text, token):
            result.extend(_find_remaining(token[0], token.start(), snapshot))
        elif kind != "word" or not _is_glob(text, *token.span()):
            result.extend(_READERS[kind](token[kind], token.start(kind), snapshot))
    return [_add_lines(text, mention) for mention in result]


def _join_wrapped(text: str, token: re.Match[str], snapshot: Snapshot) -> Mention | None:
    """Find a file whose path goes on in the next line, behind a `/`."""
    remainder = _WRAPPED.match(text, token.end()) if token[0].endswith("/") else None
    if not remainder:
        return None
    mention = find_mention(token[0] + remainder[1], token.start(), snapshot, is_alone=False)
    return replace(mention, end=remainder.end()) if mention and mention.path else None


def _link(text: str, token: re.Match[str], snapshot: Snapshot, result: list[Mention]) -> None:
    """Add what a link leads to, once: its text may name the file too, or a symbol of it."""
    target = token["target"].strip("<>")
    at = token.start("target") + token["target"].startswith("<")
    read = _address if "://" in target and not target.startswith("file:") else _span
    for mention in read(target, at, snapshot):
        opening = text.rfind("[", max(0, token.start() - 200), token.start())
        if opening >= 0 and result and result[-1].start > opening:
            if result[-1].path == mention.path:
                result.pop()
        elif opening >= 0 and (symbol := _symbol(text[opening + 1 : token.start()], mention.text)):
            mention = replace(mention, spelling=replace(mention.spelling, symbol=symbol))
        result.append(mention)


def _symbol(label: str, path: str) -> str | None:
    """Read the symbol that a link to a file is labelled with."""
    name = _NAME.match(label)
    return name[1] if name and name[1] != path else None


def _address(address: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the file of this repository that a link to a forge leads to, or an address of a
    server of its own."""
    if not address.startswith("http") or _QUERY_PATH.search(address):
        yield from _resource(address, at, snapshot)
    elif match := _FORGE.search(address):
        remainder = match[1].rstrip(".,:")
        yield from _find_whole(_behind_revision(remainder), at + match.start(1), snapshot)


def _behind_revision(remainder: str) -> Iterator[str]:
    """Yield what may be the path behind a revision, which is one segment more often than not."""
    remainder = _FRAGMENT.sub("", _LINE.sub("", remainder))
    yield unquote(remainder.partition("/")[2])
    for _ in range(_MOST_OF_REVISION + 1):
        if "/" in remainder or has_mark(remainder):
            yield unquote(remainder)
        remainder = remainder.partition("/")[2]


def _resource(address: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the file whose path an address ends with, or asks for."""
    query = _QUERY_PATH.search(address)
    path = address.rstrip(".,:") if query is None else query[1]
    path = _LINE.sub(lambda line: f":{line[1]}" if line[1] else "", path)
    _, _, remainder = path.rpartition("://")
    candidates = [remainder, _AUTHORITY.sub("", path)]
    if snapshot.root:
        folder = snapshot.root.rpartition("/")[2]
        candidates += [remainder.partition(snapshot.root)[2], remainder.removeprefix(folder + "/")]
    yield from _find_whole(
        [unquote(candidate).lstrip("/") for candidate in candidates], at, snapshot
    )


def _find_whole(candidates: Iterable[str], at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the file whose whole path one of the words is."""
    for candidate in candidates:
        mention = find_mention(candidate, at, snapshot, is_alone=False)
        if mention and mention.path == mention.text:
            yield mention
            return


def _span(span: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the file that a code span consists of, or those in a command."""
    inner = span.strip()
    at += len(span) - len(span.lstrip())
    if "{" in inner and (mentions_found := list(_braces(inner, at, snapshot))):
        yield from mentions_found
    elif "{" not in inner and (mention := find_mention(inner, at, snapshot, is_alone=True)):
        yield mention
    elif not inner.isalnum():
        yield from _command(inner, at, snapshot)


def _command(command: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the files of the repository that are words of a command, or of quoted source."""
    for word in _ARGUMENT.finditer(command):
        for mention in _word(word[0], at + word.start(), snapshot):
            if mention.path:
                yield mention


def _word(word: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    mention = find_mention(word, at, snapshot, is_alone=False)
    if (mention is None or mention.path is None) and "\\" in word:
        mentions_found = list(_between_ends(word, at, snapshot))
        yield from mentions_found or ([mention] if mention else [])
    elif mention:
        yield mention
    elif _HOST.match(word):
        yield from _address(f"https://{word}", at - len("https://"), snapshot)
    elif not word.isascii():
        for part in _ASCII.finditer(word):
            if mention := find_mention(part[0], at + part.start(), snapshot, is_alone=False):
                yield mention


def _between_ends(word: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the files of a word in which the ends of lines are written as in a literal."""
    start = 0
    for end in (*_WRITTEN_ENDS.finditer(word), None):
        part = word[start : end.start() if end else None]
        mention = find_mention(part, at + start, snapshot, is_alone=False) if part != word else None
        if mention and mention.path:
            yield mention
        start = end.end() if end else len(word)


def _is_rest(text: str, token: re.Match[str]) -> bool:
    """Tell whether a word is what stands behind the brackets in `app/[id]/page.tsx`."""
    return token[0][0] in "/\\" and text[max(0, token.start() - 1) : token.start()] in (*")]}",)


def _find_remaining(word: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the file that is meant if what stands before its path is a word for its place; the end
    of the path of another file is none."""
    for mention in _word(word, at, snapshot):
        is_whole = mention.path is None or mention.text.endswith(mention.path)
        yield mention if is_whole else replace(mention, path=None)


def find_mention(word: str, at: int, snapshot: Snapshot, *, is_alone: bool) -> Mention | None:
    """Find the file that a word means, if it means any. `is_alone` says that the word is set apart
    from others."""
    if (len(word) > _MAX_WORD and not has_mark(word)) or not can_be_file(word, is_alone=is_alone):
        return None
    if (meaning := meaning_of(word, snapshot, is_alone=is_alone)) is None:
        return None
    end = at + len(word.rstrip(".,:!?"))
    return Mention(
        start=at, end=end, text=meaning.text, spelling=meaning.spelling, path=meaning.path
    )


def _is_glob(text: str, start: int, end: int) -> bool:
    """Tell whether a word is a part of `src/*.py`."""
    letter_before, letter_after = text[max(0, start - 1) : start], text[end : end + 1]
    if letter_before in ("*", "?") and text[start] in "./_":
        return not (text[start] != "/" and _is_emphasized(text, start, end))
    return letter_after == "*" and text[end - 1] in "/_" and not text.startswith("**", end)


def _is_emphasized(text: str, start: int, end: int) -> bool:
    """Tell whether a word stands between asterisks: `**.github/a.yml**`."""
    return any(
        text.endswith(marks, 0, start) and text.startswith(marks, end) for marks in ("**", "*")
    )


def _match_braces(text: str, token: re.Match[str]) -> re.Match[str] | None:
    """Find the braces behind a word, but for those of a command of TeX."""
    return None if token[0][0] == "\\" else _BRACES.match(text, token.end())


def _braces(text: str, at: int, snapshot: Snapshot) -> Iterator[Mention]:
    """Yield the files of `src/{a,b}.py`."""
    head, _, remainder = text.partition("{")
    names, _, tail = remainder.partition("}")
    if "," in names:
        for name in names.split(","):
            mention = find_mention(head + name + tail.rstrip("."), at, snapshot, is_alone=False)
            if mention and mention.path:
                yield replace(mention, end=at + len(text))


def _add_lines(text: str, mention: Mention) -> Mention:
    """Add the lines that stand beside a mention: `a.py (line 3)`, `lines 3-5 of a.py`."""
    if mention.spelling.first_line is not None:
        return mention
    near = text[mention.end : mention.end + _NEAR]
    preceding = text[max(0, mention.start - _NEAR) : mention.start]
    lines = _LINES_AFTER.match(near) or _LINES_BEFORE.search(preceding)
    if not lines:
        return mention
    first, last = int(lines[1]), int(lines[2]) if lines[2] else None
    return replace(
        mention,
        spelling=replace(
            mention.spelling,
            first_line=first or None,
            last_line=last if last and last >= first else None,
        ),
    )


_READERS = {"url": _address, "double": _command, "span": _span, "word": _word}
