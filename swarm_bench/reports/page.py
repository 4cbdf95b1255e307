"""The readable page of one trial, `agent-N.md`."""

from swarm_bench.core.report.document import Section, Text, Value
from swarm_bench.core.report.page import Page, Recorded
from swarm_bench.reports.figures import NOT_REPORTED, figure
from swarm_bench.reports.layout import inline, laid_out


def render_page(page: Page) -> str:
    """Write the page, ending with a line break. What the agent wrote does nothing there."""
    facts = "".join(f"- **{label}:** {_written(value)}\n" for label, value in page.facts)
    title = " ".join(map(inline, page.title))
    return f"# {title}\n\n{''.join(map(_section, page.sections))}---\n## {page.heading}\n{facts}"


def _section(section: Section) -> str:
    blocks = "\n\n".join(map(laid_out, section.blocks))
    return f"## {section.title}\n{blocks}\n\n"


def _written(fact: Text | Value | Recorded) -> str:
    match fact:
        case Value():
            return figure(fact)
        case Recorded(value=value, unit=unit, note=note):
            amount = NOT_REPORTED if value is None else f"{value}{unit}"
            return f"{amount} ({note})" if note else amount
        case _:
            return inline(fact)
