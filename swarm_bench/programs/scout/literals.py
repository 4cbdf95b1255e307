"""Plain strings that a regular expression cannot match without.

Looking for a plain string first runs at ten times the speed of an expression.
"""

import re
from collections.abc import Iterator

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
