import sqlite3

import pytest

from swarm_bench.programs.canopy.search.fulltext import combine, fts_query, terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("job queue", '"job" AND "queue"'),
        ("job-queue", '"job queue"'),
        ("foo.bar(baz)", '"foo bar baz"'),
        ("what?", '"what"'),
        ("auth OR login flow", '("auth") OR ("login" AND "flow")'),
        ("a AND b", '"a" AND "b"'),
        ("auth*", '"auth"*'),
        ("***", None),
        ("", None),
    ],
)
def test_words_become_a_query(text: str, query: str | None) -> None:
    assert fts_query(text) == query


HOSTILE = [
    '"', "'", "don't", "a:b", "(", "NEAR(a b)", "OR", "a OR", "NOT", "^x", "{a}", "[x]", "a, b",
    "-x", "name:", "*", "+", "; DROP TABLE nodes; --", "\x00", "é ß 漢字", "\u0301", "😀 x",
    "a" * 10_000, "a " * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_the_full_text_search(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (name, body)")
    for query in (fts_query(text), combine([text, "x", text], "OR")):
        if query is not None:
            connection.execute("SELECT * FROM texts WHERE texts MATCH ?", (query,)).fetchall()
    connection.close()


def test_terms_are_distinct_lower_case_words() -> None:
    assert terms("Auth_token foo.Bar src/*.py AUTH_TOKEN") == [
        "auth_token",
        "foo",
        "bar",
        "src",
        "py",
    ]


def test_a_word_of_very_many_parts_stays_a_short_query() -> None:
    query = fts_query("a." * 100_000)
    assert query is not None
    assert len(query) < 200
