"""Which binding each name of a module belongs to: Python's scoping rules over `ast` (3.13)."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Scope:
    kind: str  # module, class, function, comprehension
    name: str
    parent: "Scope | None"
    node: ast.AST
    bound: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)  # global and nonlocal names

    @property
    def path(self) -> str:
        """The dotted name below the module, comprehensions and lambdas left out."""
        parts = []
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if scope.name:
                parts.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(parts))


@dataclass
class Ref:
    name: str
    line: int
    col: int  # of characters' bytes in UTF-8
    scope: Scope
    stores: bool
    home: Scope | None = None
    what: str = "name"  # name, import, argument, definition


class Module:
    def __init__(self, path: Path):
        self.path = path
        self.source = path.read_bytes()
        self.lines = self.source.split(b"\n")
        self.tree = ast.parse(self.source)
        self.refs: list[Ref] = []
        self.top = Scope("module", "", None, self.tree)
        self.scopes: dict[ast.AST, Scope] = {self.tree: self.top}
        self.imports: dict[str, tuple[str, str | None]] = {}  # local name -> (module, name)
        self.keywords: list[tuple[ast.Call, ast.keyword]] = []
        self.attributes: list[ast.Attribute] = []
        self.strings: list[ast.Constant] = []
        self._annotated: set[int] = set()
        _Walk(self).visit(self.tree)
        for ref in self.refs:
            ref.home = _home(ref)
        self.by_name: dict[str, list[Ref]] = {}
        for ref in self.refs:
            self.by_name.setdefault(ref.name, []).append(ref)

    def find(self, node_line: int, pattern: bytes, col: int = 0, last: int | None = None):
        line = node_line
        while line <= (last or len(self.lines)):
            text = self.lines[line - 1]
            start = col if line == node_line else 0
            if m := re.compile(pattern).search(text, start):
                return line, m.start(1)
            line += 1
        raise LookupError((self.path, node_line, pattern))


def _home(ref: Ref) -> Scope | None:
    scope: Scope | None = ref.scope
    first = True
    while scope is not None:
        usable = first or scope.kind != "class"
        if ref.name in scope.outside and scope.kind == "function":
            scope = scope.parent
            first = False
            continue
        if usable and ref.name in scope.bound:
            return scope
        if not (scope.kind == "comprehension"):
            first = False
        scope = scope.parent
    return None


class _Walk(ast.NodeVisitor):
    def __init__(self, module: Module):
        self.m = module
        self.scope = module.top

    def add(self, name, line, col, stores, what="name", scope=None):
        scope = scope or self.scope
        if stores and name not in scope.outside:
            scope.bound.add(name)
        self.m.refs.append(Ref(name, line, col, scope, stores, what=what))

    def inside(self, kind, name, node):
        scope = Scope(kind, name, self.scope, node)
        self.m.scopes[node] = scope
        return scope

    def annotation(self, node):
        if node is None:
            return
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                self.string_annotation(inner)
        self.visit(node)

    def string_annotation(self, node):
        if node.lineno != node.end_lineno or not re.fullmatch(r"[\w.\[\], |]+", node.value):
            return
        self.m._annotated.add(id(node))
        try:
            tree = ast.parse(node.value, mode="eval")
        except SyntaxError:
            return
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Name):
                self.m.refs.append(Ref(inner.id, node.lineno, node.col_offset + 1 + inner.col_offset, self.scope, False))

    def visit_Name(self, node):
        stores = isinstance(node.ctx, (ast.Store, ast.Del))
        self.add(node.id, node.lineno, node.col_offset, stores)

    def visit_NamedExpr(self, node):
        scope = self.scope
        while scope.kind == "comprehension":
            scope = scope.parent
        self.visit(node.value)
        scope.bound.add(node.target.id)
        self.m.refs.append(Ref(node.target.id, node.target.lineno, node.target.col_offset, scope, True))

    def visit_Attribute(self, node):
        self.m.attributes.append(node)
        self.visit(node.value)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.m.strings.append(node)

    def visit_Call(self, node):
        if getattr(node.func, "id", getattr(node.func, "attr", "")) == "cast" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self.string_annotation(first)
        self.visit(node.func)
        for a in node.args:
            self.visit(a)
        for k in node.keywords:
            if k.arg:
                self.m.keywords.append((node, k))
            self.visit(k.value)

    def _function(self, node):
        for d in node.decorator_list:
            self.visit(d)
        line, col = self.m.find(node.lineno, rb"\bdef\s+(%s)\b" % node.name.encode(), node.col_offset)
        self.add(node.name, line, col, True, "definition")
        self._arguments(node, node.args, node.name)

    def _arguments(self, node, args, name):
        for default in [*args.defaults, *args.kw_defaults]:
            if default is not None:
                self.visit(default)
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [a for a in (args.vararg, args.kwarg) if a]
        for a in every:
            self.annotation(a.annotation)
        self.annotation(getattr(node, "returns", None))
        outer, self.scope = self.scope, self.inside("function", name, node)
        for a in every:
            self.add(a.arg, a.lineno, a.col_offset, True, "argument")
        body = node.body if isinstance(node.body, list) else [node.body]
        self._declare(body)
        for statement in body:
            self.visit(statement)
        self.scope = outer

    def _declare(self, body):
        """global and nonlocal count for the whole function."""
        todo = list(body)
        while todo:
            n = todo.pop()
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.scope.outside.update(n.names)
            if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                todo.extend(ast.iter_child_nodes(n))

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node):
        self._arguments(node, node.args, "")

    def visit_Global(self, node):
        for name in node.names:
            line, col = self.m.find(node.lineno, rb"\b(%s)\b" % name.encode(), node.col_offset)
            self.m.refs.append(Ref(name, line, col, self.scope, False))

    visit_Nonlocal = visit_Global

    def visit_ClassDef(self, node):
        for d in node.decorator_list:
            self.visit(d)
        for b in node.bases:
            self.visit(b)
        for k in node.keywords:
            self.visit(k.value)
        line, col = self.m.find(node.lineno, rb"\bclass\s+(%s)\b" % node.name.encode(), node.col_offset)
        self.add(node.name, line, col, True, "definition")
        outer, self.scope = self.scope, self.inside("class", node.name, node)
        for statement in node.body:
            self.visit(statement)
        self.scope = outer

    def _comprehension(self, node):
        self.visit(node.generators[0].iter)
        outer, self.scope = self.scope, self.inside("comprehension", "", node)
        for at, g in enumerate(node.generators):
            if at:
                self.visit(g.iter)
            self.visit(g.target)
            for test in g.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.scope = outer

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def visit_AnnAssign(self, node):
        self.visit(node.target)
        self.annotation(node.annotation)
        if node.value:
            self.visit(node.value)

    def visit_ExceptHandler(self, node):
        if node.type:
            self.visit(node.type)
        if node.name:
            line, col = self.m.find(node.type.end_lineno, rb"\bas\s+(%s)\b" % node.name.encode(), node.type.end_col_offset)
            self.add(node.name, line, col, True)
        for s in node.body:
            self.visit(s)

    def visit_MatchAs(self, node):
        if node.pattern:
            self.visit(node.pattern)
        if node.name:
            self.add(node.name, node.end_lineno, node.end_col_offset - len(node.name.encode()), True)

    def visit_MatchStar(self, node):
        if node.name:
            self.add(node.name, node.end_lineno, node.end_col_offset - len(node.name.encode()), True)

    def visit_MatchMapping(self, node):
        self.generic_visit(node)
        if node.rest:
            line, col = self.m.find(node.lineno, rb"\*\*\s*(%s)\b" % node.rest.encode(), node.col_offset, node.end_lineno)
            self.add(node.rest, line, col, True)

    def visit_Import(self, node):
        for a in node.names:
            name = a.asname or a.name.partition(".")[0]
            col = a.end_col_offset - len(name.encode()) if a.asname else a.col_offset
            self.add(name, a.end_lineno if a.asname else a.lineno, col, True, "import")
            if a.asname:
                self.m.imports[name] = (a.name, None)

    def visit_ImportFrom(self, node):
        for a in node.names:
            name = a.asname or a.name
            col = a.end_col_offset - len(name.encode()) if a.asname else a.col_offset
            self.add(name, a.end_lineno if a.asname else a.lineno, col, True, "import" if a.asname else "import-from")
            if not node.level and node.module and "." not in self.m.imports.get(name, ("",))[0]:
                self.m.imports[name] = (node.module, a.name)  # of two imports the one by its whole path
