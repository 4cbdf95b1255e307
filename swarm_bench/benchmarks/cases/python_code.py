"""Python that models write: whether it is any, what it defines, and where it is among prose."""

import ast
import builtins
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from html import unescape
from itertools import islice
from textwrap import dedent

_LONGEST = 250_000
"""Characters that are parsed: they take a second."""
_MOST_ENDS = 6
"""Most ends of code that are tried if prose follows."""
_BEGINNING = re.compile(
    r"^([ \t]*)(?:(?:async[ \t]+)?def[ \t]|class[ \t]|import[ \t]|from[ \t]|@|if[ \t]|for[ \t]"
    r"|while[ \t]|with[ \t]|try:|print\(|[^\W\d][\w.,\[\] ]*=)",
    re.M,
)
"""Beginning of a statement, which prose hardly ever has."""
_UNSEEN = {
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys([0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF], ""),
    **dict.fromkeys([0x85, 0x2028, 0x2029], "\n"),
}
"""Blanks, marks of no width and line ends that Python takes for none."""
_SESSION = re.compile(r"\s*>>> ")
_TYPED_LINE = re.compile(r"^(?:>>>|\.\.\.)(?: (.*))?$", re.M)
"""Text that was typed into an interpreter, which prints the rest."""
_MAGIC = re.compile(r"^[%!].*\n?", re.M)
"""A line for IPython itself."""
_CHANGED = re.compile(r"(?:(?:[-+ @\\].*)?\n)++")
_PATCHED_LINE = re.compile(r"^(?:\+(?!\+\+ )| )(.*)$", re.M)
"""A patch, and the lines that are there when it is applied."""
_ESCAPED = {"lt", "gt", "amp", "quot"}
"""Names that `a &lt; b` has if it is read as Python."""
_DOES = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""Nodes by which an expression statement does something, and so is code and no comment."""


def parse_python(code: str) -> ast.Module | None:
    """Parse Python; `None` for what is none, or too long."""
    tree = _parse(code)
    return tree if isinstance(tree, ast.Module) else None


def compiles(code: str) -> bool:
    """Tell whether Python could run it: `return` has to stand in a function."""
    tree = parse_python(code)
    try:
        return tree is not None and compile(tree, "<answer>", "exec", dont_inherit=True) is not None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def repair(code: str) -> str:
    """Return code with plain blanks, out of a page, the session of an interpreter or a patch, where
    it is Python then; otherwise as it is."""
    tree = parse_python(dedent(code))
    if tree and not ("&" in code and _ESCAPED & find_free_names(tree)):
        return code
    changes = (_normalise_blanks, unescape, _extract_typed, _apply_patch)
    changed = (change(code) for change in changes)
    python = (
        candidate
        for candidate in changed
        if candidate.strip() and candidate != code and parse_python(dedent(candidate))
    )
    return next(python, code)


def find_code(text: str, fits: Callable[[str], bool]) -> str | None:
    """Return the first lines that are Python and fit, where the beginning and the end of the code
    are not marked, behind those above that define what they use."""
    tried, earlier_blocks, end = _LONGEST // max(len(text), 1), list[str](), 0
    # What was read does not fit, and so does no part of it.
    openings = (opening for opening in _BEGINNING.finditer(text) if opening.start() >= end)
    for match in islice(openings, tried):
        lines = text[match.start() :]
        if not fits(lines):
            break
        if width := len(match[1]):
            lines = re.split(rf"^[ \t]{{0,{width - 1}}}(?=\S)", lines, maxsplit=1, flags=re.M)[0]
        candidates = list(_find_beginnings(dedent(lines)))
        if code := next(filter(fits, candidates), None):
            codes = [*earlier_blocks, code]
            return Blocks(codes, [parse_python(block) for block in codes]).add_helpers(
                len(earlier_blocks)
            )
        if candidates and not width:
            earlier_blocks.append(candidates[-1])
            end = match.start() + len(candidates[-1])
    return None


def is_prose(statement: ast.stmt) -> bool:
    """Tell whether a statement does nothing and is no comment: `[DONE]`, or `Time: O(n)`."""
    if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
        return not any(isinstance(node, _DOES) for node in ast.walk(statement))
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def find_definitions(code: str) -> tuple[str, ...]:
    """Return the names of the functions and classes that a module defines, in its order."""
    kinds, tree = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), parse_python(code)
    return tuple(node.name for node in tree.body if isinstance(node, kinds)) if tree else ()


def defines(code: str, name: str) -> bool:
    """Tell whether code defines a function, a class, or anything else of that name."""
    escaped = re.escape(name)
    definition = rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{escaped}\b|^{escaped}[ \t]*=(?!=)"
    return re.search(definition, code, re.M) is not None


def find_defined(tree: ast.Module) -> set[str] | None:
    """Return the names that a block defines; `None` for one that does something besides."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    names = set[str]()
    for node in tree.body:
        if isinstance(node, kinds):
            names.add(node.name)
        elif isinstance(node, plain):
            names |= _find_bound(node)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return None
    return names


def find_free_names(tree: ast.AST) -> set[str]:
    """Return the names that code uses, and that neither it nor Python has."""
    return _find_used(tree) - _find_bound(tree)


def find_stubs(tree: ast.Module) -> set[str]:
    """Return the functions that do nothing, or leave something out: they say what is to be
    written."""
    functions = (
        node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    empty = {
        node.name: all(map(_does_nothing, node.body)) or any(map(_is_left_out, node.body))
        for node in functions
    }
    return {name for name, is_empty in empty.items() if is_empty}


class Blocks:
    """Blocks of Python in one text, and what they have of each other."""

    def __init__(self, codes: Sequence[str], trees: Sequence[ast.Module | None]) -> None:
        self._codes, self._trees = codes, trees
        # Each tree is walked once, however many blocks there are.
        self._find_used, self._find_bound, self._find_defined = (
            cache(_find_used),
            cache(_find_bound),
            cache(find_defined),
        )

    def add_helpers(self, number: int, names: Collection[str] = ()) -> str:
        """Return a block behind what others define of what it uses, and of `names`, and does not
        define."""
        code, block_tree = self._codes[number], self._trees[number]
        if block_tree is None or code[:1].isspace():  # the body of a function
            return code
        needed, helpers = (
            (self._find_used(block_tree) | {*names}) - self._find_bound(block_tree),
            list[str](),
        )
        for text, tree in zip(reversed(self._codes), reversed(self._trees), strict=True):
            other_names = (
                self._find_defined(tree) if tree and tree is not block_tree and needed else None
            )
            if not tree or not other_names or find_stubs(tree) & {*names}:
                continue
            if other_names & needed and not other_names & ({*names} - needed):
                helpers.append(text)
                needed |= self._find_used(tree)
                needed -= self._find_bound(tree)
        return "\n".join([*reversed(helpers), code])


def _parse(code: str) -> ast.Module | int:
    """Parse Python, or return the line that is none; some code has escapes that newer versions of
    Python warn of."""
    if len(code) > _LONGEST:
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except SyntaxError as error:
            return error.lineno or 0
        except (ValueError, RecursionError, MemoryError):
            return 0


def _find_beginnings(code: str) -> Iterator[str]:
    """Yield the lines of a text that are Python, from the first on: first without a statement that
    something breaks off, then with it."""
    lines, broken = [f"{line}\n" for line in code.split("\n")], False
    for _ in range(_MOST_ENDS):
        tree = _parse("".join(lines))
        if isinstance(tree, ast.Module):
            statements = [node for node in tree.body if not is_prose(node)]
            for body in (statements[:-1] if broken else [], statements):
                yield "".join(lines[: body[-1].end_lineno]) if body else ""
            return
        at = max(min(tree, len(lines)) - 1, 0)
        broken = bool(lines[at:]) and lines[at][:1].isspace()
        lines = lines[:at]


def _does_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == NotImplementedError.__name__
    return False


def _is_left_out(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ...
    return False


def _normalise_blanks(code: str) -> str:
    return code.translate(_UNSEEN)


def _extract_typed(code: str) -> str:
    if not _SESSION.match(code):
        return _MAGIC.sub("", code)
    return "".join(f"{match[1] or ''}\n" for match in _TYPED_LINE.finditer(code))


def _apply_patch(code: str) -> str:
    if not _CHANGED.fullmatch(code):
        return code
    return dedent("".join(f"{match[1]}\n" for match in _PATCHED_LINE.finditer(code)))


def _find_used(tree: ast.AST) -> set[str]:
    loads = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in loads if isinstance(node.ctx, ast.Load)} - {*dir(builtins)}


def _find_bound(tree: ast.AST) -> set[str]:
    """Return every name that is given a value anywhere in it."""
    return {name for node in ast.walk(tree) for name in _find_names(node)}


def _find_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
            yield name
        case ast.alias(name=name):
            yield name.partition(".")[0]
