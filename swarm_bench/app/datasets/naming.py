"""Words for `--dataset`, of what is registered and what was fetched. It imports little, so that a
shell can offer them at once."""

from swarm_bench.core import entry_points
from swarm_bench.datasets.fetched.cache import fetched_names

_FETCHED = "fetched"


def list_dataset_names() -> list[str]:
    """List them; nothing is read."""
    registered = {plugin.name for plugin in entry_points.list_plugins("datasets")} - {_FETCHED}
    return [*registered, *(f"{_FETCHED}:{name}" for name in fetched_names())]
