"""The models that scout can think with, by name. Each gets the instructions in the prompt."""

from collections.abc import Callable

from swarm_bench.core.ports import Model
from swarm_bench.programs.rules.model import Rules

MODELS: dict[str, Callable[[str], Model]] = {"rules": Rules}
DEFAULT = "rules"
