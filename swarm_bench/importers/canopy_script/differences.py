"""Says where a figure is another one than in the line that canopy's script wrote."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from swarm_bench.core.session.audit import FIGURES_OF_SCRIPT
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.importers.canopy_script.metrics_file import Lines, Warn

_Difference = tuple[str, float, float | None, str]
"""Key, the script's figure, ours, and why."""


def warn_of_differences(trials: Iterable[TrialRecord], lines: Lines, warn: Warn) -> None:
    """Name every figure that the script has otherwise, and whose it is."""
    zeros = defaultdict[str, list[int]](list)
    agents_by_difference = defaultdict[tuple[str, _Difference], list[int]](list)
    for trial in trials:
        line = lines.get((trial.mode, trial.agent))
        if line is None:
            continue
        if line.total_tokens == 0 and line.num_turns in {0, None}:
            if trial.total_tokens is None:
                zeros[trial.mode].append(trial.agent)
            continue  # else there is a warning that the script could not read it
        for difference in _find_differences(trial, line):
            agents_by_difference[trial.mode, difference].append(trial.agent)
    _warn_of_zeros(zeros, warn)
    for (mode, (key, script_figure, own_figure, clause)), agents in agents_by_difference.items():
        warn(
            f"{mode}: the script has {key} {script_figure:.12g} for {name_agents(agents)}, "
            f"{clause}; here it is {'missing' if own_figure is None else f'{own_figure:.12g}'}."
        )


def _warn_of_zeros(zeros: Mapping[str, list[int]], warn: Warn) -> None:
    """Say how many agents gave nothing: the script averages over their lines of zeros."""
    for mode, agents in zeros.items():
        warn(
            f"{mode}: the script wrote zeros for {len(agents)} "
            f"{'agent that' if len(agents) == 1 else 'agents that'} gave no figures, and its "
            "averages count them; here they are missing."
        )


def _find_differences(trial: TrialRecord, line: TrialRecord) -> Iterable[_Difference]:
    for key in FIGURES_OF_SCRIPT:
        script_figure, own_figure = getattr(line, key), getattr(trial, key)
        if script_figure is not None and script_figure != own_figure:
            yield key, script_figure, own_figure, _explain(key, own_figure)


def _explain(key: str, own_figure: float | None) -> str:
    if key == "result_lines":
        return (
            "where there is no answer"
            if own_figure is None
            else "whose answer it took for an option"
        )
    return "which the agent did not give" if own_figure is None else "but its file says otherwise"


def name_agents(agents: list[int]) -> str:
    """Name them by number: `agents 1, 2`."""
    return f"agent{'' if len(agents) == 1 else 's'} {', '.join(map(str, agents))}"
