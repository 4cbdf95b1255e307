"""What a session came to, and whether it is what was asked for."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import (
    CostLimitReached,
    GateFailed,
    HarnessError,
    ModelFailed,
    NodeLost,
    NotAuthorized,
    NoVerdictPossible,
    WrongAddress,
)
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.cases import Case
from swarm_bench.core.session.designs import LOCAL, Design
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import Block, iterate_groups

Stop = NotAuthorized | CostLimitReached | NoVerdictPossible | ModelFailed | WrongAddress | NodeLost
"""Errors that end a session in order, before its end."""


def shorten_summary(summary: RenderedDocument, width: int, *, colours: bool) -> str:
    """Write what a terminal shows of a summary, in lines of so many columns."""
    from swarm_bench.reports.terminal import render_brief  # heavy

    return render_brief(summary.document, width, colours=colours)


def format_continue_command(
    design: Design, folder: Path, service_url: str | None = None, on: str = LOCAL
) -> str:
    """Return the command that continues a session of the swarm benchmark."""
    service = f" --service-url {quote(remove_logins(service_url))}" if service_url else ""
    command = f"swarm-bench {design.name} --continue {quote(str(folder))}{service}"
    return f"{command}{format_on(on)}"


def format_on(on: str) -> str:
    """Write the option that continues a session where it ran."""
    return "" if on == LOCAL else f" --on {quote(on)}"


@dataclass(frozen=True, kw_only=True)
class EndCounts:
    """How the trials of a plan ended."""

    causes: Counter[Cause]
    """Causes of the trials that ran to their own end."""
    unfinished: int
    """Number of trials without a record, or with one that asks to be run again."""


def list_silent_arms(folder: Folder[Any, Any], plan: Sequence[Block[Case]]) -> tuple[str, ...]:
    """Return the arms none of whose trials gave an answer."""
    answered_ids = {
        head.trial for head in folder.records.read_heads() if head.cause is Cause.FINISHED
    }
    by_arm = defaultdict[str, set[str]](set)
    for group in iterate_groups(plan):
        by_arm[group.arm] |= {trial.id for trial in group.trials}
    return tuple(arm for arm, trials in by_arm.items() if not trials & answered_ids)


def count_ends(folder: Folder[Any, Any], plan: Sequence[Block[Any]]) -> EndCounts:
    """Read how the trials of the plan ended. Other records do not count."""
    planned = [trial.id for group in iterate_groups(plan) for trial in group.trials]
    causes = {head.trial: head.cause for head in folder.records.read_heads() if head.conclusive}
    end_causes = Counter(cause for trial in planned if (cause := causes.get(trial)))
    return EndCounts(causes=end_causes, unfinished=len(planned) - end_causes.total())


@dataclass(frozen=True, kw_only=True)
class SessionResult:
    """Result of a session, in any benchmark."""

    folder: Path
    to_continue: str
    """The command that continues the session."""
    summary: RenderedDocument
    interrupted: bool
    end_counts: EndCounts
    stopped: Stop | None = None
    """Error that ended it early, unless it was interrupted."""
    silent: tuple[str, ...] = ()
    """Arms none of whose trials gave an answer."""
    kept_workspaces: tuple[Path, ...] = ()
    """Paths of the workspaces that were kept."""

    @property
    def progress(self) -> tuple[int, int]:
        """The trials that have ended, and those that are planned."""
        count = self.end_counts.causes.total()
        return count, count + self.end_counts.unfinished

    def check(self) -> None:
        """Raise when the session is not complete; the exit codes follow from it."""
        causes = self.end_counts.causes
        if isinstance(self.stopped, WrongAddress | NoVerdictPossible):  # to continue is no help
            raise self.stopped
        if self.stopped:
            kind = type(self.stopped)
            raise kind(f"{self.stopped}; then continue with: {self.to_continue}")
        if self.end_counts.unfinished:
            raise HarnessError(
                f"Trials that could not be run to their own end: {self.end_counts.unfinished}; see "
                f"the warnings in {self.folder / 'summary.md'}, then continue "
                f"with: {self.to_continue}"
            )
        if not causes[Cause.FINISHED]:
            descriptions = [
                f"{number} {CONSEQUENCES[cause].of(number)}" for cause, number in causes.items()
            ]
            raise HarnessError(
                f"No trial gave an answer: {', '.join(descriptions)}; see "
                f"{self.folder / 'summary.md'}, and what lies beside it"
            )
        if self.silent:
            raise HarnessError(
                f"No trial of {' and '.join(self.silent)} gave an answer, so nothing is concluded "
                f"of it; see the warnings in {self.folder / 'summary.md'}"
            )


@dataclass(frozen=True, kw_only=True)
class ComparisonResult(SessionResult):
    """Result of a comparison."""

    report: Report

    def check_gates(self, *, require_retrieval: bool, require_verdict: bool) -> None:
        """Raise when the session is not complete, or fails a gate that was asked for."""
        self.check()
        if require_retrieval and self.report.retrieval_exercised is not True:
            raise GateFailed(
                "Retrieval was not exercised in every mode that has a tool, and "
                f"--require-retrieval asks for it; see the warnings in {self.folder / 'summary.md'}"
            )
        standings = self.report.headline.standings
        without = [
            standing.mode
            for standing in standings
            if standing.concluded is False or standing.no_verdict
        ]
        concluded = any(standing.concluded for standing in standings)
        if require_verdict and (without or not concluded):
            on = f" on {' and '.join(without)}" if without else ""
            raise GateFailed(
                f"There is no verdict{on}, and --require-verdict asks for one on every mode that "
                "is compared ('cannot tell yet' is none); see the headline in "
                f"{self.folder / 'summary.md'}"
            )
