"""Files that an answer about a change could name as well as those that it changed."""

from collections.abc import Collection

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey
from swarm_bench.source.definitions import definitions, is_supported
from swarm_bench.source.files import Purpose, purpose_of


def has_copy(tree: Tree, paths: Collection[str]) -> bool:
    """Tell whether a tree has one of its files a second time."""
    sizes = {tree.sizes[path] for path in paths}
    contents = {path: tree.read(path) for path in paths}
    return any(
        tree.read(path_elsewhere) == content
        for path, content in contents.items()
        for path_elsewhere, size in tree.sizes.items()
        if size in sizes and path_elsewhere != path and purpose_of(path_elsewhere) is Purpose.SOURCE
    )


def find_rival_definitions(
    tree: Tree, holding: Collection[str], names: Collection[str], key: AnswerKey
) -> bool:
    """Tell whether something is defined in a tree, but in no file of a key. `holding` are the files
    that have one of the names."""

    def defines(path: str) -> bool:
        all_definitions = definitions(path, tree.read(path) or b"")
        return any(definition.name.rpartition(".")[2] in names for definition in all_definitions)

    files = {path for path in holding if is_supported(path) and purpose_of(path) is Purpose.SOURCE}
    own_files = files.intersection(key.files)
    return not any(map(defines, sorted(own_files))) and any(map(defines, sorted(files - own_files)))
