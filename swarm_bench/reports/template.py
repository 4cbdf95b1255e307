"""Markdown documents from templates: what they show as text passes through a filter."""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from tabulate import tabulate

from swarm_bench.reports.text import cut, escaped, plain

_SENTENCE_LENGTH = 600


def fill(template: str, **content: Any) -> str:
    """The document of a template in `templates/`; it can be encoded as UTF-8."""
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    # The document is Markdown, not HTML: the template passes foreign text through these filters.
    environment.filters["escaped"] = escaped
    environment.filters["sentence"] = sentence
    return environment.get_template(template).render(**content)


def sentence(text: str) -> str:
    """A warning can quote an agent, and agents can quote anything."""
    return escaped(cut(plain(text), _SENTENCE_LENGTH))


def pipe_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """The first `words` columns are words, the others figures, set to the right."""
    return tabulate(
        rows,
        headers=headers,
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] * words + ["right"] * (len(headers) - words),
    )
