#!/usr/bin/env python3.13
"""Merge one module into another, or move it; see README.md."""

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from rename import House  # noqa: E402
from scopes import Module, Scope  # noqa: E402

PAGES = ("*.md", "*.toml", "*.py", "*.yaml", "*.yml", "*.cfg", "Makefile", "*.ipynb", "*.txt", "*.json")


class Refused(Exception):
    pass


def say(sentence: str) -> None:
    print(sentence)


class Text:
    """The source of a module with edits by (line, column) spans, of bytes."""

    def __init__(self, module: Module):
        self.module = module
        self.starts = [0]
        for line in module.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.edits: list[tuple[int, int, bytes]] = []

    def at(self, line: int, col: int) -> int:
        return self.starts[line - 1] + col

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def replace(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new.encode()))

    def drop_statement(self, node: ast.stmt) -> None:
        start, end = self.at(node.lineno, 0), self.at(node.end_lineno + 1, 0)
        self.edits.append((start, end, b""))

    def done(self) -> bytes:
        source = self.module.source
        for start, end, new in sorted(self.edits, reverse=True):
            source = source[:start] + new + source[end:]
        return source


def render(node: ast.ImportFrom, module: str, names: list[ast.alias]) -> str:
    inner = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in names)
    return f"from {module} import {inner}" if len(inner) < 60 else f"from {module} import ({inner})"


def imports_of(module: Module):
    return [n for n in ast.walk(module.tree) if isinstance(n, (ast.Import, ast.ImportFrom))]


def bound_inside(module: Module, scope: Scope | None, name: str) -> bool:
    while scope is not None and scope.kind != "module":
        if scope.kind != "class" and name in scope.bound:
            return True
        scope = scope.parent
    return False


def scope_at(module: Module, line: int, name: str) -> Scope | None:
    for ref in module.by_name.get(name, ()):
        if ref.line == line:
            return ref.scope
    return None


def redirect(house: House, path: Path, old: str, new: str, moved: set[str], inside: bool) -> bytes:
    """The source of an importer of `old`, importing from `new`; with `inside`, of `new` itself."""
    module = house.module(path)
    text = Text(module)
    new_parent, _, new_name = new.rpartition(".")
    for node in imports_of(module):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name == old or a.name.startswith(old + "."):
                    raise Refused(f"{path}:{node.lineno}: import {a.name}; write from … import")
            continue
        if node.level or not node.module:
            continue
        start, end = text.span(node)
        if node.module == old:
            if inside:
                for a in node.names:
                    if a.asname and a.asname != a.name:
                        for ref in module.by_name.get(a.asname, ()):
                            if ref.what != "import":
                                s = text.at(ref.line, ref.col)
                                text.replace(s, s + len(a.asname.encode()), a.name)
                if is_alone(module, node):
                    raise Refused(f"{path}:{node.lineno}: an import that stands alone in its block")
                text.drop_statement(node)
            else:
                text.replace(start, end, render(node, new, node.names))
            continue
        hit = [a for a in node.names if f"{node.module}.{a.name}" == old]
        if not hit:
            continue
        local = hit[0].asname or hit[0].name
        others = [a for a in node.names if a is not hit[0]]
        target = new_name
        if not inside and hit[0].asname:
            target = hit[0].asname
        for a in module.attributes:
            if isinstance(a.value, ast.Name) and a.value.id == local:
                home = next((r.home for r in module.by_name[local] if (r.line, r.col) == (a.value.lineno, a.value.col_offset)), None)
                if home is None or (home.kind != "module" and not any(r.what.startswith("import") and r.home is home for r in module.by_name[local])):
                    continue  # a local that has the name of the module
                s, e = text.span(a.value)
                if inside:
                    scope = scope_at(module, a.value.lineno, local)
                    if bound_inside(module, scope, a.attr):
                        raise Refused(f"{path}:{a.lineno}: {local}.{a.attr} would be a local there; rename it first")
                    last = text.at(a.end_lineno, a.end_col_offset)
                    text.replace(s, last, a.attr)
                elif target != local:
                    scope = scope_at(module, a.value.lineno, local)
                    if bound_inside(module, scope, target):
                        raise Refused(f"{path}:{a.lineno}: {target} is a local there")
                    text.replace(s, e, target)
        if not inside and target != local and target in module.top.bound and module.imports.get(target, ("",))[0] != new_parent:
            raise Refused(f"{path}: {target} is another name there")
        for ref in module.by_name.get(local, ()):
            if ref.what == "name" and ref.home and ref.home.kind == "module" and not any(
                isinstance(a.value, ast.Name) and (a.value.lineno, a.value.col_offset) == (ref.line, ref.col)
                for a in module.attributes
            ):
                raise Refused(f"{path}:{ref.line}: the module {local} is used as a value")
        if inside:
            if others:
                text.replace(start, end, render(node, node.module, others))
            elif is_alone(module, node):
                raise Refused(f"{path}:{node.lineno}: an import that stands alone in its block")
            else:
                text.drop_statement(node)
            continue
        alias = f"{new_name} as {target}" if target != new_name else new_name
        lines = [render(node, node.module, others)] if others else []
        lines.append(f"from {new_parent} import {alias}")
        indent = "\n" + " " * node.col_offset
        text.replace(start, end, indent.join(lines))
    return text.done()


def is_alone(module: Module, node: ast.stmt) -> bool:
    for parent in ast.walk(module.tree):
        for field in ("body", "orelse"):
            if getattr(parent, field, None) == [node]:
                return True
    return False


def split(source: bytes) -> tuple[str, str, str]:
    """Docstring, imports (with the comments among them) and the rest."""
    tree = ast.parse(source)
    lines = source.decode().split("\n")
    first, docstring = 0, ""
    body = tree.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        docstring = "\n".join(lines[: body[0].end_lineno])
        first = body[0].end_lineno
        body = body[1:]
    last = first
    for node in body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        last = node.end_lineno
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node.end_lineno > last:
            raise Refused(f"line {node.lineno}: an import behind other code")
    return docstring, "\n".join(lines[first:last]).strip("\n"), "\n".join(lines[last:]).strip("\n")


def used_at_definition(module: Module) -> set[str]:
    """Names that the module needs while it is imported."""
    names: set[str] = set()
    future = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in module.tree.body)

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            a = node.args
            parts = [*a.defaults, *filter(None, a.kw_defaults), *getattr(node, "decorator_list", [])]
            if not future:
                every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
                parts += [x.annotation for x in every if x.annotation]
                parts += [node.returns] if getattr(node, "returns", None) else []
            for part in parts:
                visit(part)
            return
        if isinstance(node, ast.Name):
            names.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(module.tree)
    return names


def same_statements(a: bytes, b: bytes) -> dict[str, ast.stmt]:
    """Statements of a that bind a name as the very same statement of b does."""
    def named(source):
        out = {}
        for n in ast.parse(source).body:
            targets = getattr(n, "targets", None) or [getattr(n, "target", None)]
            name = getattr(n, "name", None) or getattr(targets[0], "id", None)
            if name:
                out[name] = n
        return out
    mine, theirs = named(a), named(b)
    return {k: n for k, n in mine.items() if k in theirs and ast.dump(n) == ast.dump(theirs[k])}


def combine(a: bytes, b: bytes, a_module: Module, b_module: Module, order: str, docstring: bool) -> bytes:
    """Both modules as one; b keeps its docstring."""
    twice = same_statements(a, b)
    own_a = {r.name for r in a_module.refs if r.scope is a_module.top and r.stores and not r.what.startswith("import")}
    own_b = {r.name for r in b_module.refs if r.scope is b_module.top and r.stores and not r.what.startswith("import")}
    imported_by_b = {n: t for n, t in b_module.imports.items()}
    for name in sorted(own_a & own_b - set(twice)):
        raise Refused(f"both have {name}; rename one first")
    for name in sorted(own_a):
        if name in imported_by_b and name not in own_b:
            source = imported_by_b[name]
            ends = a_module.path.stem
            if not (source[0].endswith(f".{ends}") and source[1] == name):
                raise Refused(f"{b_module.path.name} imports another {name}")
    for name in sorted(own_b & set(a_module.imports)):
        raise Refused(f"{a_module.path.name} imports a {name}, which {b_module.path.name} has")
    for name, source in a_module.imports.items():
        if name in imported_by_b and imported_by_b[name] != source:
            raise Refused(f"both import {name}: {source} and {imported_by_b[name]}")
    if order == "auto":
        runs = b_module.path.stem == "__main__" or b'if __name__ == "__main__"' in b
        order = "before" if runs or own_a & used_at_definition(b_module) else "after"
    if order == "before":  # of two equal statements the first remains
        a_rest, b = a, drop(b, same_statements(b, a))
    else:
        a_rest = drop(a, twice)
    doc_a, imports_a, rest_a = split(a_rest)
    doc_b, imports_b, rest_b = split(b)
    if docstring and doc_a:
        doc_b = doc_b.rstrip('"').rstrip() + "\n\n" + doc_a.strip().strip('"').strip() + '\n"""'
    rests = [rest_a, rest_b] if order == "before" else [rest_b, rest_a]
    return "\n\n".join([doc_b, imports_b + "\n" + imports_a, *rests]).encode() + b"\n"


def drop(source: bytes, statements: dict[str, ast.stmt]) -> bytes:
    lines = source.decode().split("\n")
    for node in sorted(statements.values(), key=lambda n: -n.lineno):
        first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])
        del lines[first - 1 : node.end_lineno]
    return "\n".join(lines).encode()


class Merge:
    def __init__(self, args):
        self.args, self.root = args, args.root
        self.house = House(args.root)
        self.source, self.target = (self.path(p) for p in (args.source, args.target))
        self.old, self.new = House.dotted(self.source), House.dotted(self.target)
        self.writes: dict[Path, bytes] = {}
        self.removed: list[Path] = []

    def path(self, path: Path) -> Path:
        return path if path.parts[0] in ("swarm_bench", "tests", "perf") else Path("swarm_bench") / path

    def run(self) -> None:
        a = self.house.module(self.source)
        moves = not (self.root / self.target).exists()
        names = set(a.top.bound)
        if moves:
            self.writes[self.target] = a.source
        else:
            b = self.house.module(self.target)
            if self.target in self.house.importers(self.new) or self.source in self.house.importers(self.new):
                raise Refused(f"{self.source} imports {self.target}")
            b_source = redirect(self.house, self.target, self.old, self.new, names, inside=True)
            self.writes[self.target] = combine(a.source, b_source, a, b, self.args.order, self.args.docstring)
            say(f"docstring of {self.source.name}: {(ast.get_docstring(a.tree) or '')!r}")
        self.removed.append(self.source)
        for importer in self.house.importers(self.old):
            if importer not in (self.source, self.target):
                self.writes[importer] = redirect(self.house, importer, self.old, self.new, names, inside=False)
        self.pages()
        self.test()
        lines = self.writes[self.target].count(b"\n")
        say(f"{self.source} -> {self.target}: about {lines} lines, {len(self.writes) - 1} other files changed")
        if lines > 420:
            say("that is over the budget")

    def pages(self) -> None:
        """Dotted names and paths in pages, settings and strings."""
        short_old = "/".join(self.source.parts[-2:])
        short_new = "/".join(self.target.parts[-2:])
        dotted = re.compile(rf"{re.escape(self.old)}(?![\w])".encode())
        whole = re.compile(rf"{re.escape('/'.join(self.source.parts[1:]))}\b".encode())
        listed = subprocess.run(["git", "ls-files", *PAGES], cwd=self.root, capture_output=True, text=True, check=True)
        for name in listed.stdout.split("\n"):
            p = Path(name)
            if not name or name.startswith(("tests/source/references/", "CHANGELOG")) or p == self.source:
                continue
            if not (self.root / p).is_file():
                continue
            before = self.writes.get(p) or (self.root / p).read_bytes()
            after = dotted.sub(self.new.encode(), before)
            after = whole.sub("/".join(self.target.parts[1:]).encode(), after)
            if after != before:
                self.writes[p] = after
            if short_old.encode() in after and short_old != short_new:
                say(f"look: {p} names {short_old}")

    def test(self) -> None:
        a, b = f"test_{self.source.stem}.py", f"test_{self.target.stem}.py"
        if self.args.keep_test:
            return
        top = self.root / "tests" / self.source.parts[1]
        found = [p for p in top.rglob(a)]
        if len(found) != 1:
            if found:
                say(f"look: {len(found)} files are called {a}")
            return
        old = found[0].relative_to(self.root)
        same = [old.with_name(b)] if (self.root / old.with_name(b)).exists() else []
        new = same[0] if same else old.with_name(b)
        if new == old:
            return
        golden = Path("tests/golden/sentences")
        g_old = golden / old.relative_to("tests").with_suffix(".txt")
        g_new = golden / new.relative_to("tests").with_suffix(".txt")
        source = self.writes.pop(old, None) or (self.root / old).read_bytes()
        if same:
            target = self.writes.get(new) or (self.root / new).read_bytes()
            try:
                self.writes[new] = combine(source, target, as_module(source, old), as_module(target, new), "after", False)
            except Refused as error:
                say(f"look: {old} stays: {error}")
                self.writes[old] = source
                return
        else:
            self.writes[new] = source
        self.removed.append(old)
        if (self.root / g_old).exists():
            before = (self.root / g_new).read_bytes() if (self.root / g_new).exists() else b""
            self.writes[g_new] = before + (self.root / g_old).read_bytes()
            self.removed.append(g_old)
            say(f"look: sections of {g_old} are at the end of {g_new}")
        say(f"{old} -> {new}")

    def write(self) -> None:
        for path, source in self.writes.items():
            if path.suffix == ".py":
                ast.parse(source)
        for path in self.removed:
            subprocess.run(["git", "rm", "-q", "-f", str(path)], cwd=self.root, check=True)
        for path, source in self.writes.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(source)
        files = [str(p) for p in self.writes if p.suffix == ".py"]
        ruff = self.root / ".venv/bin/ruff"
        for _ in range(2):
            subprocess.run([ruff, "check", "--fix", "--silent", *files], cwd=self.root, check=False)
            subprocess.run([ruff, "format", "-q", *files], cwd=self.root, check=True)
        subprocess.run([ruff, "check", "-q", *files], cwd=self.root, check=False)
        subprocess.run(["git", "add", *map(str, self.writes)], cwd=self.root, check=True)
        lines = (self.root / self.target).read_text().count("\n")
        say(f"{self.target} has {lines} lines")


def as_module(source: bytes, path: Path) -> Module:
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path.name
        file.write_bytes(source)
        return Module(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, help="a module that exists, or a new path: then the module moves")
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--order", choices=("auto", "before", "after"), default="auto",
                        help="where the source's code stands; auto: before where the target needs it to be defined")
    parser.add_argument("--docstring", action="store_true", help="add the source's docstring to the target's")
    parser.add_argument("--keep-test", action="store_true", help="leave the test file where it is")
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    merge = Merge(args)
    try:
        merge.run()
    except Refused as error:
        say(f"refused: {error}")
        return 1
    if not args.dry_run:
        merge.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
