"""What could have been seen where nothing was shown, and how many cases would show it."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from shlex import quote

from swarm_bench.analysis.sentences.contrast import Contrast, points, unit
from swarm_bench.analysis.statistics.changes import too_few
from swarm_bench.analysis.statistics.formulas import ALPHA, detectable, fewest_cases
from swarm_bench.analysis.statistics.looks import fewest_at_every_look
from swarm_bench.analysis.statistics.rule import FEWEST, cases_for
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.retrieving import AnyExperiment

DOCTOR = Step("swarm-bench doctor", "to see what is wrong")
AGENTS = Step("swarm-bench agents", "again with an agent that has a model")
GAVE_ALL = "it gives no more than these"
"""In the words on how tasks were made."""
FOR_MISSING = "for what is missing"
_MOST_CASES = 1000


def more_cases(contrast: Contrast) -> int | None:
    """Return how many cases would tell, as far as differences like these show it: the one that was
    measured, if it is larger than the margin, otherwise one of that size; `None` where it takes
    more than 1,000."""
    effect = contrast.effect
    if effect.independent < FEWEST:
        return max(2 * FEWEST, effect.units + FEWEST)
    if contrast.is_few:
        needed: int | None = _for_few(contrast)
    else:
        needed = _cases(contrast, max(_wanted(contrast), abs(effect.estimate)))
    if needed is None:
        return None
    # Further cases are worth as little as those that there are.
    return max(math.ceil(needed * effect.units / effect.independent), effect.units + FEWEST)


def rounded_up(cases: int) -> int:
    """Round to two digits, upwards."""
    step: int = 10 ** max(0, len(str(cases)) - 2)
    return math.ceil(cases / step) * step


def new_tasks(experiment: AnyExperiment, aim: str, more: str = "") -> Step:
    """Advise to make tasks of the session's repository."""
    return Step(f"swarm-bench tasks make{typed(experiment, 'repo')}{more}", aim)


def typed(experiment: AnyExperiment, *names: str) -> str:
    """Write those of the options again that were typed."""
    settings = {name: experiment.settings.get(name) for name in names}
    return "".join(
        f" --{name} {quote(str(it.value))}"
        for name, it in settings.items()
        if it and it.source == "command line"
    )


def to_check(experiment: AnyExperiment) -> Step:
    """Advise tasks with answer keys."""
    return new_tasks(experiment, "again with tasks that check answers")


def with_tasks(needed: int, experiment: AnyExperiment) -> Step:
    """Advise so many tasks, about; where the repository gave all that it has, more for each
    file."""
    count = rounded_up(needed)
    more, aim = f" --count {count}", f"again with {count:,} tasks in all"
    made = experiment.made
    asked = re.search(r"--count (\d+)", made)
    if GAVE_ALL in made or (asked and len(experiment.tasks) < int(asked[1])):
        if "--per-file" in made:
            return Step("swarm-bench docs tasks", "again with tasks of your own")
        more, aim = f"{more} --per-file 3", "again with more tasks for each file"
    more += _beside(experiment, count)
    return replace(new_tasks(experiment, aim, more), cases=count)


def _beside(experiment: AnyExperiment, count: int) -> str:
    """Name another file than that of the session's tasks, which `tasks make` does not replace."""
    tasks = experiment.settings.get("tasks")
    if tasks is None or tasks.source != "command line":
        return ""
    file = PurePath(str(tasks.value))
    if file.suffix not in (".yaml", ".yml"):
        return ""
    return f" --output {quote(f'tasks/{file.stem}-{count}{file.suffix}')}"


def session_of(experiment: AnyExperiment) -> str:
    """Name the session in a command: by the folder that was typed, or else by its id."""
    output = experiment.settings.get("output")
    is_typed = output is not None and output.source == "command line" and output.value
    return quote(str(output.value)) if output and is_typed else experiment.session


def once_more(command: str, session: str) -> Step:
    """Advise to run what is missing; the command is that of the session."""
    return Step(f"swarm-bench {command} --continue {session}", FOR_MISSING)


def detectable_differences(contrast: Contrast) -> Iterator[str]:
    """Say what could have been seen where nothing was shown, and how many cases it takes."""
    effect, noun = contrast.effect, _noun(contrast)
    if few := too_few(effect, noun):
        yield f"With {few} nothing can be shown."
    elif contrast.is_few:
        yield _few_differ(contrast)
    elif effect.at_every_look:
        needed = _about(_cases(contrast, _wanted(contrast)))
        yield f"With such differences it takes {needed} {noun} in all to show {_margin(contrast)}."
    elif sd := _deviation(contrast):
        yield _visible(contrast, sd)


def _few_differ(contrast: Contrast) -> str:
    """Say what it takes where few cases differ."""
    effect, noun = contrast.effect, _noun(contrast)
    differ = 2 * FEWEST if effect.at_every_look else FEWEST
    if not any(effect.differing):
        return f"Showing that they are equal takes {_for_few(contrast)} {noun}."
    return (
        f"It takes {differ} {noun} that differ, or {_for_few(contrast)} in all with no further "
        "difference."
    )


def _for_few(contrast: Contrast) -> int:
    effect = contrast.effect
    below, above = effect.differing
    losses = below if contrast.one_sided else max(below, above)
    return cases_for(losses, contrast.margin, at_every_look=effect.at_every_look)


def _visible(contrast: Contrast, sd: float) -> str:
    effect, noun = contrast.effect, _noun(contrast)
    level = ALPHA if contrast.one_sided else contrast.level
    smallest = detectable(sd, effect.independent, level)
    visible = f"{_size(contrast, smallest)} or more" if smallest else "nothing, however large,"
    wanted, measured = _wanted(contrast), abs(effect.estimate)
    needed = f"{_size(contrast, wanted)} takes {_about(_cases(contrast, wanted))} {noun}"
    if measured > wanted:
        number = _about(_cases(contrast, measured))
        needed = f"{_size(contrast, measured)}, as measured, takes {number} {noun}, and {needed}"
    return f"A difference of {visible} shows in 4 of 5 such sessions; {needed}."


def _cases(contrast: Contrast, size: float) -> int | None:
    """Return how many cases show a difference of this size; `None` where there are too many."""
    sd, effect = _deviation(contrast), contrast.effect
    level = 2 * ALPHA if contrast.one_sided else contrast.level
    fewest = fewest_at_every_look if effect.at_every_look else fewest_cases
    needed = fewest(size, sd, _MOST_CASES, level)
    return needed and max(needed, FEWEST)


def _deviation(contrast: Contrast) -> float:
    effect = contrast.effect
    return (effect.standard_error or 0.0) * math.sqrt(effect.independent)


def _wanted(contrast: Contrast) -> float:
    """Return the margin on the scale of the differences."""
    relative = contrast.metric.relative
    return -math.log1p(-contrast.margin) if relative else contrast.margin


def _margin(contrast: Contrast) -> str:
    return _size(contrast, _wanted(contrast))


def _size(contrast: Contrast, difference: float) -> str:
    """Write a difference, one of logarithms as what is saved."""
    if contrast.metric.relative:
        return f"{-math.expm1(-difference) * 100:.0f} %"
    return points(contrast.metric, round(difference, 2))


def _about(cases: int | None) -> str:
    return f"about {cases}" if cases else f"more than {_MOST_CASES:,}"


def _noun(contrast: Contrast) -> str:
    independent = round(contrast.effect.independent, 1) < contrast.effect.units
    return f"{'independent ' * independent}{unit(contrast)}s"
