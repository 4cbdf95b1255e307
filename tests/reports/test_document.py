"""Any document as Markdown: no benchmark, no mode and no trial is needed for one."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

import swarm_bench.reports
from swarm_bench.analysis.documents.blocks import make_table, make_trials_table
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import (
    Attachment,
    Document,
    Fact,
    Paragraph,
    Section,
    Span,
    Value,
)
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.reports.markdown import render, write_document, write_files
from tests.builders.golden import Sentences

REPORTS = Path(swarm_bench.reports.__file__).parent
TEMPLATES = REPORTS / "templates"
LAYOUT = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<style>.*?</style>|<[^>]*>", re.DOTALL)
SENTENCE = re.compile(r"[^\W\d_]+(?:\W*\s\W*[^\W\d_]+){2}")
"""Three words in a row."""


def sentences(template: str) -> list[str]:
    return SENTENCE.findall(LAYOUT.sub("\n\x00\n", template).replace("\x00", "|"))


@pytest.mark.parametrize("template", sorted(TEMPLATES.iterdir()), ids=lambda path: path.name)
def test_a_template_has_no_sentence(template: Path) -> None:
    assert sentences(template.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", sorted(REPORTS.glob("*.py")), ids=lambda path: path.name)
def test_a_renderer_has_no_sentence(module: Path) -> None:
    """`reference.py` is a renderer of the pages in `docs/`, and has their headers."""
    texts = [] if module.stem == "reference" else constants(ast.parse(module.read_text()))
    assert [text for text in texts if SENTENCE.search(text)] == []


def constants(tree: ast.Module) -> list[str]:
    """The strings of a module that are no documentation."""
    nodes = list(ast.walk(tree))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
    ]


def test_a_sentence_is_recognised() -> None:
    source = 'def f():\n    """It writes no sentence."""\n    return f"{1} of them are shown"'
    assert constants(ast.parse(source)) == [" of them are shown"]
    assert sentences("## {{ title }}\n\nThere is **no verdict**: {{ why }}") != []


ARMS = ("a|b", "c")
METRIC = Metric(key="k", title="Words", unit="words", style=Style.WHOLE, definition="All of them.")


def test_a_benchmark_of_any_kind_has_a_summary(golden: Sentences) -> None:
    row = Row(metric=METRIC, figures=(Figure(value=3, low=2, high=4, missing=1), None))
    cells = ("a|b", Span(text="x" * 50, longest=5), Value(scale=Style.SECONDS, value=1.5))
    document = make_summary(
        Opening(
            title="Prompts",
            head=((Fact(label="Cases", value="3"), Fact(label="Runs", value="1")),),
            headline=(),
            warnings=["*One* failed."],
            table=make_table(Table(title="Figures", rows=(row,)), ARMS, ["How to read it."]),
        ),
        [Section(title="Trials", blocks=make_trials_table(("Arm", "Case", "Time"), 2, [cells], 1))],
    )
    golden(render(document))


def test_blanks_between_the_parts_of_a_text_stay() -> None:
    line = ("see ", Span(text="[it]", address="b.md"), " or ", Span(text="#1", strong=True), ".")
    section = Section(title="T", blocks=(Paragraph(lines=(line, "second")),))
    text = render(Document(title="D", banner="B", head=(), sections=(section,)))
    assert text == "# D\n\n> B\n\n## T\n\nsee [\\[it\\]](b.md) or **`#1`**.\nsecond\n"


def test_what_stands_apart_is_in_the_second_file_or_else_folded() -> None:
    def section(title: str, *, folded: bool = False) -> Section:
        return Section(title=title, blocks=(Paragraph(lines=(f"Of {title}.",)),), folded=folded)

    page = Document(
        title="T",
        banner="B",
        head=(),
        sections=(section("Open"), section("More", folded=True), section("Trials", folded=True)),
        apart=Attachment(
            title="T: Details", sections=(section("Far"),), instead=(section("Where"),)
        ),
    )
    files, whole = write_files(page), write_document(page)
    titles = re.compile(r"^## (.+)$", re.MULTILINE).findall
    assert titles(files.markdown) == ["Open", "Where", "More", "Trials"]
    assert titles(files.details) == ["Far"]
    assert "<details>" not in files.details
    assert titles(whole.markdown) == ["Open", "More", "Far", "Trials"]
    assert whole.markdown.count("<details>") == 3
    assert whole.details == ""
    assert write_files(replace(page, apart=None)).details == ""
