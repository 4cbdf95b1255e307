"""Whether the verdict is on what was named before the first trial."""

from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import join, lowercase, quantify
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.preregistration import REANALYSED, VERDICT_SETTINGS, Sealed

_SHOWN_DIGITS = 12
_SHOWN_LOOKS = 6


def describe_declaration(experiment: Experiment, metrics: Metrics) -> str:
    """Write what was named, and the first digits of its checksum; empty where nothing was."""
    declaration = experiment.beforehand
    if declaration is None:
        return ""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {_name_value(getattr(declaration, name), metrics)}"
        for name in VERDICT_SETTINGS
    )
    until = ", until clear" if declaration.until_clear else ""
    return f"{settings}{until} ({format_digits(declaration)})"


def describe_exploratory(selection: Selection) -> str:
    """Say that the verdict is on what was chosen after the fact; empty where it is not."""
    experiment = selection.data.experiment
    names = [
        name
        for name in experiment.chosen_afterwards
        if not (selection.fixed_rules and name in ("primary", "margin"))  # nothing is by these
    ]
    if not names:
        return ""
    declared, current = (
        join([f"{_format_option(name)} {_format_value(getattr(side, name))}" for name in names])
        for side in (experiment.beforehand, experiment)
    )
    return (
        f"Exploratory: this verdict uses {current}; named before the first trial: {declared}. A "
        f"verdict by settings that were chosen after the fact is a hypothesis for the next session."
    )


def warn_edited(selection: Selection) -> Iterator[str]:
    """Report that the file of the experiment was changed by hand."""
    experiment = selection.data.experiment
    if experiment.beforehand is None:
        return
    edits = [
        _format_option(name)
        for name in experiment.chosen_afterwards
        if experiment.settings[name].source != REANALYSED
    ]
    if edits and not experiment.replayed:
        yield (
            f"The settings of the verdict were changed after they were stored ({join(edits)}): "
            "experiment.json has others than were named before the first trial."
        )
    yield from warn_checksum(experiment.beforehand)


def find_set_by_hand(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find that the file of the experiment was changed by hand, in every mode."""
    yield from make_edit_caveats(warn_edited(mode_trials.selection))


def make_edit_caveats(sentences: Iterable[str]) -> Iterator[Caveat]:
    """Make caveats of sentences on what was changed by hand."""
    for sentence in sentences:
        clause = f"{sentence[0].lower()}{sentence[1:]}".removesuffix(".")
        yield Caveat(qualification=clause, is_void=True)


def describe_changed_tasks(experiment: Experiment) -> Iterator[str]:
    """Say that the tasks, or what is right in them, were changed after the session began."""
    if experiment.tasks_changed:
        yield (
            "Keys, weights, tags or prompts of tasks are not what they were before the first trial "
            "(swarm-bench rescore --tasks corrects keys): this verdict is exploratory."
        )


def describe_extension(experiment: Experiment) -> Iterator[str]:
    """Say what was added to a session after it began. A control is added for what a verdict leaves
    open, and changes none."""
    declaration = experiment.beforehand
    if declaration is None:
        return
    modes = [
        mode for mode in experiment.modes if mode.name in declaration.modes or not mode.control_of
    ]
    sizes = {
        "run": (declaration.runs, experiment.runs),
        "task": (len(declaration.tasks), len(experiment.tasks)),
        "mode": (len(declaration.modes), len(modes)),
    }
    yield from describe_growth(sizes)


def describe_looks(experiment: Experiment) -> Iterator[str]:
    """Say when a session was looked at that ends when its verdict stands."""
    if not experiment.until_clear:
        return
    started, planned_tasks = len(experiment.tasks), experiment.tasks_named
    of_all = (
        f"{started} of {quantify(planned_tasks, 'task')}"
        if started < planned_tasks
        else f"all {planned_tasks} tasks"
    )
    state = f"Begun are {of_all}, and the verdict does not stand yet"
    if experiment.replayed:
        state = f"Recorded are {of_all}"
    elif experiment.stands_after:
        state = f"Stopped after {of_all}, since the verdict stood"
    elif started == planned_tasks:
        state = f"After {of_all} the verdict does not stand"
    look_sizes = [*dict.fromkeys(f"{interim_look.tasks}" for interim_look in experiment.looks)]
    times_text = f"after {join(look_sizes[-_SHOWN_LOOKS:])} tasks"
    if len(look_sizes) > _SHOWN_LOOKS:
        times_text = f"after every block, the last times {times_text}"
    look_clause = f"was looked at {times_text}" if look_sizes else "was not looked at yet"
    yield (
        f"{state} (--until-clear, named beforehand). It {look_clause}: the intervals of "
        "comparisons hold at every look, and so does their p, which is not that of sign flips "
        "or a t test; intervals of single modes do not."
    )


def describe_growth(sizes: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Say what was added, by what it is, with its number then and now."""
    grown = [
        f"{quantify(now, noun)} for {previous}"
        for noun, (previous, now) in sizes.items()
        if now > previous
    ]
    if grown:
        yield (
            "Whoever extends a session until a verdict appears finds one too often: this one was "
            f"extended after it began ({join(grown)})."
        )


def warn_checksum(declaration: Sealed) -> Iterator[str]:
    """Say that what was named is not as it was stored."""
    if not declaration.is_whole:
        yield (
            "What was named before the first trial was changed after it was stored: its checksum "
            "in experiment.json does not fit."
        )


def format_digits(declaration: Sealed) -> str:
    """Write the first digits of the checksum."""
    return f"sha256 {declaration.sha256[:_SHOWN_DIGITS]}"


def _format_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _name_value(value: object, metrics: Metrics) -> str:
    """Write the value of a setting, of a metric its title."""
    return lowercase(metrics.title_of(value)) if isinstance(value, str) else _format_value(value)


def _format_value(value: object) -> str:
    return "by default" if value is None else f"{value}"
