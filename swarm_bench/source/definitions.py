"""Definitions of functions, classes, methods and types."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tree_sitter import Node

from swarm_bench.core.session.tasks import SYMBOL_MARK
from swarm_bench.source.grammars import (
    GO,
    JAVASCRIPT,
    PYTHON,
    RUST,
    TSX,
    TYPESCRIPT,
    grammar_of,
    is_wide,
    matches,
    parse,
)

LARGEST = 1_000_000
"""Bytes. A larger file was hardly written by hand, and takes a second for each 4 MB."""

_DEEPEST = 20
"""Definitions in each other; deeper ones have names that are not used, and grow with the square."""

_PYTHON = """
(function_definition name: (_) @name) @function
(class_definition name: (_) @name) @class
"""

_ECMA = """
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name value: [
  (arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator name: (identifier) @name value: (object)) @around
(assignment_expression left: (identifier) @name right: [
  (arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression
  left: (member_expression object: (_) @parent property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(pair key: (property_identifier) @name value: [
  (arrow_function) (function_expression) (generator_function)]) @function
"""

_JAVASCRIPT = (
    _ECMA
    + """
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @method
"""
)

_TYPESCRIPT = (
    _ECMA
    + """
(public_field_definition name: (_) @name value: [
  (arrow_function) (function_expression)]) @method
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @namespace
"""
)

_RUST = """
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @union
(enum_item name: (_) @name) @enum
(trait_item name: (_) @name) @trait
(type_item name: (_) @name) @type
(macro_definition name: (_) @name) @macro
(mod_item name: (_) @name body: (_)) @module
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (_) @name))
  (scoped_type_identifier name: (_) @name)
  (reference_type type: (type_identifier) @name)
  (reference_type type: (generic_type type: (type_identifier) @name))]) @around
"""

_GO = """
(function_declaration name: (_) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (generic_type type: (type_identifier) @parent)
    (pointer_type [(type_identifier) @parent (generic_type type: (type_identifier) @parent)])]))
  name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(method_elem name: (_) @name) @method
"""

_QUERIES = {
    PYTHON: _PYTHON,
    JAVASCRIPT: _JAVASCRIPT,
    TYPESCRIPT: _TYPESCRIPT,
    TSX: _TYPESCRIPT,
    RUST: _RUST,
    GO: _GO,
}
_CONTAINER = "around"
"""Kind of a node that qualifies the names in it, and is no definition itself."""
_CLASSES = frozenset({"class", "struct", "interface", "trait", "enum", "union", _CONTAINER})
_WRAPPERS = frozenset(
    {
        *("decorated_definition", "export_statement", "lexical_declaration"),
        *("variable_declaration", "expression_statement", "ambient_declaration"),
        "type_declaration",
    }
)
"""Nodes around a definition that begin with what belongs to it."""
_DECORATIONS = frozenset({"attribute_item", "decorator"})
_FUNCTIONS = frozenset(
    {
        *("arrow_function", "closure_expression", "func_literal", "function_declaration"),
        *("function_definition", "function_expression", "function_item", "generator_function"),
        *("generator_function_declaration", "lambda", "method_declaration", "method_definition"),
    }
)
_FURTHEST = 100
"""Nodes around a definition among which a function is looked for."""
_EXPORTS = frozenset({"exports", "module.exports", "this", "self", "window", "globalThis"})
"""Objects whose names stand for those of the module, or of the object around."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A name of a source file that others can use."""

    path: str
    name: str
    """Qualified with what is around it: `Class.method`, `function.inner`; in Go with the receiver
    (`Engine.Run`), in Rust with the type of its `impl`."""
    kind: str
    """`function`, `method`, `class`, `struct`, `interface`, `trait`, `enum`, `union`, `type`,
    `namespace`, `module` or `macro`."""
    first_line: int
    """Counted from 1, with decorators, attributes and `export`."""
    last_line: int
    span: tuple[int, int]
    """Span of these lines, in bytes."""
    name_at: int
    """The byte at which its own name begins."""
    is_local: bool
    """Whether it is in a function, with or without a name, and so unknown outside of it."""

    @property
    def symbol(self) -> str:
        """Return the symbol as an answer key has it."""
        return f"{self.path}{SYMBOL_MARK}{self.name}"

    @property
    def own_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def parent_name(self) -> str:
        """The name of what it is defined in; empty at the top of its file."""
        return self.name.rpartition(".")[0]


def is_supported(path: str) -> bool:
    """Tell whether definitions can be read out of files with this ending."""
    return grammar_of(path) is not None


def definitions(path: str, source: bytes) -> tuple[Definition, ...]:
    """List the definitions of a file in the order of their beginning. Empty for a language that is
    not supported and for a file that is too large, or a table of data, or takes too long to parse;
    what is broken in a file is skipped."""
    grammar = grammar_of(path)
    if grammar is None or len(source) > LARGEST:
        return ()
    root = parse(grammar, source)
    return () if root is None else definitions_below(path, root)


def definitions_below(path: str, root: Node) -> tuple[Definition, ...]:
    """List the definitions below the root of a parsed file."""
    grammar = grammar_of(path)
    assert grammar is not None
    raw: dict[tuple[int, int], Definition] = {}
    if is_wide(root):
        return ()
    for captures in matches(grammar, _QUERIES[grammar], root):
        definition = _definition(path, captures)
        at = (definition.name_at, definition.span[1])
        # A struct of Go matches as a type too.
        if at not in raw or raw[at].kind == "type":
            raw[at] = definition
    ordered = sorted(raw.values(), key=lambda definition: (definition.span[0], -definition.span[1]))
    return tuple(_qualify(ordered))


def _definition(path: str, captures: dict[str, list[Node]]) -> Definition:
    kind = next(key for key in captures if key not in ("name", "parent"))
    name, first = captures["name"][0], _first(captures[kind][0])
    last = captures[kind][0]
    name_text = _text(name)
    if "parent" in captures and (parent := _parent(_text(captures["parent"][0]))):
        name_text = f"{parent}.{name_text}"
    return Definition(
        path=path,
        name=name_text,
        kind=kind,
        first_line=first.start_point.row + 1,
        last_line=last.end_point.row + 1,
        span=(first.start_byte, last.end_byte),
        name_at=name.start_byte,
        is_local=_is_local(last),
    )


def _first(node: Node) -> Node:
    """Return the node with which a definition begins: its first decorator, `export` and so on."""
    while (parent := node.parent) is not None and parent.type in _WRAPPERS:
        if parent.named_child_count > 1 and parent.type != "decorated_definition":
            break
        node = parent
    sibling = node.prev_named_sibling
    while sibling is not None and (sibling.type in _DECORATIONS or "comment" in sibling.type):
        node = sibling if sibling.type in _DECORATIONS else node
        sibling = sibling.prev_named_sibling
    return node


def _is_local(node: Node) -> bool:
    ancestor = node.parent
    for _ in range(_FURTHEST):
        if ancestor is None or ancestor.type in _FUNCTIONS:
            return ancestor is not None
        ancestor = ancestor.parent
    return True


def _parent(text: str) -> str:
    name = text.removesuffix(".prototype")
    return "" if name in _EXPORTS or not name.replace(".", "").isidentifier() else name


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip("\"'`").removeprefix("r#")


def _qualify(ordered: Iterable[Definition]) -> list[Definition]:
    """Put the names of what is around before each name."""
    qualified: list[Definition] = []
    enclosing: list[Definition] = []
    blocks: list[tuple[int, int] | None] = []
    for definition in ordered:
        while enclosing and enclosing[-1].span[1] < definition.span[1]:
            enclosing.pop()
        if len(enclosing) == _DEEPEST:
            continue
        inner = _set_parent(enclosing[-1], definition) if enclosing else definition
        block = enclosing[-1].span if enclosing else None
        if inner.kind != "module":
            enclosing.append(inner)
        if inner.kind == _CONTAINER:
            continue
        if blocks and blocks[-1] == block and _is_again(qualified[-1], inner):
            qualified[-1] = _join(qualified[-1], inner)
        else:
            qualified.append(inner)
            blocks.append(block)
    return qualified


def _set_parent(outer: Definition, inner: Definition) -> Definition:
    is_method = outer.kind in _CLASSES and inner.kind == "function"
    kind = "method" if is_method else inner.kind
    return replace(inner, name=f"{outer.name}.{inner.name}", kind=kind)


def _is_again(last: Definition, definition: Definition) -> bool:
    """Tell whether it goes on with the one before: overloads, the getter and the setter of a
    property, variants for platforms."""
    return (last.name, last.kind) == (definition.name, definition.kind)


def _join(first: Definition, last: Definition) -> Definition:
    return replace(first, last_line=last.last_line, span=(first.span[0], last.span[1]))
