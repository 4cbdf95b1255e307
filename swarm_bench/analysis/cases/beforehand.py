"""Whether the verdict on arms is on what was named before the first trial."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.caveats.afterwards import describe_growth, format_digits, warn_checksum
from swarm_bench.core.session.cases import CaseExperiment


def describe_declaration(experiment: CaseExperiment) -> str:
    """Write what was named, and the first digits of its checksum; empty where nothing was."""
    declaration = experiment.beforehand
    if declaration is None:
        return ""
    return f"{declaration.primary}, margin {declaration.margin:g} ({format_digits(declaration)})"


def warn_exploratory(experiment: CaseExperiment) -> Iterator[str]:
    """Say that the verdict is on what was chosen after the fact."""
    declaration = experiment.beforehand
    if declaration and experiment.chosen_afterwards:
        yield (
            f"Exploratory: these verdicts are on {experiment.primary} with a margin of "
            f"{experiment.margin:g}; named before the first trial: {declaration.primary} with a "
            f"margin of {declaration.margin:g}. A verdict by settings that were chosen after the "
            f"fact is a hypothesis for the next session."
        )


def warn_edited(experiment: CaseExperiment) -> Iterator[str]:
    """Report that the file of the experiment was changed by hand."""
    if experiment.beforehand:
        yield from warn_checksum(experiment.beforehand)


def describe_extension(session: CaseSession) -> Iterator[str]:
    """Say what was added to a session after it began, less what its benchmark adds by itself."""
    experiment = session.experiment
    declaration = experiment.beforehand
    if declaration is None:
        return
    sizes = {
        "run": (declaration.runs, experiment.runs),
        "case": (len(declaration.cases), len(experiment.cases)),
        "arm": (len(declaration.arms), len(session.chosen_arms)),
    }
    yield from describe_growth(sizes)
