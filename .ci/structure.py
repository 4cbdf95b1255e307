"""Figures of the structure, none of which may rise: each is at most its limit. Lower a limit when
its figure has fallen."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

PACKAGE = Path("swarm_bench")
LIMITS: dict[str, float] = {
    "places that ask for the kind of a session": 5,
    "files that ask for it": 2,
    "lists of option names": 0,
    "experiment is None in analysis": 0,
    "modules with one importer": 108,
    "dialect names per 1,000": 6.2,
    "functions named by a participle, %": 1.3,
}
"""Each on a line of its own."""

KIND = re.compile(r"\w+(Experiment|Record|Benchmark|Folder|Session|Selection|Kit)|Experiment")
"""Classes of one kind of session; a whole name. `Benchmark` is the role of all of them."""
QUESTIONS = frozenset({"is_its_kind", "is_session", "is_of_models", "holds_cases"})
"""Functions that tell the kind of a session."""
TELLING = frozenset({"benchmark", "design", "mark"})
"""Attributes that tell it."""
NAMED = frozenset({"swarm", "retrieve", "ab", "calibrate", "compare"})
"""Benchmarks and designs."""
SETTINGS = "Settings"
"""How the names of classes end whose fields are the options."""
LEAST_NAMES, LEAST_SHARE = 3, 0.8
"""Of the strings in a list of option names."""
LEAST_LINES = 3
"""Of a module whose importers are counted."""
DIALECT = re.compile(
    r"about|above|after|again|alike|alone|answered|apart|around|asked|asking|bare|barred|before"
    r"|began|begins|begun|below|beside|both|called|chosen|cleaned|compared|counted|course|doing"
    r"|doubt|doubts|drawn|each|ended|ends|every|filled|found|given|gone|ground|groundwork|half"
    r"|heard|held|here|hidden|idle|it|judged|kept|known|left|listed|look|looks|lost|made|meant"
    r"|measured|more|most|named|noted|of|offered|one|opened|other|others|ours|own|place|purse"
    r"|reach|reached|recorded|rest|said|seen|several|shown|so|some|spent|spoken|stored|story"
    r"|sulking|surroundings|taken|telling|theirs|then|there|told|treated|trouble|typed|waiting"
    r"|wanted|way|ways|what|where|whole|why|wished|withheld|words|worth|written"
)
"""Names that do not say what a thing is."""
PARTICIPLE = re.compile(r"_*([a-z]+(?:ed|en|wn|pt|lt|nt|ught))(?:_(?:of|in|by|at))?")
NOUNS = frozenset({"agent", "client", "content", "event", "parent", "text"})
"""Names that end like participles."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_READ = (
    *(ast.Call, ast.ClassDef, ast.Compare, ast.FunctionDef, ast.AsyncFunctionDef, ast.ImportFrom),
    *(ast.MatchClass, ast.Name, ast.arguments),
)
Nodes = Mapping[str, Sequence[ast.AST]]
"""Those that figures are made of, by the name of their module."""


def figures(package: Path) -> dict[str, float]:
    """Return each figure of a package, by its name in `LIMITS`."""
    texts = {
        ".".join((package.name, *path.relative_to(package).with_suffix("").parts)): path.read_text(
            encoding="utf-8"
        )
        for path in sorted(package.rglob("*.py"))
    }
    trees = {name: ast.parse(text) for name, text in texts.items()}
    nodes = {
        name: [node for node in ast.walk(tree) if isinstance(node, _READ)]
        for name, tree in trees.items()
    }
    every = [node for own in nodes.values() for node in own]
    questions = [sum(map(_asks_kind, own)) for own in nodes.values()]
    options = {name for node in every for name in _options(node)}
    analysis = [it for name, own in nodes.items() if ".analysis." in name for it in own]
    importers = _importers(nodes)
    functions = [node.name for node in every if isinstance(node, _FUNCTION)]
    names = [*functions, *(name for node in every for name in _bindings(node))]
    dialect = sum(DIALECT.fullmatch(name.strip("_").lower()) is not None for name in names)
    values = (
        sum(questions),
        sum(map(bool, questions)),
        sum(_option_lists(statement, options) for it in trees.values() for statement in it.body),
        sum(map(_compares_experiment, analysis)),
        sum(importers[it] == 1 for it, text in texts.items() if text.count("\n") >= LEAST_LINES),
        _share(1000, dialect, len(names)),
        _share(100, sum(map(_is_participle, functions)), len(functions)),
    )
    return dict(zip(LIMITS, values, strict=True))


def _share(of: int, part: int, whole: int) -> float:
    return round(of * part / max(whole, 1), 1)


def _asks_kind(node: ast.AST) -> bool:
    """Tell whether a node is a place that asks for the kind of a session."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            return any(map(_is_kind, ast.walk(kinds)))
        case ast.MatchClass(cls=kind):
            return _is_kind(kind)
        case ast.Call(func=function):
            return _last_name(function) in QUESTIONS
        case ast.Compare(left=left, comparators=others):
            operands = (left, *others)
            return any(map(_tells_kind, operands)) and not any(map(_is_none, operands))
    return False


def _is_kind(node: ast.AST) -> bool:
    return KIND.fullmatch(_last_name(node) or "") is not None


def _tells_kind(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(name)):
            return name in NAMED
        case ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)):
            return name in TELLING
        case ast.Name(id=name):
            return name.isupper() and name.lower() in NAMED
    return False


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last_name(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _options(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.ClassDef) and node.name.endswith(SETTINGS):
        targets = [it.target for it in node.body if isinstance(it, ast.AnnAssign)]
        return [it.id for it in targets if isinstance(it, ast.Name)]
    return ()


def _option_lists(statement: ast.stmt, options: set[str]) -> int:
    """Count collections of strings that are names of options. At the top of a module, what one
    statement assigns is one; within functions, a dictionary with such keys has values of them."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return any(_lists_options(node, options) for node in ast.walk(statement))
    nodes = (node for node in ast.walk(statement) if not isinstance(node, ast.Dict))
    return sum(_lists_options(node, options) for node in nodes)


def _lists_options(node: ast.AST, options: set[str]) -> bool:
    items: list[ast.expr] = []
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            items = elements
        case ast.Dict(keys=keys):
            items = [it for it in keys if it is not None]
    texts = [it.value for it in items if isinstance(it, ast.Constant)]
    options_named = sum(it in options for it in texts)
    return len(texts) == len(items) and options_named >= max(LEAST_NAMES, LEAST_SHARE * len(texts))


def _compares_experiment(node: ast.AST) -> bool:
    """Tell whether a node asks whether there is an experiment."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[other]):
            return _last_name(left) == "experiment" and _is_none(other)
    return False


def _importers(nodes: Nodes) -> Counter[str]:
    """Count the modules that import each."""
    pairs = {
        (name, importer)
        for importer, own in nodes.items()
        for node in own
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{it.name}" for it in node.names))
        if name in nodes
    }
    return Counter(name for name, _ in pairs)


def _is_participle(name: str) -> bool:
    return PARTICIPLE.fullmatch(name) is not None and name.strip("_") not in NOUNS


def _bindings(node: ast.AST) -> Iterable[str]:
    """Return the names of arguments, a class or a variable."""
    match node:
        case ast.arguments(posonlyargs=first, args=middle, kwonlyargs=last):
            names = (it.arg for it in (*first, *middle, *last))
            return [name for name in names if name not in ("self", "cls")]
        case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
            return [name]
    return ()


def main() -> int:
    """Print each figure beside its limit; 1 when one is above it."""
    counted = figures(PACKAGE)
    width = max(map(len, LIMITS))
    print(f"{'figure':{width}} {'now':>6} {'limit':>6}")
    for name, limit in LIMITS.items():
        now = counted[name]
        hint = f"  lower the limit to {now:g}" if now < limit else ""
        hint = "  above the limit: see .ci/structure.py" if now > limit else hint
        print(f"{name:{width}} {now:6g} {limit:6g}{hint}")
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    print(f"{len(texts)} files of {sum(text.count(chr(10)) for text in texts)} lines")
    return 1 if any(counted[name] > limit for name, limit in LIMITS.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
