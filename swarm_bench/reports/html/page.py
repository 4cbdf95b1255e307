"""A session as one page that is opened from disk. It computes no figure, and has no sentence on a
session; whatever that holds, the page loads nothing and runs nothing but its own script."""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Answers,
    Block,
    Bullets,
    Cell,
    CombinedValue,
    ComparedValue,
    Document,
    Grid,
    Interval,
    Paragraph,
    Part,
    Picture,
    Scale,
    Section,
    ShownEffect,
    Span,
    Text,
    Value,
)
from swarm_bench.core.report.page import (
    MARKER,
    PAGE,
    Matrix,
    MatrixEntry,
    SessionPage,
    ShownTask,
    ShownTrial,
    name_task_page,
)
from swarm_bench.core.treatment.conversation import Conversation
from swarm_bench.reports.charts import draw
from swarm_bench.reports.escaping import load_environment
from swarm_bench.reports.figures import NOT_APPLICABLE, format_cell, format_figure
from swarm_bench.reports.svg import CallSpans, render_effect, render_timeline
from swarm_bench.reports.text import clean, cut, plain

_MOST_PACKED = 7_500_000
"""Characters of the transcripts in one page; with more of them each task has a page of its own."""
_MAX_WARNINGS = 3
"""Warnings that stand open."""
_TITLE_LENGTH = 200
_MAX_CLAIMS = 3
"""Claims in the title of a tab."""
_COMPRESSION = 6
_load_templates = partial(load_environment, "swarm_bench.reports.html")


@dataclass(frozen=True, kw_only=True)
class RenderedPage:
    """A page, and those beside it that it leads to."""

    html: str
    task_pages: Mapping[str, str]
    """Pages by name; none where one holds all."""


def render_page(page: SessionPage, *, most_packed: int = _MOST_PACKED) -> RenderedPage:
    """Write the page, ending with a line break, and a page for each task where one has no room."""
    packed, spans = _pack(page.tasks)
    is_small = sum(len(content) for _, content in packed) <= most_packed
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
        tab_title=_write_tab_title(document),
        banner=document.banner,
        warnings=_list_warnings(document),
        opening=[*_select(document.sections, Part.HEADLINE, folded=False)],
        figures=[*_select(document.sections, None, folded=False)],
        folded=[*_list_folded(document)],
        set_up=[*_select(document.sections, Part.SET_UP, folded=False)],
        command=page.command,
        versions=page.versions,
        matrix=matrix,
        omissions=[*_list_omissions(matrix)] if matrix else [],
        timeline=page.timeline,
        drawing=page.timeline and Markup(render_timeline(page.timeline, spans)),
        packed=[content for _, content in packed] if is_small else [],
        task_links=[] if is_small else names,
    )
    return RenderedPage(html=html, task_pages=task_pages)


def _pack(tasks: Iterable[ShownTask]) -> tuple[list[tuple[str, str]], CallSpans]:
    """Write the tasks with their titles, and return when the calls of their trials were open."""
    packed, spans = list[tuple[str, str]](), dict[tuple[int, int], Sequence[tuple[float, float]]]()
    for row, task in enumerate(tasks):
        packed.append((task.title, pack_task(task)))
        for number, trial in enumerate(task.trials):
            spans[row, number] = trial.spans
    return packed, spans


def _render_task(title: str, content: str) -> str:
    return _render(title, packed=[content], is_task=True)


def _render(title: str, **parts: Any) -> str:
    empty = dict.fromkeys(("warnings", "opening", "figures"), ())
    empty |= dict.fromkeys(("folded", "set_up", "packed", "omissions", "task_links"), ())
    return (
        _load_templates()
        .get_template("page.html.j2")
        .render(
            policy=_make_policy(),
            style=Markup(_read_asset("page.css")),
            script=Markup(_read_asset("page.js")),
            marker=MARKER,
            main_page=PAGE,
            title=cut(plain(title), _TITLE_LENGTH) or MARKER,
            open_warnings=_MAX_WARNINGS,
            format_block=format_block,
            format_inline=format_inline,
            format_entry=_format_entry,
            **{
                "banner": None,
                "command": "",
                "versions": {},
                "tab_title": "",
                "matrix": None,
                "timeline": None,
                "drawing": None,
                "is_task": False,
                **empty,
                **parts,
            },
        )
    )


def _write_tab_title(document: Document) -> str:
    """Write what a tab or a bookmark shows: the claims, and what they are of."""
    blocks = (block for section in document.sections for block in section.blocks)
    claims = [
        answer.claim_line
        for block in blocks
        if isinstance(block, Answers)
        for answer in block.items
        if not answer.is_aside
    ]
    return cut(plain(" ".join([*claims[:_MAX_CLAIMS], document.title])), _TITLE_LENGTH)


def _read_asset(name: str) -> str:
    """Return the style or the script of a page."""
    loader = _load_templates().loader
    assert loader is not None
    return loader.get_source(_load_templates(), name)[0]


def _list_omissions(matrix: Matrix) -> Iterator[str]:
    """Yield what entries say that stand for several trials, each once."""
    cells = [cell for row in matrix.rows for cell in row.cells]
    entries = [entry for cell in cells for entry in cell if entry.trial is None]
    yield from dict.fromkeys(f"{entry.name}." for entry in entries)


def _format_entry(entry: MatrixEntry) -> str:
    return format_figure(entry.value) if isinstance(entry.value, Value) else entry.value


@cache
def _make_policy() -> str:
    """Return the policy that allows the style and the script of the page, and no request."""
    style, script = (
        b64encode(sha256(_read_asset(name).encode()).digest()).decode()
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
    return [text for section in sections for block in section.blocks for text in _list_texts(block)]


def _list_texts(block: Block) -> Sequence[Text]:
    match block:
        case Bullets(items=texts) | Paragraph(lines=texts):
            return texts
        case _:
            return ()


def format_inline(text: Text) -> Markup:
    """Write a text within a line."""
    parts = (text,) if isinstance(text, str) else text
    spans = [part if isinstance(part, Span) else Span(text=part) for part in parts]
    return _call("inline", [(span, _cut(span)) for span in spans])


def format_block(block: Block) -> Markup:
    """Write a block."""
    match block:
        case Grid():
            rows = [*map(_format_row, block.rows)]
            return _call("grid", block, rows, _describe_rest(block), _is_mixed(block))
        case Picture():
            return _call("picture", block, Markup(draw(block, is_inline=True)))
        case _:
            return _call(type(block).__name__.lower(), block)


def _cut(span: Span) -> str:
    return cut(plain(span.text), span.longest) if span.longest else span.text


def _call(macro: str, *arguments: Any) -> Markup:
    module = (
        _load_templates()
        .get_template("blocks.html.j2")
        .make_module({"format_inline": format_inline, "draw": _draw_effect})
    )
    html: Markup = getattr(module, macro)(*arguments)
    return html


def _draw_effect(effect: ShownEffect, neighbours: Iterable[ShownEffect]) -> Markup:
    return Markup(render_effect(effect, neighbours))


def _describe_rest(grid: Grid) -> str:
    return grid.rest.format(number=f"{grid.omitted:,}") if grid.omitted else ""


def _is_mixed(grid: Grid) -> bool:
    """Return whether figures below each other have different units, so that no order of them says
    anything."""
    return any(
        len({*filter(None, map(_find_unit, column))}) > 1 for column in zip(*grid.rows, strict=True)
    )


def _find_unit(cell: Cell) -> Style | Scale | None:
    match cell:
        case Value() | Interval():
            return cell.scale
        case CombinedValue():
            return cell.style
        case ComparedValue():
            return cell.own.scale
        case _:
            return None


def _format_row(row: Sequence[Cell]) -> list[tuple[Any, float | None]]:
    """Write the cells of a row, each with the figure by which it is sorted."""
    return [(_format_cell(cell), _find_figure(cell)) for cell in row]


def _format_cell(cell: Cell) -> Any:
    match cell:
        case None:
            return NOT_APPLICABLE
        case Value() | Interval() | CombinedValue() | ComparedValue():
            return format_cell(cell)
        case Span():
            return format_inline((cell,))
        case str():
            return cell


def _find_figure(cell: Cell) -> float | None:
    match cell:
        case Value(value=value) | ComparedValue(own=Value(value=value)):
            return value
        case Interval(low=low):
            return low
        case CombinedValue(parts=((value, _), *_)):
            return value
        case _:
            return None


def pack_task(task: ShownTask) -> str:
    """Write a task and its trials as base64 of deflated JSON. Trials of a task read the same files,
    further from each other than deflate looks: a result stands there once, and calls name its
    number."""
    results = dict[object, int]()
    content = {
        "title": clean(task.title),
        "prompt": clean(task.prompt),
        "trials": [_write_trial(trial, results) for trial in task.trials],
        "results": [*results],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), _COMPRESSION)).decode()


def _write_trial(trial: ShownTrial, results: dict[object, int]) -> Mapping[str, Any]:
    return {
        "name": clean(trial.name),
        "arm": clean(trial.arm),
        "run": trial.run,
        "outcome": clean(trial.outcome),
        "figures": [
            (clean(label), clean(value) if isinstance(value, str) else format_figure(value))
            for label, value in trial.figures
        ],
        "turns": trial.turns,
        "calls": trial.conversation and [*_write_calls(trial.conversation, results)],
        "last": clean(trial.last),
        "answer": clean(trial.answer),
        "markdown": trial.is_markdown,
        "scored": clean(trial.scored),
        "errors": clean(trial.errors),
        "key": [(clean(file), is_named) for file, is_named in trial.key],
        "cited": [(clean(file), exists) for file, exists in trial.cited],
        "notes": [(clean(label), clean(text)) for label, text in trial.notes],
        "remarks": [*map(clean, trial.remarks)],
    }


def _write_calls(
    conversation: Conversation, results: dict[object, int]
) -> Iterator[Mapping[str, Any]]:
    """Write the calls, each with what was said before it and not before another, and note their
    results."""
    texts = sorted(conversation.texts.items(), reverse=True)
    for call in conversation.calls:
        before = list[str]()
        result = clean(call.result)
        while texts and texts[-1][0] <= (call.turn or 0):
            before.append(texts.pop()[1])
        yield {
            "text": clean("\n\n".join(before) or None),
            "tool": clean(call.tool),
            "arguments": clean(call.arguments),
            "result": None if result is None else results.setdefault(result, len(results)),
            "failed": call.failed,
            "turn": call.turn,
            "seconds": None if call.seconds is None else round(call.seconds, 1),
        }
