"""A document as a page: all of it is there, in order, and nothing in it is markup."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from swarm_bench.core.metric import Better, Style
from swarm_bench.core.report.document import (
    Answer,
    Answers,
    Attachment,
    Banner,
    Bullets,
    CombinedValue,
    ComparedValue,
    Document,
    Fact,
    Facts,
    Grid,
    Interval,
    Paragraph,
    Part,
    Picture,
    Scale,
    Section,
    ShownEffect,
    Span,
    Step,
    Tone,
    Value,
    Verbatim,
)
from swarm_bench.core.report.page import SessionPage
from swarm_bench.reports.html.page import render_page

RATIO = Value(scale=Scale.RATIO, value=0.69, low=0.58, high=0.82)


class Reader(HTMLParser):
    """The elements of a page, its texts, and its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def make_document(text: str) -> Document:
    """A document that has a text in every place."""
    answer = Answer(
        subject=text,
        claim=" helps",
        tone=Tone.GOOD,
        figures=text,
        next=Step(text, text),
        evidence=text,
        caveats=(text, text),
        effect=ShownEffect(metric=text, value=RATIO, margin=0.1, better=Better.LOWER),
        use=text,
    )
    own = Value(scale=Style.WHOLE, value=8490.0)
    cells = (
        *(text, Span(text=text, strong=True, tone=Tone.BAD), RATIO, None),
        Interval(scale=Scale.RATIO, low=0.5, high=2.0),
        CombinedValue(style=Style.SECONDS, parts=((1.0, text),), notes=(text,)),
        ComparedValue(own=own, change=text),
    )
    headers = tuple(f"{text}{number}" for number in range(len(cells)))
    blocks = (
        Paragraph(lines=(text, (text, Span(text=text, code=True)))),
        Bullets(items=(text, (Span(text=text, address=text),)), omitted=2),
        Banner(text=text),
        Verbatim(text=text),
        Facts(lines=((Fact(label=text, value=text),),)),
        Picture(address=text, about=text),
        Grid(headers=headers, labels=1, rows=(cells,), about=text, ranges=text, omitted=3),
    )
    warnings = Bullets(items=tuple((Span(text=text, longest=1000),) for _ in range(5)))
    return Document(
        title=text,
        banner=text,
        head=((Fact(label=text, value=text),),),
        sections=(
            Section(
                title=text,
                blocks=(Answers(items=(answer,), size=text),),
                part=Part.HEADLINE,
            ),
            Section(title=text, blocks=(warnings,), part=Part.WARNINGS),
            Section(title=text, blocks=blocks),
            Section(title=text, blocks=blocks, folded=True),
            Section(title=text, blocks=blocks, part=Part.SET_UP),
        ),
        apart=Attachment(title=text, sections=(Section(title="Apart", blocks=blocks),), instead=()),
    )


def render(text: str) -> str:
    return render_page(SessionPage(document=make_document(text), notice=text)).html


HOSTILE = (
    "<script>hit()</script>",
    "</script><script>hit()</script>",
    "</style><style>*{background:url(http://127.0.0.1:9/)}</style>",
    "<img src=x onerror=hit()>",
    '" onmouseover="hit()" x="',
    "' autofocus onfocus=hit() '",
    "<svg onload=hit()><animate onbegin=hit() attributeName=x></svg>",
    "javascript:hit()",
    "data:text/html,<script>hit()</script>",
    "<iframe srcdoc='<script>parent.hit()</script>'>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<!-- --><!--><script>hit()</script>",
    "]]><script>hit()</script>",
    "{{ 7*7 }}{% raw %}${hit()}`",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "\x00\x08\x1b]0;title\x07\x9b31m",
    "half \ud83d of a pair \udc00",
    "&lt;script&gt;hit()&#60;/script&#62;",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_is_markup(text: str) -> None:
    page, harmless = render(text), Reader(render("harmless"))
    page.encode()
    reader = Reader(page)
    assert {*reader.tags} | {"a"} == {*harmless.tags}  # a text may lead to no file
    assert reader.tags.count("script") == harmless.tags.count("script")
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    links = [value for name, value in reader.attributes if name in ("href", "src")]
    assert all(re.fullmatch(r"[#\w./-]*", link) for link in links), links
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)


def test_the_policy_allows_no_request_and_only_what_the_page_has() -> None:
    page = render("text")
    attributes = Reader(page).attributes
    (policy,) = [value for _, value in attributes if value.startswith("default-src")]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"
    assert not [name for name, _ in attributes if name == "style"]
    assert set(rules) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}


def test_all_of_a_document_is_there() -> None:
    text = Reader(render("word")).text
    for part in ("word helps.", "Evidence: word", "Caveats: word; word.", "Next, word: word"):
        assert part in text
    for figure in ("0.69× (0.58–0.82)", "0.50–2.00", "1.00s word; word", "8,490, word"):
        assert text.count(figure) >= 4, figure
    assert text.count("Apart") == 1
    assert "2 more" in text
    assert "Rows not shown: 3" in text


def test_the_first_warnings_are_open() -> None:
    (section,) = re.findall(r'<section class="warnings">.*?</section>', render("w"), re.DOTALL)
    head, _, folded = section.partition("<details>")
    assert (head.count("<li>"), folded.count("<li>")) == (3, 2)


def test_the_script_is_short_and_makes_no_markup() -> None:
    page = render("text")
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert script.count("\n") <= 600
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert name not in script
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\b\s*\(", script)
