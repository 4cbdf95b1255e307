"""What was in the clone of a mode's agents that should not have been there."""

from collections.abc import Iterator
from datetime import datetime

from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.wording import format_places, list_few, quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.experiment import Repository


def find_unexpected_files(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find what agents left that affects others: they read a changed CLAUDE.md, and git runs a new
    hook. That was not meant to be measured."""
    lines = (line for line in mode_trials.selection.data.overhead if line.mode == mode_trials.mode)
    path_lists = [line.unexpected or () for line in lines]
    path_lists += [swarm.unexpected for swarm in mode_trials.swarms]
    paths = sorted({path for path_list in path_lists for path in path_list})
    if paths:
        path_count = max(
            len(paths), *(swarm.unexpected_count or 0 for swarm in mode_trials.swarms), 0
        )
        paths_text = "a path" if path_count == 1 else f"{path_count} paths"
        yield Caveat(
            qualification=f"its tool changed the clone: {list_few(paths)}",
            warning=f"{mode_trials.mode}: before the agents started, its tool changed "
            f"{paths_text} in the clone that its may_create does not name: "
            f"{list_few(paths)}. Agents may read or run what is there.",
        )


def find_changed_instructions(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find instructions that changed meanwhile: later agents of a swarm read them too."""
    swarms = [swarm for swarm in mode_trials.swarms if swarm.instructions_changed]
    paths = sorted({path for swarm in swarms for path in swarm.instructions_changed})
    if paths:
        share_text = f"in {len(swarms)} of {quantify(len(mode_trials.swarms), 'swarm')}"
        yield Caveat(
            qualification=f"{list_few(paths)} changed while its agents ran {share_text}",
            warning=f"{mode_trials.mode}: {list_few(paths)} appeared, changed or disappeared in "
            f"the clone while its agents ran {share_text}: by its tool or by the agents. Agents "
            f"may read or run what is there.",
        )


def find_exposed_keys(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find trials whose clones had files with answer keys: an older swarm-bench began them."""
    repository, trials = (
        mode_trials.selection.data.experiment.repository,
        mode_trials.measured_trials,
    )
    exposed = [trial for trial in trials if had_keys(repository, trial.started_at)]
    if exposed:
        clause = describe_exposed_keys(repository, len(exposed), len(trials))
        remark = (
            f" {format_places(exposed, mode_trials.selection)}, since an older swarm-bench began "
            f"this session: whether agents read them there was not recorded. The other trials had "
            f"none of them; a new session has none at all."
        )
        yield make_caveat(mode_trials.mode, clause, remark)


def had_keys(repository: Repository, started_at: datetime | None) -> bool:
    """Tell whether the clone of a trial that started then had the files with answer keys. When a
    trial started was not recorded once."""
    since = repository.answers_since
    return since is not None and (started_at is None or started_at < since)


def describe_exposed_keys(repository: Repository, count: int, trials: int) -> str:
    """Say that so many trials had the files with answer keys."""
    files = f"the {quantify(len(repository.answers or ()), 'file')} with answer keys"
    return f"{count} of {quantify(trials, 'trial')} had {files} in their clones"


def find_committed_index(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find an index that is committed: it reaches the clone of a mode whose index is said to be
    cold."""
    folders = sorted({folder for swarm in mode_trials.swarms for folder in swarm.brought})
    if folders:
        clause = f"the repository itself has {list_few(folders)}"
        yield Caveat(
            qualification=f"{clause}, so its tool did not begin without an index",
            warning=f"{mode_trials.mode}: {clause}, which its tool makes for itself (may_create): "
            f"it may have begun with the index in there. To measure it without, compare on a copy "
            f"of the repository that does not have it.",
        )


def find_failed_teardown(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find what runs on: it takes time from the agents of other modes."""
    failed = [swarm for swarm in mode_trials.swarms if swarm.teardown_failure]
    if failed:
        swarms = quantify(len(mode_trials.swarms), "swarm")
        clause = f"its teardown failed in {len(failed)} of {swarms}"
        remark = f". The first says: {failed[0].teardown_failure}."
        yield make_caveat(mode_trials.mode, clause, remark)
