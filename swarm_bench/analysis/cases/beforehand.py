"""Whether the verdict on arms is on what was named before the first trial."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.caveats.afterwards import digits, growth, unfit
from swarm_bench.core.session.cases import CaseExperiment


def named_beforehand(experiment: CaseExperiment) -> str:
    """Write what was named, and the first digits of its checksum; empty where nothing was."""
    named = experiment.beforehand
    if named is None:
        return ""
    return f"{named.primary}, margin {named.margin:g} ({digits(named)})"


def exploratory(experiment: CaseExperiment) -> Iterator[str]:
    """Say that the verdict is on what was chosen after the fact."""
    named = experiment.beforehand
    if named and experiment.chosen_afterwards:
        yield (
            f"Exploratory: these verdicts are on {experiment.primary} with a margin of "
            f"{experiment.margin:g}; named before the first trial: {named.primary} with a margin "
            f"of {named.margin:g}. A verdict by settings that were chosen after the fact is a "
            "hypothesis for the next session."
        )


def edited(experiment: CaseExperiment) -> Iterator[str]:
    """Report that the file of the experiment was changed by hand."""
    if experiment.beforehand:
        yield from unfit(experiment.beforehand)


def extended(session: CaseSession) -> Iterator[str]:
    """Say what was added to a session after it began, less what its benchmark adds by itself."""
    experiment = session.experiment
    named = experiment.beforehand
    if named is None:
        return
    more = {
        "run": (named.runs, experiment.runs),
        "case": (len(named.cases), len(experiment.cases)),
        "arm": (len(named.arms), len(session.chosen_arms)),
    }
    yield from growth(more)
