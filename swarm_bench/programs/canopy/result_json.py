"""Search results, as canopy writes them in JSON."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from swarm_bench.programs.canopy.nodes import Handle, token_count
from swarm_bench.programs.canopy.search.symbol_references import Reference

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The handles and references of one search."""

    handles: list[Handle]
    references: list[Reference] = field(default_factory=list)
    truncated: bool = False
    matches: int

    @property
    def tokens(self) -> int:
        """References count with their one-line previews."""
        handles = sum(handle.tokens for handle in self.handles)
        return handles + sum(
            token_count(len(reference.preview.encode())) for reference in self.references
        )


def query_result(result: SearchResult) -> Json:
    """Build the answer to canopy_query. Ids stand here without their `h`, as canopy has it."""
    answer: Json = {
        "handles": [_query_handle(handle) for handle in result.handles],
        "total_tokens": result.tokens,
        "truncated": result.truncated,
        "total_matches": result.matches,
    }
    if result.references:
        answer["ref_handles"] = [_ref_handle(reference) for reference in result.references]
    return answer


def _query_handle(handle: Handle) -> Json:
    node = handle.node
    return {
        "id": handle.hex,
        "file_path": handle.path,
        "node_type": node.type.label,
        "span": {"start": node.start, "end": node.end},
        "line_range": [node.first_line, node.last_line],
        "token_count": handle.tokens,
        "preview": handle.preview,
        **origin(handle),
    }


def origin(handle: Handle) -> Json:
    """Describe where a handle comes from; commit and generation only when there are any."""
    answer: Json = {"source": handle.source}
    if handle.commit_sha is not None:
        answer["commit_sha"] = handle.commit_sha
    if handle.generation is not None:
        answer["generation"] = handle.generation
    return answer


def _ref_handle(reference: Reference) -> Json:
    return {
        "file_path": reference.path,
        "span": {"start": reference.start, "end": reference.end},
        "line_range": [reference.first_line, reference.last_line],
        "name": reference.name,
        "qualifier": reference.qualifier,
        "ref_type": reference.type,
        "source_handle": reference.holder.hex if reference.holder else None,
        "preview": reference.preview,
    }


def expansion_text(contents: Iterable[tuple[str, str]], failed: list[str]) -> str:
    """Format the text that canopy_expand answers with; contents are (h-form id, text)."""
    blocks = [f"// {handle_id}\n{content}" for handle_id, content in contents]
    if failed:
        blocks.append(f"// Failed to expand: {', '.join(failed)}")
    return "\n\n".join(blocks)
