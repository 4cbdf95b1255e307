"""What a session came to, and whether it is what was asked for."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import GateFailed, HarnessError, NotAuthorized
from swarm_bench.core.report.report import Headline, Report
from swarm_bench.core.session.designs import Design
from swarm_bench.core.status import CONSEQUENCES, Status


def to_continue(design: Design, folder: Path, service_url: str | None = None) -> str:
    """Return the command that continues a session."""
    service = f" --service-url {quote(without_logins(service_url))}" if service_url else ""
    return f"swarm-bench {design.name} --continue {quote(str(folder))}{service}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a call of `run` came to."""

    folder: Path
    design: Design
    service_url: str | None
    summary: str
    report: Report
    interrupted: bool
    unfinished: int
    """Trials of the plan that have no record, or one that asks to be run again."""
    kept: tuple[Path, ...]
    """Where the workspaces lie that were kept."""
    stopped: NotAuthorized | None = None
    """Why it ended before its end, unless it was interrupted."""

    @property
    def to_continue(self) -> str:
        """The command that continues the session."""
        return to_continue(self.design, self.folder, self.service_url)

    def check(self, *, require_retrieval: bool, require_verdict: bool) -> None:
        """Raise when the session is not what was asked for; the exit codes follow from it."""
        if self.stopped:
            raise NotAuthorized(f"{self.stopped}; then continue with: {self.to_continue}")
        if self.report.measured == 0:
            raise HarnessError(
                "Nothing could be measured: no trial ran to its own end; "
                f"see the warnings in {self.folder / 'summary.md'}"
            )
        if self.unfinished:
            raise HarnessError(
                f"Trials that could not be run to their own end: {self.unfinished}; see the "
                f"warnings above, then continue with: {self.to_continue}"
            )
        if not any(trial.status is Status.COMPLETED for trial in self.report.trials):
            causes = Counter(trial.cause for trial in self.report.trials if trial.cause)
            ends = [
                f"{number} {CONSEQUENCES[cause].of(number)}" for cause, number in causes.items()
            ]
            raise HarnessError(
                f"No agent gave an answer: {', '.join(ends)}; see {self.folder / 'summary.md'}, "
                "and what an agent printed beside it"
            )
        if require_retrieval and self.report.retrieval_exercised is not True:
            raise GateFailed(
                "Retrieval was not exercised in every mode that has a tool, and "
                "--require-retrieval asks for it; see the warnings above"
            )
        if require_verdict and not _has_verdicts(self.report.headline):
            raise GateFailed(
                "There is no verdict on every mode that is compared, and --require-verdict asks "
                "for it; see the headline above"
            )


def _has_verdicts(headline: Headline) -> bool:
    barred = any(standing.no_verdict for standing in headline.standings)
    return headline.ratios is not None and not barred
