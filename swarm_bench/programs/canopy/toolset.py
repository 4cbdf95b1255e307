"""The tools that need a repository, wherever they run: what the MCP server knows of them before it
imports parsers or an HTTP client."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from swarm_bench.programs.canopy.parameters import Arguments


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The text of a result; `failed_ids` stands beside it when handles were expanded."""

    text: str
    failed_ids: list[str] | None = None


class Tools(Protocol):
    """The tools that need a repository."""

    def index(self, root: Path, arguments: Arguments) -> Answer: ...
    def query(self, root: Path, arguments: Arguments) -> Answer: ...
    def evidence_pack(self, root: Path, arguments: Arguments) -> Answer: ...
    def expand(self, root: Path, arguments: Arguments) -> Answer: ...
    def status(self, root: Path, arguments: Arguments) -> Answer: ...
    def invalidate(self, root: Path, arguments: Arguments) -> Answer: ...
    def close(self) -> None: ...
