"""A document as Markdown. It computes nothing, and no sentence is its own."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from swarm_bench.core.report.document import Document
from swarm_bench.reports.layout import inline, laid_out


def render(document: Document) -> str:
    """Write the document, ending with a line break; it can be encoded as UTF-8."""
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    # The document is Markdown, not HTML: what the template shows passes through these filters.
    environment.filters["inline"] = inline
    environment.filters["markdown"] = laid_out
    return environment.get_template("document.md.j2").render(document=document)
