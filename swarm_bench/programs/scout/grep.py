"""Searches files for an expression, with ripgrep when it is installed.

Both ways give the same result: the file list is ours in both, ripgrep only counts matching
lines, and it is asked only for expressions that mean the same to it and to Python.
Files are first searched for a plain string that the expression cannot match without: that runs at
ten times the speed of an expression.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.programs.scout.workspace_files import MAX_FILE_BYTES, Files, Refused

# Letters, digits, plain punctuation, the common escapes, classes without set operations,
# groups without flags, ranges with numbers, lazy but not possessive quantifiers.
_SAME_TO_BOTH = re.compile(
    r"(?:[\w \"'#%&,/:;<=>@`~!.|^$-]|\\[bBwWsSdD.()\[\]|*+?{}^$-]"
    r"|\[\^?(?:(?!--|\|\|)(?:[\w .,:;/(){}<=>+*?$|-]|\\[wsd.\[\]]))+\]"
    r"|\((?:\?:)?|\)|\{\d+(?:,\d*)?\}\??|[*?+]\??(?!\+))+",
    re.ASCII,
)


@dataclass(frozen=True)
class Query:
    """A checked expression. Matching is by line and by byte: `\\w` means ASCII letters."""

    source: str
    ignore_case: bool
    expression: re.Pattern[bytes]
    literals: tuple[bytes, ...]
    """Every match has one of them; empty when there may be none. Lower case if case is ignored."""

    @classmethod
    def parse(cls, source: str, *, ignore_case: bool = False) -> "Query":
        """Check an expression. Raises `Refused` when it is not a regular expression."""
        flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
        try:
            expression = re.compile(source.encode("utf-8", "replace"), flags)
        except (re.error, RecursionError, OverflowError) as error:
            raise Refused(f"{source!r} is not a regular expression: {error}") from error
        literals = find_required(source) or []
        if ignore_case:
            literals = [literal.lower() for literal in literals]
        return cls(source, ignore_case, expression, tuple(literals))

    @cached_property
    def _finder(self) -> re.Pattern[bytes]:
        """Finds every line that can match, and some more."""
        if not self.literals:
            return self.expression
        flags = re.IGNORECASE if self.ignore_case else 0
        return re.compile(b"|".join(re.escape(literal) for literal in self.literals), flags)

    def possible(self, data: bytes) -> bool:
        """Return False when no line can match."""
        if not self.literals:
            return True
        searched = data.lower() if self.ignore_case else data
        return any(literal in searched for literal in self.literals)

    def lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield number (from 1) and content of every line that matches."""
        number, counted_to, position = 1, 0, 0
        while (match := self._finder.search(data, position)) is not None:
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.start())
            end = len(data) if end < 0 else end
            if start == len(data):
                return  # an empty match behind the last line
            number += data.count(b"\n", counted_to, start)
            counted_to = start
            # `\s` and `[^x]` also match a line break; a line has to match by itself.
            if self.expression.search(data, start, end):
                yield number, data[start:end].removesuffix(b"\r")
            position = end + 1
            if position > len(data):
                return


def counts(query: Query, files: Files, paths: Sequence[str]) -> dict[str, int]:
    """Count matching lines by file, in the order of `paths`; files without one are omitted."""
    ripgrep = shutil.which("rg")
    if ripgrep and len(paths) > 1 and _SAME_TO_BOTH.fullmatch(query.source):
        return _count_with_ripgrep(ripgrep, query, files, paths)
    return _count_with_python(query, files, paths)


def _count_with_python(query: Query, files: Files, paths: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in paths:
        data = files.text(path)
        if data and query.possible(data) and (count := sum(1 for _ in query.lines(data))):
            counts[path] = count
    return counts


def _count_with_ripgrep(
    ripgrep: str, query: Query, files: Files, paths: Sequence[str]
) -> dict[str, int]:
    options = ["--no-config", "--no-ignore", "--hidden", "--no-messages", "--no-unicode", "--text"]
    options += ["--encoding", "none", "--count", "--null", "--color", "never"]
    options += ["--max-filesize", str(MAX_FILE_BYTES), "--glob", "!.git/", "--glob", "!.canopy/"]
    options += ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    command = [ripgrep, *options, "--regexp", query.source, "--", "."]
    done = subprocess.run(  # exit code 2 means that some file could not be read
        command, cwd=files.root, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not done.stdout):
        message = done.stderr.decode("utf-8", "replace").strip()
        raise Refused(f"ripgrep failed with exit code {done.returncode}: {message[:300]}")
    counts: dict[str, int] = {}
    for line in done.stdout.split(b"\n"):
        name, _, count = line.partition(b"\0")
        if count.isdigit():
            counts[name.decode("utf-8", "surrogateescape").removeprefix("./")] = int(count)
    # Ripgrep searches more than we list, and binary files; ours is the list that counts.
    return {path: counts[path] for path in paths if path in counts and files.text(path) is not None}


_TOKEN = re.compile(
    r"(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<other>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$])"
    r"|(?P<optional>[?*]\??|\{[^}]*\}\??)|(?P<repeat>\+\??)|(?P<letter>.)",
    re.DOTALL,
)
_NOT_READ = re.compile(r"\(\?[^:]|\\[xuUN0-9]|[*+?}]\+")
_Set = tuple[str, ...]
"""A match contains at least one of them. Empty: there may be none."""


def find_required(source: str) -> list[bytes] | None:
    """List strings of at least two letters, one of which is in every match; `None` if there may be
    none.

    `source` is a valid expression.
    """
    if not source.isascii() or _NOT_READ.search(source):
        return None
    literals = _alternation(_tokens(source))
    return [literal.encode() for literal in literals] if literals else None


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    for token in _TOKEN.finditer(source):
        yield token.lastgroup or "other", token[0]


def _alternation(tokens: Iterator[tuple[str, str]]) -> _Set:
    """Read up to the closing parenthesis of a group, or to the end."""
    branches: list[_Branch] = [_Branch()]
    for kind, text in tokens:
        match kind:
            case "close":
                break
            case "bar":
                branches.append(_Branch())
            case "open":
                branches[-1].group(_alternation(tokens))
            case _:
                branches[-1].token(kind, text)
    sets = [branch.best() for branch in branches]
    return tuple(literal for literals in sets for literal in literals) if all(sets) else ()


class _Branch:
    """One alternative: letters in a row, and groups, each of which a match must contain."""

    def __init__(self) -> None:
        self._run = ""
        self._sets: list[_Set] = []
        self._last_is_group = False

    def token(self, kind: str, text: str) -> None:
        if kind == "letter":
            self._run += text
        elif kind == "optional":
            self._drop_last()
        else:
            self._end_run()
        self._last_is_group = False

    def group(self, literals: _Set) -> None:
        self._end_run()
        self._sets.append(literals)
        self._last_is_group = True

    def best(self) -> _Set:
        self._end_run()
        good = [literals for literals in self._sets if literals and min(map(len, literals)) > 1]
        return max(good, key=lambda literals: (min(map(len, literals)), -len(literals)), default=())

    def _drop_last(self) -> None:
        if self._last_is_group:
            self._sets.pop()
        self._run = self._run[:-1]
        self._end_run()

    def _end_run(self) -> None:
        if self._run:
            self._sets.append((self._run,))
        self._run = ""
