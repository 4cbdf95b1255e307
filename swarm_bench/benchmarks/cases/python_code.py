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
"""That are tried where prose follows."""
_BEGINNING = re.compile(
    r"^([ \t]*)(?:(?:async[ \t]+)?def[ \t]|class[ \t]|import[ \t]|from[ \t]|@|if[ \t]|for[ \t]"
    r"|while[ \t]|with[ \t]|try:|print\(|[^\W\d][\w.,\[\] ]*=)",
    re.M,
)
"""How a statement begins, and prose hardly ever."""
_UNSEEN = {
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys([0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF], ""),
    **dict.fromkeys([0x85, 0x2028, 0x2029], "\n"),
}
"""Blanks, marks of no width and line ends that Python takes for none."""
_SESSION = re.compile(r"\s*>>> ")
_TYPED = re.compile(r"^(?:>>>|\.\.\.)(?: (.*))?$", re.M)
"""What was typed into an interpreter, which prints the rest."""
_MAGIC = re.compile(r"^[%!].*\n?", re.M)
"""A line for IPython itself."""
_CHANGED = re.compile(r"(?:(?:[-+ @\\].*)?\n)++")
_AFTER = re.compile(r"^(?:\+(?!\+\+ )| )(.*)$", re.M)
"""A patch, and the lines that are there when it is applied."""
_ESCAPED = {"lt", "gt", "amp", "quot"}
"""What `a &lt; b` has for names where it is read as Python."""
_DOES = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""What an expression of its own may have it stand for."""


def parsed(code: str) -> ast.Module | None:
    """Parse Python; `None` for what is none, or too long."""
    tree = _tree(code)
    return tree if isinstance(tree, ast.Module) else None


def compiles(code: str) -> bool:
    """Tell whether Python could run it: `return` has to stand in a function."""
    tree = parsed(code)
    try:
        return tree is not None and compile(tree, "<answer>", "exec", dont_inherit=True) is not None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def repaired(code: str) -> str:
    """Return code with plain blanks, out of a page, the session of an interpreter or a patch, where
    it is Python then; otherwise as it is."""
    tree = parsed(dedent(code))
    if tree and not ("&" in code and _ESCAPED & free_names(tree)):
        return code
    changes = (_with_plain_blanks, unescape, _typed, _patched)
    changed = (change(code) for change in changes)
    python = (it for it in changed if it.strip() and it != code and parsed(dedent(it)))
    return next(python, code)


def within(text: str, fits: Callable[[str], bool]) -> str | None:
    """Return the first lines that are Python and fit, where nobody says where code begins and where
    it ends, behind those above that define what they use."""
    tried, above, end = _LONGEST // max(len(text), 1), list[str](), 0
    # What was read does not fit, and so does no part of it.
    begins = (it for it in _BEGINNING.finditer(text) if it.start() >= end)
    for match in islice(begins, tried):
        lines = text[match.start() :]
        if not fits(lines):
            break
        if width := len(match[1]):
            lines = re.split(rf"^[ \t]{{0,{width - 1}}}(?=\S)", lines, maxsplit=1, flags=re.M)[0]
        every = list(_beginnings(dedent(lines)))
        if code := next(filter(fits, every), None):
            codes = [*above, code]
            return Blocks(codes, [parsed(it) for it in codes]).with_helpers(len(above))
        if every and not width:
            above.append(every[-1])
            end = match.start() + len(every[-1])
    return None


def is_prose(statement: ast.stmt) -> bool:
    """Tell whether a statement does nothing and is no comment: `[DONE]`, or `Time: O(n)`."""
    if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
        return not any(isinstance(it, _DOES) for it in ast.walk(statement))
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def definitions(code: str) -> tuple[str, ...]:
    """Return the names of the functions and classes that a module defines, in its order."""
    kinds, tree = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), parsed(code)
    return tuple(it.name for it in tree.body if isinstance(it, kinds)) if tree else ()


def defines(code: str, name: str) -> bool:
    """Tell whether code defines a function, a class, or anything else of that name."""
    own = re.escape(name)
    definition = rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{own}\b|^{own}[ \t]*=(?!=)"
    return re.search(definition, code, re.M) is not None


def defined(tree: ast.Module) -> set[str] | None:
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


def free_names(tree: ast.AST) -> set[str]:
    """Return the names that code uses, and that neither it nor Python has."""
    return _used(tree) - _bound(tree)


def stubs(tree: ast.Module) -> set[str]:
    """Return the functions that do nothing, or leave something out: they say what is to be
    written."""
    functions = (it for it in tree.body if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef))
    empty = {
        it.name: all(map(_does_nothing, it.body)) or any(map(_is_left_out, it.body))
        for it in functions
    }
    return {name for name, is_empty in empty.items() if is_empty}


class Blocks:
    """Blocks of Python in one text, and what they have of each other."""

    def __init__(self, codes: Sequence[str], trees: Sequence[ast.Module | None]) -> None:
        self._codes, self._trees = codes, trees
        # Each tree is walked once, however many blocks there are.
        self._used, self._bound, self._defined = cache(_used), cache(_bound), cache(defined)

    def with_helpers(self, number: int, names: Collection[str] = ()) -> str:
        """Return a block behind what others define of what it uses, and of `names`, and does not
        define."""
        code, own = self._codes[number], self._trees[number]
        if own is None or code[:1].isspace():  # the body of a function
            return code
        needed, helpers = (self._used(own) | {*names}) - self._bound(own), list[str]()
        for text, tree in zip(reversed(self._codes), reversed(self._trees), strict=True):
            theirs = self._defined(tree) if tree and tree is not own and needed else None
            if not tree or not theirs or stubs(tree) & {*names}:
                continue
            if theirs & needed and not theirs & ({*names} - needed):
                helpers.append(text)
                needed |= self._used(tree)
                needed -= self._bound(tree)
        return "\n".join([*reversed(helpers), code])


def _tree(code: str) -> ast.Module | int:
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


def _beginnings(code: str) -> Iterator[str]:
    """Yield the lines of a text that are Python, from the first on: first without a statement that
    something breaks off, then with it."""
    lines, broken = [f"{line}\n" for line in code.split("\n")], False
    for _ in range(_MOST_ENDS):
        tree = _tree("".join(lines))
        if isinstance(tree, ast.Module):
            statements = [it for it in tree.body if not is_prose(it)]
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


def _with_plain_blanks(code: str) -> str:
    return code.translate(_UNSEEN)


def _typed(code: str) -> str:
    if not _SESSION.match(code):
        return _MAGIC.sub("", code)
    return "".join(f"{match[1] or ''}\n" for match in _TYPED.finditer(code))


def _patched(code: str) -> str:
    if not _CHANGED.fullmatch(code):
        return code
    return dedent("".join(f"{match[1]}\n" for match in _AFTER.finditer(code)))


def _used(tree: ast.AST) -> set[str]:
    loads = (it for it in ast.walk(tree) if isinstance(it, ast.Name))
    return {it.id for it in loads if isinstance(it.ctx, ast.Load)} - {*dir(builtins)}


def _bound(tree: ast.AST) -> set[str]:
    """Return every name that is given a value anywhere in it."""
    return {name for node in ast.walk(tree) for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
            yield name
        case ast.alias(name=name):
            yield name.partition(".")[0]
