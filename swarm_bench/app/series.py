"""Growing swarms: the comparison once for each size, each a session of its own, and a summary on
top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swarm_bench.analysis.planning.session_plan import describe_sizes, describe_together
from swarm_bench.app.result import ComparisonResult, format_continue_command
from swarm_bench.app.running import agents
from swarm_bench.app.running.agents import AgentCall
from swarm_bench.app.session import check_output, make_folder
from swarm_bench.app.setup.resolving import read_session
from swarm_bench.app.stored.agents import (
    AgentSession,
    SeriesSession,
    write_series_summary,
    write_summary,
)
from swarm_bench.app.stored.pages import is_own, write_last_page
from swarm_bench.app.trust.approval import load_agent
from swarm_bench.benchmarks.swarm.folder import SessionFolder, find_sessions, member_folder
from swarm_bench.config.layers import Continued, Member, Resolved
from swarm_bench.core import interruption
from swarm_bench.core.errors import (
    GateFailed,
    HarnessError,
    StoreError,
    SwarmBenchError,
    UsageError,
)
from swarm_bench.core.events import Emit, PartStarted
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.page import PAGE
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.recording import Replays
from swarm_bench.core.session.records import SessionData
from swarm_bench.reports.plan_text import render_plans
from swarm_bench.runtime.files import is_locked


@dataclass(frozen=True, kw_only=True)
class SeriesResult:
    """Result of a series of sessions."""

    folder: Path
    design: Design
    summary: RenderedDocument
    results: Mapping[int, ComparisonResult]
    """Results of the sessions that ran, by size."""
    sizes: int
    """Sessions that are planned, each with as many trials."""
    service_url: str | None
    on: str
    stop_error: KeyboardInterrupt | SwarmBenchError | None
    """Error that ended the series early, outside of a session: a signal, or a size that was
    refused."""

    @property
    def interrupted(self) -> bool:
        return isinstance(self.stop_error, KeyboardInterrupt) or any(
            result.interrupted for result in self.results.values()
        )

    @property
    def progress(self) -> tuple[int, int]:
        """The trials that have ended, and those that are planned."""
        counts = [result.progress for result in self.results.values()]
        planned = max((planned for _, planned in counts), default=0)
        return sum(count for count, _ in counts), planned * self.sizes

    @property
    def kept_workspaces(self) -> tuple[Path, ...]:
        """Paths of the workspaces that were kept."""
        return tuple(path for result in self.results.values() for path in result.kept_workspaces)

    @property
    def to_continue(self) -> str:
        """The command that continues the series."""
        return format_continue_command(self.design, self.folder, self.service_url, self.on)

    def check_gates(self, *, require_retrieval: bool, require_verdict: bool) -> None:
        """Raise what ended the series, or the worst of what its sessions are not as they were asked
        for."""
        if self.stop_error:
            raise self.stop_error
        problems = dict[int, HarnessError | GateFailed]()
        for size, result in self.results.items():
            try:
                result.check_gates(
                    require_retrieval=require_retrieval, require_verdict=require_verdict
                )
            except (HarnessError, GateFailed) as error:
                problems[size] = error
        if not problems:
            return
        size = max(problems, key=lambda size: isinstance(problems[size], HarnessError))
        kind = HarnessError if isinstance(problems[size], HarnessError) else GateFailed
        raise kind(
            f"Swarms of {', '.join(map(str, problems))} are not what was asked for; of {size}: "
            f"{problems[size]}; continue the whole series with: {self.to_continue}"
        )


def is_series(resolved: Resolved, design: Design) -> bool:
    """Tell whether the call is about a series: it has several sizes, or continues one."""
    settings = resolved.settings
    if settings.resume is not None:
        return bool(find_sessions(Path(settings.resume)))
    has_sizes = design.several_sizes and len(settings.agents) > 1
    # The agents of a recording are those of the session that was recorded.
    return has_sizes and not isinstance(load_agent(resolved), Replays)


def show_plan(resolved: Resolved, design: Design, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of so many columns."""
    check_output(AgentCall(resolved=resolved, design=design))
    sessions = _group_by_size(resolved)
    planned = {
        size: agents.plan_session(_resolve_member(resolved, size, None, sessions), design)
        for size in sorted(resolved.settings.agents)
    }
    return render_plans(describe_sizes(planned), describe_together(planned), width)


def run(resolved: Resolved, design: Design, emit: Emit) -> SeriesResult:
    """Run every size, the smallest first. An interruption ends the series, and so does a size that
    is refused; what there is has its summary."""
    call = AgentCall(resolved=resolved, design=design)
    check_output(call)
    folder = call.resume or make_folder(call).path
    results = dict[int, ComparisonResult]()
    read = dict[int, SessionData]()
    try:
        stop_error = _run_sizes(resolved, design, folder, results, read, emit)
        if stop_error and not find_sessions(folder):
            raise stop_error
        summary = _write_summaries(folder, read, stop_error, emit)
        series = SeriesSession(folder)
        pages = (member.path / PAGE for member in series.list_members())
        series.pages = frozenset(filter(is_own, pages))
        write_last_page(series, summary.document, emit)
    finally:
        if not find_sessions(folder):
            SessionFolder(folder).remove_if_empty()
    return SeriesResult(
        folder=folder,
        design=design,
        summary=summary,
        results=results,
        sizes=len(resolved.settings.agents),
        service_url=resolved.settings.service_url,
        on=resolved.settings.on,
        stop_error=stop_error,
    )


def _run_sizes(
    resolved: Resolved,
    design: Design,
    folder: Path,
    results: dict[int, ComparisonResult],
    read: dict[int, SessionData],
    emit: Emit,
) -> KeyboardInterrupt | SwarmBenchError | None:
    """Fill `results`, and `read` with the data of complete sizes; return what ended the series
    before its end, outside of a session."""
    sessions = _group_by_size(resolved)
    try:
        sizes = sorted(resolved.settings.agents)
        for number, size in enumerate(sizes, 1):
            emit(PartStarted(part=f"swarms of {size}", number=number, parts=len(sizes)))
            member = _resolve_member(resolved, size, folder, sessions)
            read.pop(size, None)
            results[size] = agents.run(member, design, emit)
            if size not in sessions:
                sessions[size] = read_session(SessionFolder(results[size].folder))
            if results[size].interrupted or results[size].stopped:
                break
            write_series_summary(folder, read)
            interruption.check()
    except (KeyboardInterrupt, SwarmBenchError) as error:
        return error
    return None


def _write_summaries(
    folder: Path, read: dict[int, SessionData], stop_error: BaseException | None, emit: Emit
) -> RenderedDocument:
    """Write the summary on top, and after an error those of the sessions that may lack them, with
    their pages; not of one that another process runs."""
    try:
        if stop_error:
            for size, member in find_sessions(folder).items():
                if size not in read and not is_locked(member.lock):
                    _, summary = write_summary(member, member.read())
                    write_last_page(AgentSession(member.path), summary.document, emit)
        return write_series_summary(folder, read)
    except StoreError as error:
        raise stop_error or error from error


def _group_by_size(resolved: Resolved) -> dict[int, Continued]:
    return {
        size: session for session in resolved.continued if (size := session.experiment.swarm_size)
    }


def _resolve_member(
    resolved: Resolved, size: int, folder: Path | None, sessions: Mapping[int, Continued]
) -> Resolved:
    """Make the options of one session of the series. Without a folder it is only to be looked
    at."""
    settings = resolved.settings
    own_session = sessions.get(size)
    other_sessions = [sessions[other_size] for other_size in sorted(sessions) if other_size != size]
    like = other_sessions[0].experiment if other_sessions else None
    _check_sizes(resolved.settings.agents, like)
    changes: dict[str, Any] = {
        "resume": str(own_session.folder) if own_session else None,
        "output": member_folder(folder, size) if folder and not own_session else None,
    }
    if like and not resolved.is_typed("repo"):
        changes["repo"] = Path(like.repository.path)
    return replace(
        resolved,
        settings=replace(settings, **changes),
        member=Member(size=size, like=like, other_sessions=tuple(other_sessions)),
        continued=(own_session,) if own_session else (),
    )


def _check_sizes(sizes: Sequence[int], like: Experiment | None) -> None:
    if like and like.agents != max(sizes):
        raise UsageError(
            f"The largest swarm of the series has {like.agents} agents, which is what all sizes "
            f"measure; --agents must name it, and none that is larger"
        )
