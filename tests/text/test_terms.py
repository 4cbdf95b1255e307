"""What a task is about, by fixed rules."""

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.text.terms import MAX_TERMS, keywords_of, stem, task_of, terms_of

TOOLS = [
    ToolSpec(name="mcp__canopy__canopy_query", description=""),
    ToolSpec(name="mcp__x__find", description=""),
]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("Find the authentication middleware and the auth flow", "authentication middleware"),
        ("Which data models does this code base define?", "models"),
        ("How are background jobs queued, and by which worker?", "background jobs queued"),
        ("Where is `parse_date` called?", "parse_date"),
        ("Explain how TokenStore and user_id relate to tokens", "TokenStore user_id relate tokens"),
        ("Explain this code base", ""),
        ("", ""),
    ],
)
def test_terms(task: str, words: str) -> None:
    assert [term.word for term in terms_of(task)] == words.split()


def test_a_spelled_out_identifier_comes_first_and_is_meant_exactly() -> None:
    first, *rest = terms_of("How does the login use `checkPassword`?")
    assert (first.word, first.roots, first.exact) == ("checkPassword", ("checkPassword",), True)
    assert all(first.weight > term.weight for term in rest)


def test_there_are_few_terms() -> None:
    assert len(terms_of("zebra yak walrus vulture unicorn tapir snake")) == MAX_TERMS


def test_the_task_is_what_is_neither_instruction_nor_form() -> None:
    task = "Find the plugins.\n\nName the registry of canopy."
    prompt = f"Begin with canopy_query.\n\n{task}\n\nAnswer in Markdown with headings."
    assert task_of(prompt, TOOLS) == task
    assert task_of("Use canopy_query", TOOLS) == "Use canopy_query"


def test_what_a_mode_says_before_the_task_is_no_part_of_it() -> None:
    told, more = "Search widely.\n\nThen read.", "Search widely.\n\nThen read.\n\nRead twice."
    assert task_of(f"{told}\n\nFind the plugins.", [], [told, ""]) == "Find the plugins."
    assert task_of(f"{more}\n\nFind it.", [], [told, f"{more}\n"]) == "Find it."
    assert task_of("Find the plugins.", [], [told]) == "Find the plugins."
    assert task_of(told, [], [told]) == told


@pytest.mark.parametrize(
    ("word", "beginning"),
    [("handlers", "handl"), ("class", "class"), ("stores", "store"), ("jobs", "job")],
)
def test_stem(word: str, beginning: str) -> None:
    assert stem(word) == beginning


@pytest.mark.parametrize(
    ("question", "keywords"),
    [
        ("Where is it, and what is it for?", ["Where is it, and what is it for?"]),
        ("?!", ["?!"]),
        ("", [""]),
        ("Who reads \"--version\" and '-q'?", ["reads", "version"]),
        ("--version", ["version"]),
        ("密码 在 哪里 哈希？", ["密码", "哪里", "哈希"]),
        ("Token token TOKEN", ["Token"]),
        ("reads the token, or reads none", ["reads", "token", "none"]),
        ("Which code changes the order of a form?", ["changes", "order", "form"]),
        (
            "Where were tokens made without a session, instead of too late?",
            ["tokens", "session", "late"],
        ),
        ("cannot change too instead", ["cannot", "change", "too", "instead"]),
        (" ".join(f"word{number}" for number in range(300)), [f"word{n}" for n in range(12)]),
    ],
)
def test_every_question_has_keywords(question: str, keywords: list[str]) -> None:
    """Few, none that a program takes for an option, and the question itself where it has none."""
    assert keywords_of(question) == keywords
