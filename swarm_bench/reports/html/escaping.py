"""Foreign text in HTML. All that a template shows passes through `clean`, and then through the
escaping of the template engine: there is no other way into a page."""

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from swarm_bench.reports.text import clean

_ADDRESS = re.compile(r"(?!/)(?!.*//)[\w./-]+", re.ASCII)
"""A file beside the page, or below it."""


def is_local(address: str) -> bool:
    """Tell whether an address leads to a file beside the page, and nowhere else."""
    return _ADDRESS.fullmatch(address) is not None and ".." not in address.split("/")


@cache
def load_environment() -> Environment:
    """Make what renders the templates of this folder."""
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports.html"),
        autoescape=True,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.tests["local"] = is_local
    return environment


def read_asset(name: str) -> str:
    """Return the style or the script of a page."""
    loader = load_environment().loader
    assert loader is not None
    return loader.get_source(load_environment(), name)[0]
