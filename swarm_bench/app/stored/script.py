"""A folder that canopy's own script wrote."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swarm_bench.analysis.documents import comparison
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.summary import summarise
from swarm_bench.app.stored.session import StoredSession
from swarm_bench.benchmarks.swarm.metrics.catalogue import load_metrics
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.exported import ExportedSession
from swarm_bench.core.report.page import SessionPage
from swarm_bench.importers.canopy_script.folder import read_script_folder
from swarm_bench.reports.markdown import write_document

if TYPE_CHECKING:
    from swarm_bench.core.report.trials import TrialsTable


class ScriptSession(StoredSession):
    """Measurements of the script. Nothing is written to its folder."""

    def report(self) -> RenderedDocument:
        report = summarise(read_script_folder(self.path), load_metrics())
        return write_document(comparison.make_document(report).add_notice(self.notice))

    def reanalyse(self, overrides: Mapping[str, Any]) -> RenderedDocument:
        if overrides:
            self._refuse()
        return self.report()

    def build_trials_table(self) -> "TrialsTable":
        from swarm_bench.analysis.export_table import make_swarm_table

        return make_swarm_table(Selection(read_script_folder(self.path), load_metrics()))

    def read_exported(self) -> ExportedSession:
        raise UsageError(
            f"{self.path} was written by canopy's script, whose trials have no ids and no tasks; "
            "export it with --format csv, json, junit or parquet"
        )

    def build_page(self, document: Document) -> SessionPage:
        self._refuse()

    def _describe_refusal(self) -> str:
        return (
            "was written by canopy's script, whose figures have no tasks to pair; give the folder "
            "of a session"
        )
