"""The benchmark `completion`: its cases, what it asks, and its scores."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.completion.benchmark import CodeCompletion
from swarm_bench.benchmarks.completion.holes import Hole
from swarm_bench.benchmarks.completion.rows import Code
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Gap, Way
from swarm_bench.core.session.models import Arm
from swarm_bench.core.validation import describe_problem
from swarm_bench.datasets.rows import read_rows
from tests.benchmarks.completion.data_files import PACKAGE
from tests.scoring.texts.golden_values import TOLERANCE, golden_values

pytestmark = pytest.mark.anyio
HOLE = Hole("a.sol", "BEFORE(middle;)BEHIND", 7, 14)
CASE = RowCase(id="a.sol:1", row=HOLE)


def made(**properties: Any) -> CodeCompletion:
    return CodeCompletion.model_validate(properties)


def answer(text: str, *, whole: bool = False) -> Completion:
    return Completion(text=text, finish="stop", usage=Usage(), whole=whole)


async def scores(middle: str, guess: str, path: str = "a.sol", **properties: Any) -> dict[str, Any]:
    own = made(**properties)
    case = RowCase(id="a", row=Hole(path, f"<{middle}>", 1, 1 + len(middle)))
    read = own.read(case, answer(guess), "gap")
    return dict(await own.score(case, read, Tools(environment=None)))


@pytest.mark.parametrize("expected", golden_values("fim_scores"))
async def test_parity_scores_as_the_reference_program_does(expected: dict[str, Any]) -> None:
    lines = expected["lines_to_match"]
    own = await scores(expected["middle"], expected["guess"], lines_to_match=lines, parity=True)
    for score, key in (("indel", "indel"), ("bleu", "bleu"), ("code_bleu", "codebleu")):
        assert own[score] == pytest.approx(expected[key], abs=TOLERANCE)
    assert own["exact"] == (expected["scored_middle"] == expected["scored_guess"])


async def test_code_is_scored_by_its_own_grammar() -> None:
    line = "    uint256 public total;"
    as_solidity, as_javascript = await scores(line, line), await scores(line, line, parity=True)
    assert as_solidity["indel"] == as_solidity["exact"] == 1
    wrong = "    uint256 public totals"
    assert (await scores(line, wrong))["code_bleu"] != as_javascript["code_bleu"]
    assert (await scores(line, line, path="a.txt"))["code_bleu"] is None
    assert (await scores("x = 1", "x = 1", path="a.py"))["exact"] == 1


async def test_by_default_the_first_line_is_compared_and_blanks_count() -> None:
    assert (await scores("a\nb", "a\nc"))["exact"] == 1
    assert (await scores("a\nb", "a\nc", lines_to_match=0))["exact"] == 0
    assert (await scores("  a", "a"))["indel"] == pytest.approx(0.5)
    assert await scores("a", "") == {"indel": 0, "bleu": 0, "code_bleu": 0, "exact": 0}


@settings(max_examples=100)
@given(
    st.text() | st.text(alphabet="{}()=;/*\n\r a"),
    st.text() | st.text(alphabet="{}()=;/*\n\r a"),
    st.integers(0, 3),
    st.sampled_from(["a.sol", "a.py", "a.ts", "a.go", "a.rs", "a.js", "a"]),
)
async def test_no_text_makes_scoring_fail(middle: str, guess: str, lines: int, path: str) -> None:
    own = await scores(middle, guess, path, lines_to_match=lines)
    assert all(value is None or 0 <= value <= 1 for value in own.values())
    same = await scores(middle, middle, path, lines_to_match=lines)
    assert same["indel"] == same["exact"] == 1


def test_a_package_of_fifty_files_has_three_hundred_cases() -> None:
    rows = read_rows(str(PACKAGE), Code).rows
    for parity in (False, True):
        cases = list(made(parity=parity).cases(rows))
        assert len({case.id for case in cases}) == len(cases) == 300
        assert {case.part for case in cases} == {"whole_line", "until_eol"}
        assert len({case.group for case in cases}) == 50
        assert all(case.row.middle.strip() for case in cases)
    assert len(list(made(samples=1).cases(rows))) == 100


def test_holes_of_a_package_are_cases_as_they_are() -> None:
    row = {"path": "a.sol", "prefix": "p", "middle": "m", "suffix": "s"}
    rows = [Code.model_validate({**row, "part": part}) for part in ("y", "x", "x")]
    cases = list(made().cases(rows))
    assert [case.id for case in cases] == ["a.sol:y:1", "a.sol:x:1", "a.sol:x:2"]
    assert [case.part for case in cases] == ["y", "x", "x"]
    plain = made().cases([Code.model_validate(row)] * 2)
    assert [(case.id, case.part) for case in plain] == [("a.sol:1", None), ("a.sol:2", None)]
    assert (cases[0].row.prefix, cases[0].row.middle, cases[0].row.suffix) == ("p", "m", "s")


def test_holes_that_are_blank_in_what_is_compared_are_left_out_and_counted() -> None:
    hole = {"path": "a.sol", "prefix": "p", "suffix": "s"}
    rows = [Code.model_validate({**hole, "middle": text}) for text in ("\n  x\n", "x\n", "\n\nx")]
    for lines, number in ((1, 1), (2, 2), (3, 3), (0, 3)):
        own = made(lines_to_match=lines)
        assert len(list(own.cases(rows))) == number
        assert ("blank in the lines that are compared" in own.notes(rows)[0]) is (number < 3)
    assert len(list(made(parity=True).cases(rows))) == 3


def test_a_hole_is_asked_in_three_ways() -> None:
    own = made(family="starcoder2")
    gap, text, chat = (own.ask(CASE, way) for way in own.ways)
    assert gap.prompt == Gap(prefix="BEFORE(", suffix=")BEHIND")
    assert text.prompt == "<fim_prefix>BEFORE(<fim_suffix>)BEHIND<fim_middle>"
    assert isinstance(chat.prompt, tuple)
    assert "<QUERY>\nBEFORE({{FILL_HERE}})BEHIND\n</QUERY>" in chat.prompt[0].text
    for ask in (gap, text, chat):
        assert ask.reference == "middle;"
        assert (ask.sampling.max_tokens, ask.sampling.temperature) == (128, 0)
    assert gap.sampling.stop == ()
    assert "<|endoftext|>" in text.sampling.stop
    assert chat.sampling.stop == ("</COMPLETION>",)


@pytest.mark.parametrize(
    ("way", "text", "read"),
    [
        ("gap", " a<|endoftext|>\n", " a<|endoftext|>\n"),
        ("text", " a\n<|endoftext|>b", " a\n"),
        ("chat", "<COMPLETION> a\n</COMPLETION>b", " a\n"),
        ("chat", "\n<COMPLETION>a", "\n<COMPLETION>a"),
        ("chat", "", ""),
    ],
)
def test_answers_are_read_up_to_a_stop_word_and_not_trimmed(way: Way, text: str, read: str) -> None:
    assert made(family="starcoder2").read(CASE, answer(text), way) == read


def test_a_budget_sends_what_the_editor_does() -> None:
    hole = Hole("a.sol", "p" * 900 + "m" + "s" * 300, 900, 901)
    case = RowCase(id="a", row=hole)
    for budget, most, new in (("tabby", 1024, 64), ("continue", 1000, 1024)):
        ask = made(budget=budget).ask(case, "gap")
        assert isinstance(ask.prompt, Gap)
        before, behind = len(ask.prompt.prefix), len(ask.prompt.suffix)
        assert before + behind == most
        assert before == most * 900 // 1200
        assert ask.sampling.max_tokens == new
    assert made(budget="tabby").ask(CASE, "gap").prompt == made().ask(CASE, "gap").prompt


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"template": "{prefix}"}, "has no {suffix}, and needs one"),
        ({"template": "{prefix}{suffix}{suffix}"}, "has 2 {suffix}, and needs one"),
        (
            {"template": "{prefix}{suffix}", "family": "codestral"},
            "has a family and a template; give",
        ),
        ({"family": "gpt"}, "must be 'codegemma', 'codellama'"),
        ({"budget": "tabby", "max_tokens": 3}, "has a budget and max_tokens; give one of them"),
        ({"samples": 0}, "must be at least 1"),
        ({"cutoff": "June"}, "must be a day"),
    ],
)
def test_properties_that_fit_nothing_are_refused(properties: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        made(**properties)
    assert problem in describe_problem(raised.value.errors()[0])


def test_models_are_asked_with_the_tokens_of_their_family() -> None:
    models = [Arm(name=word, model=word) for word in ("ollama:codegemma:2b", "copy")]
    first, second = made().arms(models)
    assert first.properties == {"family": "codegemma"}
    assert second == models[1]
    assert made(family="codestral").arms(models) == models
    assert made(template="{suffix}{prefix}").arms(models) == models
    varied = Arm(name="x", model="ollama:codegemma:2b", properties={"family": "starcoder2"})
    assert made().arms([varied]) == [varied]


def test_text_is_asked_of_models_whose_tokens_are_known_and_gaps_of_what_is_none() -> None:
    own = made(way="text")
    first, second = own.arms([Arm(name=it, model=it) for it in ("ollama:codegemma:2b", "copy")])
    assert first.properties == {"family": "codegemma"}
    assert second.properties == {"way": "gap"}
    unknown = Arm(name="x", model="llamacpp:http://127.0.0.1:8080")
    with pytest.raises(
        UsageError, match=r"tokens around a gap of llamacpp:http://127.* family=\.\.\."
    ):
        own.arms([unknown])
    assert made(way="text", family="codestral").arms([unknown]) == [unknown]
    (written,) = own.arms([Arm(name="x", model="generations:a.json")])
    assert written.properties == {"way": "gap"}


def test_by_default_a_model_of_chats_is_of_no_family() -> None:
    models = [Arm(name="x", model="ollama:qwen2.5:7b-instruct")]
    assert made().arms(models) == models
    (arm,) = made(parity=True).arms(models)
    assert arm.properties == {"family": "qwen2.5-coder"}


def test_the_first_way_is_infill_then_the_tokens_of_the_family_then_turns() -> None:
    assert made().asks_by() == ("gap", "chat")
    assert made(family="codestral").asks_by() == ("gap", "text", "chat")
    assert made(family="codestral", parity=True).asks_by() == ("text", "gap", "chat")
    assert made(template="{suffix}{prefix}").asks_by() == ("text", "gap", "chat")


def test_a_template_is_asked_as_it_stands() -> None:
    own = made(template="{suffix}|{prefix}!")
    assert own.ask(CASE, "text").prompt == ")BEHIND|BEFORE(!"


def test_ids_of_long_paths_are_shortened_and_stay_different() -> None:
    paths = [f"{'d' * 87}/{top}/{'e' * 200}.sol" for top in "ab"]
    rows = [
        Code.model_validate({"path": path, "prefix": "", "middle": "x", "suffix": "", "part": "p"})
        for path in (*paths, "short.sol")
    ]
    cases = list(CodeCompletion().cases(rows))
    assert [case.group for case in cases] == [*paths, "short.sol"]
    first, second, short = (case.id for case in cases)
    assert (len(first), first[9:], short) == (200, second[9:], "short.sol:p:1")
    assert first[:8] != second[:8]
    assert first.endswith("e.sol:p:1")
    assert [case.id for case in CodeCompletion().cases(rows[:1])] == [first]
