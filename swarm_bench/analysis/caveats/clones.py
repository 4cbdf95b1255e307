"""What was in the clone of a mode's agents that should not have been there."""

from collections.abc import Iterator
from datetime import datetime

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.wording import amount, listed, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.experiment import Repository


def littered(treated: Treated) -> Iterator[Caveat]:
    """Find what agents left that works on others: they read a changed CLAUDE.md, and git runs a new
    hook. Nobody meant to measure that."""
    lines = (line for line in treated.selection.data.overhead if line.mode == treated.mode)
    looks = [line.unexpected or () for line in lines]
    looks += [swarm.unexpected for swarm in treated.swarms]
    paths = sorted({path for look in looks for path in look})
    if paths:
        most = max(len(paths), *(swarm.unexpected_count or 0 for swarm in treated.swarms), 0)
        yield Caveat(
            qualification=f"its tool changed the clone: {listed(paths)}",
            warning=f"{treated.mode}: before the agents started, its tool changed {_paths(most)} "
            f"in the clone that its may_create does not name: {listed(paths)}. Agents may read or "
            "run what is there.",
        )


def instructions_changed(treated: Treated) -> Iterator[Caveat]:
    """Find instructions that changed meanwhile: later agents of a swarm read them too."""
    swarms = [swarm for swarm in treated.swarms if swarm.instructions_changed]
    paths = sorted({path for swarm in swarms for path in swarm.instructions_changed})
    if paths:
        where = f"in {len(swarms)} of {amount(len(treated.swarms), 'swarm')}"
        yield Caveat(
            qualification=f"{listed(paths)} changed while its agents ran {where}",
            warning=f"{treated.mode}: {listed(paths)} appeared, changed or disappeared in the "
            f"clone while its agents ran {where}: by its tool or by the agents. Agents may read or "
            "run what is there.",
        )


def held_keys(treated: Treated) -> Iterator[Caveat]:
    """Find trials whose clones had files with answer keys: an older swarm-bench began them."""
    repository, trials = treated.selection.data.experiment.repository, treated.measured
    exposed = [trial for trial in trials if had_keys(repository, trial.started_at)]
    if exposed:
        what = with_keys(repository, len(exposed), len(trials))
        yield Caveat(
            qualification=what,
            warning=f"{treated.mode}: {what} {places(exposed, treated.selection)}, since an older "
            "swarm-bench began this session: whether agents read them there was not recorded. The "
            "other trials had none of them; a new session has none at all.",
        )


def had_keys(repository: Repository, started_at: datetime | None) -> bool:
    """Tell whether the clone of a trial that started then had the files with answer keys. When a
    trial started was not recorded once."""
    since = repository.answers_since
    return since is not None and (started_at is None or started_at < since)


def with_keys(repository: Repository, some: int, trials: int) -> str:
    """Say that so many trials had the files with answer keys."""
    files = f"the {amount(len(repository.answers or ()), 'file')} with answer keys"
    return f"{some} of {amount(trials, 'trial')} had {files} in their clones"


def brought(treated: Treated) -> Iterator[Caveat]:
    """Find an index that is committed: it reaches the clone of a mode whose index is said to be
    cold."""
    folders = sorted({folder for swarm in treated.swarms for folder in swarm.brought})
    if folders:
        what = f"the repository itself has {listed(folders)}"
        yield Caveat(
            qualification=f"{what}, so its tool did not begin without an index",
            warning=f"{treated.mode}: {what}, which its tool makes for itself (may_create): it may "
            "have begun with the index in there. To measure it without, compare on a copy of the "
            "repository that does not have it.",
        )


def not_torn_down(treated: Treated) -> Iterator[Caveat]:
    """Find what runs on: it takes time from the agents of other modes."""
    failed = [swarm for swarm in treated.swarms if swarm.teardown_failure]
    if failed:
        where = f"in {len(failed)} of {amount(len(treated.swarms), 'swarm')}"
        yield Caveat(
            qualification=f"its teardown failed {where}",
            warning=f"{treated.mode}: its teardown failed {where}. The first says: "
            f"{failed[0].teardown_failure}.",
        )


def _paths(number: int) -> str:
    return "a path" if number == 1 else f"{number} paths"
