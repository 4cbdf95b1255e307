"""What a model is given of a tool's result."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.runtime.mcp.results import json_values, read_result

HITS = {"hits": [{"path": "src/boat.py", "line": 3}, {"path": "src/oar.py", "line": 9}]}


def text_of(result: object) -> str:
    read = read_result(result)
    assert read is not None
    return read.text


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    "content",
    [
        [],
        [said("2 hits")],
        [said('{"hits": []}')],
        [said(json.dumps({"hits": HITS["hits"][:1]}))],
        [said("")],
        [said("src/boat.py and more")],
    ],
)
def test_structured_content_stands_behind_what_does_not_have_it(content: list[Any]) -> None:
    for key in ("structuredContent", "structured_content"):
        *before, last = text_of({"content": content, key: HITS}).splitlines()
        assert json.loads(last) == HITS
        assert before == [block["text"] for block in content if block["text"]] or before == [""]


@pytest.mark.parametrize(
    ("content", "structured"),
    [
        ([said(json.dumps(HITS))], HITS),
        ([said(json.dumps({"hits": HITS["hits"]}, indent=4))], HITS),
        ([said('{"hits":[{"line":3,"path":"src/boat.py"},{"line":9,"path":"src/oar.py"}]}')], HITS),
        (
            [said("Two hits:\n\n```json\n" + json.dumps(HITS, indent=2) + "\n```\nThat is all.")],
            HITS,
        ),
        ([said("Two hits:"), said(json.dumps(HITS))], HITS),
        ([said("src/boat.py:3")], {"result": "src/boat.py:3"}),
        ([said("src/boat.py:3\n")], {"result": "src/boat.py:3"}),
        ([said("src/boat.py"), said("src/oar.py")], {"result": ["src/boat.py", "src/oar.py"]}),
        ([said("src/boat.py\nsrc/oar.py")], {"files": ["src/boat.py", "src/oar.py"]}),
        ([said(json.dumps(hit)) for hit in HITS["hits"]], {"result": HITS["hits"]}),
        ([said(json.dumps(HITS["hits"]))], {"result": HITS["hits"]}),
        ([said("7")], {"result": 7}),
        ([said("null")], {"result": None}),
        ([said("[]")], {"result": []}),
    ],
)
def test_what_stands_in_the_text_is_there_once(content: list[Any], structured: Any) -> None:
    texts = [block["text"] for block in content]
    assert text_of({"content": content, "structuredContent": structured}) == "\n".join(texts)


def test_structured_content_that_repeats_the_blocks_is_there_once() -> None:
    """As the reference server of file systems answers."""
    picture = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    read = read_result({"content": [picture], "structuredContent": {"content": [picture]}})
    assert read is not None
    assert (read.text, read.is_images) == ("[image: image/png, 8 bytes]", True)
    assert "iVBO" in text_of(
        {"content": [picture], "structuredContent": {"content": [picture] * 2}}
    )


def test_resources_are_their_addresses_and_texts() -> None:
    text = text_of(
        [
            {"type": "resource", "resource": {"uri": "file:///w/src/boat.py", "text": "def row()"}},
            {"type": "resource", "resource": {"uri": "shop://logo", "blob": "QUJDRA=="}},
            {
                "type": "resource_link", "uri": "file:///w/src/oar.py", "name": "src/oar.py",
                "title": "Oars", "description": "Where oars are made",
            },
            {"type": "resource_link", "uri": "src/a.py", "name": "src/a.py"},
        ]
    )  # fmt: skip
    assert text.splitlines() == [
        "file:///w/src/boat.py",
        "def row()",
        "shop://logo",
        "[blob: 4 bytes]",
        "file:///w/src/oar.py",
        "src/oar.py",
        "Oars",
        "Where oars are made",
        "src/a.py",
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "mimeType": "image/png", "data": "QUJD"},
        {"type": "audio", "mimeType": "audio/wav", "data": "QUJD"},
        {"type": "image", "source": {"data": "AAAA"}},
        {"type": "resource", "resource": {"uri": "shop://logo", "blob": "QUJDRA=="}},
        {"type": "table", "rows": []},
        {"type": None},
        {"type": "text", "text": 5},
        {"type": ["text"]},
        {"type": "resource"},
        7,
    ],
)
def test_what_is_no_text_is_mentioned_and_not_all_of_the_result(block: object) -> None:
    read = read_result([said("src/boat.py"), block])
    assert read is not None
    assert not read.is_complete
    first, *rest = read.text.splitlines()
    assert first == "src/boat.py"
    assert all(rest)
    assert rest
    whole = read_result([said("src/boat.py")])
    assert whole is not None
    assert whole.is_complete


@pytest.mark.parametrize(
    "result", [None, 7, {"text": "x"}, {"content": 7}, {"content": None}, True]
)
def test_what_is_no_result_has_no_text(result: object) -> None:
    assert read_result(result) is None


def test_an_empty_result_is_empty() -> None:
    nothing: list[object] = ["", [], {"content": []}, {"content": "", "structuredContent": None}]
    assert list(map(text_of, nothing)) == [""] * 4


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, min_size=2), st.text(), st.sampled_from([None, 1, 4]))
def test_no_structured_content_is_lost_or_there_twice(
    structured: dict[str, Any], before: str, indent: int | None
) -> None:
    alone = text_of({"content": [said(before)], "structuredContent": structured})
    assert json.loads(alone.split("\n")[-1]) == structured or structured in [
        value for _, _, value in json_values(before)
    ]
    written = json.dumps(structured, indent=indent, sort_keys=True)
    assert text_of({"content": [said(written)], "structuredContent": structured}) == written


@given(st.text(alphabet=st.sampled_from('[]{}",:1 \n\\')))
def test_any_text_is_looked_through(text: str) -> None:
    for begin, end, value in json_values(text):
        assert text[begin] in "[{"
        assert text[end - 1] in "]}"
        assert isinstance(value, list | dict)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["[" * 500_000, "[\n" * 250_000, "1\n" * 250_000, "[1]\n" * 100_000, " " * 1_000_000]
)
def test_long_texts_are_compared_soon(text: str) -> None:
    read_result({"content": [said(text)], "structuredContent": {"a": [text[:9]] * 10_000, "b": 1}})
    read_result({"content": [said(text)], "structuredContent": {"a": ["1"] * 100_000}})
