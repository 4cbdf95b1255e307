"""What benchmarks of models do to texts: where an answer ends, and which part of it is the code."""

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from textwrap import dedent

from swarm_bench.config.text_file import MARK
from swarm_bench.core.roles.language_model import Completion

PYTHON = frozenset({"python", "python2", "python3", "py", "py2", "py3", "ipython", "ipython3"})
SQL = frozenset({"sql", "sqlite", "sqlite3", "mysql", "postgresql", "postgres", "tsql", "plsql"})
JAVA = frozenset({"java"})
"""What the fences of a language call it, in lower case."""
_MOST = 1_000
"""Blocks of an answer that are looked at."""
_LONGEST = 250_000
"""Characters that are parsed: they take a second."""
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
"""How CodeLlama marks code, and how pages do."""
_IN_LINE = re.compile(r"`{3}([^`\n]+)`{3}")
_QUOTES = re.compile(r"\"\"\"|'''")
_LANGUAGE = re.compile(r"[{.\s]*(?:language-|lang=)?([\w+#]+)")


@dataclass(frozen=True, kw_only=True)
class Block:
    """Code between two fences."""

    language: str
    """In lower case, as its fence has it; empty for none."""
    text: str
    """Less the indentation of the fence."""
    begin: int
    end: int
    """Where it stands."""


def cut(completion: Completion, stops: Iterable[str]) -> str:
    """Return the answer up to the first of the stop words; nothing is trimmed."""
    text = completion.text
    if completion.whole:
        return text
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def unified(text: str) -> str:
    """Return a text whose lines end with a line feed, and begin with no byte order mark."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(f"^{MARK}", "", text, flags=re.M)


def program(
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
    nothing but definitions, of which it uses some that it has not, are put in front of it.
    """
    text = _with_fences(unified(text))
    every = blocks(text)
    if not every:
        return _tagged(text)
    in_python = "python" in languages
    trees = [parsed(dedent(it.text)) if in_python else None for it in every]

    def rank(number: int) -> tuple[int, int]:
        block, parses = every[number], trees[number] is not None
        has = sum(defines(block.text, name) for name in names)
        if not names and sign is not None:
            has = sign.search(block.text) is not None
        of_language, unnamed = block.language in languages, not block.language
        if has and (parses or of_language):
            return (0 if parses and of_language else 1 if parses else 2), -has
        if of_language:
            return 3, 0
        return (4 if unnamed and (parses or not in_python) else 5 if parses else 6), 0

    best = min(range(len(every)), key=rank)
    return _with_helpers(best, every, trees, names) if in_python else every[best].text


def _with_fences(text: str) -> str:
    """Put the first fence on a line of its own, out of a quotation too."""
    if re.match(r"(?:[^`]*\n)?>[ \t]?`{3}", text):
        text = re.sub(r"^>[ \t]?", "", text, flags=re.M)
    glued = _GLUED.match(text)
    if glued is None or re.fullmatch(_ITEM_MARK, glued[1].rpartition("\n")[2].strip()):
        return text
    return f"{glued[1]}\n{text[glued.end() :]}"


def _tagged(text: str) -> str:
    """Return the code between other marks than fences, or the text where there are none."""
    match = _TAGGED.search(text)
    if match is None or parsed(text.strip()):
        return text
    return match["code"] if match["mark"] else unescape(match["page"])


def blocks(text: str) -> list[Block]:
    """Return the blocks of code of a Markdown text; those in a line each where there are no
    others."""
    return list(islice(_fenced(text), _MOST)) or [
        _in_line(match) for match in islice(_IN_LINE.finditer(text), _MOST)
    ]


def parsed(code: str) -> ast.Module | None:
    """Parse Python; `None` for what is none, or too long. Some code has escapes that newer versions
    of Python warn of."""
    if len(code) > _LONGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def defines(code: str, name: str) -> bool:
    """Tell whether code defines a function, a class, or anything else of that name."""
    own = re.escape(name)
    definition = rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{own}\b|^{own}[ \t]*=(?!=)"
    return re.search(definition, code, re.M) is not None


def _fenced(text: str) -> Iterator[Block]:
    """Yield what stands between fences. One that names a language begins a block, also where the
    block before it has no end; one within a string of Python is none."""
    fences = list(_FENCE.finditer(text))
    number = 0
    while number < len(fences):
        opening = fences[number]
        number += 1
        if "`" in opening[3] or opening.end() == len(text):  # it ends in its line
            continue
        closing = _end(text, fences, number)
        last = fences[closing] if closing < len(fences) else None
        begin, end = min(opening.end() + 1, len(text)), last.start() if last else len(text)
        code = text[begin:end]
        if last is None or _begins(last):
            code = re.split(rf"{re.escape(opening[2])}[ \t]*$", code, maxsplit=1, flags=re.M)[0]
        else:
            number = closing
        number = closing if last is None or _begins(last) else closing + 1
        yield Block(
            language=_language(opening[3]),
            text=_without_indentation(code, len(opening[1].expandtabs(4))),
            begin=begin,
            end=end,
        )


def _end(text: str, fences: Sequence[re.Match[str]], first: int) -> int:
    """Return the number of the fence that ends the block of the fence before `first`. A fence
    within quotes does so only where what ends with a later one is no Python."""
    opening, doubted, quotes = fences[first - 1], None, ""
    at = begin = min(opening.end() + 1, len(text))
    may_be_python = _language(opening[3]) in {"", *PYTHON}
    for number in range(first, len(fences) + 1):
        fence = fences[number] if number < len(fences) else None
        if fence and not _ends(fence, opening):
            continue
        end = fence.start() if fence else len(text)
        for match in _QUOTES.finditer(text, at, end) if may_be_python else ():
            quotes = "" if quotes == match[0] else quotes or match[0]
        at = end
        if quotes and fence:
            doubted = number if doubted is None else doubted
        elif doubted is None or parsed(dedent(text[begin:end])):
            return number
        else:
            break
    assert doubted is not None
    return doubted


def _ends(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Tell whether a fence ends the block of another: it is as long, and says nothing, or what the
    next block is."""
    mark = opening[2]
    return fence[2][0] == mark[0] and len(fence[2]) >= len(mark) and "`" not in fence[3]


def _begins(fence: re.Match[str]) -> bool:
    return bool(fence[3].strip())


def _in_line(match: re.Match[str]) -> Block:
    language, _, code = match[1].strip().partition(" ")
    is_named = language.lower() in PYTHON | SQL | JAVA
    return Block(
        language=language.lower() if is_named else "",
        text=code.strip() if is_named else match[1].strip(),
        begin=match.start(1),
        end=match.end(1),
    )


def _language(info: str) -> str:
    """Return what a fence calls the language: `python`, `{.python}`, `Python title="a"`, `a.py`."""
    if re.match(r"\s*[\w./-]+\.py\b", info):
        return "python"
    match = _LANGUAGE.match(info)
    return match[1].lower() if match else ""


def _without_indentation(code: str, width: int) -> str:
    return re.sub(rf"^[ \t]{{1,{width}}}", "", code, flags=re.M) if width else code


def _with_helpers(
    best: int, every: Sequence[Block], trees: Sequence[ast.Module | None], names: Collection[str]
) -> str:
    """Return a block behind others that define what it uses and does not define."""
    code, own = every[best].text, trees[best]
    if own is None or code[:1].isspace():  # the body of a function
        return code
    needed, helpers = (_used(own) | {*names}) - _bound(own), list[str]()
    for block, tree in zip(reversed(every), reversed(trees), strict=True):
        defined = _defined(tree) if tree and tree is not own and needed else None
        if tree and defined and defined & needed and not defined & ({*names} - needed):
            helpers.insert(0, block.text)
            needed = (needed | _used(tree)) - _bound(tree)
    return "\n".join([*helpers, code])


def _used(tree: ast.AST) -> set[str]:
    loads = (it for it in ast.walk(tree) if isinstance(it, ast.Name))
    return {it.id for it in loads if isinstance(it.ctx, ast.Load)} - {*dir(builtins)}


def _bound(tree: ast.AST) -> set[str]:
    """Return every name that is given a value anywhere in it."""
    names = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
                names.add(name)
            case ast.alias(name=name):
                names.add(name.partition(".")[0])
    return names


def _defined(tree: ast.Module) -> set[str] | None:
    """Return the names that a block defines; `None` for one that does something besides."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    names = set[str]()
    for node in tree.body:
        if isinstance(node, kinds):
            names.add(node.name)
        elif isinstance(node, plain):
            names |= _bound(node)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return None
    return names
