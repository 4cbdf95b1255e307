"""Renders the records of a session again, compares two sessions, and holds one against limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swarm_bench.analysis.documents import diff, gate
from swarm_bench.analysis.documents.gate import describe_counts
from swarm_bench.app.stored.limits import TypedLimits, check_numbers
from swarm_bench.app.stored.pages import describe_running, renew_page, report_anew
from swarm_bench.app.stored.session import RescoreRequest, open_session
from swarm_bench.core.errors import GateFailed, UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.gate import Bound, Gate, State
from swarm_bench.reports.markdown import write_document
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import is_writable as is_writable


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """Result of holding a session against limits."""

    gate: Gate

    @property
    def summary(self) -> RenderedDocument:
        """Page to print."""
        return write_document(gate.make_document(self.gate))

    def check(self, *, allow_inconclusive: bool) -> None:
        """Raise `GateFailed` when not every limit holds."""
        state = self.gate.state
        if state is State.HOLDS or (allow_inconclusive and state is State.INCONCLUSIVE):
            return
        raise GateFailed(
            f"The gate does not hold ({describe_counts(self.gate)}); the limits say why"
        )


@pause_collection()
def gate_session(path: Path, typed_limits: TypedLimits, bound: str) -> GateResult:
    """Hold the session against the limits. Nothing is written, and nothing that the session names
    is run. Raises `UsageError`."""
    check_numbers(typed_limits)
    parsed_bound = _parse_bound(bound)
    return GateResult(gate=open_session(path).gate(typed_limits, parsed_bound))


def _parse_bound(text: str) -> Bound:
    try:
        return Bound(text)
    except ValueError:
        names = " or ".join(Bound)
        raise UsageError(f"--bound {text}: limits are held against the {names}") from None


_AS_NAMED: Mapping[str, Any] = MappingProxyType({})


@pause_collection()
def report(path: Path, overrides: Mapping[str, Any] = _AS_NAMED) -> RenderedDocument:
    """Render the summary of a session, also of a folder that canopy's own script wrote.

    A session of ours gets a new `summary.md`; a foreign folder is only read, and so is one that
    cannot be written, and a session that is looked at with settings of the verdict other than
    they are stored. Raises `UsageError` when the folder is neither.
    """
    session = open_session(path)
    session.notice = describe_running(session)
    if overrides:
        from swarm_bench.config.layers import check_options  # heavy

        return session.reanalyse(check_options(overrides))
    if not is_writable(path):
        return render_only(path)
    summary = report_anew(session)
    if session.notice and not describe_running(session):  # its own end may have been overwritten
        return report(path)
    return summary


@pause_collection()
def render_only(path: Path) -> RenderedDocument:
    """Render the summary of a session, and write nothing. Raises `UsageError`."""
    session = open_session(path)
    session.notice = describe_running(session)
    return session.reanalyse({})


def rescore(path: Path, request: RescoreRequest) -> RenderedDocument:
    """Score the answers of a session again: it gets a new summary, and a new page if it has one.
    Raises `UsageError`."""
    session = open_session(path)
    summary = session.rescore(request)
    renew_page(session, summary.document)
    return summary


@pause_collection()
def diff_sessions(a: Path, b: Path) -> RenderedDocument:
    """Compare the second session with the first. Nothing is written. Raises `UsageError` where they
    cannot be compared."""
    return write_document(diff.make_document(open_session(a).diff(open_session(b))))
