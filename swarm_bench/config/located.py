"""YAML that a person wrote, read so that a mistake can be named with its line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from swarm_bench.config.text_file import LARGEST, read_text
from swarm_bench.core.errors import ConfigError

LARGEST_CONTENT = 4 * LARGEST
"""Characters and nodes once aliases are followed; a few lines of aliases can stand for terabytes.
"""

UNREADABLE = (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError)
"""Errors that the library raises: a `ValueError` for 2026-99-99, the last two for `!!int ''` and
`!!timestamp x`."""


@dataclass(frozen=True, kw_only=True)
class Located:
    """What a YAML file holds, and where."""

    content: object
    root: yaml.Node | None

    def line(self, path: Sequence[int | str]) -> int:
        """Return the line, from 1, of the node at `path`, or of the nearest node around it."""
        node, line = self.root, 1
        for part in path:
            node = _child(node, part)
            if node is None:
                break
            line = node.start_mark.line + 1
        return line

    def duplicate_keys(self) -> Iterator[tuple[int, str]]:
        """Yield the first key of each mapping that appears in it twice, with its line."""
        nodes = [self.root] if self.root else []
        while nodes:
            node = nodes.pop()
            if (duplicate := _duplicate_key(node)) is not None:
                yield duplicate.start_mark.line + 1, duplicate.value
            nodes += _list_children(node)


def read_located(path: Path, kind: str, *, largest: int = LARGEST) -> Located:
    """Read a YAML file of at most `largest` bytes; `kind` is what a person calls such a file.

    Raises `ConfigError` naming the file, and the line where it is no YAML, says a key twice, or has
    an alias of what it stands in.
    """
    text = read_text(path, kind, largest=largest)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        _check(path, root)
        content = None if root is None else SafeConstructor().construct_document(root)
    except UNREADABLE as error:
        marked = error if isinstance(error, yaml.MarkedYAMLError) else None
        line = f":{marked.problem_mark.line + 1}" if marked and marked.problem_mark else ""
        problem = str((marked and marked.problem) or error).partition("\n")[0]
        if problem.startswith("mapping values"):
            problem = "quote a value that contains ': ', and indent all keys of a mapping equally"
        raise ConfigError(f"{path}{line}: not YAML: {problem}; fix the file") from error
    return Located(content=content, root=root)


def located_json(text: str) -> Located | None:
    """Locate the lines of a JSON text, without its content; `None` if that is not possible."""
    try:
        # JSON is YAML, but for its tabs, which can only stand between its parts.
        root = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    return Located(content=None, root=root)


def json_object(pairs: list[tuple[str, Any]], *, duplicates: list[str]) -> dict[str, Any]:
    """Make an object of JSON. Adds its keys that appear twice: only the last would count."""
    names = set[str]()
    for key, _ in pairs:
        if key in names:
            duplicates.append(key)
        names.add(key)
    return dict(pairs)


def _check(path: Path, root: yaml.Node | None) -> None:
    """Raise `ConfigError` for what YAML accepts and no user means."""
    sizes = dict[int, int | None]()
    """Sizes of the nodes that were visited, by their ids; `None` while one is being visited."""

    def visit(node: yaml.Node) -> int:
        if id(node) in sizes:
            size = sizes[id(node)]
            if size is None:
                raise _wrong(
                    path, node, "what begins here holds itself; write it without the alias"
                )
            return size
        sizes[id(node)] = None
        if (duplicate := _duplicate_key(node)) is not None:
            raise _wrong(
                path, duplicate, f"the key {duplicate.value!r} appears twice; keep one of them"
            )
        size = 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        size += sum(map(visit, _list_children(node)))
        if size > LARGEST_CONTENT:
            raise _wrong(path, node, "the aliases here stand for far too much; use fewer")
        sizes[id(node)] = size
        return size

    if root is not None:
        visit(root)


def _wrong(path: Path, node: yaml.Node, problem: str) -> ConfigError:
    return ConfigError(f"{path}:{node.start_mark.line + 1}: {problem}")


def _duplicate_key(node: yaml.Node) -> yaml.ScalarNode | None:
    """Return the first key that its mapping already has; YAML itself would take the later."""
    names = set[str]()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            if key.value in names:
                return key
            names.add(key.value)
    return None


def _list_children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        # The last one: of what stands there twice it counts, and merged keys stand before it.
        return next((value for key, value in reversed(node.value) if key.value == part), None)
    return None
