"""The readable page of one trial, `agent-N.md`."""

import re

from swarm_bench.core.report.document import Section, Text, Value
from swarm_bench.core.report.trials import Page, RecordedFigures
from swarm_bench.reports.figures import NOT_REPORTED, format_figure
from swarm_bench.reports.markdown_parts import format_block, format_inline

_ANSWER = re.compile(
    r"# [^\n]*\n\n## Task\n(?P<first>`{3,})text\n.*?\n(?P=first)\n\n"
    r"## Result\n(?P<fence>`{3,})text\n(?P<answer>.*?)\n(?P=fence)\n\n---\n",
    re.DOTALL,
)
"""No text in a block has as many backticks in a row as its fence."""


def find_answer(page: str) -> str | None:
    """Return the answer that stands in a page; `None` when there is none."""
    match = _ANSWER.match(page)
    return match["answer"] if match else None


def render_page(page: Page) -> str:
    """Write the page, ending with a line break. What the agent wrote does nothing there."""
    facts = "".join(f"- **{label}:** {_format_fact(value)}\n" for label, value in page.facts)
    title = " ".join(map(format_inline, page.title))
    return (
        f"# {title}\n\n{''.join(map(_format_section, page.sections))}---\n## "
        f"{page.heading}\n{facts}"
    )


def _format_section(section: Section) -> str:
    blocks = "\n\n".join(map(format_block, section.blocks))
    return f"## {section.title}\n{blocks}\n\n"


def _format_fact(fact: Text | Value | RecordedFigures) -> str:
    match fact:
        case Value():
            return format_figure(fact)
        case RecordedFigures(value=value, unit=unit, note=note):
            amount = NOT_REPORTED if value is None else f"{value}{unit}"
            return f"{amount} ({note})" if note else amount
        case _:
            return format_inline(fact)
