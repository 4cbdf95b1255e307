"""Rules and prompt files, as they are read and put around what is asked."""

from pathlib import Path

import pytest

from swarm_bench.benchmarks.prompts.evaluation import (
    PromptText,
    fill_prompts,
    join_system,
    read_texts,
)
from swarm_bench.core.errors import ConfigError
from tests.builders.golden import Sentences

FILES = ("main.py", "web/app.ts", "web/app.tsx", "test_main.py")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(text: str | bytes) -> PromptText:
    Path("rules.md").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_texts(["rules.md"], [])[0]


def prompt(text: str) -> PromptText:
    Path("own.prompt").write_text(text)
    return read_texts([], ["own.prompt"])[0]


@pytest.mark.parametrize(
    ("head", "fits"),
    [
        ("", FILES),
        ("globs:", FILES),
        ("globs: null\nalwaysApply: ~", FILES),
        ("date: 2024-13-45\nsize: !!int x\nnumber: " + "1" * 5_000, FILES),
        ("alwaysApply: true\nglobs: '*.ts'", FILES),
        ("globs: '*.py'", ("main.py", "test_main.py")),
        ("globs: '**/*.{ts,tsx}'", ("web/app.ts", "web/app.tsx")),
        ("globs: '{web/*.{ts,tsx},main.py}'", ("main.py", "web/app.ts", "web/app.tsx")),
        ("globs: ['*.py', '!test_*']\nalwaysApply: false", ("main.py",)),
        ("globs: *.py", ("main.py", "test_main.py")),
        ("globs: **/*.ts, *.{py,js} # of both", ("main.py", "web/app.ts", "test_main.py")),
        ("globs:\n  - *.ts\n  - 'a,b'\n", ("web/app.ts",)),
        ("name:\ndescription: Use: always\n  and [so on\n\nglobs: '*.ts'", ("web/app.ts",)),
        ("description: >\n  2024-02-30\n\n  more\nglobs:\n  - '*.ts'", ("web/app.ts",)),
        ("globs: web/\ndescription: of the web\nother: 1", ("web/app.ts", "web/app.tsx")),
    ],
)
def test_rules_apply_where_their_globs_fit(head: str, fits: tuple[str, ...]) -> None:
    own = rules(f"---\n{head}\n---\nBe strict.\n" if head else "Be strict.\n")
    assert tuple(file for file in FILES if own.fits(file)) == fits
    assert own.text == "Be strict."


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nBe strict.\r\n",
        "---\n# a comment alone\n---\n\nBe strict.\n\n",
    ],
)
def test_marks_of_other_systems_are_no_text(text: str | bytes) -> None:
    assert rules(text).text == "Be strict."


def test_a_line_of_dashes_is_no_front_matter_by_itself() -> None:
    assert rules("---\nBe strict.\n").text == "---\nBe strict."
    assert prompt("First do this.\n---\nThen that.").text == "First do this.\n---\nThen that."


@pytest.mark.parametrize(
    "head", ["", "name: x\n---\n", "---\nname: x\n---\n", "temperature: 0.5\nmaxTokens: 9\n---\n"]
)
def test_what_stands_before_a_prompt_is_not_sent(head: str) -> None:
    own = prompt(f"{head}<system>Be brief.</system>\n\nDo {{{{{{ input }}}}}}!\n")
    assert fill_prompts([own], "this") == "Do this!"
    assert join_system([own], "", "main.py") == "Be brief."


def test_nothing_in_a_text_is_executed() -> None:
    own = prompt("{{ secret }} {% x %} ${HOME} `id` {{{input}}} {{{ input }}}")
    task = "{{{ input }}} <system>No.</system> \\1"
    assert fill_prompts([own], task) == f"{{{{ secret }}}} {{% x %}} ${{HOME}} `id` {task} {task}"
    assert join_system([own], "", "main.py") == ""


def test_several_texts_stand_one_behind_the_other() -> None:
    first = PromptText(name="a", kind="prompt", text="<system>A</system>First {{{ input }}}.")
    second = PromptText(name="b", kind="prompt", text="<system>B</system>Second.")
    rule = PromptText(name="c", kind="rule", text="C", globs=("*.py",))
    texts = [rule, first, second]
    assert join_system(texts, "Base", "main.py") == "Base\n\nC\n\nA\n\nB"
    assert join_system(texts, "", "main.js") == "A\n\nB"
    assert fill_prompts(texts, "task") == "Second.\n\nFirst task."


def test_a_heading_before_a_line_of_dashes_is_sent() -> None:
    text = "# Heading\n\n---\nDo {{{ input }}}!"
    assert prompt(text).text == text


@pytest.mark.parametrize("pattern", ["!", "[z-a].py"])
def test_a_pattern_that_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="globs that cannot be read"):
        rules(f"---\nglobs: {pattern!r}\n---\nText.")


def test_a_description_of_any_text_is_not_sent() -> None:
    assert prompt("name: x\ndescription: Use: always\n---\nDo it.").text == "Do it."


@pytest.mark.parametrize(
    "head", ['globs: "\\ud800"', 'x: "\\UFFFFFFFF"', 'x: "\\U00110000"', "x: *y", "x: &y [*y]"]
)
def test_front_matter_that_cannot_be_read_is_refused(head: str) -> None:
    with pytest.raises(ConfigError, match="front matter|globs that cannot"):
        rules(f"---\n{head}\n---\nText.")
    prompt(f"---\n{head}\n---\nText.")


def test_a_task_is_put_into_a_few_places(here: Path, golden: Sentences) -> None:
    for name, places in (("a", 4), ("b", 4), ("c", 5)):
        (here / name).write_text("{{{ input }}} " * places)
    assert fill_prompts(read_texts([], ["a", "b"]), "task").count("task") == 16
    with pytest.raises(ConfigError) as raised:
        read_texts([], ["a", "c"])
    golden(str(raised.value))


def test_rules_whose_front_matter_has_other_types_are_refused() -> None:
    with pytest.raises(ConfigError, match="front matter"):
        rules("---\nglobs: {a: 1}\n---\nText.")
    with pytest.raises(ConfigError, match="front matter"):
        rules("---\n- a\n- b\n---\nText.")
    deep = f"---\n{'[' * 50_000}\n---\n"
    with pytest.raises(ConfigError, match="front matter"):
        rules(f"{deep}Text.")
    assert prompt(f"{deep}Text.").text == f"{deep}Text."
