"""Files that an agent's program leaves in its home for its adapter to read."""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from swarm_bench.core.outcome import Launch
from swarm_bench.runtime.sink import clean_text, replace_secrets
from swarm_bench.runtime.untrusted import read_inside

MOST_BYTES = 64 * 1024 * 1024
"""Of all files that an agent wrote for its adapter; the rest is cut off."""
MOST_FILES = 100


def read_home_files(
    home: Path, launch: Launch | None, secrets: Collection[str]
) -> dict[str, bytes]:
    """Read the files that a program left for its adapter, without secrets. One with a secret in its
    name is omitted."""
    contents, room = dict[str, bytes](), MOST_BYTES
    for inner in islice(_find_files(home, launch.leaves if launch else ()), MOST_FILES):
        data = read_inside(home, inner, room)
        if data is not None and clean_text(inner, secrets) == inner:
            contents[inner] = replace_secrets(data, secrets)[:room]
            room -= len(contents[inner])
    return contents


def _find_files(home: Path, leaves: Iterable[str]) -> Iterator[str]:
    """Yield the files below the home that are named by their path, or by a pattern."""
    for name in dict.fromkeys(leaves):
        if os.path.lexists(home / name):
            yield name
        else:
            yield from sorted(str(path.relative_to(home)) for path in home.glob(name))
