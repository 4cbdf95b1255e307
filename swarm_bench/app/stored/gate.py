"""Holds a stored session against limits."""

from dataclasses import dataclass
from pathlib import Path

from swarm_bench.analysis.documents.gate import make_document
from swarm_bench.analysis.sentences.limits import describe_counts
from swarm_bench.app.stored.limits import TypedLimits, check_numbers
from swarm_bench.app.stored.opening import open_session
from swarm_bench.core.errors import GateFailed, UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.gate import Bound, Gate, State
from swarm_bench.reports.markdown import write_document
from swarm_bench.runtime.cycles import pause_collection


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """Result of holding a session against limits."""

    gate: Gate

    @property
    def summary(self) -> RenderedDocument:
        """Page to print."""
        return write_document(make_document(self.gate))

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
