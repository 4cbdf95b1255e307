"""What could have been seen where nothing was shown, and how many cases would show it."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from shlex import quote

from swarm_bench.analysis.sentences.contrast import BASELINE, Contrast, format_points, name_unit
from swarm_bench.analysis.statistics.changes import describe_too_few
from swarm_bench.analysis.statistics.effects import compute_change
from swarm_bench.analysis.statistics.formulas import ALPHA, compute_detectable, count_fewest_cases
from swarm_bench.analysis.statistics.looks import count_fewest_at_every_look
from swarm_bench.analysis.statistics.verdict_rule import FEWEST, count_cases
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.retrieving import AnyExperiment

DOCTOR = Step("swarm-bench doctor", "to see what is wrong")
AGENTS = Step("swarm-bench agents", "again with an agent that has a model")
_WRITE_TASKS = "swarm-bench docs tasks"
GAVE_ALL = "it gives no more than these"
"""Clause in the description of how tasks were made."""
FOR_MISSING = "for what is missing"
_MAX_CASES = 1000


def count_more_cases(contrast: Contrast) -> int | None:
    """Return how many cases would tell, as far as differences like these show it: the one that was
    measured, if it is larger than the margin, otherwise one of that size; `None` where it takes
    more than 1,000."""
    effect = contrast.effect
    if effect.independent_cases < FEWEST:
        return max(2 * FEWEST, effect.units + FEWEST)
    if contrast.is_few:
        needed: int | None = _count_for_few(contrast)
    else:
        needed = _count_cases(contrast, max(_compute_wanted(contrast), abs(effect.estimate)))
    if needed is None:
        return None
    # Further cases are worth as little as those that there are.
    return max(math.ceil(needed * effect.units / effect.independent_cases), effect.units + FEWEST)


def round_up(cases: int) -> int:
    """Round to two digits, upwards."""
    step: int = 10 ** max(0, len(str(cases)) - 2)
    return math.ceil(cases / step) * step


def advise_new_tasks(experiment: AnyExperiment, aim: str, options: str = "") -> Step:
    """Advise to make tasks of the session's repository, or to write some: none are made of a plain
    folder, as answers are looked for in commits."""
    if experiment.repository.commit is None:
        return Step(_WRITE_TASKS, f"{aim}, written by hand")
    return Step(f"swarm-bench tasks make{write_typed_options(experiment, 'repo')}{options}", aim)


def write_typed_options(experiment: AnyExperiment, *names: str) -> str:
    """Write those of the options again that were typed."""
    settings = {name: experiment.settings.get(name) for name in names}
    return "".join(
        f" --{name} {quote(str(setting.value))}"
        for name, setting in settings.items()
        if setting and setting.source == "command line"
    )


def advise_keys(experiment: AnyExperiment) -> Step:
    """Advise tasks with answer keys."""
    return advise_new_tasks(experiment, "again with tasks that check answers")


def advise_tasks(needed: int, experiment: AnyExperiment) -> Step:
    """Advise so many tasks, about; where the repository gave all that it has, more for each
    file."""
    count = round_up(needed)
    options, aim = f" --count {count}", f"again with {count:,} tasks in all"
    recipe = experiment.made
    count_option = re.search(r"--count (\d+)", recipe)
    if GAVE_ALL in recipe or (count_option and len(experiment.tasks) < int(count_option[1])):
        if "--per-file" in recipe:
            return Step(_WRITE_TASKS, "again with tasks of your own")
        options, aim = f"{options} --per-file 3", "again with more tasks for each file"
    options += _write_output_option(experiment, count)
    return replace(advise_new_tasks(experiment, aim, options), cases=count)


def _write_output_option(experiment: AnyExperiment, count: int) -> str:
    """Name another file than that of the session's tasks, which `tasks make` does not replace."""
    tasks = experiment.settings.get("tasks")
    if tasks is None or tasks.source != "command line":
        return ""
    file = PurePath(str(tasks.value))
    if file.suffix not in (".yaml", ".yml"):
        return ""
    return f" --output {quote(f'tasks/{file.stem}-{count}{file.suffix}')}"


def advise_comparison(experiment: Experiment, mode: str) -> Step:
    """Advise to compare the mode on the same tasks, with the same agent."""
    same = write_typed_options(experiment, "repo", "tasks", "agent", "model")
    if mode == BASELINE:
        return Step(f"swarm-bench compare{same}", "to compare a tool with it")
    modes = experiment.settings.get("modes")
    text = quote(str(modes.value[0]) if modes else mode)
    command = f"swarm-bench compare --modes {BASELINE} {text}{same}"
    return Step(command, f"to compare it with the {BASELINE}")


def advise_runs(experiment: Experiment, runs: int) -> Step:
    """Advise to continue a calibration until it has so many runs."""
    command = f"swarm-bench calibrate --continue {name_session(experiment)} --runs {runs}"
    return Step(command, "with more runs")


def name_session(experiment: AnyExperiment) -> str:
    """Name the session in a command: by the folder that was typed, or else by its id."""
    output = experiment.settings.get("output")
    is_typed = output is not None and output.source == "command line" and output.value
    return quote(str(output.value)) if output and is_typed else experiment.session


def advise_again(command: str, session: str) -> Step:
    """Advise to run what is missing; the command is that of the session."""
    return Step(f"swarm-bench {command} --continue {session}", FOR_MISSING)


def describe_detectable(contrast: Contrast) -> Iterator[str]:
    """Say what could have been seen where nothing was shown, and how many cases it takes."""
    effect, noun = contrast.effect, _choose_noun(contrast)
    if few := describe_too_few(effect, noun):
        yield f"With {few} nothing can be shown."
    elif contrast.is_few:
        yield _describe_few(contrast)
    elif effect.at_every_look:
        needed = _format_about(_count_cases(contrast, _compute_wanted(contrast)))
        yield (
            f"With such differences it takes {needed} {noun} in all to show "
            f"{_format_size(contrast, _compute_wanted(contrast))}."
        )
    elif sd := _compute_deviation(contrast):
        yield _describe_visible(contrast, sd)


def _describe_few(contrast: Contrast) -> str:
    """Say what it takes where few cases differ."""
    effect, noun = contrast.effect, _choose_noun(contrast)
    differ = 2 * FEWEST if effect.at_every_look else FEWEST
    if not any(effect.differing):
        return f"Showing that they are equal takes {_count_for_few(contrast)} {noun}."
    return (
        f"It takes {differ} {noun} that differ, or {_count_for_few(contrast)} in all with no "
        f"further difference."
    )


def _count_for_few(contrast: Contrast) -> int:
    effect = contrast.effect
    lower, higher = effect.differing
    losses = lower if contrast.one_sided else max(lower, higher)
    return count_cases(losses, contrast.margin, at_every_look=effect.at_every_look)


def _describe_visible(contrast: Contrast, sd: float) -> str:
    effect, noun = contrast.effect, _choose_noun(contrast)
    level = ALPHA if contrast.one_sided else contrast.level
    smallest = compute_detectable(sd, effect.independent_cases, level)
    visible = (
        f"{_format_size(contrast, smallest)} or more" if smallest else "nothing, however large,"
    )
    wanted_size, measured_size = _compute_wanted(contrast), abs(effect.estimate)
    needed = (
        f"{_format_size(contrast, wanted_size)} takes "
        f"{_format_about(_count_cases(contrast, wanted_size))} {noun}"
    )
    if measured_size > wanted_size:
        number = _format_about(_count_cases(contrast, measured_size))
        needed = (
            f"{_format_size(contrast, measured_size)}, as measured, takes {number} {noun}, and "
            f"{needed}"
        )
    return f"A difference of {visible} shows in 4 of 5 such sessions; {needed}."


def _count_cases(contrast: Contrast, size: float) -> int | None:
    """Return how many cases show a difference of this size; `None` where there are too many."""
    sd, effect = _compute_deviation(contrast), contrast.effect
    level = 2 * ALPHA if contrast.one_sided else contrast.level
    fewest = count_fewest_at_every_look if effect.at_every_look else count_fewest_cases
    needed = fewest(size, sd, _MAX_CASES, level)
    return needed and max(needed, FEWEST)


def _compute_deviation(contrast: Contrast) -> float:
    effect = contrast.effect
    return (effect.standard_error or 0.0) * math.sqrt(effect.independent_cases)


def _compute_wanted(contrast: Contrast) -> float:
    """Return the margin on the scale of the differences."""
    relative = contrast.metric.relative
    return -math.log1p(-contrast.margin) if relative else contrast.margin


def _format_size(contrast: Contrast, difference: float) -> str:
    """Write a difference, one of logarithms as what is saved."""
    if contrast.metric.relative:
        return f"{-compute_change(-difference) * 100:.0f} %"
    return format_points(contrast.metric, round(difference, 2))


def _format_about(cases: int | None) -> str:
    return f"about {cases}" if cases else f"more than {_MAX_CASES:,}"


def _choose_noun(contrast: Contrast) -> str:
    independent = round(contrast.effect.independent_cases, 1) < contrast.effect.units
    return f"{'independent ' * independent}{name_unit(contrast)}s"
