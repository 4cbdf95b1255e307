"""What an answer of a search is worth."""

import json

import pytest

from swarm_bench.benchmarks.retrieve.answers import (
    AnswerSpace,
    ToolReply,
    best_search,
    compute_figures,
    join_replies,
    merge_rankings,
)
from swarm_bench.benchmarks.retrieve.running import recognise_arguments
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.core.session.tasks import AnswerKey, Task, relevant_files

HERE = AnswerSpace(workspace="/w/repo", files={"a.py", "src/b.py", "src/c.py", "src/d.py"})
RELEVANT = {"src/b.py", "src/d.py"}


def measured(
    text: str, search: SearchTool | None = None, *, failed: bool = False
) -> dict[str, float | None]:
    return compute_figures(ToolReply(text=text, seconds=0.1, failed=failed), search, HERE, RELEVANT)


def test_the_files_of_an_answer_are_ranked_in_their_order() -> None:
    text = "- `src/c.py:1-60`\n- `src/b.py:2`\n- `src/b.py:9`\n- `src/invented.py:1`\n"
    values = measured(text)
    assert values["recall_1"] == 0
    assert values["recall_5"] == values["recall"] == 0.5
    assert values["reciprocal_rank"] == 0.5
    assert (values["files"], values["empty"], values["failed"]) == (2, 0, 0)
    assert values["tokens"] == -(-len(text) // 4)


@pytest.mark.parametrize(
    ("text", "failed", "kinds"),
    [
        ("", False, (1, 0)),
        ("No results found.", False, (1, 0)),
        ("The repository is not indexed; call index_codebase first.", False, (0, 1)),
        ("Error: the index is broken", False, (0, 1)),
        ("Error: cannot search src/b.py src/d.py", False, (0, 1)),
        ("Error: cannot search " + "src/b.py src/d.py " * 200, False, (0, 1)),
        ("Search failed: src/b.py:1, src/d.py:2", False, (0, 1)),
        ("no answer within 60 s", True, (0, 1)),
        ("`src/b.py:1` stands in an answer that is marked as an error", True, (0, 1)),
    ],
)
def test_an_answer_without_files_has_found_nothing_and_says_why(
    text: str, failed: bool, kinds: tuple[int, int]
) -> None:
    values = measured(text, failed=failed)
    assert (values["empty"], values["failed"]) == kinds
    assert values["recall_10"] == values["ndcg_10"] == values["files"] == 0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Error: cannot search src/b.py src/d.py", (0, 1)),
        ("Failed to read the index.\nFiles: src/b.py, src/d.py", (0, 1)),
        ('{"error": "cannot search src/b.py"}', (0, 1)),
        ("No results found for 'src/b.py'.", (1, 0)),
        ("Search results for src/b.py:\n\nNo matches found.", (1, 0)),
    ],
)
def test_an_error_or_nothing_is_no_answer_though_it_names_files(
    text: str, kinds: tuple[int, int]
) -> None:
    values = measured(text)
    assert (values["empty"], values["failed"]) == kinds
    assert values["recall_10"] == values["ndcg_10"] == values["files"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "src/b.py:10: raise ValueError('index not found')",
        "src/b.py:10:Error: the index is locked",
        "1. src/b.py:3\n   Error: the index is locked",
        "Errors are raised in src/b.py",
        "# Errors\n\nError handling is in `src/b.py`.",
        '{"error": null, "results": [{"file": "src/b.py"}]}',
        '{"error": "the rest timed out", "results": [{"file": "src/b.py"}]}',
    ],
)
def test_a_place_in_code_about_errors_is_an_answer(text: str) -> None:
    values = measured(text)
    assert (values["empty"], values["failed"]) == (0, 0)
    assert values["recall_10"] == 0.5


def test_an_answer_is_read_as_its_mode_file_says() -> None:
    search = SearchTool(tool="find", arguments={"q": "{{ query }}"}, json_path="$.hits[*].file")
    text = json.dumps({"hits": [{"file": "src/b.py"}], "beside": {"file": "a.py"}})
    assert measured(text, search)["recall_1"] == 0.5
    assert measured(text, search)["files"] == 1
    assert measured("Not JSON, but src/b.py:1", search)["failed"] == 1
    assert measured("No results found.", search)["empty"] == 1


def test_the_right_files_are_those_of_the_key_or_of_its_symbols() -> None:
    symbols = ("src/b.py::B.run", "src/b.py::B", "src/d.py::d")
    task = Task(id="t", title="T", prompt="?", key=AnswerKey(symbols=symbols))
    assert relevant_files(task) == ("src/b.py", "src/d.py")
    both = task.model_copy(update={"key": AnswerKey(files=("a.py",), symbols=symbols)})
    assert relevant_files(both) == ("a.py",)
    assert relevant_files(task.model_copy(update={"key": AnswerKey(facts=("x",))})) == ()


def tool(name: str, *arguments: str, **kinds: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    properties |= {argument: {"type": kind} for argument, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return ToolSpec(name=name, description="", schema=schema)


def test_the_best_search_is_recognised() -> None:
    tools = [tool("web_search", "query"), tool("grep", "pattern"), tool("search_code", "query")]
    best = best_search(tools)
    assert best is not None
    assert best.name == "search_code"
    assert best_search([tool("write_file", "path", "content")]) is None


def test_its_question_is_asked_as_it_is_or_as_a_pattern() -> None:
    question = "Where is the session signed?"
    asked = recognise_arguments(tool("search", "query", "path"), question, "/w")
    assert asked == {"query": question, "path": "/w"}
    assert recognise_arguments(tool("ask", questions="array"), "?", "/w") == {"query": "?"}
    pattern = recognise_arguments(tool("grep", "pattern"), question, "/w")["pattern"]
    assert "session" in pattern.split("|")


def answered(*texts: str, failed: bool = False) -> ToolReply:
    return ToolReply(text="\n\n".join(texts), seconds=0.1, failed=failed)


def test_the_answers_to_the_words_of_a_question_are_merged() -> None:
    """What several of them name, and name early, comes first."""
    replies = [answered("`a.py`, `src/b.py`, `src/c.py`"), answered("`src/d.py`, `src/b.py`")]
    reply = join_replies(replies, first=True)
    assert (reply.failed, reply.first, reply.seconds) == (False, True, 0.2)
    assert reply.parts == (replies[0].text, replies[1].text)
    values = compute_figures(reply, None, HERE, {"src/b.py"})
    assert (values["recall_1"], values["files"]) == (1, 4)
    assert compute_figures(reply, None, HERE, {"src/c.py"})["reciprocal_rank"] == 0.25
    assert merge_rankings([["x", "y"], ["z"], ["y"]]) == ["y", "x", "z"]


def test_what_several_words_name_comes_before_what_one_names_first() -> None:
    first, second = ([f"{name}{n}.py" for n in range(15)] for name in "ab")
    assert merge_rankings([[*first, "both.py"], [*second, "both.py"]])[0] == "both.py"


def test_what_a_long_list_names_counts_little_wherever_it_stands() -> None:
    """That of a search which ranks nothing, for a common word."""
    common = [f"{number}.py" for number in range(400)]
    assert merge_rankings([common, ["a.py", "rare.py"]])[:3] == ["a.py", "rare.py", "0.py"]


def test_an_answer_to_one_of_the_words_is_enough() -> None:
    error, found = answered("no such symbol: src/b.py", failed=True), answered("`src/d.py`")
    values = compute_figures(join_replies([error, found], first=False), None, HERE, RELEVANT)
    assert (values["recall"], values["failed"], values["empty"]) == (0.5, 0, 0)
    nothing = compute_figures(join_replies([error, error], first=False), None, HERE, RELEVANT)
    assert (nothing["recall"], nothing["failed"], nothing["empty"]) == (0, 1, 0)
    said = compute_figures(
        join_replies([answered("Error: none"), found], first=False), None, HERE, RELEVANT
    )
    assert (said["recall"], said["failed"]) == (0.5, 0)
