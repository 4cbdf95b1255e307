"""From what was typed to the options of `retrieve`, and to the session that it continues."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from swarm_bench.app.stored.naming import continued_folder, newest_of
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.config.options import SCOPES, names_of
from swarm_bench.config.settings import Resolved, Settings, Source, surroundings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.engine.folder import experiment_keys


def resolve(typed: Mapping[str, Any], config: Path | None = None) -> Resolved:
    """Resolve the options of a call. One that continues a session takes over that session's."""
    around = surroundings(config)
    resolved = _own(around.resolve(typed, defaults=RETRIEVE.defaults))
    resume = resolved.settings.resume
    if resume is None:
        return resolved
    newest, output = partial(newest_of, RETRIEVE.name), resolved.sources["output"]
    folder = opened(continued_folder(resume, newest, output=output))
    experiment = read_experiment(folder)
    again = {**typed, "resume": str(folder.path)}
    taken = around.resolve(again, session=experiment.settings, defaults=RETRIEVE.defaults)
    own = _own(taken)
    sources = {**own.sources, "resume": resolved.sources["resume"]}
    return replace(own, sources=sources, held=experiment)


def opened(path: Path) -> CaseFolder:
    """Open the folder of a session."""
    return CaseFolder(path, RetrieveExperiment, CaseRecord)


def read_experiment(folder: CaseFolder) -> RetrieveExperiment:
    """Read the experiment of a session. Raises `UsageError`."""
    benchmark = experiment_keys(folder.path).get("benchmark")
    if isinstance(benchmark, str) and benchmark != RETRIEVE.name:
        raise UsageError(
            f"{folder.path} is a session of the benchmark {benchmark!r}; "
            "continue it with the command that began it"
        )
    experiment = folder.read_experiment()
    assert isinstance(experiment, RetrieveExperiment)
    return experiment


def _own(resolved: Resolved) -> Resolved:
    """Reset the options that are none of its own, which files may set for other commands; the
    quality of those is one of answers."""
    others = [*(SCOPES.keys() - names_of(RETRIEVE.name))]
    if resolved.sources["quality"] not in ("command line", "session"):
        others.append("quality")
    unset = Settings(quality=RETRIEVE.defaults["quality"])
    settings = replace(resolved.settings, **{name: getattr(unset, name) for name in others})
    sources: dict[str, Source] = {**resolved.sources, **dict.fromkeys(others, "default")}
    return replace(resolved, settings=settings, sources=sources)
