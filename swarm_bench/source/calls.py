"""What a file does with a name: calls it, imports it, or uses it as a value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from tree_sitter import Node

from swarm_bench.source.definitions import LARGEST, definitions_below, is_supported
from swarm_bench.source.grammars import grammar_of, is_wide, parse

_LAST = {
    "attribute": ("object", "attribute"),
    "member_expression": ("object", "property"),
    "field_expression": ("value", "field"),
    "selector_expression": ("operand", "field"),
    "scoped_identifier": ("path", "name"),
}
"""Nodes for a name of something: the fields of that thing, and of the name."""
_DEFINING = ("_definition", "_declaration", "_signature", "_item", "function_expression")
_ALIASED = ("aliased_import", "import_specifier", "export_specifier", "use_as_clause")
_REQUIRE = re.compile(r"""require\(\s*['"]([^'"]+)['"]\s*\)(?:\.([\w$]+))?""")
_EXPORTS = re.compile(r"(module\.)?exports(\.[\w$]+)?")
_DEEPEST = 200
"""Nodes in each other around a mention; the time to look at it grows with their square."""
_PATH_OF_NAMES = re.compile(r"[\w.:#$]*")


class Use(Enum):
    """What a mention of a name is."""

    DEFINITION = auto()
    CALL = auto()
    IMPORT = auto()
    DEFAULT_IMPORT = auto()
    """Import of all that a module exports, under the name."""
    TEXT = auto()
    """Comments, sentences, lists of what is exported, names of keyword arguments."""
    VALUE = auto()
    """Anything else: passed on, assigned, a parameter, a decorator, part of a macro."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """One place of a file that has a name."""

    at: int
    """The byte at which the name begins."""
    use: Use
    origin: str = ""
    """Text before a called name (`self` of `self.run()`), or the module that it is imported
    from."""
    in_test: bool = False
    """Whether it stands in a test in the middle of a file, as those of Rust do."""


def mentions(path: str, source: bytes, name: str) -> tuple[Mention, ...]:
    """List the places of a file that have the name. Empty for a language that is not supported."""
    if not is_supported(path) or len(source) > LARGEST:
        return ()
    root, defined = _read(path, source)
    is_data = root is not None and is_wide(root)
    pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")
    return tuple(
        Mention(at=match.start(), use=Use.VALUE)
        if root is None or is_data
        else _mention(root, match.start(), match.end(), match.start() in defined)
        for match in pattern.finditer(source)
    )


@lru_cache(maxsize=64)
def _read(path: str, source: bytes) -> tuple[Node | None, frozenset[int]]:
    """Parse a file: its root, if that takes not too long, and the bytes at which defined names
    begin. Many names are looked up in the same files."""
    grammar = grammar_of(path)
    assert grammar is not None
    if (root := parse(grammar, source)) is None:
        return None, frozenset()
    return root, frozenset(definition.name_at for definition in definitions_below(path, root))


def _mention(root: Node, start: int, end: int, is_definition: bool) -> Mention:
    if _depth(root, start) > _DEEPEST:
        return Mention(at=start, use=Use.VALUE)
    node = root.descendant_for_byte_range(start, end)
    assert node is not None
    in_test = any(map(_is_test, _ancestors(node)))
    use, origin = (Use.DEFINITION, "") if is_definition else _use(node, (end - start))
    return Mention(at=start, use=use, origin=origin, in_test=in_test)


def _depth(root: Node, at: int) -> int:
    cursor, depth = root.walk(), 0
    while depth <= _DEEPEST and cursor.goto_first_child_for_byte(at) is not None:
        depth += 1
    return depth


def _use(node: Node, length: int) -> tuple[Use, str]:
    if "comment" in node.type or node.type == "jsx_text":
        return Use.TEXT, ""
    if "string" in node.type or node.type == "template_chars":
        return _use_of_string(node), ""
    if node.end_byte - node.start_byte != length or "identifier" not in node.type:
        return Use.VALUE, ""
    parent = node.parent
    if parent is None or any(ancestor.type == "token_tree" for ancestor in _ancestors(node)):
        return Use.VALUE, ""
    if _is(parent, "name", node) and parent.type.endswith(_DEFINING) and "param" not in parent.type:
        return Use.DEFINITION, ""
    if parent.type == "keyword_argument" and _is(parent, "name", node):
        return Use.TEXT, ""
    return _import(node) or _find_require(node) or _export(node) or _call(node) or (Use.VALUE, "")


def _use_of_string(node: Node) -> Use:
    """Tell a sentence, and a list of exports, from a name by which something may be looked up."""
    is_exported = any("__all__" in _field(ancestor, "left") for ancestor in _ancestors(node))
    is_name = _PATH_OF_NAMES.fullmatch(_text(node).strip("\"'`"))
    return Use.VALUE if is_name and not is_exported else Use.TEXT


def _call(node: Node) -> tuple[Use, str] | None:
    origin, callee = "", node
    parent = node.parent
    if parent is not None and parent.type in _LAST:
        qualifier, last = _LAST[parent.type]
        if not _is(parent, last, node):
            return None
        origin, callee = _field(parent, qualifier), parent
    parent = callee.parent
    if parent is not None and parent.type == "generic_function" and _is(parent, "function", callee):
        callee, parent = parent, parent.parent
    if parent is None or not _is(parent, "function", callee):
        return None
    return Use.CALL, origin


def _import(node: Node) -> tuple[Use, str] | None:
    parent = node.parent
    assert parent is not None
    if parent.type == "dotted_name":
        node, parent = parent, parent.parent or parent
        if node.named_child_count > 1:
            return None
    alias = parent.child_by_field_name("alias") if parent.type in _ALIASED else None
    if alias is not None and _text(alias) != _field(parent, "name"):
        return Use.VALUE, ""
    for ancestor in _ancestors(node):
        if ancestor.type == "import_from_statement":
            is_module = _is(ancestor, "module_name", node)
            return None if is_module else (Use.IMPORT, _field(ancestor, "module_name"))
        if ancestor.type == "import_statement" and (origin := _field(ancestor, "source")):
            is_default = parent.type == "import_clause"
            return Use.DEFAULT_IMPORT if is_default else Use.IMPORT, origin.strip("\"'")
        if ancestor.type == "export_statement" and parent.type == "export_specifier":
            origin = _field(ancestor, "source").strip("\"'")
            return (Use.IMPORT, origin) if origin else (Use.TEXT, "")
        if ancestor.type == "use_declaration":
            return _find_use(node)
    return None


def _find_use(node: Node) -> tuple[Use, str] | None:
    """Return the path of a name in a `use` of Rust; `None` when it is part of that path."""
    path: list[str] = []
    child = node
    for ancestor in _ancestors(node):
        if _is(ancestor, "path", child):
            return None
        if module := _field(ancestor, "path"):
            path.insert(0, module)
        child = ancestor
    return Use.IMPORT, "::".join(path)


def _find_require(node: Node) -> tuple[Use, str] | None:
    """Read an import by `require`."""
    declared = next((n for n in _ancestors(node) if n.type == "variable_declarator"), None)
    match = declared and _REQUIRE.fullmatch(_field(declared, "value"))
    if not declared or not match:
        return None
    name, is_whole = _text(node), _is(declared, "name", node)
    if node.type == "shorthand_property_identifier_pattern" and not match[2]:
        return Use.IMPORT, match[1]
    if match[2] == name and name == _field(declared, "name"):
        return Use.IMPORT, match[1]
    return (Use.DEFAULT_IMPORT, match[1]) if is_whole and not match[2] else None


def _export(node: Node) -> tuple[Use, str] | None:
    """Recognize `exports.name = name` and `module.exports = { name }`."""
    assigned = next((n for n in _ancestors(node) if n.type == "assignment_expression"), None)
    if assigned is None or not _EXPORTS.fullmatch(target := _field(assigned, "left")):
        return None
    name, right = _text(node), _field(assigned, "right")
    if right == name and target.endswith(f"exports.{name}"):
        return Use.TEXT, ""
    is_listed = node.type == "shorthand_property_identifier" or (
        node.parent is not None
        and re.fullmatch(rf"{re.escape(name)}\s*:\s*{re.escape(name)}", _text(node.parent))
    )
    return (Use.TEXT, "") if is_listed and target == "module.exports" else None


def _is_test(node: Node) -> bool:
    """Tell whether it is a function or a module of Rust that only tests need."""
    if node.type not in ("mod_item", "function_item"):
        return False
    sibling = node.prev_named_sibling
    while sibling is not None and sibling.type in ("attribute_item", "line_comment"):
        if sibling.type == "attribute_item" and re.search(r"\btest\b", _text(sibling)):
            return True
        sibling = sibling.prev_named_sibling
    return False


def _ancestors(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _is(node: Node, field: str, child: Node) -> bool:
    return node.child_by_field_name(field) == child


def _field(node: Node, name: str) -> str:
    child = node.child_by_field_name(name)
    return "" if child is None else _text(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
