"""What the errors say."""

from pathlib import Path

import pytest

from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, UnknownName, choice, described
from swarm_bench.core.metric import Style


def test_of_thousands_of_names_the_first_are_named() -> None:
    few = str(UnknownName("case", "x", ["b0", "a1"]))
    assert few == "There is no case called 'x'; known: a1, b0"
    many = str(UnknownName("case", "x", [f"case {number:05}" for number in range(30_000)]))
    assert many.endswith("case 00028, case 00029 and 29,970 more")
    assert many.startswith("There is no case called 'x'; known: case 00000, case 00001, ")


def test_a_name_that_is_misspelt_is_not_taken_for_the_only_one() -> None:
    keys = ["pass_at_1", "bleu", "cost"]
    assert choice("blue", keys) == "did you mean 'bleu'? There are also pass_at_1, cost"
    assert choice("speed", keys) == "choose one of pass_at_1, bleu, cost"
    assert choice("blue", ["bleu"]) == "did you mean 'bleu'?"


OWN = """from json import loads
from re import NOFLAG

class Style:
    WORDS = 1

class Wrong:
    style = Style.SHARE
"""


def test_what_can_stand_in_the_place_of_a_wrong_style_is_said() -> None:
    with pytest.raises(AttributeError) as caught:
        Style.SECOND  # type: ignore[attr-defined]  # noqa: B018
    text = described(caught.value)
    assert "AttributeError: Style has no SECOND; did you mean 'SECONDS'? There are also " in text
    assert all(style.name in text for style in Style)


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        (OWN, "{0}.py, line 8: AttributeError: type object 'Style' has no attribute 'SHARE'; fix"),
        (
            "from json import loads\n\nloads('')\n",
            "{0}.py, line 3: JSONDecodeError: Expecting value",
        ),
        ("def f(:\n    pass\n", "{0}.py, line 1: SyntaxError: invalid syntax; fix it"),
        (
            "import absent_package\n",
            "{0}.py, line 1: ModuleNotFoundError: No module named 'absent_",
        ),
        ("", "AttributeError: module '{0}' has no attribute 'Wrong'; check the spelling"),
    ],
)
def test_what_a_class_of_ones_own_raises_names_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, clause: str
) -> None:
    module = f"mine_{abs(hash(code))}"
    (tmp_path / f"{module}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError) as caught:
        entry_points.load("benchmarks", f"{module}:Wrong")
    assert f"one of the benchmarks: {clause.format(module)}" in str(caught.value)
