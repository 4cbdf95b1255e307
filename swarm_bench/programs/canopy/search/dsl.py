"""canopy's small query language.

    (section "s")  (grep "s")  (file "glob")  (code "s")  (definition "s")  (references "s")
    (children "p")  (children-named "p" "c")  (in-file "glob" q)  (union q…)  (intersect q…)
    (limit N q)

Texts stand in double quotes and may hold `\\n`, `\\t`, `\\r`, `\\\\` and `\\"`. What follows the
first expression is ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.nodes import Handle
from swarm_bench.programs.canopy.search.finder import Finder

MAX_DEPTH = 32
MAX_PARTS = 256
"""Expressions in one text; each of them is a search."""
MAX_COMMON = 10_000
"""Handles of one part of an intersection that are looked at."""

_SIGNATURES = {
    "section": "s",
    "grep": "s",
    "file": "s",
    "code": "s",
    "definition": "s",
    "references": "s",
    "children": "s",
    "children-named": "ss",
    "in-file": "sq",
    "union": "q*",
    "intersect": "q*",
    "limit": "nq",
}
"""Arguments of each word: s a text, n a number, q an expression, * one or more of the last."""

_TOKENS = re.compile(
    r"""\s*(?: (?P<open>\() | (?P<close>\)) | "(?P<text>(?:[^"\\]|\\.)*)"
    | (?P<number>\d{1,9})(?![\w-]) | (?P<word>[A-Za-z][\w-]*) | (?P<other>\S) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}


class DslError(ToolError):
    """The text is no expression; the message says where."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One word and its operands."""

    word: str
    texts: tuple[str, ...] = ()
    number: int = 0
    parts: "tuple[Expression, ...]" = ()


def parse_dsl(text: str) -> Expression:
    """Parse the first expression of the text.

    Raises:
        DslError: there is none, or it is wrong.
    """
    return _Parser(text).expression(1)


@dataclass(slots=True)
class _Parser:
    text: str
    position: int = 0
    parts: int = 0

    def expression(self, depth: int) -> Expression:
        self.parts += 1
        if depth > MAX_DEPTH or self.parts > MAX_PARTS:
            raise DslError(
                f"At character {self.position}: expressions are nested too deep, or are more than"
                f" {MAX_PARTS}; ask for less at once"
            )
        self._expect("open", "(")
        word = self._expect("word", "a word such as grep")
        signature = _SIGNATURES.get(word)
        if signature is None:
            names = ", ".join(_SIGNATURES)
            raise DslError(
                f"At character {self.position}: {word!r} is not known; use one of {names}"
            )
        texts: list[str] = []
        number = 0
        parts: list[Expression] = []
        for kind in signature.removesuffix("*"):
            if kind == "s":
                texts.append(_unescape(self._expect("text", "a text in double quotes")))
            elif kind == "n":
                number = int(self._expect("number", "a number"))
            else:
                parts.append(self.expression(depth + 1))
        while signature.endswith("*") and self._peek() == "open":
            parts.append(self.expression(depth + 1))
        self._expect("close", ")")
        return Expression(word, tuple(texts), number, tuple(parts))

    def _peek(self) -> str | None:
        match = _TOKENS.match(self.text, self.position)
        return match.lastgroup if match else None

    def _expect(self, kind: str, description: str) -> str:
        match = _TOKENS.match(self.text, self.position)
        if match is None or match.lastgroup != kind:
            position = match.start(match.lastgroup or 0) if match else len(self.text)
            actual = repr(match.group().strip()) if match else "the end"
            raise DslError(f"At character {position}: expected {description}, found {actual}")
        self.position = match.end()
        return match.group(kind)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text, flags=re.DOTALL)


def evaluate(expression: Expression, finder: Finder) -> Iterator[Handle]:
    """Yield the handles an expression stands for, each once.

    Raises:
        ToolError: a glob in it cannot be read.
    """
    yielded: set[str] = set()
    for handle in _evaluate_one(expression, finder):
        if handle.hex not in yielded:
            yielded.add(handle.hex)
            yield handle


def _evaluate_one(expression: Expression, finder: Finder) -> Iterator[Handle]:
    if expression.parts:
        return _combine(expression, finder)
    first = expression.texts[0]
    match expression.word:
        case "section":
            return finder.find_section(first)
        case "grep":
            return finder.find_text([first])
        case "file":
            return finder.find_files(first)
        case "code":
            return finder.find_symbol(first)
        case "definition":
            return finder.find_definition(first)
        case "references":
            return finder.find_referrers(first)
        case _:
            return finder.find_children(*expression.texts)


def _combine(expression: Expression, finder: Finder) -> Iterator[Handle]:
    parts = [evaluate(part, finder) for part in expression.parts]
    match expression.word:
        case "in-file":
            return finder.filter_by_glob(parts[0], expression.texts[0])
        case "limit":
            return islice(parts[0], expression.number)
        case "union":
            return (handle for part in parts for handle in part)
        case _:
            return _intersect(parts)


def _intersect(parts: list[Iterator[Handle]]) -> Iterator[Handle]:
    sets = [{handle.hex for handle in islice(part, MAX_COMMON)} for part in parts[1:]]
    return (handle for handle in parts[0] if all(handle.hex in ids for ids in sets))
