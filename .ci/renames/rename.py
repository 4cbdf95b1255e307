#!/usr/bin/env python3.13
"""Apply a table of renames to a checkout; see README.md."""

import argparse
import ast
import json
import keyword
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from scopes import Module, Scope  # noqa: E402

ROOTS = ("swarm_bench", "tests", "perf", ".ci", "docs")
ENTRY = re.compile(r"^(?:(?P<where>[\w.*<>]+):)?(?P<old>[\w.]+(?:@\d+)?)\s*->\s*(?P<new>\w+)$")


class House:
    """All modules of the checkout, by path and by dotted name."""

    def __init__(self, root: Path):
        self.root = root
        self.modules: dict[Path, Module] = {}
        self._importers: dict[str, list[Path]] = {}
        files = subprocess.run(
            ["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.split()
        self.paths = {Path(f): self.dotted(Path(f)) for f in files if f.startswith(ROOTS)}
        self.by_name = {name: path for path, name in self.paths.items()}
        self.texts = {p: (root / p).read_text() for p in self.paths if (root / p).exists()}

    @staticmethod
    def dotted(path: Path) -> str:
        return ".".join(path.with_suffix("").parts).removesuffix(".__init__")

    def module(self, path: Path) -> Module:
        if path not in self.modules:
            self.modules[path] = Module(self.root / path)
        return self.modules[path]

    def importers(self, dotted: str) -> list[Path]:
        if dotted not in self._importers:
            self._importers[dotted] = self._find_importers(dotted)
        return self._importers[dotted]

    def _find_importers(self, dotted: str) -> list[Path]:
        last = dotted.rpartition(".")[2]
        parent, _, name = dotted.rpartition(".")
        pattern = re.compile(
            rf"from {re.escape(dotted)} import|import {re.escape(dotted)}\b"
            rf"|from {re.escape(parent)} import[^#\n]*(?:\([^)]*)?\b{re.escape(name)}\b"
        )
        return [p for p, text in self.texts.items() if last in text and pattern.search(text)]


class Plan:
    def __init__(self, house: House, index: dict | None):
        self.house, self.index = house, index
        self.edits: dict[Path, dict[tuple[int, int], tuple[str, str]]] = defaultdict(dict)
        self.reminds = False
        self.stale: set[Path] = set()
        self.refused: list[str] = []
        self.notes: list[str] = []
        self.entries: list[tuple[Path, str | None, str, str]] = []
        self.olds: set[tuple[Path, str, str]] = set()

    def edit(self, path: Path, line: int, col: int, old: str, new: str) -> None:
        text = self.house.module(path).lines[line - 1][col : col + len(old.encode())].decode()
        if text != old:
            self.refused.append(f"{path}:{line}:{col}: {text!r} is not {old!r}")
            return
        at = (line, col)
        before = self.edits[path].get(at)
        if before and before != (old, new):
            self.refused.append(f"{path}:{line}: {old} -> {new} and {before[1]}")
        self.edits[path][at] = (old, new)

    # --- what an entry of the table is

    def apply(self, path: Path, where: str | None, old: str, new: str, label: str) -> None:
        if not new.isidentifier() or keyword.iskeyword(new):
            self.refused.append(f"{label}: {new} is no name")
            return
        module = self.house.module(path)
        if where is not None:
            self.local(path, module, where, old, new, label)
        elif "." in old:
            owner, _, member = old.rpartition(".")
            self.member(path, module, owner, member, new, label)
        elif old in module.top.bound:
            self.top(path, module, old, new, label)
        else:
            self.refused.append(f"{label}: {path} has no {old} at its top")

    # --- locals and parameters

    def local(self, path, module, where, old, new, label) -> None:
        old, _, number = old.partition("@")
        scopes = [
            s for s in module.scopes.values()
            if s.kind in ("function", "comprehension") and old in s.bound
            and (where == "*" or s.path == where or s.path.startswith(where + ".")
                 or (where == "<module>" and s.path == "" and s.kind == "comprehension"))
        ]
        if number:  # the first, second, ... of the scopes in the file's order that have it
            scopes.sort(key=lambda s: (s.node.lineno, s.node.col_offset))
            scopes = scopes[int(number) - 1 : int(number)]
        if not scopes:
            self.refused.append(f"{label}: no local {old}")
            return
        for scope in scopes:
            self.collide_inside(path, module, scope, old, new, label)
            for ref in module.by_name.get(old, ()):
                if ref.home is scope and ref.name == old:
                    if ref.what == "import-from":
                        self.refused.append(f"{label}: imported by that name")
                    self.edit(path, ref.line, ref.col, old, new)
            if scope.kind == "function" and any(
                r.what == "argument" and r.home is scope and r.name == old for r in module.by_name.get(old, ())
            ):
                self.keywords(path, module, scope, old, new, label)

    def collide_inside(self, path, module, scope: Scope, old, new, label) -> None:
        """Refuse when `new` already means something where `old` is used."""
        if (path, scope.path, new) in self.olds or (path, "*", new) in self.olds:
            return
        inner = {id(scope)}
        for s in module.scopes.values():
            p = s.parent
            while p is not None:
                if p is scope:
                    inner.add(id(s))
                p = p.parent
        for ref in module.by_name.get(new, ()):
            if id(ref.scope) in inner:
                at = ref.home.path if ref.home else None
                if at is not None and (path, at, new) in self.olds:
                    continue
                self.refused.append(f"{label}: collision in {scope.path or 'module'}: {new} is used at line {ref.line}")
                return

    def keywords(self, path, module, scope, old, new, label) -> None:
        """Rename `old=` in the calls of a function."""
        dotted = f"{self.house.paths[path]}.{scope.path}"
        method = scope.parent is not None and scope.parent.kind == "class"
        name = scope.path.rpartition(".")[2]
        if not method and scope.parent is not None and scope.parent.kind == "module":
            for p in [path, *self.house.importers(self.house.paths[path])]:
                m = self.house.module(p)
                for call, word in m.keywords:
                    if word.arg == old and self.resolves(m, p, call.func) == dotted:
                        self.edit(p, word.lineno, word.col_offset, old, new)
            return
        if name == "":
            return
        targets = {dotted, dotted.removesuffix(".__init__")}
        for p, m, calls in self.indexed(old):
            for call, word in m.keywords:
                if word.arg != old:
                    continue
                target = calls.get((call.lineno, call.col_offset, call.end_lineno, call.end_col_offset))
                if target in targets:
                    self.edit(p, word.lineno, word.col_offset, old, new)
                elif target in (None, "?") and isinstance(call.func, ast.Attribute) and call.func.attr == name:
                    self.notes.append(f"{p}:{word.lineno}: {name}({old}=…)? ({label})")
        if self.index is None:
            self.notes.append(f"{label}: keywords of methods need the index")

    def resolves(self, module: Module, path: Path, func: ast.expr) -> str | None:
        """The dotted name that a called expression stands for, by the imports."""
        if isinstance(func, ast.Name):
            if func.id in module.imports:
                mod, name = module.imports[func.id]
                return f"{mod}.{name}" if name else mod
            return f"{self.house.paths[path]}.{func.id}"
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in module.imports:
            mod, name = module.imports[func.value.id]
            return f"{mod}.{name}.{func.attr}" if name else f"{mod}.{func.attr}"
        return None

    # --- what stands at the top of a module

    def top(self, path, module, old, new, label) -> None:
        if new in module.top.bound and (path, "", new) not in self.olds:
            self.refused.append(f"{label}: collision: {new} is a name of {path}")
            return
        self.names_of(path, module, old, new, label)
        dotted = self.house.paths[path]
        for p in self.house.importers(dotted):
            m = self.house.module(p)
            for name, (mod, imported) in m.imports.items():
                if mod == dotted and imported == old:
                    if name == old:
                        if new in m.top.bound and (p, "", new) not in self.olds and (p, new) not in self.imports_gone(p):
                            self.refused.append(f"{label}: collision: {new} is a name of {p}")
                        self.names_of(p, m, old, new, label)
                    else:
                        self.alias(p, m, old, new)
                is_module = f"{mod}.{imported}" == dotted if imported else mod == dotted
                if is_module:
                    for a in m.attributes:
                        if a.attr == old and isinstance(a.value, ast.Name) and a.value.id == name:
                            self.edit(p, a.end_lineno, a.end_col_offset - len(old.encode()), old, new)
            self.strings(p, m, f"{dotted}.{old}", f"{dotted}.{new}", label)
        self.remind(path, old, label)

    def imports_gone(self, path: Path) -> set:
        """Names that a module imports and that the same table renames."""
        m = self.house.module(path)
        gone = set()
        for name, (mod, imported) in m.imports.items():
            source = self.house.by_name.get(mod)
            if source and imported and (source, "", imported) in self.olds:
                gone.add((path, name))
        return gone

    def alias(self, path, module, old, new) -> None:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                for a in node.names:
                    if a.name == old and a.asname:
                        self.edit(path, a.lineno, a.col_offset, old, new)

    def names_of(self, path, module, old, new, label) -> None:
        for scope in module.scopes.values():
            if new in scope.bound and scope.kind in ("function", "comprehension"):
                inside = {id(s) for s in module.scopes.values() if self.within(s, scope)}
                if any(r.name == old and r.home is module.top and id(r.scope) in inside for r in module.by_name.get(old, ())):
                    if (path, scope.path, new) not in self.olds and (path, "*", new) not in self.olds:
                        self.refused.append(f"{label}: collision: {new} is local in {path}: {scope.path}")
        for scope in module.scopes.values():
            if scope.kind == "function" and old in scope.bound and any(
                r.home is scope and r.name == old and r.what == "import-from" for r in module.by_name.get(old, ())
            ):
                for ref in module.by_name.get(old, ()):
                    if ref.home is scope and ref.name == old:
                        self.edit(path, ref.line, ref.col, old, new)
        for ref in module.by_name.get(old, ()):
            if ref.name == old and ref.home is module.top:
                self.edit(path, ref.line, ref.col, old, new)

    @staticmethod
    def within(scope: Scope, outer: Scope) -> bool:
        s: Scope | None = scope
        while s is not None:
            if s is outer:
                return True
            s = s.parent
        return False

    def strings(self, path, module, old, new, label) -> None:
        for s in module.strings:
            if old in s.value and s.lineno == s.end_lineno:
                text = module.lines[s.lineno - 1]
                at = text.find(old.encode(), s.col_offset)
                if at >= 0:
                    self.edit(path, s.lineno, at, old, new)

    def remind(self, path, old, label) -> None:
        """Say where the name stands in a string or in a page."""
        if not self.reminds or ("_" not in old.strip("_") and len(old) < 12):
            return
        for page in [*self.house.root.glob("docs/**/*.md"), self.house.root / "CONTRIBUTING.md"]:
            for n, line in enumerate(page.read_text().splitlines(), 1):
                if f"`{old}" in line or f".{old}`" in line:
                    self.notes.append(f"{page.relative_to(self.house.root)}:{n}: {line.strip()[:80]} ({label})")
        for p, text in self.house.texts.items():
            if old not in text:
                continue
            for n, line in enumerate(text.splitlines(), 1):
                if re.search(rf"[\"'`]{re.escape(old)}[\"'`]", line):
                    self.notes.append(f"{p}:{n}: {line.strip()[:80]} ({label})")

    # --- members

    def member(self, path, module, owner, member, new, label) -> None:
        if self.index is None:
            self.refused.append(f"{label}: members need --index")
            return
        classes = self.index["classes"]
        top = f"{self.house.paths[path]}.{owner}"
        if top not in classes or member not in classes[top]["names"]:
            self.refused.append(f"{label}: no member {member} of {top} in the index")
            return
        family = {top}
        grew = True
        while grew:
            grew = False
            for name, c in classes.items():
                if name not in family and member in c["names"] and (
                    family & set(c["mro"]) or any(name in classes[f]["mro"] for f in family if f in classes)
                ):
                    family.add(name)
                    grew = True
        heirs = {n for n, c in classes.items() if family & set(c["mro"])}
        for name in heirs | family:
            if new in classes[name]["names"] and not self.renamed_away(name, new):
                self.refused.append(f"{label}: collision: {name} has {new}")
                return
        for name in family:
            self.definition(name, member, new, label)
        for p, m, calls in self.indexed(member):
            data = self.index["files"][str(p)]
            for line, end, attr, owners in data["members"]:
                if attr != member:
                    continue
                if family & set(owners):
                    if not set(owners) - family <= self.same_elsewhere(member, new):
                        self.refused.append(f"{label}: {p}:{line}: also of {sorted(set(owners) - family)}")
                    self.edit(p, line, end - len(member.encode()), member, new)
                elif owners == ["?"]:
                    self.notes.append(f"{p}:{line}: .{member} of an unknown type ({label})")
            for call, word in m.keywords:
                target = calls.get((call.lineno, call.col_offset, call.end_lineno, call.end_col_offset))
                if word.arg == member and target in heirs | family:
                    self.edit(p, word.lineno, word.col_offset, member, new)
            for node in ast.walk(m.tree):
                if isinstance(node, ast.MatchClass) and member in node.kwd_attrs:
                    known = {(q[0], q[1]): q[2] for q in data["patterns"]}
                    if known.get((node.lineno, node.col_offset)) in heirs | family:
                        line, col = m.find(node.lineno, rb"\b(%s)=" % member.encode(), node.col_offset)
                        self.edit(p, line, col, member, new)
            for s in self.attribute_strings(m):
                if s.value == member:
                    self.notes.append(f"{p}:{s.lineno}: the string {member!r} ({label})")

    @staticmethod
    def attribute_strings(m: Module):
        """Strings that name an attribute: of getattr and the like."""
        for node in ast.walk(m.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
                "getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "object",
            ):
                yield from (a for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str))

    def same_elsewhere(self, member: str, new: str) -> set[str]:
        """Classes whose member the table renames in the same way."""
        return {
            f"{self.house.paths[p]}.{o.rpartition('.')[0]}"
            for p, w, o, n in self.entries
            if w is None and n == new and o.rpartition(".")[2] == member
        }

    def renamed_away(self, cls: str, name: str) -> bool:
        return any(w is None and o.endswith(f".{name}") and f"{self.house.paths[p]}.{o}" == f"{cls}.{name}"
                   for p, w, o, _ in self.entries)

    def definition(self, cls: str, member: str, new: str, label: str) -> None:
        parts = cls.split(".")
        for at in range(len(parts) - 1, 0, -1):
            path = self.house.by_name.get(".".join(parts[:at]))
            if path is not None:
                break
        else:
            return
        m = self.house.module(path)
        inner = ".".join(parts[at:])
        for scope in m.scopes.values():
            if scope.kind == "class" and scope.path == inner:
                for ref in m.by_name.get(member, ()):
                    if ref.home is scope and ref.name == member:
                        self.edit(path, ref.line, ref.col, member, new)

    def indexed(self, word: str):
        """Files of the index that have the word; an index older than its file is refused."""
        if self.index is None:
            return
        for name, data in self.index["files"].items():
            p = Path(name)
            if p not in self.house.texts or not re.search(rf"\b{re.escape(word)}\b", data["text"]):
                continue
            if self.house.texts[p] != data["text"]:
                self.stale.add(p)  # mypy finds what is missed there
                continue
            yield p, self.house.module(p), {tuple(c[:4]): c[4] for c in data["calls"]}

    def write(self) -> int:
        count = 0
        for path, edits in self.edits.items():
            lines = list(self.house.module(path).lines)
            for (line, col), (old, new) in sorted(edits.items(), reverse=True):
                text = lines[line - 1]
                lines[line - 1] = text[:col] + new.encode() + text[col + len(old.encode()) :]
                count += 1
            source = b"\n".join(lines)
            ast.parse(source)
            (self.house.root / path).write_bytes(source)
        return count


def read_table(text: str, house: House):
    """Sections `[path]`, lines `old -> new`, `Class.member -> new`, `function:local -> new`."""
    path = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            path = Path(line.strip("[]"))
            if path not in house.texts:
                path = Path("swarm_bench") / path
            if path not in house.texts:
                print(f"line {number}: no file {line}")
                path = None
            continue
        if path is None:
            continue
        for part in line.split(";"):
            match = ENTRY.match(part.strip())
            if not match:
                print(f"line {number}: cannot read {part!r}")
                continue
            yield path, match["where"], match["old"], match["new"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--index", type=Path, help="JSON of index_types.py, for members and keywords of methods")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--skip-refused", action="store_true", help="apply the entries that are not refused")
    parser.add_argument("--notes", action="store_true", help="print strings and unknown types that may mean the name")
    args = parser.parse_args()
    index = json.loads(args.index.read_text()) if args.index else None
    house = House(args.root)
    entries = list(read_table(args.table.read_text(), house))
    refused: list[str] = []
    while True:
        plan = Plan(house, index)
        plan.entries, plan.reminds = entries, args.notes
        for path, where, old, _ in entries:
            plan.olds.add((path, where or "", old.partition("@")[0]))
        bad = set()
        for entry in entries:
            path, where, old, new = entry
            label = f"{path}: {f'{where}:' if where else ''}{old} -> {new}"
            before = len(plan.refused)
            plan.apply(path, where, old, new, label)
            if len(plan.refused) > before:
                bad.add(entry)
        refused += [r for r in plan.refused if r not in refused]
        if not bad or not args.skip_refused:
            break
        entries = [e for e in entries if e not in bad]
    for line in refused:
        print("refused:", line)
    if args.notes:
        for line in dict.fromkeys(plan.notes):
            print("look:", line)
    for p in sorted(plan.stale):
        print("changed since it was indexed, so members there are not renamed; run mypy:", p)
    total = sum(map(len, plan.edits.values()))
    print(f"{len(entries)} renames, {total} places in {len(plan.edits)} files, {len(refused)} refused, {len(set(plan.notes))} to look at")
    if args.dry_run or (refused and not args.skip_refused):
        return 1 if refused else 0
    plan.write()
    files = [str(p) for p in plan.edits]
    ruff = args.root / ".venv/bin/ruff"
    subprocess.run([ruff, "check", "--fix", "--silent", *files], cwd=args.root, check=False)
    subprocess.run([ruff, "format", "-q", *files], cwd=args.root, check=True)
    subprocess.run([ruff, "check", "-q", *files], cwd=args.root, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
