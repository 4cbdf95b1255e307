"""What a word means, if it means a file, and how a path is written: its extension, the lines behind
it, a symbol behind it."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from swarm_bench.source.references.marking import has_mark
from swarm_bench.source.references.snapshot import Ambiguous, Snapshot
from swarm_bench.text.tool_results import SCHEME

_CODE = re.compile(
    r"(?:py[ix]?|rs|go|[mc]?js|[mc]?ts|[jt]sx|vue|svelte|java|kts?|rb|php|cc|c[px]{2}|hpp|cs|swift"
    r"|scala|exs?|erl|lua|dart|zig|hs|clj|jl|ya?ml|toml)\Z"
)
"""Extensions that hardly any attribute or word ends with."""
_OTHER_FORMS = re.compile(
    r"(?:[chmr]|sh|bash|ps1|sql|md|rst|txt|json|ini|cfg|xml|html|s?css|proto|mod|lock|tf)\Z"
)
_PRODUCT = re.compile(r"(?:[A-Z][\w.]*|node|next|vue|nuxt|react|express|three|d3)\.js\Z")
_FOREIGN_HOST = re.compile(r"\A[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|in|ai)/")
_PLAIN = re.compile(r"[\w./@+~$-]+\Z")

_LINES = re.compile(
    r"(?::|#)L?(\d{1,9})(?::\d{1,9}|C\d{1,9})?(?:[-–—]L?(\d{1,9})(?::\d{1,9}|C\d{1,9})?)?:?\Z"
)
_BEHIND = re.compile(r"(\w:\d{1,9}):(?!\d).*")
"""Text behind a line of a file, in traces and in the output of searches."""
_SYMBOL = re.compile(r"([A-Za-z_$][\w$]*(?:(?:\.|::|#)[\w$]+)*)(?:\(\))?\Z")
CITED = re.compile(r"(\d{1,9}):(\d{1,9}):(?=\D)")
"""The lines before a path, as an editor has its agent cite source."""
_PUNCTUATION = ".,:!?_~"
_LIST_MARK = re.compile(r"\A(?:\d{1,3}[.)](?=[^\d\s/])|[-+])?[_~@#]*")
"""Text that may stand before a path without a blank: the mark of a list, and others."""
_ESCAPE = re.compile(r"\\([^\w\s\\]|_)")
"""Escape of a character that Markdown would read otherwise, or of a slash in JSON."""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """A word, read as a path with what may stand behind it."""

    path: str
    first_line: int | None = None
    last_line: int | None = None
    symbol: str | None = None


def spellings(word: str) -> list[Spelling]:
    """Read a word in the ways that it may be meant, the likeliest first."""
    word = SCHEME.sub("", word).strip()
    candidates = _spellings(word.replace("\\", "/"))
    if "%" in word and (decoded := unquote(word)) != word:
        candidates += _spellings(decoded)
    if "\\" not in word or "\\" in (plain := _ESCAPE.sub(r"\1", word)):
        return candidates
    return _spellings(plain) + candidates


def _spellings(word: str) -> list[Spelling]:
    if cited := CITED.match(word):
        first, last = int(cited[1]) or None, int(cited[2])
        return [Spelling(path=word[cited.end() :], first_line=first, last_line=last)]
    stripped = _BEHIND.sub(r"\1", word.rstrip(_PUNCTUATION))
    word_only = _LIST_MARK.sub("", stripped)
    candidates = [Spelling(path=word)] if word != word_only else []
    return candidates + (_parts(stripped) if stripped != word_only else []) + _parts(word_only)


def _parts(word: str) -> list[Spelling]:
    """Tell what of a word is a path, and what stands behind it."""
    candidates: list[Spelling] = []
    if lines := _LINES.search(word):
        first, last = int(lines[1]), int(lines[2]) if lines[2] else None
        path = word[: lines.start()]
        candidates += [
            Spelling(
                path=variant,
                first_line=first or None,
                last_line=last if last and last >= first else None,
            )
            for variant in dict.fromkeys((path, path.rpartition(":")[2]))
        ]
    else:
        path, _, remainder = word.partition("::" if "::" in word else "#" if "#" in word else ":")
        if symbol := _SYMBOL.match(remainder):
            candidates.append(Spelling(path=path, symbol=symbol[1]))
        candidates.append(Spelling(path=remainder))
    candidates.append(Spelling(path=word))
    return candidates


def is_path(path: str, *, is_alone: bool) -> bool:
    """Tell whether it reads as the path of a file, wherever that may be. `is_alone` says that it
    is set apart from the words around it."""
    if not _PLAIN.match(path) or _FOREIGN_HOST.match(path) or path.startswith(("../", "path/to/")):
        return False
    name = PurePosixPath(path)
    extension = name.suffix[1:].lower()
    folders = (PurePosixPath(part) for part in name.parts[:-1] if "." in part)
    if any(_CODE.search(folder.suffix[1:]) for folder in folders):
        return False
    if "@" in path or not name.stem.strip("."):
        return False
    if "/" not in path:
        return is_alone and not is_product(path) and _CODE.match(extension) is not None
    if _CODE.match(extension):
        return True
    return not path.startswith("/") and _OTHER_FORMS.match(extension) is not None


def is_product(name: str) -> bool:
    """Tell whether a name is read as that of a framework: Node.js."""
    return _PRODUCT.match(name) is not None


_BUILD_FILE = re.compile(r"[A-Z][a-z]+file(?:[:#]|\Z)")


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A file, or what reads as one."""

    text: str
    """The path as it is written."""
    spelling: Spelling
    path: str | None
    """Path in the repository."""


def can_be_file(word: str, *, is_alone: bool) -> bool:
    """Tell whether it is worth a look: a word without `.` and `/` is none more often than not."""
    if "." in word or "/" in word or "\\" in word:
        return True
    return _BUILD_FILE.match(word) is not None or (is_alone and word[:1].isupper())


@lru_cache(maxsize=20_000)
def meaning_of(word: str, snapshot: Snapshot, *, is_alone: bool) -> Meaning | None:
    """Look a word up. Kept between calls: the answers of a session name the same files."""
    if "*" in word or "://" in word.removeprefix("file://"):
        return None
    candidates = spellings(word)
    try:
        for spelling in candidates:
            name = snapshot.relative(snapshot.marks.unmark(_tidy(spelling.path)))
            if not (has_mark(spelling.path) or can_be_file(name, is_alone=is_alone)):
                continue
            path = snapshot.resolve(name) or snapshot.resolve(name.lstrip("/"))
            if path and not (is_product(name) and not path.endswith(name)):
                return Meaning(text=name, spelling=spelling, path=path)
    except Ambiguous:
        return None
    for spelling in candidates:
        if is_path(snapshot.marks.unmark(spelling.path), is_alone=is_alone):
            text = snapshot.marks.unmark(spelling.path.removeprefix("./"))
            return Meaning(text=text, spelling=spelling, path=None)
    return None


def _tidy(path: str) -> str:
    """Remove `...` before the end of a path, with what stands before it, and what leads up and
    down in it."""
    path = path.rpartition("/.../")[2].removeprefix(".../")
    return normpath(path) if any(part in path for part in ("/../", "/./", "//")) else path
