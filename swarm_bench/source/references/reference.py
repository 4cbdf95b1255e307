"""A place in a text that names a file."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A file that a text names, with the lines and the symbol that it gives for it. A place that
    names several symbols of a file is as many references, with one position."""

    mention: str
    """As the text writes it, without lines and symbol."""
    path: str | None
    """Of the file in the repository; `None` for an invented or a foreign one."""
    first_line: int | None = None
    last_line: int | None = None
    symbol: str | None = None
    """As the text writes it: `Class.method`, `method`."""
    position: int
    """In the text, in characters."""
