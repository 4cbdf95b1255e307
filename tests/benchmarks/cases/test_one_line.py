"""Answers in one line: how they are asked, and what is read of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.one_line.benchmark import MARK, OneLine
from swarm_bench.benchmarks.one_line.conala import Conala
from swarm_bench.benchmarks.one_line.concode import Concode
from swarm_bench.benchmarks.one_line.spider import Spider
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Turn
from swarm_bench.datasets.rows import read_rows

GOLDEN = json.loads((Path(__file__).parent / "harness_prompts.json").read_text())
KINDS = (Conala, Spider, Concode)
QUESTION = {"db_id": "d", "question": " How many? ", "query": "SELECT count(*) FROM t"}
pytestmark = pytest.mark.anyio


def said(text: str, *, whole: bool = False) -> Completion:
    return Completion(text=text, finish="stop", usage=Usage(), whole=whole)


def plain(kind: type[OneLine]) -> OneLine:
    return kind.model_validate({})


def case_of(kind: type[OneLine], **row: Any) -> RowCase:
    return next(plain(kind).cases([kind.Row.model_validate(row)]))


def intent(**values: Any) -> RowCase:
    row = {"question_id": 7, "intent": "i", "rewritten_intent": None, "snippet": "s", **values}
    return case_of(Conala, **row)


@pytest.mark.parametrize("kind", [Conala, Concode])
def test_parity_has_the_prompts_and_the_readings_of_the_harness(kind: type[OneLine]) -> None:
    golden = GOLDEN[kind.name]
    doc = {"question_id": 1, **golden["doc"]}
    case = case_of(kind, **doc)
    own = kind.model_validate({"parity": True, "shots": golden["examples"]})
    ask = own.ask(case, "text")
    assert ask.prompt == golden["prompt"]
    assert (ask.reference, own.reference(case)) == (golden["reference"],) * 2
    assert ask.sampling.stop == tuple(golden["stop"])
    for post in golden["post"]:
        assert own.read(case, said(post["completion"]), "text") == post["result"]
        whole = said(golden["prompt"] + post["completion"], whole=True)
        assert own.read(case, whole, "text") == post["result"]
    if "prompt_without_rewritten" in golden:
        raw = case_of(kind, **{**doc, "rewritten_intent": None})
        assert own.ask(raw, "text").prompt == golden["prompt_without_rewritten"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_prompt_without_parity_has_no_accident(kind: type[OneLine]) -> None:
    rows = read_rows(kind.dataset, kind.Row).rows
    assert 8 <= len(rows) <= 12
    for case in plain(kind).cases(rows):
        prompt = plain(kind).ask(case, "text").prompt
        assert isinstance(prompt, str)
        assert prompt.count(MARK) == 3
        assert prompt.endswith(f"\nInstruction:\n{case.row.text}\n{MARK}")
        assert " \n" not in prompt


def test_the_instruction_lines() -> None:
    assert [kind.instruction for kind in KINDS] == [
        "Answer the following instructions in one line of Python code:",
        "Answer the following instructions in a one line SQL query:",
        "Answer the following instructions in a one line of Java code:",
    ]


def test_a_chat_has_the_examples_as_its_turns() -> None:
    turns = Spider().ask(case_of(Spider, **QUESTION), "chat").prompt
    assert isinstance(turns, tuple)
    assert [turn.role for turn in turns] == ["user", "assistant"] * 2 + ["user"]
    assert turns[0].text.startswith(Spider.instruction)
    assert turns[-1] == Turn(role="user", text="How many?")


@pytest.mark.parametrize(
    ("text", "way", "line"),
    [
        ("\n  x = 1  \ny = 2", "text", "x = 1"),
        ("", "text", ""),
        (" \n\t\n", "chat", ""),
        ("Sure:\n```python\nx = 1\n```\nDone.", "chat", "x = 1"),
        ("```\n```", "chat", ""),
        ("`x = 1`", "chat", "x = 1"),
        ("`a` + `b`", "text", "`a` + `b`"),
    ],
)
def test_the_first_line_is_read(text: str, way: Any, line: str) -> None:
    assert Conala().read(intent(), said(text), way) == line


@given(st.text() | st.just("`") | st.just(MARK * 4), st.booleans(), st.booleans())
def test_no_answer_makes_the_reader_raise(text: str, whole: bool, parity: bool) -> None:
    for way in Conala.ways:
        line = Conala(parity=parity).read(intent(), said(text, whole=whole), way)
        assert parity or "\n" not in line
        assert line == line.strip() or way == "chat"


async def test_what_is_counted_of_a_line() -> None:
    case, own = intent(snippet="a.b(c)\n"), Conala()
    right = await own.score(case, "a.b(c)", Tools(environment=None))
    assert right == {"bleu_counts": [6, 5, 4, 3, 6, 5, 4, 3, 6, 6], "exact": True}
    empty = await own.score(case, "", Tools(environment=None))
    assert empty == {"bleu_counts": [0] * 8 + [0, 6], "exact": False}


def test_questions_and_databases_are_groups() -> None:
    assert intent().group == "7"
    assert case_of(Spider, **QUESTION).group == "d"
    assert case_of(Concode, nl="a .", code="b").group is None


def test_answers_of_several_lines_are_a_note() -> None:
    rows = [intent(snippet=text).row for text in ("a\nb\n", "a\n", "a")]
    (note,) = Conala().notes(rows)
    assert note.startswith("1 of 3 answers of the data set have several lines")
    assert not Conala().notes(rows[1:])
    assert not Conala(parity=True).notes(rows)


GOOD = {"instruction1": "a", "solution1": "b", "instruction2": "c", "solution2": "d"}


@pytest.mark.parametrize(
    ("shots", "error"),
    [
        ({"instruction1": "a", "solution1": "b"}, r"shots\.instruction2\n"),
        ({**GOOD, "solution1": ""}, r"shots\.solution1\n"),
        ({**GOOD, "instruction2": f"c {MARK}"}, "an answer is looked for"),
        ({**GOOD, "solution2": "Solution:"}, "an answer is looked for"),
        ({**GOOD, "solution3": "e"}, r"shots\.solution3\n"),
        ([], "shots\n"),
    ],
)
def test_examples_that_are_none_are_refused(shots: Any, error: str) -> None:
    for kind in KINDS:
        with pytest.raises(ValidationError, match=error):
            kind.model_validate({"shots": shots})


@pytest.mark.parametrize(
    ("kind", "row", "error"),
    [
        (Spider, {"db_id": "d", "question": "a Solution:", "query": "b"}, "is looked for"),
        (Spider, {"db_id": "d", "question": " ", "query": "b"}, "has nothing to ask"),
        (Spider, {"db_id": "d", "question": "a"}, "query is missing"),
        (Concode, {"nl": "a .", "code": ""}, "has no answer"),
        (Concode, {"nl": ". concode_field_sep a", "code": "b"}, "has nothing to ask"),
        (Conala, {"question_id": 1, "intent": "a", "snippet": None}, "snippet must be a string"),
    ],
)
def test_rows_that_cannot_be_asked_are_named(
    tmp_path: Path, kind: type[OneLine], row: dict[str, Any], error: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    good = read_rows(kind.dataset, kind.Row).rows[0].model_dump()
    rows.write_text(f"{json.dumps(good)}\n{json.dumps(row)}\n")
    with pytest.raises(ConfigError, match=rf"rows\.jsonl:2: .*{error}"):
        read_rows(str(rows), kind.Row)


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        (Conala, "conala-test.json", [{"intent": "a", "rewritten_intent": None, "snippet": "b",
                                       "question_id": 1}]),
        (Spider, "dev.json", [{**QUESTION, "query_toks": ["SELECT"], "sql": {"from": []}}]),
    ],
)  # fmt: skip
def test_files_of_the_originals_are_read(
    tmp_path: Path, kind: type[OneLine], name: str, content: Any
) -> None:
    (tmp_path / name).write_text(json.dumps(content, indent=2))
    assert len(read_rows(str(tmp_path / name), kind.Row).rows) == 1


def test_concode_has_lines_in_a_file_of_json(tmp_path: Path) -> None:
    row = {"code": "int function ( ) { return a ; }", "nl": "sum . concode_field_sep int a"}
    (tmp_path / "dev.json").write_text(f"{json.dumps(row)}\n" * 2)
    rows = read_rows(str(tmp_path / "dev.json"), Concode.Row).rows
    assert [row.text for row in rows] == ["sum", "sum"]
