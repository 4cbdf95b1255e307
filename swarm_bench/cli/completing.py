"""What the shell offers after TAB: names of what is there. Nothing is read or run, so that it comes
at once, but for what a benchmark that is named on the line says of itself; where nothing is
offered, the shell offers files."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import get_args

import typer

from swarm_bench.config.compare_options import REPOSITORY, Index
from swarm_bench.core.controls import ControlKind

Completions = list[str]
Completer = Callable[..., Completions]
OF_OPTION: dict[str, Completer] = {}
"""Functions that offer the values of an option, by its name."""
TYPED_WORDS = "swarm_bench.typed"
"""Key of a context for the words before the one that is completed."""
_PLAIN = re.compile(r"[\w./-]+")


def _register(*names: str) -> Callable[[Completer], Completer]:
    """Return what enters a function as the one that offers the values of these options."""

    def enter(function: Completer) -> Completer:
        OF_OPTION.update(dict.fromkeys(names, function))
        return function

    return enter


@_register("modes")
def offer_modes(incomplete: str) -> Completions:
    from swarm_bench.config.shipped import MODES  # completion only, as everything below

    return _select_matching({path.stem for path in MODES.files()}, incomplete)


@_register("tasks")
def offer_suites(incomplete: str) -> Completions:
    from swarm_bench.config.shipped import SUITES

    return _select_matching({REPOSITORY, *(path.stem for path in SUITES.files())}, incomplete)


@_register("agent")
def offer_agents(incomplete: str) -> Completions:
    from swarm_bench.core import entry_points

    return _select_matching(
        {plugin.name for plugin in entry_points.list_plugins("agents")}, incomplete
    )


def offer_benchmarks(incomplete: str) -> Completions:
    from swarm_bench.core import entry_points

    return _select_matching(
        {plugin.name for plugin in entry_points.list_plugins("benchmarks")}, incomplete
    )


@_register("dataset")
def offer_datasets(incomplete: str) -> Completions:
    from swarm_bench.app.datasets.naming import list_dataset_names

    return _select_matching(list_dataset_names(), incomplete)


def offer_runnable_benchmarks(incomplete: str) -> Completions:
    """Offer all but those that have commands of their own."""
    from swarm_bench.core import entry_points
    from swarm_bench.core.session.designs import BENCHMARK, RETRIEVE

    names = {plugin.name for plugin in entry_points.list_plugins("benchmarks")}
    return _select_matching(names - {BENCHMARK, RETRIEVE.name}, incomplete)


@_register("model")
def offer_models(incomplete: str) -> Completions:
    """Offer the rehearsal and scout's rules; other models are known to their providers only."""
    return _select_matching({"rehearsal", "rules"}, incomplete)


@_register("models", "judge")
def offer_runnable_models(incomplete: str) -> Completions:
    """Offer the providers, and the agent programs behind the one that asks these."""
    from swarm_bench.core import entry_points

    agents = (f"agent:{plugin.name}" for plugin in entry_points.list_plugins("agents"))
    return _select_matching(
        {*(plugin.name for plugin in entry_points.list_plugins("models")), *agents}, incomplete
    )


@_register("environment")
def offer_environments(incomplete: str) -> Completions:
    from swarm_bench.core import entry_points

    return _select_matching(
        {plugin.name for plugin in entry_points.list_plugins("environments")}, incomplete
    )


@_register("on")
def offer_executors(incomplete: str) -> Completions:
    from swarm_bench.core import entry_points
    from swarm_bench.core.session.designs import LOCAL

    names = {plugin.name for plugin in entry_points.list_plugins("executors")}
    return _select_matching({LOCAL, *names}, incomplete)


def offer_properties(context: typer.Context, incomplete: str) -> Completions:
    """Offer the properties of the benchmark that the line names, with the sign before the value."""
    from swarm_bench.app.benchmarks import list_property_names

    names = list_property_names(benchmark) if (benchmark := _find_benchmark(context)) else ()
    return [f"{name}=" for name in _select_matching(names, incomplete)]


@_register("primary")
def offer_figures(context: typer.Context, incomplete: str) -> Completions:
    """Offer the metrics that a verdict can be on."""
    from swarm_bench.app.benchmarks import list_verdict_keys
    from swarm_bench.app.stored.limits import list_metric_keys

    keys = (
        list_verdict_keys(benchmark)
        if (benchmark := _find_benchmark(context))
        else list_metric_keys()
    )
    return _select_matching(keys, incomplete)


def _find_benchmark(context: typer.Context) -> str | None:
    """Return the registered benchmark that a line names, if it names one."""
    from swarm_bench.core import entry_points

    first_word = context.meta.get(TYPED_WORDS, [])[:1]
    return next(
        (word for word in first_word if entry_points.is_registered("benchmarks", word)), None
    )


@_register("fault")
def offer_faults(incomplete: str) -> Completions:
    from swarm_bench.app.listing import list_faults

    return _select_matching(list_faults(), incomplete)


@_register("controls")
def offer_controls(incomplete: str) -> Completions:
    return _select_matching(get_args(ControlKind), incomplete)


@_register("index")
def offer_indexes(incomplete: str) -> Completions:
    return _select_matching(get_args(Index), incomplete)


@_register("agents")
def offer_sizes(incomplete: str) -> Completions:
    """Offer some numbers, as any of them may do: where nothing is offered, bash offers files."""
    return _select_matching({"1", "2", "4", "8"}, incomplete)


@_register("resume")
def offer_sessions(incomplete: str) -> Completions:
    """Offer folders below `results/`, the newest first, and the word for that. What is offered is
    put into the line as it is, so that it has no character that means something to a shell."""
    plain = (path for path in Path("results").glob("*/") if _PLAIN.fullmatch(str(path)))
    folders = sorted(plain, key=lambda path: path.name, reverse=True)
    choices = [*map(str, folders), *(["latest"] if folders else [])]
    return [word for word in choices if word.startswith(incomplete)]


def offer_limits(incomplete: str) -> Completions:
    """Offer the metrics that come with swarm-bench, with the sign before the number."""
    from swarm_bench.app.stored.limits import list_metric_keys

    mode, colon, key = incomplete.rpartition(":")
    return [f"{mode}{colon}{name}=" for name in _select_matching(list_metric_keys(), key)]


def offer_bounds(incomplete: str) -> Completions:
    from swarm_bench.core.report.gate import Bound

    return _select_matching(Bound, incomplete)


def _select_matching(names: Iterable[str], incomplete: str) -> Completions:
    return sorted(name for name in names if name.startswith(incomplete))
