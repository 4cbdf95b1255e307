"""What `report.html` shows: the document of `summary.md`, and what only a page has room for."""

from dataclasses import dataclass

from swarm_bench.core.report.document import Document

PAGE = "report.html"
MARKER = "swarm-bench report"
"""Generator that a page names in its head, so that no other file is ever replaced."""


@dataclass(frozen=True, kw_only=True)
class SessionPage:
    """A page on a session."""

    document: Document
    notice: str = ""
    """What must be known before all else; empty where nothing is."""
