"""Trials of a mode that were connected to its tool, and those that used it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.selection import Selection, Trials
from swarm_bench.core.session.records import SwarmRecord, Treatment, TrialRecord
from swarm_bench.retrieval.witnesses.treatment import count_server_calls

_UNKNOWN = {None, Treatment.UNKNOWN}
_CONNECTED = {Treatment.USED, Treatment.UNUSED}


@dataclass(frozen=True, eq=False)
class ModeTrials:
    """The trials of one mode, by what the witnesses say of them."""

    selection: Selection
    mode: str

    @property
    def all(self) -> Trials:
        return self.selection.select(self.mode)

    @property
    def measured_trials(self) -> Trials:
        """Return the trials that the harness and the provider let run to their own end."""
        return self.selection.get_arm(self.mode).measured_trials

    @property
    def counted_trials(self) -> Trials:
        return self.selection.get_arm(self.mode).counted_trials

    @property
    def compared_trials(self) -> Trials:
        return self.selection.get_arm(self.mode).compared_trials

    def select_labelled(self, *labels: Treatment | None) -> Trials:
        """Select the measured trials with one of the labels."""
        return tuple(trial for trial in self.measured_trials if trial.retrieval in labels)

    @cached_property
    def unknown_trials(self) -> Trials:
        return tuple(trial for trial in self.counted_trials if trial.retrieval in _UNKNOWN)

    @cached_property
    def assessable(self) -> Trials:
        """The measured trials that show whether they were connected."""
        return tuple(trial for trial in self.measured_trials if is_connected(trial) is not None)

    @cached_property
    def connected_trials(self) -> Trials:
        return tuple(trial for trial in self.measured_trials if is_connected(trial))

    @cached_property
    def used_trials(self) -> Trials:
        return tuple(trial for trial in self.counted_trials if trial.retrieval is Treatment.USED)

    @property
    def is_unused(self) -> bool:
        """Whether the mode gives a tool, and certainly no agent used it."""
        has_tool = self.selection.has_tool(self.mode)
        return (
            has_tool
            and bool(self.counted_trials)
            and not self.used_trials
            and not self.unknown_trials
        )

    def has_same_answer(self, tasks: Collection[str]) -> bool:
        """Tell whether one answer is right for all of these tasks, by their keys."""
        chosen_tasks = [task for task in self.selection.data.experiment.tasks if task.id in tasks]
        keys = {task.key.model_dump_json() if task.key else None for task in chosen_tasks}
        return len(keys) == 1 and None not in keys

    @property
    def missing_servers(self) -> dict[str, int]:
        """Connected trials that lacked a server of the mode, by server."""
        lacking = Counter(
            server
            for trial in self.connected_trials
            for server in self.servers
            if _is_lacking(trial, server)
        )
        return dict(lacking)

    @property
    def swarms(self) -> tuple[SwarmRecord, ...]:
        return self.selection.select_swarms(self.mode)

    @property
    def calls(self) -> int:
        """Calls of the mode's tools in the trials that count."""
        return self._sum_calls(trial.tool_calls for trial in self.counted_trials)

    @property
    def failed_calls(self) -> int:
        return self._sum_calls(trial.tool_failures for trial in self.counted_trials)

    @property
    def unanswered_calls(self) -> int:
        """Return the number of calls without an answer, as far as transcripts can show them."""
        return self._sum_calls(trial.tool_unanswered for trial in self.counted_trials)

    def _sum_calls(self, calls: Iterable[Mapping[str, int] | None]) -> int:
        return sum(count_server_calls(by_tool, self.servers) for by_tool in calls if by_tool)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        return self.selection.list_servers(self.mode)


@once
def get_mode_trials(selection: Selection, mode: str) -> ModeTrials:
    """Return the trials of the mode; the same object to all who ask, as it remembers."""
    return ModeTrials(selection, mode)


def is_connected(trial: TrialRecord) -> bool | None:
    """Tell whether the trial was connected; `None` when it does not tell. A contaminated trial may
    have had its own tool too, and one whose use is not proved shows its start."""
    if trial.retrieval not in {*_UNKNOWN, Treatment.CONTAMINATED}:
        return trial.retrieval in _CONNECTED
    evidence = trial.evidence
    if evidence is None or (evidence.connected is None and not evidence.calls):
        return None
    if evidence.connected is None:
        return True
    # An agent can call what it does not have.
    successful_calls = (evidence.calls or 0) - (evidence.failed or 0) - (evidence.unanswered or 0)
    return bool(evidence.connected or evidence.offered or successful_calls > 0)


def _is_lacking(trial: TrialRecord, server: str) -> bool:
    """Tell whether the server was missing. One that was still connecting when the agent started may
    have come later."""
    evidence, state = trial.evidence, (trial.mcp_servers or {}).get(server)
    if evidence is None or evidence.connected is None or evidence.start == "explained":
        return False
    return server not in evidence.connected and state not in {"pending", "unknown"}
