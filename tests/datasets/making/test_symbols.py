import pytest

from swarm_bench.datasets.making.symbols import make_symbols
from tests.builders.trees import tree_of
from tests.datasets.making.trees import files_of, searched, symbols_of

PYTHON = {
    "pkg/head.py": (
        '@cached\ndef parse_header(x):\n    """Take the first lines of a mail apart by colons."""\n'
        "    def inner_part():\n        '''Sum the weights of all parcels twice a day.'''\n"
        "class Reader:\n    def read_all(self):\n        '''Wait for last bytes, close sockets.\n"
        "\n        And more.\n        '''\n"
        'def twice_defined():\n    """Never asked, as its name is defined elsewhere too."""\n'
        'def of_few_words():\n    """Parse it."""\n'
        "def without_documentation(): pass\n"
    ),
    "pkg/other.py": "def twice_defined(): pass\nrun(parse_header=1)\n",
    "tests/test_head.py": 'def of_tests():\n    """Check coupons of customers against bills."""\n',
}
ECMA = (
    "/**\n * Shortens the names of all visitors to ten capital letters.\n *\n"
    " * @param {string} x\n */\n"
    "export function visitorTag(x) {}\n"
    "// compiler should normalize the classes of one element here\nexport function patched() {}\n"
)
GO = {
    "run.go": (
        "package a\n\n// Serve waits for the first client that sends a greeting\n"
        "// and closes the door behind it. It may block.\nfunc Serve() {}\n\n"
        "// Code of systems without doors, windows and chimneys.\n\nfunc Gone() {}\n"
    ),
}
RUST = {
    "src/lib.rs": (
        "/// A list of the houses that a postman passes at night.\n///\n/// # Examples\n"
        "#[derive(Debug)]\npub struct Route;\n"
        "// A plain comment about horses and their stables here.\npub fn stable_of() {}\n"
    ),
}
EXPECTED = {
    "python": (
        PYTHON,
        {
            "parse_header": "Take the first lines of a mail apart by colons.",
            "Reader.read_all": "Wait for last bytes, close sockets.",
        },
    ),
    "javascript": (
        {"a.js": ECMA},
        {"visitorTag": "Shortens the names of all … to ten capital letters."},
    ),
    "typescript": (
        {"a.ts": ECMA},
        {"visitorTag": "Shortens the names of all … to ten capital letters."},
    ),
    "go": (
        GO,
        {
            "Serve": "Waits for the first client that sends a greeting "
            "and closes the door behind it."
        },
    ),
    "rust": (RUST, {"Route": "A list of the houses that a postman passes at night."}),
}


@pytest.mark.parametrize("language", EXPECTED)
def test_what_says_what_it_does_is_asked_about(language: str) -> None:
    texts, sentences = EXPECTED[language]
    made = make_symbols(tree_of(texts), 99, 0)
    asked = {symbols_of(task)[0].split("::")[1]: task.prompt.split("\n")[1] for task in made.tasks}
    assert asked == sentences
    assert all(symbols_of(task)[0].startswith(files_of(task)[0]) for task in made.tasks)
    assert all(set(task.tags) == {"symbols", language} for task in made.tasks)
    assert made.looked_at == len(made.tasks) + sum(made.dropped.values())


def _documented(name: str, sentence: str) -> str:
    return f'def {name}():\n    """{sentence}"""\n'


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("tag_visitors cuts the names of late guests in halves.",
         "Cuts the names of late guests in halves."),
        ("Cut the visitors' names after ten letters.", "Cut the … names after ten letters."),
        ("Cut tags of visitors after ten letters of ink.", None),
        ("Cut the tag of ten long visitors.", None),
        ("Give `x` to :class:`Guests` that came late tonight.",
         "Give `x` to `Guests` that came late tonight."),
        ("See the other function for guests that came late.", None),
        ("Guests that came late at night have these names:", None),
    ],
)  # fmt: skip
def test_a_sentence_has_no_part_of_the_name(sentence: str, told: str | None) -> None:
    tree = tree_of({"a.py": _documented("tag_visitors", sentence)})
    prompts = [task.prompt.split("\n")[1] for task in make_symbols(tree, 1, 0).tasks]
    assert prompts == ([told] if told else [])


def test_what_two_definitions_do_is_not_asked() -> None:
    sentence = "Cut the names of all guests after ten letters."
    texts = {f"{name}.py": _documented(name, sentence) for name in ("first", "second")}
    made = make_symbols(tree_of(texts), 9, 0)
    assert made.tasks == ()
    assert sum(made.dropped.values()) == 2


def test_no_word_but_those_of_the_sentence_is_searched() -> None:
    (task,) = make_symbols(tree_of(RUST), 1, 0).tasks
    assert set(searched(task)) <= {"list", "houses", "postman", "passes", "night"}
    assert task.keywords == "list houses postman passes night"


def test_the_seed_determines_the_tasks() -> None:
    texts = {
        f"d{n % 5}/m{n}.py": _documented(
            f"name_{n}_a", f"Wash the carpets, lamps, windows and chairs {n}."
        )
        for n in range(20)
    }
    drawn = [make_symbols(tree_of(texts), 5, seed).tasks for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    folders = {path.split("/")[0] for task in drawn[0] for path in files_of(task)}
    assert len(folders) == 5


@pytest.mark.parametrize(
    "rival",
    ["Return the writer below.", "Return the writer below, so that others flush it in time."],
)
def test_what_another_class_says_of_the_same_method_is_not_asked(rival: str) -> None:
    def file(owner: str, sentence: str) -> str:
        return f'class {owner}:\n    def unwrap(self):\n        """{sentence}"""\n'

    own = "Return the writer below, so that others flush it in time."
    tree = tree_of({"a.py": file("Bag", own), "b.py": file("TimeWriter", rival)})
    assert make_symbols(tree, 9, 0).tasks == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Shared between hydration and the server of all pages.",
        "Similar to the walker of trees, for functions only.",
        "Called by the engine when all spiders have left.",
        "We need all spiders of the house when mails come late.",
        "Technically all spiders of the house can stay out late.",
    ],
)
def test_who_needs_it_is_not_what_it_does(sentence: str) -> None:
    assert make_symbols(tree_of({"a.py": _documented("tag_it", sentence)}), 9, 0).tasks == ()


@pytest.mark.parametrize(
    ("other", "tasks"),
    [
        ("tag_it(1);" * 30_000, 1),
        ("tag_it(1);" * 30_000 + "\nvar tag_it = 3\n", 0),
        ("x = tag_it(1); " * 9 + "function tag_it(a) {}", 1),
        ("tag_it(tag_it(1), tag_it(2))\nfunction tag_it(a) {}", 0),
    ],
)
def test_each_line_that_has_a_name_is_looked_at_once(other: str, tasks: int) -> None:
    """And no line that is longer than people write."""
    own = _documented("tag_it", "Mark goods that leave the house at night.")
    tree = tree_of({"a.py": own, "static/app.js": other})
    assert len(make_symbols(tree, 9, 0).tasks) == tasks


def test_what_is_said_of_another_one_too_with_more_is_not_asked() -> None:
    texts = {
        "a.py": _documented("tag_it", "Load certificates with their keys off every disk."),
        "b.py": _documented(
            "mark_all", "Load certificates with their keys off every disk, folder by folder."
        ),
    }
    asked = [symbols_of(task) for task in make_symbols(tree_of(texts), 9, 0).tasks]
    assert asked == [["b.py::mark_all"]]


@pytest.mark.parametrize("body", ["", "pass", "...", "raise NotImplementedError('soon')"])
def test_what_other_classes_implement_is_not_asked(body: str) -> None:
    base = (
        "class Store:\n    def put_away(self):\n"
        f'        """Pack goods that leave the house at night into boxes."""\n        {body}\n'
    )
    tree = {"a.py": base}
    assert len(make_symbols(tree_of(tree), 9, 0).tasks) == 1, "nobody else does"
    tree["b.py"] = "class Cellar(Store):\n    def put_away(self):\n        self.boxes.pack()\n"
    assert make_symbols(tree_of(tree), 9, 0).tasks == ()
    tree["a.py"] = base.replace(f"        {body}\n", "        self.pack()\n")
    assert len(make_symbols(tree_of(tree), 9, 0).tasks) == 1


def test_it_tells_how_many_it_looked_at_and_makes_the_same() -> None:
    told: list[tuple[int, int]] = []
    made = make_symbols(tree_of(RUST), 9, 0, looked=lambda *counts: told.append(counts))
    assert made == make_symbols(tree_of(RUST), 9, 0)
    assert told == [(number, made.looked_at) for number in range(made.looked_at)]
    assert told
