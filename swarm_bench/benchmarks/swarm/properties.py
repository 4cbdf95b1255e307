"""The properties of the swarm benchmark: those options of its commands that an experiment is made
of."""

from dataclasses import MISSING, fields
from typing import Any, get_args

from pydantic import BaseModel, Field, create_model

from swarm_bench.config.command_line import command_line
from swarm_bench.config.options import Option, Settings, written_name
from swarm_bench.config.settings import OF_ONE_CALL
from swarm_bench.core.session.designs import COMPARE


def _properties() -> dict[str, Any]:
    listed = {option.name for option in command_line(COMPARE)} - OF_ONE_CALL
    settings = [setting for setting in fields(Settings) if setting.name in listed]
    return {written_name(setting.name): _property(setting) for setting in settings}


def _property(setting: Any) -> tuple[Any, Any]:
    option = next(note for note in get_args(setting.type) if isinstance(note, Option))
    if setting.default_factory is not MISSING:
        return setting.type, Field(default_factory=setting.default_factory, description=option.help)
    return setting.type, Field(default=setting.default, description=option.help)


Properties: type[BaseModel] = create_model("Properties", **_properties())
