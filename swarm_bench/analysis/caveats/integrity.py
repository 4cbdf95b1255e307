"""Records that are not what was recorded: changed since, or other than the agents' own streams."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Trials
from swarm_bench.analysis.wording import amount, listed, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.audit import Audit, Key
from swarm_bench.core.session.records import TrialRecord


def changed(treated: Treated) -> Iterator[Caveat]:
    """Find lines whose checksum is of another content or missing, and those of another session."""
    audit, trials = treated.selection.data.audit or Audit(), treated.all
    edited = _with_keys(trials, audit.edited)
    if edited:
        some = f"{len(edited)} of {amount(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{some} changed after the session wrote them",
            warning=f"{treated.mode}: {some} in metrics.jsonl are not as they were appended "
            f"{places(edited, treated.selection)}: somebody or something changed them since.",
            is_void=True,
        )
    bare = _with_keys(trials, audit.without_checksum)
    if bare and _is_sealed(treated.selection, audit):
        some = f"{len(bare)} of {amount(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{some} without a checksum",
            warning=f"{treated.mode}: {some} in metrics.jsonl have no checksum, and should have "
            f"one {places(bare, treated.selection)}: an older swarm-bench wrote them, or it was "
            "taken away.",
            is_void=True,
        )
    experiment = treated.selection.data.experiment
    foreign = [trial for trial in trials if trial.session not in (None, experiment.session)]
    if foreign:
        some = f"{len(foreign)} of {amount(len(trials), 'record')}"
        yield Caveat(
            qualification=f"{some} from another session",
            warning=f"{treated.mode}: {some} in metrics.jsonl name another session "
            f"{places(foreign, treated.selection)}: they were not made by this one.",
            is_void=True,
        )


def _with_keys(trials: Trials, keys: Collection[Key]) -> list[TrialRecord]:
    return [trial for trial in trials if trial.key in keys] if keys else []


def changed_beside(treated: Treated) -> Iterator[Caveat]:
    """Find lines on the mode's swarms and overhead whose checksum is of another content, or is
    missing where all lines have one."""
    audit, experiment = treated.selection.data.audit or Audit(), treated.selection.data.experiment
    bare = audit.bare_beside if experiment.sealed_beside else {}
    for keys, what, meaning in (
        (audit.edited_beside, "changed since", "somebody or something wrote them anew"),
        (bare, "without a checksum", "every line there should have one"),
    ):
        for (file, mode), number in keys.items():
            if mode == treated.mode:
                some = f"{amount(number, 'line')} of {file} {what}"
                yield Caveat(
                    qualification=some, warning=f"{mode}: {some}: {meaning}.", is_void=True
                )


def unrecorded(treated: Treated) -> Iterator[Caveat]:
    """Find trials of whose swarm `retrieval.jsonl` says nothing: that session was killed, or the
    line is lost."""
    if treated.selection.data.experiment.origin:
        return
    recorded: dict[int, set[int]] = defaultdict(set)
    for swarm in treated.swarms:
        recorded[swarm.run].update(swarm.agents)
    unlisted = [trial for trial in treated.measured if trial.agent not in recorded[trial.run]]
    if unlisted:
        some = f"{len(unlisted)} of {amount(len(treated.measured), 'trial')}"
        yield Caveat(
            qualification=f"no record of the swarms of {some}",
            warning=f"{treated.mode}: retrieval.jsonl has no line on the swarms of {some} "
            f"{places(unlisted, treated.selection)}: the session was killed before it was written, "
            "or it was taken away. Indexing and counters of them are missing.",
        )


def set_aside(treated: Treated) -> Iterator[Caveat]:
    """Find that files were replaced, in every mode: which agent did it, and what else it changed,
    is not known."""
    if treated.selection.data.planted:
        yield Caveat(qualification="files of the session were replaced while it ran", is_void=True)


def about_set_aside(selection: Selection) -> Iterator[str]:
    """Name what was put in the place of the session's files."""
    planted = selection.data.planted
    if planted:
        shown = ", ".join([*planted[:5], *(["…"] if len(planted) > 5 else [])])
        yield (
            "Something was put in the place of files of this session while it ran, probably by an "
            f"agent, and was set aside: {shown}."
        )


def _is_sealed(selection: Selection, audit: Audit) -> bool:
    """Tell whether lines have checksums here, by their own word or by that of the experiment."""
    return bool(audit.sealed or selection.data.experiment.sealed)


def contradicted_by_streams(treated: Treated) -> Iterator[Caveat]:
    """Find figures that the stored output of the agents gives otherwise."""
    audit, trials = treated.selection.data.audit or Audit(), treated.all
    differing = _with_keys(trials, audit.differing)
    if differing:
        some = f"{len(differing)} of {amount(len(trials), 'trial')}"
        keys = dict.fromkeys(key for trial in differing for key in audit.differing[trial.key])
        yield Caveat(
            qualification=f"the figures of {some} are not those of their stored output",
            warning=f"{treated.mode}: the stored output of {some} gives other figures than "
            f"metrics.jsonl {places(differing, treated.selection)}, for {listed(list(keys))}: "
            f"{_why(treated.selection, audit, differing)}.",
            is_void=True,
        )


def _why(selection: Selection, audit: Audit, trials: list[TrialRecord]) -> str:
    """Say how they can differ: a checksum that fits may be a new one, or the line is as it was and
    was never right."""
    if all(trial.key in audit.edited for trial in trials):
        return "one of the two was changed"
    experiment = selection.data.experiment
    if experiment.origin:
        return "one of the two was changed, or is of another run"
    then = experiment.versions.get("swarm-bench")
    return (
        f"one of the two was changed, or swarm-bench {then or 'of then'}, which recorded them, "
        "read the streams otherwise"
    )


def about_audit(selection: Selection) -> Iterator[str]:
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
        there = audit.streams + audit.unreadable + audit.unread
        were = "was" if audit.streams == 1 else "were"
        yield (
            f"{audit.streams} of {amount(there, 'stream')} {were} held against the records: all "
            "together are too large to be read again for every report."
        )
    if audit.unreadable:
        yield (
            f"{amount(audit.unreadable, 'stream')} could not be read again, since the agent's "
            "adapter failed: nothing bears out what is recorded of "
            f"{'that trial' if audit.unreadable == 1 else 'those trials'}."
        )
    if audit.lost_streams:
        yield (
            f"The streams of {amount(audit.lost_streams, 'trial')} are not in the session's "
            "folder, so nothing bears out what their records say."
        )
