"""Holds a stored session against limits."""

from dataclasses import dataclass
from pathlib import Path

from swarm_bench.analysis.documents.gate import document
from swarm_bench.analysis.gate.arms import arms_of, case_gate
from swarm_bench.analysis.gate.modes import QUALITY, gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.limits import counts
from swarm_bench.app.retrieve import session as retrieve
from swarm_bench.app.retrieve.resolving import is_session
from swarm_bench.app.stored import pairs
from swarm_bench.app.stored.limits import Typed, check_numbers, parse_limits
from swarm_bench.app.stored.reading import read_audited, session_in
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import registered_metrics
from swarm_bench.core.errors import GateFailed, UsageError
from swarm_bench.core.report.document import Written
from swarm_bench.core.report.gate import Bound, Gate, State
from swarm_bench.reports.markdown import written
from swarm_bench.runtime.cycles import uncollected


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """What the limits came to."""

    gate: Gate

    @property
    def summary(self) -> Written:
        """What is printed."""
        return written(document(self.gate))

    def check(self, *, allow_inconclusive: bool) -> None:
        """Raise `GateFailed` when not every limit holds."""
        state = self.gate.state
        if state is State.HOLDS or (allow_inconclusive and state is State.INCONCLUSIVE):
            return
        raise GateFailed(f"The gate does not hold ({counts(self.gate)}); the limits say why")


@uncollected()
def gate_session(path: Path, typed: Typed, bound: str) -> GateResult:
    """Hold the session against the limits. Nothing is written, and nothing that the session names
    is run. Raises `UsageError`."""
    check_numbers(typed)
    held_against = _bound(bound)
    folder = session_in(path)
    if pairs.holds_cases(path):
        own = is_session(path)
        session = retrieve.read_whole(path) if own else pairs.read_whole(path)
        limits = parse_limits(typed, session.metrics, arms_of(session))
        return GateResult(gate=case_gate(session, limits, held_against))
    return GateResult(gate=_of_modes(folder, typed, held_against))


def _of_modes(folder: SessionFolder, typed: Typed, bound: Bound) -> Gate:
    experiment, metrics = folder.read_experiment(), registered_metrics()
    limits = parse_limits(typed, metrics, experiment.arms, synonyms={QUALITY})
    if experiment.design.mode_twice:
        raise UsageError(
            f"{folder.path} compares a mode with itself, so no limit says anything of a tool; give "
            "a session of compare or ab"
        )
    return gate(Selection(read_audited(folder), metrics), limits, bound)


def _bound(text: str) -> Bound:
    try:
        return Bound(text)
    except ValueError:
        names = " or ".join(Bound)
        raise UsageError(f"--bound {text}: limits are held against the {names}") from None
