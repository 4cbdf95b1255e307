"""What the commands that look at a session can ask of one, whatever kind of session it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from swarm_bench.core.errors import UsageError
from swarm_bench.engine.folder import experiment_keys

if TYPE_CHECKING:  # each is loaded by the command that asks for it
    from collections.abc import Mapping

    from swarm_bench.analysis.cases.session import CaseSession
    from swarm_bench.analysis.selection import Selection
    from swarm_bench.app.judging import Answers
    from swarm_bench.app.stored.limits import TypedLimits
    from swarm_bench.app.stored.past import PastSession
    from swarm_bench.core.report.diff import Diff
    from swarm_bench.core.report.document import RenderedDocument
    from swarm_bench.core.report.gate import Bound, Gate
    from swarm_bench.core.report.trials_table import TrialsTable


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

    def __init__(self, path: Path) -> None:
        self.path = path

    def report(self) -> "RenderedDocument":
        """Render the summary, and write it."""
        raise NotImplementedError

    def reanalyse(self, overrides: "Mapping[str, Any]") -> "RenderedDocument":
        """Render the summary with other settings of the verdict; nothing is written."""
        raise NotImplementedError

    def build_trials_table(self) -> "TrialsTable":
        """Make the table that is exported."""
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
