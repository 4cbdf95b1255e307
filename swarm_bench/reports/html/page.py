"""A session as one page that is opened from disk. It computes nothing, and no sentence is its
own; whatever the session holds, the page loads nothing and runs nothing but its own script."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from swarm_bench.core.report.document import Bullets, Document, Part, Section, Text, Value
from swarm_bench.core.report.page import MARKER, MatrixEntry, SessionPage, ShownTask
from swarm_bench.reports.figures import format_figure
from swarm_bench.reports.html.blocks import format_block, format_inline
from swarm_bench.reports.html.escaping import load_environment, read_asset
from swarm_bench.reports.html.packing import pack_task
from swarm_bench.reports.svg import render_timeline
from swarm_bench.reports.text import cut, plain

MOST_PACKED = 6_500_000
"""Characters of the transcripts in one page; with more of them each task has a page of its own."""
_MAX_WARNINGS = 3
"""Warnings that stand open."""
_TITLE_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class RenderedPage:
    """A page, and those beside it that it leads to."""

    html: str
    task_pages: Mapping[str, str] = field(default_factory=dict)
    """Pages by name; none where one holds all."""


def render_page(page: SessionPage) -> RenderedPage:
    """Write the page, ending with a line break, and a page for each task where one has no room."""
    packed = [*_pack(page.tasks)]
    is_small = sum(len(content) for _, content in packed) <= MOST_PACKED
    names = [name_task_page(number) for number in range(1, len(packed) + 1)]
    task_pages = (
        {}
        if is_small
        else {
            name: _render_task(title, content)
            for name, (title, content) in zip(names, packed, strict=True)
        }
    )
    document, matrix = page.document, page.matrix
    html = _render(
        document.title,
        notices=[text for text in (page.notice, document.banner) if text],
        head=document.head,
        warnings=_list_warnings(document),
        opening=[*_select(document.sections, Part.HEADLINE, folded=False)],
        figures=[*_select(document.sections, None, folded=False)],
        folded=[*_list_folded(document)],
        set_up=[*_select(document.sections, Part.SET_UP, folded=False)],
        matrix=matrix,
        timeline=page.timeline,
        drawing=page.timeline and Markup(render_timeline(page.timeline)),
        packed=[content for _, content in packed] if is_small else [],
        task_links=[] if is_small else names,
    )
    return RenderedPage(html=html, task_pages=task_pages)


def name_task_page(number: int) -> str:
    """Return the name of the page of a task, from 1."""
    return f"report-task-{number}.html"


def _pack(tasks: Iterable[ShownTask]) -> Iterator[tuple[str, str]]:
    for task in tasks:
        yield task.title, pack_task(task)


def _render_task(title: str, content: str) -> str:
    return _render(title, packed=[content], is_task=True)


def _render(title: str, **parts: Any) -> str:
    empty = dict.fromkeys(("notices", "head", "warnings", "opening", "figures"), ())
    empty |= dict.fromkeys(("folded", "set_up", "packed", "task_links"), ())
    return (
        load_environment()
        .get_template("page.html.j2")
        .render(
            policy=_make_policy(),
            style=Markup(read_asset("page.css")),
            script=Markup(read_asset("page.js")),
            marker=MARKER,
            title=cut(plain(title), _TITLE_LENGTH) or MARKER,
            open_warnings=_MAX_WARNINGS,
            format_block=format_block,
            format_inline=format_inline,
            format_entry=_format_entry,
            **{
                "matrix": None,
                "timeline": None,
                "drawing": None,
                "is_task": False,
                **empty,
                **parts,
            },
        )
    )


def _format_entry(entry: MatrixEntry) -> str:
    return format_figure(entry.value) if isinstance(entry.value, Value) else entry.value


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


def _list_warnings(document: Document) -> Sequence[Text]:
    """List all warnings, also those that `summary.md` folds."""
    sections = [section for section in document.sections if section.part is Part.WARNINGS]
    blocks = [block for section in sections for block in section.blocks]
    return [
        text
        for block in blocks
        for text in (block.items if isinstance(block, Bullets) else getattr(block, "lines", ()))
    ]
