"""A series of sessions whose swarms grow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarm_bench.analysis.documents import growth
from swarm_bench.analysis.sweep.series import compute_series
from swarm_bench.app.stored.agents import read_audited
from swarm_bench.app.stored.session import StoredSession
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import load_metrics
from swarm_bench.benchmarks.swarm.series_folder import find_sessions
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.session.records import SessionData
from swarm_bench.reports.markdown import write_document
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import write_whole


class SeriesSession(StoredSession):
    """A session for each size of swarm; what is of a single one is asked of these."""

    def report(self) -> RenderedDocument:
        return write_series_summary(self.path, audited=True)

    def reanalyse(self, overrides: Mapping[str, Any]) -> RenderedDocument:
        if overrides:
            self._refuse()
        return _summarise(self.path, {}, audited=True)

    def _describe_refusal(self) -> str:
        sizes = find_sessions(self.path)
        first = self.path / next(iter(sizes.values())).path.name
        return f"holds a session for each of {len(sizes)} sizes; give one of them, such as {first}"


@pause_collection()
def write_series_summary(
    path: Path, read: dict[int, SessionData] | None = None, *, audited: bool = False
) -> RenderedDocument:
    """Write the `summary.md` of a series as it stands. Sizes in `read` are not read again; the
    others are added."""
    summary = _summarise(path, {} if read is None else read, audited=audited)
    write_whole(SessionFolder(path).summary, summary.markdown)
    return summary


def _summarise(path: Path, sessions: dict[int, SessionData], *, audited: bool) -> RenderedDocument:
    for size, folder in find_sessions(path).items():
        if size not in sessions:
            sessions[size] = read_audited(folder) if audited else folder.read()
    return write_document(
        growth.make_document(compute_series(dict(sorted(sessions.items())), load_metrics()))
    )
