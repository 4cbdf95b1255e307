"""Foreign text in HTML and SVG. All that a template shows passes through `clean`, and then through
the escaping of the template engine: there is no other way into a page or a picture."""

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
def load_environment(package: str) -> Environment:
    """Make what renders the templates of a package."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.tests["local"] = is_local
    return environment
