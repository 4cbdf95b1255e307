"""The tools with a service: it searches and reads, and what is uncommitted is searched here.

Who records what follows canopy 0.4.0. A handle goes back to where it came from by the id exactly
as it was spelled: an id without its `h` is unknown, is read from the index on disk, and is recorded
by nobody.
"""

from pathlib import Path

from swarm_bench.programs.canopy.errors import RemoteError
from swarm_bench.programs.canopy.git import ask_git
from swarm_bench.programs.canopy.local import (
    LocalTools,
    expand_all,
    expansion_answer,
    handle_ids,
    json_answer,
    required_glob,
)
from swarm_bench.programs.canopy.mcp.service_client import (
    Client,
    Expanded,
    Packed,
    Queried,
    Reindexing,
)
from swarm_bench.programs.canopy.memory import Recent
from swarm_bench.programs.canopy.nodes import Handle
from swarm_bench.programs.canopy.parameters import Arguments, Search
from swarm_bench.programs.canopy.repository import Canopy
from swarm_bench.programs.canopy.result_json import Json, SearchResult, query_result
from swarm_bench.programs.canopy.search.pack import order_suggestions
from swarm_bench.programs.canopy.toolset import Answer

Contents = list[tuple[str, str]]


class RemoteTools(LocalTools):
    """The tools of a service, with the index on disk for what canopy keeps local."""

    def __init__(self, url: str, key: str | None) -> None:
        super().__init__()
        self._client = Client(url, key)
        self._served: Recent[int | None] = Recent()
        """Generation by h-form id, of handles that the service gave."""

    def close(self) -> None:
        self._client.close()
        super().close()

    def index(self, root: Path, arguments: Arguments) -> Answer:
        body = {"glob": required_glob(arguments)}
        answer = self._client.post(Reindexing, "/reindex", root, body)
        return json_answer({**answer.model_dump(), "repo_root": str(root)})

    def query(self, root: Path, arguments: Arguments) -> Answer:
        search = arguments.search()
        self._client.wait_ready(root)
        canopy = self.canopy(root)
        if search.dsl:
            result = canopy.find(search)
            canopy.record_query(search.text, result)
            self._forget_served(result.handles)
            return json_answer(query_result(result))
        body = {**_body(search), "limit": search.limit}
        answer = self._client.post(Queried, "/query", root, body)
        for found_handle in answer.handles:
            self._served[found_handle.handle().id] = found_handle.generation
        handles = self._overlay_local(
            root, search, [found_handle.handle() for found_handle in answer.handles]
        )
        result = SearchResult(handles=handles, truncated=answer.truncated, matches=len(handles))
        canopy.record_query(search.text, result)
        return json_answer(query_result(result))

    def _overlay_local(self, root: Path, search: Search, served: list[Handle]) -> list[Handle]:
        """Replace the service's handles of uncommitted files by those of a local search."""
        dirty = find_uncommitted(root)
        if not dirty:
            return served
        canopy = self.canopy(root)
        canopy.refresh()
        local_handles = canopy.find(search).handles
        self._forget_served(local_handles)
        edited = [handle for handle in local_handles if handle.path in dirty]
        unchanged = [handle for handle in served if handle.path not in dirty]
        return [*edited, *unchanged][: search.limit]

    def _forget_served(self, handles: list[Handle]) -> None:
        """Expand these here from now on, even if the service had found them before."""
        for handle in handles:
            self._served.pop(handle.id, None)

    def evidence_pack(self, root: Path, arguments: Arguments) -> Answer:
        search = arguments.search()
        self._client.wait_ready(root)
        if search.dsl:
            return super().evidence_pack(root, arguments)
        limits = arguments.pack_limits()
        config: Json = {"max_handles": limits.max_handles, "max_per_file": limits.max_per_file}
        if limits.plan is not None:
            config["plan"] = limits.plan
        body = {**_body(search), "limit": search.limit, "expand_budget": 0, "config": config}
        pack = self._client.post(Packed, "/evidence_pack", root, body)
        for handle in pack.handles:
            self._served[handle.id] = handle.generation
        remaining = [
            handle.id for handle in pack.handles if handle.id not in pack.expand_suggestion
        ]
        expanded = self.canopy(root).memory.expanded
        ordered = order_suggestions([*pack.expand_suggestion, *remaining], expanded)
        return json_answer({**pack.model_dump(), "expand_suggestion": ordered})

    def expand(self, root: Path, arguments: Arguments) -> Answer:
        ids = handle_ids(arguments)
        self._client.wait_ready(root)
        canopy = self.canopy(root)
        served = [item for item in ids if item in self._served]
        local = [item for item in ids if item in canopy.memory.shown_by and item not in served]
        unknown = [item for item in ids if item not in served and item not in local]
        contents, failed = expand_all(canopy, local)
        canopy.record_expansions([content.handle for content in contents])
        texts = [(content.handle.id, content.text) for content in contents]
        if served:
            new_texts, missing = self._expand_remotely(root, served)
            texts += new_texts
            failed += missing
        for item in unknown:
            new_texts, missing = self._expand_anywhere(root, item)
            texts += new_texts
            failed += missing
        for handle_id, _ in texts:
            canopy.memory.expanded[handle_id] = True
        return expansion_answer(texts, failed)

    def _expand_remotely(self, root: Path, ids: list[str]) -> tuple[Contents, list[str]]:
        """Let the service expand. It gives all or nothing; when it gives nothing, each is tried
        alone."""
        handles = [_reference(handle_id, self._served.get(handle_id)) for handle_id in ids]
        try:
            answer = self._client.post(Expanded, "/expand", root, {"handles": handles})
        except RemoteError:
            if len(ids) == 1:
                return [], ids
            parts = [self._expand_remotely(root, [handle_id]) for handle_id in ids]
            texts = [text for part, _ in parts for text in part]
            return texts, [handle_id for _, missing in parts for handle_id in missing]
        return [(content.handle_id, content.content) for content in answer.contents], []

    def _expand_anywhere(self, root: Path, handle_id: str) -> tuple[Contents, list[str]]:
        canopy = self.canopy(root)
        contents, failed = expand_all(canopy, [handle_id])
        if failed:
            return self._expand_remotely(root, failed)
        handles = [content.handle for content in contents]
        canopy.record_expansions(
            [each for each in handles if self._was_shown_locally(canopy, each)]
        )
        return [(each.handle.id, each.text) for each in contents], []

    def _was_shown_locally(self, canopy: Canopy, handle: Handle) -> bool:
        """Tell whether the handle was shown, and by a search that was made here."""
        return handle.id in canopy.memory.shown_by and handle.id not in self._served


def find_uncommitted(root: Path) -> set[str]:
    """List files that differ from the commit, also new ones; none where git cannot tell."""
    kinds = ("-uall", "--no-renames", "--ignore-submodules=all")  # git would run git in a submodule
    status = ask_git(root, "status", "--porcelain", "-z", *kinds)
    return {line[3:] for line in (status or "").split("\0") if line}


def _body(search: Search) -> Json:
    """Collect the parameters that are set, as the service names them."""
    values = {
        "pattern": search.pattern,
        "patterns": list(search.patterns),
        "symbol": search.symbol,
        "section": search.section,
        "parent": search.parent,
        "glob": search.glob,
    }
    body: Json = {"kind": search.kind, "match_mode": search.match}
    body.update((name, value) for name, value in values.items() if value)
    return body


def _reference(handle_id: str, generation: int | None) -> Json:
    return {"id": handle_id} if generation is None else {"id": handle_id, "generation": generation}
