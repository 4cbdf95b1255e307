"""A key of a stored file."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of a stored file, for the page that documents it."""

    key: str
    unit: str
    definition: str
