"""Documentation of functions: how it is asked for, and what is read of an answer."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.code_to_text.benchmark import CodeToText, Function, Language
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.datasets.rows import read_rows

GOLDEN = json.loads((Path(__file__).parent / "harness_prompts.json").read_text())["code_to_text"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
pytestmark = pytest.mark.anyio


def said(text: str, *, whole: bool = False) -> Completion:
    return Completion(text=text, finish="stop", usage=Usage(), whole=whole)


def case_of(own: CodeToText, **values: Any) -> RowCase:
    row = {"language": own.language, "docstring_tokens": ["Does", "it", "."], **values}
    return next(own.cases([Function.model_validate(row)]))


@pytest.mark.parametrize("task", GOLDEN)
@pytest.mark.parametrize("parity", [True, False])
def test_prompts_and_readings_are_those_of_the_harness(task: str, parity: bool) -> None:
    language, _, style = task.partition("-")
    own = CodeToText.model_validate(
        {"language": language, "style": style or "body", "parity": parity}
    )
    golden = GOLDEN[task]
    case = case_of(own, **golden["doc"])
    ask = own.ask(case, "text")
    assert ask.prompt == golden["prompt"]
    assert ask.sampling.stop == tuple(golden["stop"])
    assert (ask.sampling.temperature, ask.sampling.top_p) == (0, None)
    for post in golden["post"]:
        assert own.read(case, said(post["completion"]), "text") == post["result"]
        whole = said(golden["prompt"] + post["completion"], whole=True)
        if parity or not style:
            assert own.read(case, whole, "text") == post["result"]


PYTHON = 'def add(a, b):\n    """Add.\n\n    More.\n    """\n    return a + b'


@pytest.mark.parametrize(
    ("language", "end"),
    [
        ("python", '\n"""Explanation of the code above:\n'),
        ("ruby", "\n=begin Explanation of the code above:\n"),
        ("go", "\n/* Explanation of the code above:\n"),
    ],
)
def test_the_other_phrase(language: Language, end: str) -> None:
    own = CodeToText(language=language, phrase="explanation")
    prompt = own.ask(case_of(own, code=PYTHON, docstring="Add.\n\n    More."), "text").prompt
    assert isinstance(prompt, str)
    assert prompt.endswith(f"return a + b{end}")


@pytest.mark.parametrize(
    ("code", "docstring", "body", "left"),
    [
        ('def f():\n    r"""Do\n    it."""\n    return 1', "Do\n    it.",
         "def f():\n    r\n    return 1", 'def f():\n    r"""'),
        ("def f():\n    '''Do it.'''\n    return 1", "Do it.",
         "def f():\n    return 1", 'def f():\n    """'),
        ("def f():\n    'Do it.'\n    return 1", "Do it.",
         "def f():'\n    return 1", 'def f():\n   """'),
        ('def f(a="""x"""):\n    """Do it."""', "Do it.", "def f(a=", 'def f(a="""'),
    ],
)  # fmt: skip
def test_a_docstring_is_hidden_as_the_harness_does(
    code: str, docstring: str, body: str, left: str
) -> None:
    case = case_of(CodeToText(), code=code, docstring=docstring)
    opener = '\n""" The goal of this function is to:\n'
    assert CodeToText().ask(case, "text").prompt == body + opener
    assert CodeToText(style="left").ask(case, "text").prompt == left


def test_no_prompt_has_the_documentation_that_is_asked_for() -> None:
    own = CodeToText()
    rows = read_rows(own.default_dataset(), own.Row).rows
    for case in own.cases(rows):
        summary = case.row.docstring.partition("\n\n")[0]
        for kind in (own, CodeToText(style="left")):
            for way in kind.ways:
                ask = kind.ask(case, way)
                assert summary not in str(ask.prompt)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_documentation_of_a_row_is_the_best(language: Language) -> None:
    own = CodeToText(language=language)
    cases = tuple(own.cases(read_rows(own.default_dataset(), own.Row).rows))
    assert 5 <= len(cases) <= 300
    for case in cases:
        for way in own.ways:
            answer = said(own.ask(case, way).reference or "", whole=True)
            scores = await own.score(case, own.read(case, answer, way), Tools(environment=None))
            assert scores["bleu"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("language", "text", "read"),
    [
        ("python", 'add numbers. """\ndef x', "add numbers."),
        ("java", "add numbers. */ int x", "add numbers."),
        ("ruby", "add numbers.=end", "add numbers."),
        ("go", "", ""),
    ],
)
def test_the_end_of_the_comment_ends_an_answer(language: Language, text: str, read: str) -> None:
    own = CodeToText(language=language)
    case = case_of(own, code=PYTHON, docstring="Add.")
    assert own.read(case, said(text), "text") == read
    kept = CodeToText(language=language, parity=True).read(case, said(text), "text")
    assert kept == text.partition("\n")[0].strip()


def test_parity_reads_behind_other_quotes() -> None:
    own = CodeToText(style="left", parity=True)
    case = case_of(own, code=PYTHON, docstring="Add.")
    assert own.read(case, said("adds '''numbers"), "text") == "numbers"
    assert CodeToText(style="left").read(case, said("adds '''numbers"), "text") == "adds"


def test_a_chat_is_asked_in_our_own_words() -> None:
    own = CodeToText(style="left")
    case = case_of(own, code=PYTHON, docstring="Add.\n\n    More.")
    prompt = own.ask(case, "chat").prompt
    assert prompt[0].text.endswith("```python\ndef add(a, b):\n```")  # type: ignore[union-attr, index]
    for text, line in (
        ('\n"It adds."\n\nMore.', "It adds."),
        ("'a' and 'b'", "'a' and 'b'"),
        ("It adds `a`", "It adds `a`"),
        ('"', '"'),
        ("```\nIt adds.\n```\nMore.", "It adds."),
        ('```python\n"""It adds."""\n```', "It adds."),
        ('"""\nIt adds.\n"""', "It adds."),
        ("It adds.\n```python\nadd(1, 2)\n```", "It adds."),
        ("```It adds.", "```It adds."),
    ):
        assert own.read(case, said(text), "chat") == line


def test_parity_drops_an_r() -> None:
    values = {"code": "x", "docstring_tokens": ["returns", "it", "\n."]}
    own = CodeToText(language="go")
    assert own.reference(case_of(own, **values)) == "returns it."
    assert CodeToText(language="go", parity=True).reference(case_of(own, **values)) == "eturns it."


@given(st.text(), st.booleans(), st.booleans())
def test_no_answer_makes_the_reader_raise(text: str, whole: bool, parity: bool) -> None:
    for style in ("body", "left"):
        own = CodeToText.model_validate({"style": style, "parity": parity})
        case = case_of(own, code=PYTHON, docstring="Add.")
        for way in own.ways:
            assert "\n" not in own.read(case, said(text, whole=whole), way)


@given(st.text(min_size=1, alphabet="a'\" \n\t\\"), st.text(alphabet="a'\" \n"), st.text())
def test_no_code_makes_a_prompt_raise(docstring: str, before: str, after: str) -> None:
    row = {"code": before + docstring + after, "docstring": docstring}
    for style in ("body", "left"):
        own = CodeToText.model_validate({"style": style})
        prompt = own.ask(case_of(own, **row), "text").prompt
        assert isinstance(prompt, str)


def rows_of(count: int, **values: Any) -> list[Function]:
    row = {"language": "go", "code": "x", "docstring_tokens": ["a"], **values}
    return [Function.model_validate(row)] * count


def test_the_first_2000_rows_of_a_language_are_asked() -> None:
    rows = [*rows_of(1, language="php"), *rows_of(2500)]
    cases = list(CodeToText(language="go").cases(rows))
    assert (len(cases), cases[0].id, cases[-1].id) == (2000, "1", "2000")
    assert len(list(CodeToText(language="go", rows=20_000).cases(rows))) == 2500
    (note,) = CodeToText(language="go").notes(rows)
    assert "2,500 rows in go, of which the first 2,000" in note
    assert not CodeToText(language="go", rows=2500).notes(rows)


def test_functions_of_one_file_are_a_group() -> None:
    own = CodeToText(language="go")
    assert case_of(own, code="x").group is None
    assert case_of(own, code="x", repo="a/b", path="c.go").group == "a/b/c.go"


def test_a_language_without_rows_and_a_style_without_a_docstring_are_refused() -> None:
    with pytest.raises(UsageError, match="no row in java, but in go"):
        next(CodeToText(language="java").cases(rows_of(1)))
    with pytest.raises(ValidationError, match="has style=left, which needs language=python"):
        CodeToText(language="java", style="left")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"language": "python", "code": PYTHON, "docstring": "Other."}, "docstring that is not in"),
        ({"language": "python", "code": PYTHON}, "docstring that is not in"),
        ({"language": "cobol", "code": "x"}, "language must be"),
        ({"code": "x"}, "language is missing"),
        ({"language": "go", "code": "x", "docstring_tokens": []}, "docstring_tokens must not"),
        ({"language": "go", "code": "x", "docstring_tokens": [" ", "\n"]}, "of blanks alone"),
    ],
)
def test_rows_that_cannot_be_asked_are_named(
    tmp_path: Path, row: dict[str, Any], error: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(f"\n{json.dumps({'docstring_tokens': ['a'], **row})}\n")
    with pytest.raises(ConfigError, match=rf"rows\.jsonl:2: .*{error}"):
        read_rows(str(rows), Function)
