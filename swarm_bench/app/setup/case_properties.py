"""The properties of a benchmark's session: as they were typed, as its groups get them, and without
keys, as they are stored."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.layers import Layers, merge, property_layers
from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import Source
from swarm_bench.core.session.cases import select_keys
from swarm_bench.core.session.experiment import NOT_STORED
from swarm_bench.core.validation import first_clause
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.retrieval.modes.secret_parts import find_secret_parts
from swarm_bench.retrieval.modes.secrets import collect_secrets
from swarm_bench.runtime.sink import clean_value

P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class CaseProperties(Generic[P]):
    """The properties of one session, resolved."""

    model: P = field(repr=False)
    plain: dict[str, Any] = field(repr=False)
    """Values as a job has them, with their keys."""
    safe: dict[str, Any]
    """Values as files have them, without keys."""
    sources: dict[str, Source]
    """Source of each property that is no default."""
    secrets: tuple[str, ...] = field(repr=False)
    """Texts that must not reach a file: keys among the values, and those of the environment."""


def resolve_properties(
    benchmark: str,
    kind: type[P],
    assignments: Sequence[str],
    old: Mapping[str, Any] | None,
    config: Path | None = None,
) -> CaseProperties[P]:
    """Resolve what was typed as `NAME=VALUE` for the benchmark of that name, whose properties are
    of that kind; `old` are the stored properties of a session that is continued, which keeps them,
    otherwise `None`; `config` is the settings file that was named. Raises `UsageError`."""
    typed_values = _parse_assignments(assignments)
    previous = old or {}
    names = [name for name in previous if previous[name] == NOT_STORED and name not in typed_values]
    if names:
        raise UsageError(
            f"The session does not store {', '.join(names)}, which may be secret; give them again: "
            f"--property {names[0]}=VALUE ..."
        )
    layers: Layers = {"session": old} if old is not None else _read_layers(benchmark, kind, config)
    values, sources = merge({"command line": typed_values, **layers})
    model = _validate(benchmark, kind, values, sources)
    marked = select_keys(model)
    plain = {**model.model_dump(mode="json"), **marked}
    dotenv = read_dotenv()
    new = {name: values[name] for name, source in sources.items() if source != "session"}
    spelled = {name: [f"{name}={new[name]}", *_spell_out(name, plain[name])] for name in new}
    all_spelled = list(chain(*spelled.values()))
    private = collect_secrets((), marked, [os.environ, dotenv.expanded, dotenv.raw], all_spelled)
    keys = {
        *marked,
        *(name for name in new if any(find_secret_parts(spelled[name]))),
        *(name for name, value in plain.items() if clean_value(value, private) != value),
    }
    safe = {
        name: NOT_STORED if name in keys else value
        for name, value in plain.items()
        if name not in keys or name in model.model_fields_set  # a default is made again
    }
    return CaseProperties(model=model, plain=plain, safe=safe, sources=sources, secrets=private)


def read_variables(benchmark: str, kind: type[BaseModel]) -> dict[str, Any]:
    """Read the properties that the environment and `.env` set."""
    layers = _read_layers(benchmark, kind, None)
    return {**layers[".env"], **layers["environment"]}


def _read_layers(benchmark: str, kind: type[BaseModel], config: Path | None) -> Layers:
    """Return what the environment and files set by the names of the properties: variables have no
    small letters, and tables hyphens."""
    names = {name.replace("_", "").lower(): name for name in kind.model_fields}
    return {
        source: {names.get(key.replace("_", "").lower(), key): layer[key] for key in layer}
        for source, layer in property_layers(benchmark, config).items()
    }


def _spell_out(name: str, value: object) -> Iterator[str]:
    """Yield what stands in a property as `NAME=VALUE`, each value with the key it is under."""
    if isinstance(value, dict):
        yield from chain.from_iterable(_spell_out(key, item) for key, item in value.items())
    elif isinstance(value, list):
        yield from chain.from_iterable(_spell_out(name, item) for item in value)
    else:
        yield f"{name}={value}"


def _parse_assignments(assignments: Sequence[str]) -> dict[str, str]:
    properties: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"--property {assignment}: write it as NAME=VALUE")
        properties[name] = read_value(value, "--property")
    return properties


def read_value(value: str, option: str) -> str:
    """Return a value that was typed, or for `@FILE` the text of the file. Raises `ConfigError`."""
    if not value.startswith("@"):
        return value
    return read_text(Path(value[1:]).expanduser(), "file of a property", f"fix {option}")


def _validate(
    benchmark: str, kind: type[P], values: Mapping[str, Any], sources: Mapping[str, Source]
) -> P:
    """Raise `UsageError` for a name or value that cannot be."""
    unknown = sorted(set(values) - set(kind.model_fields))
    if unknown:
        names = ", ".join(kind.model_fields) or "none"
        close = get_close_matches(unknown[0], kind.model_fields, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has: {names}"
        source = sources.get(unknown[0])
        if source in ("environment", ".env"):
            hint += "; variables are of all benchmarks: set that of one in the settings file"
        origin = _describe_origin(source)
        raise UsageError(f"{benchmark} has no property {unknown[0]!r}{origin}; {hint}")
    with wrap_benchmark_errors(benchmark, "cannot check its properties"):
        try:
            return parse_properties(kind, values)
        except ValidationError as error:
            first = error.errors()[0]
            origin = _describe_origin(sources.get(str(first["loc"][0])) if first["loc"] else None)
            as_json = first["type"] in ("list_type", "dict_type")
            clause = first_clause(error) + ("; write it as JSON" if as_json else "")
            raise UsageError(f"A property of {benchmark}: {clause}{origin}") from error


def _describe_origin(source: Source | None) -> str:
    return f" (from {source})" if source not in (None, "command line") else ""


def parse_properties(kind: type[P], values: Mapping[str, Any]) -> P:
    """Parse as JSON what cannot be read from a word, such as a list. Raises `ValidationError`."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        refused = {name for problem in error.errors() for name in problem["loc"][:1]}
        return kind.model_validate(
            {
                name: _parse_json(value) if name in refused else value
                for name, value in values.items()
            }
        )


def _parse_json(value: Any) -> Any:
    try:
        return from_json(value)
    except (TypeError, ValueError):
        return value
