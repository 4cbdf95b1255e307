"""Compares two stored sessions."""

from pathlib import Path

from swarm_bench.analysis.documents.diff import make_document
from swarm_bench.app.stored.opening import open_session
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.reports.markdown import write_document
from swarm_bench.runtime.cycles import pause_collection


@pause_collection()
def diff_sessions(a: Path, b: Path) -> RenderedDocument:
    """Compare the second session with the first. Nothing is written. Raises `UsageError` where they
    cannot be compared."""
    return write_document(make_document(open_session(a).diff(open_session(b))))
