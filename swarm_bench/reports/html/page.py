"""A session as one page that is opened from disk. It computes nothing, and no sentence is its
own; whatever the session holds, the page loads nothing and runs nothing but its own script."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from swarm_bench.core.report.document import (
    Bullets,
    Document,
    Part,
    Section,
    Text,
)
from swarm_bench.core.report.page import MARKER, SessionPage
from swarm_bench.reports.html.blocks import format_block, format_inline
from swarm_bench.reports.html.escaping import load_environment, read_asset
from swarm_bench.reports.text import cut, plain

_MAX_WARNINGS = 3
"""Warnings that stand open."""
_TITLE_LENGTH = 200


def render_page(page: SessionPage) -> str:
    """Write the page, ending with a line break."""
    document = page.document
    return (
        load_environment()
        .get_template("page.html.j2")
        .render(
            policy=_make_policy(),
            style=Markup(read_asset("page.css")),
            script=Markup(read_asset("page.js")),
            marker=MARKER,
            title=cut(plain(document.title), _TITLE_LENGTH) or MARKER,
            notices=[text for text in (page.notice, document.banner) if text],
            head=document.head,
            warnings=_list_warnings(document),
            opening=[*_select(document.sections, Part.HEADLINE, folded=False)],
            figures=[*_select(document.sections, None, folded=False)],
            folded=[*_list_folded(document)],
            set_up=[*_select(document.sections, Part.SET_UP, folded=False)],
            open_warnings=_MAX_WARNINGS,
            **_FILTERS,
        )
    )


_FILTERS: dict[str, Any] = {"format_block": format_block, "format_inline": format_inline}


@cache
def _make_policy() -> str:
    """Return the policy that allows the style and the script of the page, and no request."""
    style, script = (
        b64encode(sha256(read_asset(name).encode()).digest()).decode()
        for name in ("page.css", "page.js")
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _select(sections: Iterable[Section], part: Part | None, *, folded: bool) -> Iterator[Section]:
    for section in sections:
        if section.part is part and section.folded is folded:
            yield section


def _list_folded(document: Document) -> Iterator[Section]:
    """Yield what a reader opens, with what `summary.md` has in a second file."""
    yield from _select(document.sections, Part.HEADLINE, folded=True)
    yield from _select(document.sections, None, folded=True)
    yield from document.apart.sections if document.apart else ()


def _list_warnings(document: Document) -> list[Text]:
    """List all warnings, also those that `summary.md` folds."""
    sections = [section for section in document.sections if section.part is Part.WARNINGS]
    blocks = [block for section in sections for block in section.blocks]
    return [
        text
        for block in blocks
        for text in (block.items if isinstance(block, Bullets) else getattr(block, "lines", ()))
    ]
