"""Whether the verdict is on what was named before the first trial."""

from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.beforehand import REANALYSED, VERDICT_SETTINGS, Sealed
from swarm_bench.core.session.experiment import Experiment

_SHOWN_DIGITS = 12
_SHOWN_LOOKS = 6


def named_beforehand(experiment: Experiment) -> str:
    """Write what was named, and the first digits of its checksum; empty where nothing was."""
    named = experiment.beforehand
    if named is None:
        return ""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {_value(getattr(named, name))}" for name in VERDICT_SETTINGS
    )
    until = ", until clear" if named.until_clear else ""
    return f"{settings}{until} ({digits(named)})"


def exploratory(selection: Selection) -> str:
    """Say that the verdict is on what was chosen after the fact; empty where it is not."""
    experiment = selection.data.experiment
    names = [
        name
        for name in experiment.chosen_afterwards
        if not (selection.fixed_rules and name in ("primary", "margin"))  # nothing is by these
    ]
    if not names:
        return ""
    named, now = (
        joined([f"{_option(name)} {_value(getattr(side, name))}" for name in names])
        for side in (experiment.beforehand, experiment)
    )
    return (
        f"Exploratory: this verdict uses {now}; named before the first trial: {named}. A verdict "
        "by settings that were chosen after the fact is a hypothesis for the next session."
    )


def edited(selection: Selection) -> Iterator[str]:
    """Report that the file of the experiment was changed by hand."""
    experiment = selection.data.experiment
    if experiment.beforehand is None:
        return
    edits = [
        _option(name)
        for name in experiment.chosen_afterwards
        if experiment.settings[name].source != REANALYSED
    ]
    if edits and not experiment.replayed:
        yield (
            f"The settings of the verdict were changed after they were stored ({joined(edits)}): "
            "experiment.json has others than were named before the first trial."
        )
    yield from unfit(experiment.beforehand)


def set_by_hand(treated: Treated) -> Iterator[Caveat]:
    """Find that the file of the experiment was changed by hand, in every mode."""
    yield from by_hand(edited(treated.selection))


def by_hand(sentences: Iterable[str]) -> Iterator[Caveat]:
    """Make caveats of sentences on what was changed by hand."""
    for sentence in sentences:
        clause = f"{sentence[0].lower()}{sentence[1:]}".removesuffix(".")
        yield Caveat(qualification=clause, is_void=True)


def other_tasks(experiment: Experiment) -> Iterator[str]:
    """Say that the tasks, or what is right in them, were changed after the session began."""
    if experiment.tasks_changed:
        yield (
            "Keys, weights, tags or prompts of tasks are not what they were before the first trial "
            "(swarm-bench rescore --tasks corrects keys): this verdict is exploratory."
        )


def extended(experiment: Experiment) -> Iterator[str]:
    """Say what was added to a session after it began. A control is added for what a verdict leaves
    open, and changes none."""
    named = experiment.beforehand
    if named is None:
        return
    modes = [it for it in experiment.modes if it.name in named.modes or not it.control_of]
    more = {
        "run": (named.runs, experiment.runs),
        "task": (len(named.tasks), len(experiment.tasks)),
        "mode": (len(named.modes), len(modes)),
    }
    yield from growth(more)


def looked_at(experiment: Experiment) -> Iterator[str]:
    """Say when a session was looked at that ends when its verdict stands."""
    if not experiment.until_clear:
        return
    there, named = len(experiment.tasks), experiment.tasks_named
    of_all = f"{there} of {amount(named, 'task')}" if there < named else f"all {named} tasks"
    state = f"Begun are {of_all}, and the verdict does not stand yet"
    if experiment.replayed:
        state = f"Recorded are {of_all}"
    elif experiment.stands_after:
        state = f"Stopped after {of_all}, since the verdict stood"
    elif there == named:
        state = f"After {of_all} the verdict does not stand"
    looks = [*dict.fromkeys(f"{look.tasks}" for look in experiment.looks)]
    after = f"after {joined(looks[-_SHOWN_LOOKS:])} tasks"
    if len(looks) > _SHOWN_LOOKS:
        after = f"after every block, the last times {after}"
    looked = f"was looked at {after}" if looks else "was not looked at yet"
    yield (
        f"{state} (--until-clear, named beforehand). It {looked}: the intervals of "
        "comparisons hold at every look, and so does their p, which is not that of sign flips "
        "or a t test; intervals of single modes do not."
    )


def growth(more: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Say what was added, by what it is, with its number then and now."""
    grown = [f"{amount(now, noun)} for {then}" for noun, (then, now) in more.items() if now > then]
    if grown:
        yield (
            "Whoever extends a session until a verdict appears finds one too often: this one was "
            f"extended after it began ({joined(grown)})."
        )


def unfit(named: Sealed) -> Iterator[str]:
    """Say that what was named is not as it was stored."""
    if not named.is_whole:
        yield (
            "What was named before the first trial was changed after it was stored: its checksum "
            "in experiment.json does not fit."
        )


def digits(named: Sealed) -> str:
    """Write the first digits of the checksum."""
    return f"sha256 {named.sha256[:_SHOWN_DIGITS]}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _value(value: object) -> str:
    return "by default" if value is None else f"{value}"
