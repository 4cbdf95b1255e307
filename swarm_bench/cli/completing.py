"""What the shell offers after TAB: names of what is there. Nothing is read or run, so that it comes
at once, but for what a benchmark that is named on the line says of itself; where nothing is
offered, the shell offers files."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import get_args

import typer

from swarm_bench.config.options import REPOSITORY, Index
from swarm_bench.core.controls import ControlKind

Completions = list[str]
Completer = Callable[..., Completions]
OF_OPTION: dict[str, Completer] = {}
"""What offers the values of an option, by its name."""
TYPED = "swarm_bench.typed"
"""Where a context keeps the words before the one that is completed."""
_PLAIN = re.compile(r"[\w./-]+")


def _of_options(*names: str) -> Callable[[Completer], Completer]:
    """Return what enters a function as the one that offers the values of these options."""

    def enter(function: Completer) -> Completer:
        OF_OPTION.update(dict.fromkeys(names, function))
        return function

    return enter


@_of_options("modes")
def modes(incomplete: str) -> Completions:
    from swarm_bench.config.shipped import MODES  # completion only, as everything below

    return _matching({path.stem for path in MODES.files()}, incomplete)


@_of_options("tasks")
def suites(incomplete: str) -> Completions:
    from swarm_bench.config.shipped import SUITES

    return _matching({REPOSITORY, *(path.stem for path in SUITES.files())}, incomplete)


@_of_options("agent")
def agents(incomplete: str) -> Completions:
    from swarm_bench.core import registry

    return _matching({plugin.name for plugin in registry.plugins("agents")}, incomplete)


def benchmarks(incomplete: str) -> Completions:
    from swarm_bench.core import registry

    return _matching({plugin.name for plugin in registry.plugins("benchmarks")}, incomplete)


@_of_options("dataset")
def datasets(incomplete: str) -> Completions:
    from swarm_bench.app.datasets.naming import dataset_names

    return _matching(dataset_names(), incomplete)


def benchmarks_to_run(incomplete: str) -> Completions:
    """Offer all but those that have commands of their own."""
    from swarm_bench.core import registry
    from swarm_bench.core.session.designs import BENCHMARK, RETRIEVE

    names = {plugin.name for plugin in registry.plugins("benchmarks")}
    return _matching(names - {BENCHMARK, RETRIEVE.name}, incomplete)


@_of_options("model")
def models(incomplete: str) -> Completions:
    """Offer the rehearsal and scout's rules; other models are known to their providers only."""
    return _matching({"rehearsal", "rules"}, incomplete)


@_of_options("models", "judge")
def models_to_run(incomplete: str) -> Completions:
    """Offer the providers, and the agent programs behind the one that asks these."""
    from swarm_bench.core import registry

    agents = (f"agent:{plugin.name}" for plugin in registry.plugins("agents"))
    return _matching({*(it.name for it in registry.plugins("models")), *agents}, incomplete)


@_of_options("environment")
def environments(incomplete: str) -> Completions:
    from swarm_bench.core import registry

    return _matching({plugin.name for plugin in registry.plugins("environments")}, incomplete)


def properties(context: typer.Context, incomplete: str) -> Completions:
    """Offer the properties of the benchmark that the line names, with the sign before the value."""
    from swarm_bench.app.benchmarks import property_names

    names = property_names(benchmark) if (benchmark := _named(context)) else ()
    return [f"{name}=" for name in _matching(names, incomplete)]


@_of_options("primary")
def figures(context: typer.Context, incomplete: str) -> Completions:
    """Offer the metrics that a verdict can be on."""
    from swarm_bench.app.benchmarks import verdict_keys
    from swarm_bench.app.stored.limits import metric_keys

    keys = verdict_keys(benchmark) if (benchmark := _named(context)) else metric_keys()
    return _matching(keys, incomplete)


def _named(context: typer.Context) -> str | None:
    """Return the registered benchmark that a line names, if it names one."""
    from swarm_bench.core import registry

    typed = context.meta.get(TYPED, [])[:1]
    return next((word for word in typed if registry.is_registered("benchmarks", word)), None)


@_of_options("fault")
def faults(incomplete: str) -> Completions:
    from swarm_bench.app.listing import fault_names

    return _matching(fault_names(), incomplete)


@_of_options("controls")
def controls(incomplete: str) -> Completions:
    return _matching(get_args(ControlKind), incomplete)


@_of_options("index")
def indexes(incomplete: str) -> Completions:
    return _matching(get_args(Index), incomplete)


@_of_options("agents")
def sizes(incomplete: str) -> Completions:
    """Offer some numbers, as any of them may do: where nothing is offered, bash offers files."""
    return _matching({"1", "2", "4", "8"}, incomplete)


@_of_options("resume")
def sessions(incomplete: str) -> Completions:
    """Offer folders below `results/`, the newest first, and the word for that. What is offered is
    put into the line as it is, so that it has no character that means something to a shell."""
    plain = (path for path in Path("results").glob("*/") if _PLAIN.fullmatch(str(path)))
    folders = sorted(plain, key=lambda path: path.name, reverse=True)
    offered = [*map(str, folders), *(["latest"] if folders else [])]
    return [word for word in offered if word.startswith(incomplete)]


def limits(incomplete: str) -> Completions:
    """Offer the metrics that come with swarm-bench, with the sign before the number."""
    from swarm_bench.app.stored.limits import metric_keys

    mode, colon, key = incomplete.rpartition(":")
    return [f"{mode}{colon}{name}=" for name in _matching(metric_keys(), key)]


def bounds(incomplete: str) -> Completions:
    from swarm_bench.core.report.gate import Bound

    return _matching(Bound, incomplete)


def _matching(names: Iterable[str], incomplete: str) -> Completions:
    return sorted(name for name in names if name.startswith(incomplete))
