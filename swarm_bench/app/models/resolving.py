"""From what a person typed to what a call of `run` asks for."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.stored.naming import find_continued_folder, find_newest
from swarm_bench.config.run_options import RUN_SCOPES, RunSettings
from swarm_bench.config.settings import OptionSources, read_sources
from swarm_bench.core.session.base import Source

_SETTINGS = TypeAdapter(RunSettings)


def resolve(
    benchmark: str,
    properties: Sequence[str],
    typed_options: Mapping[str, Any],
    config: Path | None = None,
) -> CaseRequest:
    """Resolve the options of a call. What a session has that is continued is set by nothing but the
    command line. Raises `UsageError`, and `ConfigError` for a file that is wrong."""
    option_sources, resume = read_sources(config), None
    settings, sources = _validate_options(option_sources, typed_options, RUN_SCOPES)
    if settings.resume is not None:
        newest = partial(find_newest, benchmark)
        resume = find_continued_folder(settings.resume, newest, output=sources["output"])
        of_call = {name for name, scope in RUN_SCOPES.items() if scope.of_call}
        settings, sources = _validate_options(option_sources, typed_options, of_call - {"output"})
    return CaseRequest(
        benchmark=benchmark,
        properties=properties,
        settings=settings,
        sources=sources,
        config=config,
        resume=resume,
    )


def _validate_options(
    option_sources: OptionSources, typed_options: Mapping[str, Any], names: Collection[str]
) -> tuple[RunSettings, dict[str, Source]]:
    layers: dict[Source, Mapping[str, Any]] = {
        "command line": typed_options,
        **option_sources.layers(names),
    }
    return option_sources.validate(_SETTINGS, RUN_SCOPES, layers)
