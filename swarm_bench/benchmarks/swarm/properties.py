"""The properties of the swarm benchmark: those options of its commands that an experiment is made
of."""

from dataclasses import MISSING, fields
from typing import Any

from pydantic import BaseModel, Field, create_model

from swarm_bench.config.annotations import Option, notes, written_name
from swarm_bench.config.options import SCOPES, Settings


def _build_properties() -> dict[str, Any]:
    options = notes(Settings, Option)
    return {
        written_name(setting.name): _build_property(setting, options[setting.name])
        for setting in fields(Settings)
        if setting.name in options and not SCOPES[setting.name].of_call
    }


def _build_property(setting: Any, option: Option) -> tuple[Any, Any]:
    if setting.default_factory is not MISSING:
        return setting.type, Field(default_factory=setting.default_factory, description=option.help)
    return setting.type, Field(default=setting.default, description=option.help)


Properties: type[BaseModel] = create_model("Properties", **_build_properties())
