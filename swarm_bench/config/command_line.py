"""Options as the command line has them: how they are written, and what their help says."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Literal, NamedTuple, get_args, get_origin

from swarm_bench.config.annotations import Option, Scope, flag, notes
from swarm_bench.config.compare_options import SCOPES, Settings
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.session.designs import DESIGNS, Design


class Setting(NamedTuple):
    """A setting as the command line has it."""

    name: str
    flag: str
    kind: Literal["switch", "text", "texts"]
    help: str
    metavar: str | None
    default: str | None
    """Default as a user writes it; `None` for no value, and for what is off."""
    several: bool
    bare: str | None
    group: str
    """Heading of the help that it stands below."""


def command_line(design: Design, command: str | None = None) -> Iterator[Setting]:
    """Yield the settings that are options of a design's command, or of another one that has its
    defaults, in the order of help."""
    names = names_of(command or design.name)
    in_retrieve = design.name not in DESIGNS
    for setting in _list_settings(Settings, defaults_of(design), in_retrieve=in_retrieve):
        if setting.name == "runs" and "agents" in names:
            default = f"{setting.default}, with --agents {design.runs_of_agents}"
            setting = setting._replace(default=default)
        if setting.name in names:
            yield setting


def run_command_line() -> Iterator[Setting]:
    """Yield the settings that are options of `run`, in the order of its help."""
    return _list_settings(RunSettings, {})


def _list_settings(
    kind: type[Any], defaults: Mapping[str, Any], *, in_retrieve: bool = False
) -> Iterator[Setting]:
    """Yield the options among the fields of a dataclass, in their order; `defaults` are those that
    differ from the ones of the fields."""
    options, scopes, values = notes(kind, Option), notes(kind, Scope), vars(kind(**defaults))
    types = {entry.name: entry.type for entry in fields(kind)}
    for name, option in options.items():
        default = None if name in defaults else option.default
        yield Setting(
            name=name,
            flag=flag(name),
            kind=_kind(types[name]),
            help=(in_retrieve and option.retrieve) or option.help,
            metavar=option.metavar,
            default=default or _format_default(values[name]),
            several=option.several,
            bare=option.bare,
            group=scopes[name].group,
        )


def _kind(annotation: Any) -> Literal["switch", "text", "texts"]:
    base = get_args(annotation)[0]
    if base is bool:
        return "switch"
    return "texts" if get_origin(base) is list else "text"


def _format_default(value: object) -> str | None:
    if isinstance(value, list):
        return " ".join(value) or None
    return None if value is None or isinstance(value, bool) else str(value)


def defaults_of(design: Design) -> dict[str, Any]:
    """Return the defaults of a design that differ from those of the fields."""
    return {
        name: scope.defaults[design.name]
        for name, scope in SCOPES.items()
        if design.name in scope.defaults
    }


def names_of(command: str) -> list[str]:
    """Return the names of the options that a command has."""
    is_design = command in DESIGNS
    return [
        name
        for name, scope in SCOPES.items()
        if command in scope.also or (is_design and command not in scope.without)
    ]
