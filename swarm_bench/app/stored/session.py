"""What the commands that look at a session can ask of one, whatever kind of session it is; and the
one place that asks which kind a folder holds."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from swarm_bench.benchmarks.swarm.folder import find_sessions
from swarm_bench.core.errors import UsageError
from swarm_bench.engine.folder import LOCK, experiment_keys, holds_experiment
from swarm_bench.importers.canopy_script.folder import is_script_folder
from swarm_bench.runtime.files import is_locked

if TYPE_CHECKING:  # each is loaded by the command that asks for it
    from collections.abc import Mapping, Sequence

    from swarm_bench.analysis.cases.session import CaseSession
    from swarm_bench.analysis.selection import Selection
    from swarm_bench.app.judging import Answers
    from swarm_bench.app.stored.limits import TypedLimits
    from swarm_bench.app.stored.past import PastSession
    from swarm_bench.core.report.diff import Diff
    from swarm_bench.core.report.document import Document, RenderedDocument
    from swarm_bench.core.report.exported import ExportedSession
    from swarm_bench.core.report.gate import Bound, Gate
    from swarm_bench.core.report.page import SessionPage
    from swarm_bench.core.report.trials import TrialsTable
    from swarm_bench.core.session.base import BaseExperiment
    from swarm_bench.engine.plan import Block


@dataclass(frozen=True, kw_only=True)
class RescoreRequest:
    """Options of a call of `rescore`."""

    repo: Path | None = None
    """Place of the session's repository now."""
    tasks: str | None = None
    """A suite whose keys, and scorers if it names some, replace those of the session."""
    environment: str = "local"
    """Environment that runs code of models."""
    allow_code_execution: bool = False
    trust: bool = False
    """Lets code be loaded that the session names."""


class StoredSession:
    """A session, opened at its folder. What a kind of session does not have raises `UsageError`."""

    notice = ""
    """What stands before all else of its summary and its page."""
    pages: frozenset[Path] = frozenset()
    """Pages of its members that its own page may lead to: those that were just written, as any
    other one may be by anybody."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read_experiment(self) -> "BaseExperiment":
        """Read what decided what ran."""
        self._refuse()

    def read_plan(self) -> "Sequence[Block[Any]]":
        """Make the plan of its experiment."""
        self._refuse()

    def report(self) -> "RenderedDocument":
        """Render the summary, and write it."""
        raise NotImplementedError

    def reanalyse(self, overrides: "Mapping[str, Any]") -> "RenderedDocument":
        """Render the summary with other settings of the verdict; nothing is written."""
        raise NotImplementedError

    def build_trials_table(self) -> "TrialsTable":
        """Make the table that is exported."""
        self._refuse()

    def read_exported(self) -> "ExportedSession":
        """Read its trials with what was asked and answered."""
        self._refuse()

    def gate(self, typed_limits: "TypedLimits", bound: "Bound") -> "Gate":
        """Hold the session against limits."""
        self._refuse()

    def diff(self, later: "StoredSession") -> "Diff":
        """Compare a later session with this one."""
        self._refuse()

    def read_compared_agents(self) -> "Selection":
        """Read a session of agents for `diff`."""
        self._refuse()

    def read_compared_cases(self) -> "CaseSession":
        """Read a session of cases for `diff`."""
        self._refuse()

    def rescore(self, request: RescoreRequest) -> "RenderedDocument":
        """Score the answers again, and render the summary."""
        self._refuse()

    def read_answers(self) -> "Answers":
        """Read the answers that a judge compares."""
        self._refuse()

    def list_members(self) -> "Sequence[StoredSession]":
        """List the sessions of a series, the smallest swarms first; none of any other."""
        return ()

    def build_page(self, document: "Document") -> "SessionPage":
        """Make the page on it, from the document of its summary."""
        from swarm_bench.core.report.page import SessionPage

        return SessionPage(document=document)

    def describe_past(self, name: str) -> "PastSession":
        """Say in a line what it was, and what it came to."""
        raise NotImplementedError

    def _refuse(self) -> NoReturn:
        raise UsageError(f"{self.path} {self._describe_refusal()}")

    def _describe_refusal(self) -> str:
        """Say what it is, and what to give instead, after its path."""
        return (
            f"is a session of the benchmark {experiment_keys(self.path).get('benchmark')!r}; diff "
            "takes two sessions of compare or ab, or two of run"
        )


_KINDS = {
    "agent": "agents:AgentSession",
    "models": "models:ModelSession",
    "modes": "retrieve:RetrieveSession",
    "arms": "pairs:PairSession",
}
"""Classes by a key that only the experiments of a kind have, or those before it. Only the class
that is needed is loaded: some take as long as a whole summary."""
_SERIES, _SCRIPT = "agents:SeriesSession", "script:ScriptSession"


def open_session(path: Path) -> StoredSession:
    """Open the session in a folder, also a series of them, and what canopy's script wrote. Raises
    `UsageError` where it holds none."""
    module, _, name = _find_kind(path).partition(":")
    kind: type[StoredSession] = getattr(import_module(f"swarm_bench.app.stored.{module}"), name)
    return kind(path)


def _find_kind(path: Path) -> str:
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder; give the folder of a session, below results/")
    if find_sessions(path):
        return _SERIES
    if holds_experiment(path):
        keys = experiment_keys(path)
        return next((kind for key, kind in _KINDS.items() if key in keys), _KINDS["agent"])
    if (path / LOCK).exists():
        if is_locked(path / LOCK):
            raise UsageError(f"{path} has a session that is being set up; try again when it runs")
        raise UsageError(f"{path} was a session, and its experiment.json is lost; restore the file")
    if is_script_folder(path):
        return _SCRIPT
    raise UsageError(
        f"{path} holds no session (there is no experiment.json), nor what canopy's script writes; "
        "give the folder of one, below results/"
    )
