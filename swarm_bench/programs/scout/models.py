"""The models that scout can think with, by name. Each is told what of the prompt is no task."""

from collections.abc import Callable

from swarm_bench.core.ports import Model
from swarm_bench.programs.rules.model import Rules

MODELS: dict[str, Callable[[str], Model]] = {"rules": Rules}
DEFAULT = "rules"
