"""Ask mypy what each `x.name` and each call's keywords belong to; writes JSON.

Runs in the worktree with the worktree's own Python: .venv/bin/python .ci/renames/index_types.py OUT FILE...
Only the files named are checked anew; all others come from .mypy_cache (warm after `make check`).
"""

import json
import sys
from pathlib import Path

from mypy import build
from mypy.fscache import FileSystemCache
from mypy.main import process_options
from mypy.modulefinder import BuildSource
from mypy.nodes import (
    CallExpr, ClassDef, FuncDef, MemberExpr, MypyFile, NameExpr, OverloadedFuncDef, RefExpr, SuperExpr,
    TypeInfo, Decorator, Var, Context, SymbolNode, Node, SymbolTable,
)
from mypy.patterns import ClassPattern
from mypy.types import (
    AnyType, CallableType, Instance, LiteralType, NoneType, Overloaded, TupleType, TypedDictType, TypeType,
    TypeVarType, UnionType, get_proper_type,
)


def infos(typ):
    typ = get_proper_type(typ)
    if isinstance(typ, Instance):
        return [typ.type]
    if isinstance(typ, UnionType):
        return [info for item in typ.items for info in infos(item)]
    if isinstance(typ, TypeVarType):
        return infos(typ.upper_bound)
    if isinstance(typ, TupleType):
        return infos(typ.partial_fallback)
    if isinstance(typ, (LiteralType, TypedDictType)):
        return infos(typ.fallback)
    if isinstance(typ, TypeType):
        return infos(typ.item)
    if isinstance(typ, CallableType):
        return infos(typ.ret_type) if typ.is_type_obj() else [typ.fallback.type]
    if isinstance(typ, Overloaded):
        return infos(typ.items[0])
    return []


def is_open(typ):
    typ = get_proper_type(typ)
    if isinstance(typ, UnionType):
        return any(is_open(i) for i in typ.items)
    return typ is None or isinstance(typ, AnyType)


def owner(info, name):
    for base in info.mro:
        if name in base.names:
            return base.fullname
    return None


_NOT_INSIDE = frozenset(
    "node info names mro original_def expanded type unanalyzed_type typeddict_type defn_info fullname analyzed is_def "
    "impl_type setter_type alias_tvars unanalyzed_items dataclass_transform_spec original_first_arg metaclass_type "
    "ref_info plugin_deps type_annotation base_type_exprs_info definition removed_base_type_exprs".split()
)
_ATTRIBUTES = {}


def children(node):
    """What stands inside of a node; the compiled visitors of mypy cannot be subclassed."""
    kind = type(node)
    if kind not in _ATTRIBUTES:
        _ATTRIBUTES[kind] = [a for a in dir(kind) if not a.startswith("_") and a not in _NOT_INSIDE]
    for attribute in _ATTRIBUTES[kind]:
        try:
            value = getattr(node, attribute)
        except Exception:
            continue
        todo = [value]
        while todo:
            item = todo.pop()
            if isinstance(item, Node) and not isinstance(item, (TypeInfo, MypyFile)):
                yield item
            elif isinstance(item, (list, tuple)):
                todo.extend(item)


class Visitor:
    def walk(self, tree):
        todo, seen = list(tree.defs), set()
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, MemberExpr):
                self.visit_member_expr(node)
            elif isinstance(node, SuperExpr):
                self.visit_super_expr(node)
            elif isinstance(node, CallExpr):
                self.visit_call_expr(node)
            elif isinstance(node, ClassPattern):
                self.visit_class_pattern(node)
            todo.extend(children(node))

    def __init__(self, types):
        self.types, self.members, self.calls, self.patterns = types, [], [], []

    def visit_member_expr(self, o):
        if isinstance(o.expr, RefExpr) and isinstance(o.expr.node, MypyFile):
            return
        typ = self.types.get(o.expr)
        if typ is None and isinstance(o.expr, RefExpr) and isinstance(o.expr.node, TypeInfo):
            found = [o.expr.node]
        else:
            found = infos(typ) if typ is not None else []
        owners = sorted({w for i in found if (w := owner(i, o.name))})
        if not owners and (typ is None or is_open(typ)):
            owners = ["?"]
        self.members.append([o.end_line, o.end_column, o.name, owners])

    def visit_super_expr(self, o):
        if o.info:
            owners = [b.fullname for b in o.info.mro[1:] if o.name in b.names][:1]
            self.members.append([o.end_line, o.end_column, o.name, owners])

    def visit_call_expr(self, o):
        names = [n for n in o.arg_names if n]
        if not names:
            return
        callee = o.callee
        target = None
        if isinstance(callee, RefExpr) and callee.fullname == "dataclasses.replace" and o.args:
            typ = self.types.get(o.args[0])
            found = infos(typ) if typ is not None else []
            target = found[0].fullname if found else None
        elif isinstance(callee, RefExpr) and isinstance(callee.node, TypeInfo):
            target = callee.node.fullname
        elif isinstance(callee, RefExpr) and isinstance(callee.node, (FuncDef, OverloadedFuncDef, Decorator)):
            target = callee.node.fullname
        if target is None:
            typ = get_proper_type(self.types.get(callee)) if self.types.get(callee) is not None else None
            if isinstance(typ, Overloaded):
                typ = typ.items[0]
            if isinstance(typ, CallableType):
                if typ.is_type_obj():
                    found = infos(typ.ret_type)
                    target = found[0].fullname if found else None
                elif typ.definition is not None:
                    target = getattr(typ.definition, "fullname", None)
            elif isinstance(typ, Instance):
                w = owner(typ.type, "__call__")
                target = f"{w}.__call__" if w else None
            if isinstance(callee, MemberExpr):
                t = self.types.get(callee.expr)
                for i in infos(t) if t is not None else []:
                    if (w := owner(i, callee.name)) and not isinstance(i.get(callee.name).node, TypeInfo):
                        if not isinstance(i.get(callee.name).node, Var):
                            target = f"{w}.{callee.name}"
        self.calls.append([o.line, o.column, o.end_line, o.end_column, target or "?", names])

    def visit_class_pattern(self, o):
        if o.keyword_keys and isinstance(o.class_ref.node, TypeInfo):
            self.patterns.append([o.line, o.column, o.class_ref.node.fullname])


def main():
    out, names = sys.argv[1], sys.argv[2:]
    fscache = FileSystemCache()
    sources, options = process_options(["--config-file", "pyproject.toml", *names], fscache=fscache)
    options.export_types = options.preserve_asts = True
    options.incremental = True
    fresh = [BuildSource(s.path, s.module, Path(s.path).read_text(), s.base_dir) for s in sources]
    result = build.build(fresh, options, fscache=fscache)
    for error in result.errors[:20]:
        print(error, file=sys.stderr)
    files = {}
    classes = {}
    for source in fresh:
        tree = result.files.get(source.module)
        if tree is None:
            print("no tree", source.module, file=sys.stderr)
            continue
        visitor = Visitor(result.types)
        visitor.walk(tree)
        files[source.path] = {
            "text": source.text, "members": visitor.members, "calls": visitor.calls,
            "patterns": visitor.patterns,
        }
    for module, tree in result.files.items():
        if module.split(".")[0] not in ("swarm_bench", "tests", "perf"):
            continue
        todo = [(f"{module}.{n}", s.node) for n, s in tree.names.items() if isinstance(s.node, TypeInfo)]
        while todo:
            _, node = todo.pop()
            if node.fullname in classes:
                continue
            classes[node.fullname] = {"mro": [b.fullname for b in node.mro], "names": sorted(node.names)}
            todo += [(n, s.node) for n, s in node.names.items() if isinstance(s.node, TypeInfo)]
    Path(out).write_text(json.dumps({"files": files, "classes": classes}))
    print(len(files), "files,", len(classes), "classes")


main()
