"""Records that are not what was recorded: changed since, or other than the agents' own streams."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.selection import Selection, Trials
from swarm_bench.analysis.wording import format_places, list_few, quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.audit import Audit, Key
from swarm_bench.core.session.records import TrialRecord


def find_changed_records(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find lines whose checksum is of another content or missing, and those of another session."""
    audit, trials = mode_trials.selection.data.audit or Audit(), mode_trials.all
    edited = _select_trials(trials, audit.edited)
    if edited:
        count_text = f"{len(edited)} of {quantify(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{count_text} changed after the session wrote them",
            warning=f"{mode_trials.mode}: {count_text} in metrics.jsonl are not as they were "
            f"appended {format_places(edited, mode_trials.selection)}: somebody or something "
            f"changed them since.",
            is_void=True,
        )
    without_checksum = _select_trials(trials, audit.without_checksum)
    if without_checksum and _is_sealed(mode_trials.selection, audit):
        count_text = f"{len(without_checksum)} of {quantify(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{count_text} without a checksum",
            warning=f"{mode_trials.mode}: {count_text} in metrics.jsonl have no checksum, and "
            f"should have one {format_places(without_checksum, mode_trials.selection)}: an older "
            f"swarm-bench wrote them, or it was taken away.",
            is_void=True,
        )
    experiment = mode_trials.selection.data.experiment
    merged = (part.session for part in experiment.merged)
    sessions = {None, experiment.session, *merged}
    foreign = [trial for trial in trials if trial.session not in sessions]
    if foreign:
        count_text = f"{len(foreign)} of {quantify(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{count_text} from another session",
            warning=f"{mode_trials.mode}: {count_text} in metrics.jsonl name another session "
            f"{format_places(foreign, mode_trials.selection)}: they were not made by this one.",
            is_void=True,
        )


def _select_trials(trials: Trials, keys: Collection[Key]) -> list[TrialRecord]:
    return [trial for trial in trials if trial.key in keys] if keys else []


def find_other_changes(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find lines on the mode's swarms and overhead whose checksum is of another content, or is
    missing where all lines have one."""
    audit, experiment = (
        mode_trials.selection.data.audit or Audit(),
        mode_trials.selection.data.experiment,
    )
    without_checksum = audit.bare_beside if experiment.sealed_beside else {}
    for keys, problem, meaning in (
        (audit.edited_beside, "changed since", "somebody or something wrote them anew"),
        (without_checksum, "without a checksum", "every line there should have one"),
    ):
        for (file, mode), number in keys.items():
            if mode == mode_trials.mode:
                clause = f"{quantify(number, 'line')} of {file} {problem}"
                yield make_caveat(mode, clause, f": {meaning}.", is_void=True)


def find_unrecorded(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find trials of whose swarm `retrieval.jsonl` says nothing: that session was killed, or the
    line is lost."""
    if mode_trials.selection.data.experiment.origin:
        return
    agents_by_run: dict[int, set[int]] = defaultdict(set)
    for swarm in mode_trials.swarms:
        agents_by_run[swarm.run].update(swarm.agents)
    unlisted = [
        trial
        for trial in mode_trials.measured_trials
        if trial.agent not in agents_by_run[trial.run]
    ]
    if unlisted:
        count_text = f"{len(unlisted)} of {quantify(len(mode_trials.measured_trials), 'trial')}"
        yield Caveat(
            qualification=f"no record of the swarms of {count_text}",
            warning=f"{mode_trials.mode}: retrieval.jsonl has no line on the swarms of "
            f"{count_text} {format_places(unlisted, mode_trials.selection)}: the session has "
            f"not ended, or was killed before it was written, or it was taken away. Indexing and "
            f"counters of them are missing.",
        )


def find_replaced_files(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find that files were replaced, in every mode: which agent did it, and what else it changed,
    is not known."""
    if mode_trials.selection.data.planted:
        yield Caveat(qualification="files of the session were replaced while it ran", is_void=True)


def describe_replaced_files(selection: Selection) -> Iterator[str]:
    """Name what was put in the place of the session's files."""
    planted = selection.data.planted
    if planted:
        paths = ", ".join([*planted[:5], *(["…"] if len(planted) > 5 else [])])
        yield (
            "Something was put in the place of files of this session while it ran, probably by an "
            f"agent, and was set aside: {paths}."
        )


def _is_sealed(selection: Selection, audit: Audit) -> bool:
    """Tell whether lines have checksums here, by their own word or by that of the experiment."""
    return bool(audit.sealed or selection.data.experiment.sealed)


def find_stream_contradictions(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find figures that the stored output of the agents gives otherwise."""
    audit, trials = mode_trials.selection.data.audit or Audit(), mode_trials.all
    differing = _select_trials(trials, audit.differing)
    if differing:
        count_text = f"{len(differing)} of {quantify(len(trials), 'trial')}"
        keys = dict.fromkeys(key for trial in differing for key in audit.differing[trial.key])
        yield Caveat(
            qualification=f"the figures of {count_text} are not those of their stored output",
            warning=f"{mode_trials.mode}: the stored output of {count_text} gives other figures "
            f"than metrics.jsonl {format_places(differing, mode_trials.selection)}, for "
            f"{list_few(list(keys))}: "
            f"{_explain_difference(mode_trials.selection, audit, differing)}.",
            is_void=True,
        )


def _explain_difference(selection: Selection, audit: Audit, trials: list[TrialRecord]) -> str:
    """Say how they can differ: a checksum that fits may be a new one, or the line is as it was and
    was never right."""
    if all(trial.key in audit.edited for trial in trials):
        return "one of the two was changed"
    experiment = selection.data.experiment
    if experiment.origin:
        return "one of the two was changed, or is of another run"
    version = experiment.versions.get("swarm-bench")
    return (
        f"one of the two was changed, or swarm-bench {version or 'of then'}, which recorded them, "
        "read the streams otherwise"
    )


def describe_audit(selection: Selection) -> Iterator[str]:
    """Say what could not be held against anything, where nothing speaks of a change."""
    audit = selection.data.audit
    if audit is None or not selection.trials:
        return
    if audit.without_checksum and not _is_sealed(selection, audit):
        yield (
            "The records have no checksums, since an older swarm-bench wrote them: whether they "
            "were changed later is not recorded, and shows only where a stream contradicts them."
        )
    if not audit.adapter:
        yield (
            "The streams were not held against the records: the agent is no registered one, and "
            "nothing is loaded because a session names it."
        )
    elif audit.unread:
        all_streams = audit.streams + audit.unreadable + audit.unread
        were = "was" if audit.streams == 1 else "were"
        yield (
            f"{audit.streams} of {quantify(all_streams, 'stream')} {were} held against the "
            f"records: all together are too large to be read again for every report."
        )
    if audit.unreadable:
        yield (
            f"{quantify(audit.unreadable, 'stream')} could not be read again, since the agent's "
            "adapter failed: nothing bears out what is recorded of "
            f"{'that trial' if audit.unreadable == 1 else 'those trials'}."
        )
    if audit.lost_streams:
        yield (
            f"The streams of {quantify(audit.lost_streams, 'trial')} are not in the session's "
            "folder, so nothing bears out what their records say."
        )
