"""From what was typed to the options of `retrieve`, and to the session that it continues."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from swarm_bench.app.stored.naming import find_continued_folder, find_newest
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.config.options import SCOPES, names_of
from swarm_bench.config.settings import Resolved, Settings, Source, read_sources
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.engine.folder import experiment_keys


def resolve(typed_options: Mapping[str, Any], config: Path | None = None) -> Resolved:
    """Resolve the options of a call. One that continues a session takes over that session's."""
    option_sources = read_sources(config)
    resolved = _reset_foreign_options(
        option_sources.resolve(typed_options, defaults=RETRIEVE.defaults)
    )
    resume = resolved.settings.resume
    if resume is None:
        return resolved
    newest, output = partial(find_newest, RETRIEVE.name), resolved.sources["output"]
    folder = open_folder(find_continued_folder(resume, newest, output=output))
    experiment = read_experiment(folder)
    options = {**typed_options, "resume": str(folder.path)}
    taken_over = option_sources.resolve(
        options, session=experiment.settings, defaults=RETRIEVE.defaults
    )
    merged = _reset_foreign_options(taken_over)
    sources = {**merged.sources, "resume": resolved.sources["resume"]}
    return replace(merged, sources=sources, retrieve_session=experiment)


def open_folder(path: Path) -> CaseFolder:
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


def _reset_foreign_options(resolved: Resolved) -> Resolved:
    """Reset the options that are none of its own, which files may set for other commands; the
    quality of those is one of answers."""
    foreign_names = [*(SCOPES.keys() - names_of(RETRIEVE.name))]
    if resolved.sources["quality"] not in ("command line", "session"):
        foreign_names.append("quality")
    unset = Settings(quality=RETRIEVE.defaults["quality"])
    settings = replace(resolved.settings, **{name: getattr(unset, name) for name in foreign_names})
    sources: dict[str, Source] = {**resolved.sources, **dict.fromkeys(foreign_names, "default")}
    return replace(resolved, settings=settings, sources=sources)
