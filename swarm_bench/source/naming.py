"""The files and symbols of a repository that an answer names, in the order in which it names them
first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from swarm_bench.core.ports import ScoreContext, Tree
from swarm_bench.core.session.tasks import SYMBOL_MARK, Task
from swarm_bench.source.definitions import Definition, definitions
from swarm_bench.source.references.extraction import Reference, references
from swarm_bench.source.references.snapshot import snapshot_of
from swarm_bench.source.references.symbols import names

MOST_FILES = 50
"""Named first, whose definitions are compared with the names in an answer."""

ByName = Mapping[str, Sequence[Definition]]
"""Definitions by their own names."""


def find_citations(context: ScoreContext) -> tuple[Reference, ...]:
    """Return what an answer points to, in its order."""
    return _find_citations(context.beginning, context.files, context.workspace)


def files_named(context: ScoreContext) -> list[str]:
    """Return the files of the repository that an answer names, each once."""
    paths = (reference.path for reference in find_citations(context))
    return list(dict.fromkeys(path for path in paths if path is not None))


def symbols_named(context: ScoreContext, tree: Tree) -> list[str]:
    """Return the definitions that an answer names, each once, as keys have them. A name counts if
    the answer names the file of the definition too: for itself, or with the name."""
    text = context.beginning
    by_name = defaultdict[str, list[Definition]](list)
    for path in files_named(context)[:MOST_FILES]:
        for name, definitions_of_name in find_definitions(tree, path).items():
            by_name[name] += definitions_of_name
    tied = [
        (reference.position, definition.symbol)
        for reference in find_citations(context)
        if reference.symbol
        for definition in find_by_name(by_name, reference.symbol)
        if definition.path == reference.path
    ]
    certain = {symbol for _, symbol in tied}
    loose = [
        (text.find(name), symbol)
        for name in names(text)
        for symbol in _only(
            [definition.symbol for definition in find_by_name(by_name, name)], certain
        )
    ]
    return list(dict.fromkeys(symbol for _, symbol in sorted([*tied, *loose])))


def find_definitions(tree: Tree, path: str) -> ByName:
    """Return the definitions in a file; none where it cannot be read."""
    source = tree.read(path)
    return {} if source is None else _index_definitions(path, source)


def restrict_key(task: Task, files: frozenset[str]) -> Task:
    """Return a task whose key has the paths as the repository spells them: letters may be composed
    otherwise."""
    key = task.key
    if key is None or all(map(str.isascii, (*key.files, *key.symbols))):
        return task
    snapshot = snapshot_of(files, "")
    symbols = (symbol.partition(SYMBOL_MARK) for symbol in key.symbols)
    spelled = {
        "files": tuple(map(snapshot.find_repository_path, key.files)),
        "symbols": tuple(
            snapshot.find_repository_path(path) + mark + name for path, mark, name in symbols
        ),
    }
    return task.model_copy(update={"key": key.model_copy(update=spelled)})


def find_by_name(by_name: ByName, name: str) -> list[Definition]:
    """Return the definitions that are meant by a name: qualified as far as one likes, also with the
    module before it."""
    plain = name.replace("::", ".").replace("#", ".")
    return [
        definition
        for definition in by_name.get(plain.rpartition(".")[2], ())
        if f".{definition.name}".endswith(f".{plain}") or plain.endswith(f".{definition.name}")
    ]


def _only(symbols: list[str], certain: set[str]) -> list[str]:
    """Return the symbols that a name can mean: those that are named with their files are meant
    there already, and of several others it is unknown which."""
    if certain.intersection(symbols):
        return []
    return symbols if len(symbols) == 1 else []


@lru_cache(maxsize=4)
def _find_citations(text: str, files: frozenset[str], workspace: str) -> tuple[Reference, ...]:
    """Keep the last ones: several scorers look at one answer."""
    return references(text, files, workspace)


@lru_cache(maxsize=1024)
def _index_definitions(path: str, source: bytes) -> ByName:
    """Keep the last ones: the agents of a session name the same files."""
    by_name = defaultdict[str, list[Definition]](list)
    for definition in definitions(path, source):
        by_name[definition.own_name].append(definition)
    return by_name
