"""What tree-sitter finds in a source file: functions, classes, structs and methods by name.

One file per grammar would say the same five times: a language is a grammar and one query, whose
captures are the canopy node types, `name` and `parent`. `inner` marks the span to use instead
when the outer one holds several declarations.
"""

from dataclasses import dataclass

from swarm_bench.source.grammars import GRAMMARS, Grammar, matches, parse

PYTHON = """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
"""

JAVASCRIPT = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_expression) @anonymous
(arrow_function) @anonymous
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression)] @named)
(assignment_expression left: [
    (identifier) @name (member_expression property: (property_identifier) @name)
  ] right: [(arrow_function) (function_expression)] @named)
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)] @named)
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
"""

TYPESCRIPT = """
(interface_declaration name: (type_identifier) @name) @struct
(type_alias_declaration name: (type_identifier) @name) @struct
(enum_declaration name: (identifier) @name) @struct
(abstract_class_declaration name: (type_identifier) @name) @class
(public_field_definition name: (property_identifier) @name
  value: [(arrow_function) (function_expression)] @named)
"""

JAVASCRIPT_FIELDS = """
(field_definition property: (property_identifier) @name
  value: [(arrow_function) (function_expression)] @named)
"""

RUST = """
(function_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(impl_item type: [
    (type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier name: (_) @name)
  ]) @struct
(trait_item name: (type_identifier) @name) @class
(mod_item name: (identifier) @name) @module
"""

GO = """
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (generic_type type: (type_identifier) @parent)
    (pointer_type [(type_identifier) @parent (generic_type type: (type_identifier) @parent)])
  ]))
  name: (field_identifier) @name) @method
(type_declaration [(type_spec name: (_) @name) (type_alias name: (_) @name)] @inner) @struct
"""

CALLS = {
    "python": """
(call function: [(identifier) @name (attribute object: (_) @qualifier attribute: (_) @name)]) @call
(import_statement name: [(dotted_name) @name (aliased_import name: (_) @name)]) @import
(import_from_statement module_name: (_) @qualifier
  name: [(dotted_name) @name (aliased_import name: (_) @name)]) @import
""",
    "javascript": """
(call_expression function: [
  (identifier) @name (member_expression object: (_) @qualifier property: (_) @name)]) @call
(new_expression constructor: [
  (identifier) @name (member_expression object: (_) @qualifier property: (_) @name)]) @call
(import_statement (import_clause [
  (identifier) @name
  (named_imports (import_specifier name: (_) @name))
  (namespace_import (identifier) @name)
]) source: (_) @qualifier) @import
""",
    "rust": """
(call_expression function: [
  (identifier) @name
  (field_expression value: (_) @qualifier field: (_) @name)
  (scoped_identifier path: (_) @qualifier name: (_) @name)]) @call
(macro_invocation macro: (identifier) @name) @call
(use_declaration argument: [
  (identifier) @name (scoped_identifier path: (_) @qualifier name: (_) @name)]) @import
(use_declaration argument: (scoped_use_list path: (_) @qualifier
  list: (use_list (identifier) @name))) @import
""",
    "go": """
(call_expression function: [
  (identifier) @name (selector_expression operand: (_) @qualifier field: (_) @name)]) @call
(import_spec path: (_) @name) @import
""",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Syntax:
    """A grammar and canopy's queries."""

    grammar: Grammar
    symbols: str
    calls: str = ""


MARKDOWN = Syntax(
    grammar=Grammar("tree_sitter_markdown"),
    symbols="""
[(atx_heading heading_content: (_)? @name) (setext_heading heading_content: (_) @name)] @section
[(fenced_code_block) (indented_code_block)] @code_block
(section (paragraph) @paragraph)
""",
)

_QUERIES = {
    "tree_sitter_python": (PYTHON, CALLS["python"]),
    "tree_sitter_rust": (RUST, CALLS["rust"]),
    "tree_sitter_go": (GO, CALLS["go"]),
    "tree_sitter_javascript": (JAVASCRIPT + JAVASCRIPT_FIELDS, CALLS["javascript"]),
    "tree_sitter_typescript": (JAVASCRIPT + TYPESCRIPT, CALLS["javascript"]),
}

SYNTAXES = {
    **{
        ending: Syntax(grammar=grammar, symbols=queries[0], calls=queries[1])
        for ending, grammar in GRAMMARS.items()
        for queries in [_QUERIES[grammar.module]]
    },
    **dict.fromkeys(("md", "markdown"), MARKDOWN),
}
"""Syntaxes by file ending."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match of a query: captured spans as (start byte, end byte)."""

    spans: dict[str, tuple[int, int]]

    def text(self, source: bytes, capture: str) -> str | None:
        if capture not in self.spans:
            return None
        start, end = self.spans[capture]
        return source[start:end].decode("utf-8", "replace")


def matches_in(source: bytes, grammar: Grammar, query: str) -> list[Match]:
    """Run a query over a source text; one that cannot be parsed has no matches."""
    if (root := parse(grammar, source)) is None:
        return []
    return [
        Match({name: (nodes[0].start_byte, nodes[0].end_byte) for name, nodes in match.items()})
        for match in matches(grammar, query, root)
    ]


def syntax_of(path: str) -> Syntax | None:
    return SYNTAXES.get(path.rpartition(".")[2])
