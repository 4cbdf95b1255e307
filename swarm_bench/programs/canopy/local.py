"""The tools without a service: index, search and read here."""

import json
from pathlib import Path
from typing import Any

from swarm_bench.programs.canopy.errors import HandleNotFound, InvalidParameters, ToolError
from swarm_bench.programs.canopy.parameters import Arguments
from swarm_bench.programs.canopy.repository import Canopy, Content
from swarm_bench.programs.canopy.result_json import expansion_text, query_result
from swarm_bench.programs.canopy.search.pack import pack_result, select
from swarm_bench.programs.canopy.toolset import Answer


class LocalTools:
    """The tools on this machine; every repository that was asked about stays open."""

    def __init__(self) -> None:
        self._open: dict[Path, Canopy] = {}

    def canopy(self, root: Path) -> Canopy:
        if root not in self._open:
            self._open[root] = Canopy(root)
        return self._open[root]

    def close(self) -> None:
        for canopy in self._open.values():
            canopy.close()

    def index(self, root: Path, arguments: Arguments) -> Answer:
        glob = required_glob(arguments)
        canopy = self.canopy(root)
        done = canopy.index.refresh(glob)
        files, tokens = canopy.index.count_covered(glob)
        return json_answer(
            {
                "files_indexed": done.indexed,
                "files_skipped": max(0, files - done.indexed),
                "total_tokens": tokens,
                "index_size_bytes": canopy.index.store().size(),
                "repo_root": str(root),
            }
        )

    def query(self, root: Path, arguments: Arguments) -> Answer:
        canopy = self.canopy(root)
        refreshed = canopy.refresh()
        search = arguments.search()
        result = canopy.find(search)
        canopy.record_query(search.text, result, refreshed.indexed)
        return json_answer(query_result(result))

    def evidence_pack(self, root: Path, arguments: Arguments) -> Answer:
        canopy = self.canopy(root)
        refreshed = canopy.refresh()
        search = arguments.search()
        limits = arguments.pack_limits()
        result = canopy.find(search)
        canopy.record_query(search.text, result, refreshed.indexed)
        pack = select(search.text, result, limits)
        if not pack.selected and search.is_one_pattern:
            search, result = canopy.find_any(search)
            canopy.record_query(search.text, result)
            wider = select(search.text, result, limits)
            pack = wider if wider.selected else pack
        return json_answer(pack_result(pack, canopy.memory.expanded))

    def expand(self, root: Path, arguments: Arguments) -> Answer:
        canopy = self.canopy(root)
        ids = handle_ids(arguments)
        # By the id as it is spelled: one without its `h` counts as never shown.
        shown_ids = [handle_id for handle_id in ids if handle_id in canopy.memory.shown_by]
        ordered = [*shown_ids, *(handle_id for handle_id in ids if handle_id not in shown_ids)]
        contents, failed = expand_all(canopy, ordered)
        canopy.record_expansions([content.handle for content in contents])
        return expansion_answer([(content.handle.id, content.text) for content in contents], failed)

    def status(self, root: Path, _arguments: Arguments) -> Answer:
        return json_answer(self.canopy(root).status())

    def invalidate(self, root: Path, arguments: Arguments) -> Answer:
        count = self.canopy(root).index.invalidate(arguments.text("glob"))
        return Answer(text=f"Invalidated {count} files")


def json_answer(value: Any) -> Answer:
    return Answer(text=json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def required_glob(arguments: Arguments) -> str:
    glob = arguments.text("glob")
    if glob is None:
        raise InvalidParameters("canopy_index needs glob, a text such as **/*.py")
    return glob


def handle_ids(arguments: Arguments) -> list[str]:
    """List the ids to expand, each spelling once, in their order.

    Raises:
        InvalidParameters: there are none.
    """
    ids = list(dict.fromkeys(arguments.texts("handle_ids")))
    if not ids:
        raise InvalidParameters("canopy_expand needs handle_ids, a list with at least one id")
    return ids


def expand_all(canopy: Canopy, ids: list[str]) -> tuple[list[Content], list[str]]:
    """Expand what can be expanded; list the ids that cannot."""
    contents: list[Content] = []
    failed: list[str] = []
    for handle_id in ids:
        try:
            contents.append(canopy.expand(handle_id))
        except ToolError:
            failed.append(handle_id)
    return contents, failed


def expansion_answer(contents: list[tuple[str, str]], failed: list[str]) -> Answer:
    """Build the answer of canopy_expand.

    Raises:
        HandleNotFound: none of the handles could be expanded.
    """
    if not contents:
        raise HandleNotFound(f"Handles not found: {', '.join(failed)}; query again")
    return Answer(text=expansion_text(contents, failed), failed_ids=failed)
