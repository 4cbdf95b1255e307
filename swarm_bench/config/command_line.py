"""Options as the command line has them: how they are written, and what their help says."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Literal, NamedTuple, get_args, get_origin

from swarm_bench.config.options import Option, Settings, flag
from swarm_bench.core.session.designs import Design

GROUPS: Mapping[str, tuple[str, ...]] = {
    "What is compared": (
        *("repo", "modes", "controls", "models", "vary", "tasks", "properties", "dataset", "limit"),
    ),
    "How much is run": (
        *("agents", "runs", "all_tasks", "until_clear", "max_cost", "max_turns", "timeout"),
        *("index_timeout", "concurrency", "block_size", "fail_fast", "seed"),
    ),
    "Agents and servers": (
        *("agent", "model", "agent_arg", "agent_env", "inherit_settings", "fault", "index"),
        *("service_url", "dirty", "include", "keep_workspaces"),
    ),
    "Scoring and verdict": (
        *("primary", "margin", "quality", "quality_margin", "expect", "noise", "min_connected"),
        *("judge", "environment", "allow_code_execution", "generate_only"),
        *("require_retrieval", "require_verdict"),
    ),
    "Session": (
        *("plan", "output", "resume", "record", "report", "quiet", "trust", "config", "help"),
    ),
}
"""The options in the groups of help, in the order of these; the names are those of fields, and of
what the command line has besides."""


class Setting(NamedTuple):
    """A setting as the command line has it."""

    name: str
    flag: str
    kind: Literal["switch", "text", "texts"]
    help: str
    metavar: str | None
    default: str | None
    """As a person writes it; `None` for no value, and for what is off."""
    several: bool
    bare: str | None


def command_line(design: Design) -> Iterator[Setting]:
    """Yield the settings that are options of a design's command, in the order of its help."""
    for setting in described(Settings, Settings(**design.defaults)):
        if setting.name == "runs" and not design.agent_at_a_time:
            default = f"{setting.default}, with --agents {design.runs_of_agents}"
            yield setting._replace(default=default)
        else:
            yield setting


def described(kind: type[Any], defaults: object) -> Iterator[Setting]:
    """Yield the options among the fields of a dataclass, in their order."""
    for setting in fields(kind):
        for option in getattr(setting.type, "__metadata__", ()):
            if isinstance(option, Option):
                yield Setting(
                    name=setting.name,
                    flag=flag(setting.name),
                    kind=_kind(setting.type),
                    help=option.help,
                    metavar=option.metavar,
                    default=option.default or _as_typed(getattr(defaults, setting.name)),
                    several=option.several,
                    bare=option.bare,
                )


def _kind(annotation: Any) -> Literal["switch", "text", "texts"]:
    base = get_args(annotation)[0]
    if base is bool:
        return "switch"
    return "texts" if get_origin(base) is list else "text"


def _as_typed(value: object) -> str | None:
    if isinstance(value, list):
        return " ".join(value) or None
    return None if value is None or isinstance(value, bool) else str(value)
