"""Repositories in memory, as the demo reads installed packages."""

from collections.abc import Mapping

from swarm_bench.app.demo import InstalledFiles


def tree_of(texts: Mapping[str, str]) -> InstalledFiles:
    return InstalledFiles({path: text.encode() for path, text in texts.items()})
