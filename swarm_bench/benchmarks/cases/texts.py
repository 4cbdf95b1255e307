"""What benchmarks of models do to texts: where an answer ends, and which part of it is the code."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from textwrap import dedent

from swarm_bench.benchmarks.cases.python_code import (
    Blocks,
    defines,
    find_code,
    find_defined,
    find_stubs,
    is_prose,
    parse_python,
    repair,
)
from swarm_bench.config.text_file import MARK
from swarm_bench.core.roles.language_model import Completion

PYTHON = frozenset({"python", "python2", "python3", "py", "py2", "py3", "ipython", "ipython3"})
SQL = frozenset({"sql", "sqlite", "sqlite3", "mysql", "postgresql", "postgres", "tsql", "plsql"})
JAVA = frozenset({"java"})
"""Names of a language in fences, in lower case."""
_MAX_BLOCKS = 200
"""Blocks of an answer that are looked at."""
_ITEM_MARK = r"(?:[-*+]|\d{1,9}[.)])"
_ITEM = rf"(?:{_ITEM_MARK}[ \t]+)?"
_FENCE = re.compile(rf"^([ \t]*{_ITEM})(`{{3,}}|~{{3,}})([^\n]*)$", re.M)
_GLUED = re.compile(r"\A([^`]*[^\s`])[ \t]*(?=`{3,}[\w+#.-]*[ \t]*\n)")
"""Text in the line of the first fence."""
_TAGGED = re.compile(
    r"(?P<mark>\[(?:PYTHON|CODE)\])[ \t]*\n?(?P<code>.*?)(?:\[/(?:PYTHON|CODE)\]|\Z)"
    r"|<pre><code[^>\n]{0,80}>\n?(?P<page>.*?)(?:</code>|\Z)",
    re.S,
)
"""Marks of code by CodeLlama, and by pages."""
_IN_LINE = re.compile(r"`{3}([^`\n]+)`{3}")
_GLUED_CODE = re.compile(r"[ \t]*\w+[ \t]+(?=(?:def|class|import|from|async)[ \t]|@\w)")
"""Code in the line of its fence."""
_QUOTES = re.compile(r"\"\"\"|'''")
_LANGUAGE = re.compile(r"[{.\s]*(?:language-|lang=)?([\w+#]+)")


@dataclass(frozen=True, kw_only=True)
class Block:
    """Code between two fences."""

    language: str
    """Language in lower case, as the fence of the block has it; empty for none."""
    text: str
    """Text of the block, without the indentation of its fence."""
    begin: int
    end: int
    """Position of the end in the text; `begin` is that of the first character."""
    is_closed: bool = True
    """Whether a fence ends it."""


def cut(completion: Completion, stops: Iterable[str]) -> str:
    """Return the answer up to the first of the stop words; nothing is trimmed."""
    text = completion.text
    if completion.whole:
        return text
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def unify_lines(text: str) -> str:
    """Return a text whose lines end with a line feed, and begin with no byte order mark."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(f"^{MARK}", "", text, flags=re.M)


def find_program(
    text: str,
    languages: Collection[str] = PYTHON,
    *,
    names: Sequence[str] = (),
    sign: re.Pattern[str] | None = None,
) -> str:
    """Return the code of a chat's answer, or the answer where it has no block of code.

    Of several blocks that is the first which its fence says to be in the language and which defines
    what is asked, `names`, or where nothing is, has the `sign` of a whole program; otherwise the
    first one in the language, otherwise the first that is Python, otherwise the first. Blocks of
    nothing but definitions, of which it uses some that it has not, are put in front of it. Where
    no fences say where Python begins and ends, its lines do.
    """
    text, has = _add_fences(unify_lines(text)), _Requirement(names, sign)
    found_blocks, in_python = find_blocks(text), "python" in languages
    codes = [has.level(repair(block.text)) if in_python else block.text for block in found_blocks]
    trees = [parse_python(dedent(code)) if in_python else None for code in codes]
    python = Blocks(codes, trees)

    def rank(number: int) -> tuple[int, int]:
        language, parses = found_blocks[number].language, trees[number] is not None
        code = codes[number] if names else python.add_helpers(number)
        count = has.count_met(code, trees[number])
        if count and (parses or language in languages):
            return (0 if parses and language in languages else 1 if parses else 2), -count
        if language in languages:
            return 3, bool(parses and has.stubs(trees[number]))
        return (4 if not language and (parses or not in_python) else 5 if parses else 6), 0

    best = min(range(len(found_blocks)), key=rank, default=None)
    if best is None:
        return _find_lines(text, has) if in_python else _find_tagged(text)
    code, block = codes[best], found_blocks[best]
    if trees[best]:
        return python.add_helpers(best, names)
    is_whole = block.is_closed and block.language in ("", *PYTHON) and has.is_all_in(code)
    return code if is_whole or not in_python else find_code(text, has.is_all_in) or code


@dataclass(frozen=True)
class _Requirement:
    """What a program must have."""

    names: Sequence[str]
    sign: re.Pattern[str] | None

    def count_met(self, code: str, tree: ast.Module | None) -> int:
        """Count what it has of that; a function that does nothing only says what is asked, and
        definitions alone are half of a program."""
        if not self.names:
            has_sign = self.sign is not None and self.sign.search(code) is not None
            return has_sign + (has_sign and tree is not None and find_defined(tree) is None)
        missing = self.stubs(tree)
        return sum(name not in missing and defines(code, name) for name in self.names)

    def stubs(self, tree: ast.Module | None) -> set[str]:
        """Return what it only repeats of that."""
        return find_stubs(tree) & {*self.names} if tree else set()

    def level(self, code: str) -> str:
        """Return a program without the indentation of all of it; the body of a function has its
        own."""
        is_body = not self.sign and not self.count_met(code, None)
        return code if is_body else dedent(code)

    def is_all_in(self, code: str) -> bool:
        needed = max(len(self.names), 1)
        return (
            self.count_met(code, None) >= needed
            and self.count_met(code, parse_python(code)) >= needed
        )


def _find_lines(text: str, has: _Requirement) -> str:
    """Return what is Python in a text without a block, or all of it."""
    code = has.level(repair(_find_tagged(text)))
    tree = parse_python(dedent(code))
    if tree and not any(map(is_prose, (*tree.body[:1], *tree.body[-1:]))):
        return code
    return find_code(text, has.is_all_in) or code


def _add_fences(text: str) -> str:
    """Put the first fence on a line of its own, out of a quotation too."""
    if re.match(r"(?:[^`]*\n)?>[ \t]?`{3}", text):
        text = re.sub(r"^>[ \t]?", "", text, flags=re.M)
    glued = _GLUED.match(text)
    if glued is None or re.fullmatch(_ITEM_MARK, glued[1].rpartition("\n")[2].strip()):
        return text
    return f"{glued[1]}\n{text[glued.end() :]}"


def _find_tagged(text: str) -> str:
    """Return the code between other marks than fences, or the text where there are none."""
    match = _TAGGED.search(text)
    if match is None or parse_python(text.strip()):
        return text
    return match["code"] if match["mark"] else unescape(match["page"])


def find_blocks(text: str) -> list[Block]:
    """Return the blocks of code of a Markdown text; those in a line each where there are no
    others."""
    return list(islice(_find_fenced(text), _MAX_BLOCKS)) or [
        _read_inline(match) for match in islice(_IN_LINE.finditer(text), _MAX_BLOCKS)
    ]


def _find_fenced(text: str) -> Iterator[Block]:
    """Yield what stands between fences. One that names a language begins a block, also where the
    block before it has no end; one within a string of Python is none."""
    fences = list(_FENCE.finditer(text))
    number = 0
    while number < len(fences):
        opening = fences[number]
        number += 1
        if "`" in opening[3] or opening.end() == len(text):  # it ends in its line
            continue
        closing = _find_end(text, fences, number)
        last = fences[closing] if closing < len(fences) else None
        begin, end = _find_begin(text, opening), last.start() if last else len(text)
        code = text[begin:end]
        if last is None or _is_begin(last):
            closed = rf"{re.escape(opening[2])}(?:[ \t].*)?$"
            code = re.split(closed, code, maxsplit=1, flags=re.M)[0]
        else:
            number = closing
        number = closing if last is None or _is_begin(last) else closing + 1
        yield Block(
            language=_read_language(opening[3]),
            text=_drop_indentation(code, len(opening[1].expandtabs(4))),
            begin=begin,
            end=end,
            is_closed=last is not None,
        )


def _find_begin(text: str, opening: re.Match[str]) -> int:
    """Return where a block begins: below its fence, or behind the language."""
    glued = _GLUED_CODE.match(opening[3])
    return opening.start(3) + glued.end() if glued else min(opening.end() + 1, len(text))


def _find_end(text: str, fences: Sequence[re.Match[str]], first: int) -> int:
    """Return the number of the fence that ends the block of the fence before `first`. A fence
    within quotes does so only where what ends with a later one is no Python."""
    opening, doubted, quotes = fences[first - 1], None, ""
    at = begin = _find_begin(text, opening)
    may_be_python = _read_language(opening[3]) in {"", *PYTHON}
    for number in range(first, len(fences) + 1):
        fence = fences[number] if number < len(fences) else None
        if fence and not _is_end(fence, opening):
            continue
        end = fence.start() if fence else len(text)
        for match in _QUOTES.finditer(text, at, end) if may_be_python else ():
            quotes = "" if quotes == match[0] else quotes or match[0]
        at = end
        if quotes and fence:
            doubted = number if doubted is None else doubted
        elif doubted is None or parse_python(dedent(text[begin:end])):
            return number
        else:
            break
    assert doubted is not None
    return doubted


def _is_end(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Tell whether a fence ends the block of another: it is as long, and says nothing, or what the
    next block is."""
    mark = opening[2]
    return fence[2][0] == mark[0] and len(fence[2]) >= len(mark) and "`" not in fence[3]


def _is_begin(fence: re.Match[str]) -> bool:
    return bool(fence[3].strip())


def _read_inline(match: re.Match[str]) -> Block:
    language, _, code = match[1].strip().partition(" ")
    is_named = language.lower() in PYTHON | SQL | JAVA
    return Block(
        language=language.lower() if is_named else "",
        text=code.strip() if is_named else match[1].strip(),
        begin=match.start(1),
        end=match.end(1),
    )


def _read_language(info: str) -> str:
    """Return what a fence calls the language: `python`, `{.python}`, `Python title="a"`, `a.py`."""
    if re.match(r"\s*[\w./-]+\.py\b", info):
        return "python"
    match = _LANGUAGE.match(info)
    return match[1].lower() if match else ""


def _drop_indentation(code: str, width: int) -> str:
    return re.sub(rf"^[ \t]{{1,{width}}}", "", code, flags=re.M) if width else code
