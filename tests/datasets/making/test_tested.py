import pytest

from swarm_bench.datasets.making.symbols import make_symbols
from tests.builders.golden import Sentences
from tests.builders.trees import tree_of
from tests.datasets.making.trees import files_of, symbols_of

PYTHON = {
    "pkg/mail.py": "def split_letters(x): pass\nclass Postman: pass\ndef unheard_of(): pass\n",
    "tests/test_mail.py": (
        "class TestSplitLetters:\n"
        "    def test_returns_none_for_empty_bags(self): split_letters(1)\n"
        "    def test_keeps_stamps_together(self): split_letters(2)\n"
        "class TestPostman:\n"
        "    def test_rings_twice_before_every_loud_summer_thunder(self): Postman()\n"
        "def test_unheard_of_rings_thrice_before_every_loud_summer_storm(): pass\n"
    ),
}
ECMA = {
    "src/mail.{}": "export function splitLetters(x) {}\n",
    "src/__tests__/mail.spec.{}": (
        "describe('office/splitLetters', () => {\n"
        "  it('should return null for empty bags', () => { splitLetters(1) })\n"
        "  it(`keeps stamps of splitLetters together`, () => { splitLetters(2) })\n"
        "})\n"
    ),
}
GO = {
    "mail.go": "package a\nfunc splitLetters() {}\n",
    "mail_test.go": (
        "package a\n"
        "func TestSplitLetters_EmptyBagsGiveNothing(t *testing.T) { splitLetters() }\n"
        "func TestSplitLetters(t *testing.T) {\n"
        '  t.Run("keeps stamps together", func(t *testing.T) { splitLetters() })\n}\n'
    ),
}


def _ecma(ending: str) -> dict[str, str]:
    return {path.format(ending): text for path, text in ECMA.items()}


EXPECTED = {
    "python": (
        PYTHON,
        {
            "split_letters": "returns none for empty bags; keeps stamps together",
            "Postman": "rings twice before every loud summer thunder",
        },
    ),
    "javascript": (
        _ecma("js"),
        {"splitLetters": "should return null for empty bags; keeps stamps of … together"},
    ),
    "typescript": (
        _ecma("ts"),
        {"splitLetters": "should return null for empty bags; keeps stamps of … together"},
    ),
    "go": (GO, {"splitLetters": "empty bags give nothing; keeps stamps together"}),
}


def _asked(texts: dict[str, str]) -> dict[str, str]:
    """Return the last line of each prompt, by the name in the key."""
    made = make_symbols(tree_of(texts), 99, 0)
    return {symbols_of(it)[0].split("::")[1]: it.prompt.split("\n")[1] for it in made.tasks}


@pytest.mark.parametrize("language", EXPECTED)
def test_what_tests_say_is_asked_without_the_name(language: str) -> None:
    texts, expected = EXPECTED[language]
    assert _asked(texts) == expected


def test_the_key_is_the_file_that_defines_it(golden: Sentences) -> None:
    (task,) = make_symbols(tree_of(_ecma("ts")), 9, 0).tasks
    assert files_of(task) == ["src/mail.ts"]
    golden(task.title, task.prompt, task.keywords)


UNCLEAR = {
    "it is defined in the tests too": ("tests/b.py", "def split_letters(): pass\n"),
    "it is defined twice": ("other.py", "def split_letters(): pass\n"),
}


@pytest.mark.parametrize("why", UNCLEAR)
def test_what_a_test_may_mean_otherwise_is_not_asked(why: str) -> None:
    path, text = UNCLEAR[why]
    assert list(_asked({**PYTHON, path: text})) == ["Postman"]


@pytest.mark.parametrize(
    ("title", "calls"),
    [
        ("splitLetters", "other()"),
        ("letters", "splitLetters(1)"),
        ("postmen", "new Postmen()"),
        ("Postmen", "expect(Postmen.LATE)"),
    ],
)
def test_a_test_that_names_or_calls_something_else_says_nothing(title: str, calls: str) -> None:
    texts = {
        "a.ts": "export function splitLetters() {}\nexport class Postmen {}\n",
        "a.spec.ts": f"describe('{title}', () => {{\n"
        f"it('should return null for very empty old leather bags', () => {{ {calls} }}) }})\n",
    }
    assert _asked(texts) == {}


def test_titles_that_say_too_little_are_not_asked() -> None:
    texts = {**_ecma("js")}
    texts["src/__tests__/mail.spec.js"] = (
        "describe('splitLetters', () => { it('works', () => { splitLetters() }) })\n"
    )
    assert _asked(texts) == {}


def test_documentation_comes_before_tests() -> None:
    sentence = "Take the mail of one morning apart by streets."
    texts = {**PYTHON, "pkg/mail.py": f'def split_letters(x):\n    """{sentence}"""\n'}
    assert _asked(texts) == {"split_letters": "Take the mail of one morning apart by streets."}
