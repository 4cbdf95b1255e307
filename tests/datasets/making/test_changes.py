"""Tasks that are made of a history."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from random import Random

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.difficulty import DEEPEST, build_index, difficulty
from swarm_bench.datasets.making.changes import Changes, EarlierPrompts, make_changes
from swarm_bench.datasets.making.made import GeneratedTasks
from swarm_bench.datasets.making.messages import Message
from swarm_bench.runtime.workspaces.history import read_history
from swarm_bench.runtime.workspaces.objects import Objects
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, start
from tests.datasets.making.trees import searched

CART = '''\
"""Carts."""


class Cart:
    def total(self):
        return sum(self.prices)

    def clear(self):
        self.prices = []


def load(path):
    return Cart()
'''
BILL = "def bill(cart):\n    return cart.total()\n"
ROUNDS = CART.replace("sum(self.prices)", "round(sum(self.prices), 2)")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = start(tmp_path)
    commit(repo, "Start", {"shop/cart.py": CART, "shop/bill.py": BILL, "shop/page.rb": "x = 1\n"})
    return repo


def made(
    repo: Path, count: int = 9, *, finished: bool = False, **changes: object
) -> GeneratedTasks:
    with Objects(repo) as objects:
        on = objects.tree("HEAD") if finished else None
        wanted = Changes(count=count, seed=1, on=on)
        wanted = Changes(**{**vars(wanted), **changes})
        return make_changes(objects, read_history(repo, "HEAD"), wanted)


def only(made: GeneratedTasks) -> Task:
    (task,) = made.tasks
    return task


def dropped(made: GeneratedTasks) -> Mapping[str, int]:
    return {why: n for why, n in made.dropped.items() if why != "the commit has no parent here"}


def test_a_change_is_asked_on_the_parent_of_its_commit(repo: Path, golden: Sentences) -> None:
    before = read_history(repo, "HEAD")[0].hash
    files = {
        "shop/cart.py": ROUNDS.replace("return Cart()", "return Cart(path)"),
        "shop/new.py": "x = 1\n",
        "tests/test_cart.py": "x = 1\n",
    }
    commit(repo, "Round coupon totals upwards (#7)", files, date="2026-03-04T10:00:00Z")

    task = only(made(repo))

    assert (task.commit, task.written) == (before, date(2026, 3, 4))
    assert task.key is not None
    assert task.key.files == ("shop/cart.py",), "what exists, and no tests"
    assert task.key.symbols == ("shop/cart.py::Cart.total", "shop/cart.py::load")
    golden(task.prompt)
    assert searched(task) == ["round", "coupon", "totals", "upwards"]
    assert (task.id, task.title) == (
        "change-round-coupon-totals-upwards",
        "Round coupon totals upwards",
    )
    assert (task.keywords, task.tags) == ("Round coupon totals upwards", ("changes", "python"))


def test_a_method_that_is_new_is_no_symbol_of_the_key(repo: Path) -> None:
    new = CART.replace("    def clear", "    def drop(self):\n        pass\n\n    def clear")
    new = new.replace("return Cart()", "return Cart(path)")
    commit(repo, "Let a cart drop single coupons", {"shop/cart.py": new})
    key = only(made(repo)).key
    assert key is not None
    assert key.symbols == ("shop/cart.py::Cart", "shop/cart.py::load")


def test_a_function_that_reads_as_before_is_no_symbol_of_the_key(repo: Path) -> None:
    """The new method ends as the one before it, so that its lines can be taken for part of that."""
    ending = "\twriteHeaders(w)\n\tflush(w)\n\treturn p.template.Execute(w, p.data)\n}\n\n"
    plain = f"func (p plain) Render(w Writer) error {{\n{ending}"
    rest = 'func (p plain) Name() string {\n\treturn "plain"\n}\n'
    commit(repo, "Start", {"shop/render.go": f"package shop\n\n{plain}{rest}"})
    new = plain.replace("p plain", "p styled")
    changed = rest.replace('"plain"', '"plain page"')
    added = f"package shop\n\ntype styled struct {{}}\n\n{plain}{new}{changed}"
    commit(repo, "Let coupons render as styled pages", {"shop/render.go": added})
    for finished in (False, True):
        (task,) = [task for task in made(repo, finished=finished).tasks if "styled" in task.id]
        assert task.key is not None
        assert "shop/render.go::plain.Render" not in task.key.symbols


def test_other_languages_have_files_only(repo: Path) -> None:
    commit(repo, "Show coupon totals on the page", {"shop/page.rb": "x = 2\n"})
    task = only(made(repo))
    assert task.key is not None
    assert (task.key.files, task.key.symbols, task.tags) == (
        ("shop/page.rb",),
        (),
        ("changes", "ruby"),
    )


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"shop/cart.py": CART.replace("    def", "\n    def")}, "formatting or comments only"),
        ({"shop/cart.py": CART.replace('"""Carts."""', "# Carts.")}, "formatting or comments only"),
        ({"shop/cart.py": CART + "x = 1\n" * 500}, "a file rewritten"),
        (
            {"shop/cart.py": ROUNDS, "shop/bill.py": f"from shop import cart\n{BILL}"},
            "a file of which only imports, types or comments change",
        ),
        (
            {"shop/cart.py": ROUNDS, "shop/bill.py": BILL.replace("(cart)", "(cart: Cart) -> int")},
            "a file of which only imports, types or comments change",
        ),
        (
            {"shop/cart.py": ROUNDS, "shop/page.rb": "x = 2\n"},
            "a file that nothing in its message leads to",
        ),
        (
            {"shop/cart.py": ROUNDS, "shop/bill.py": f"{BILL}\n\ndef coupons():\n    pass\n"},
            "a file that only gets something new, which could stand anywhere",
        ),
    ],
)  # fmt: skip
def test_contents_drop_commits(repo: Path, files: dict[str, str], why: str) -> None:
    commit(repo, "Round coupon totals upwards", files)
    assert (made(repo).tasks, dropped(made(repo))) == ((), {why: 1})


def test_what_is_new_in_a_file_implements_a_finished_change(repo: Path) -> None:
    new = f"{BILL}\n\ndef coupon_totals():\n    pass\n"
    commit(repo, "Round coupon totals upwards", {"shop/cart.py": ROUNDS, "shop/bill.py": new})
    assert only(made(repo, finished=True)).key.files == ("shop/bill.py", "shop/cart.py")  # type: ignore[union-attr]


def test_one_word_leads_to_the_only_file(repo: Path, golden: Sentences) -> None:
    emptied = {"shop/cart.py": CART.replace("[]", "()")}
    commit(repo, "Clear gifts and greetings of friends", emptied)
    commit(repo, "Never bill gifts and flowers of friends", {"shop/cart.py": CART})
    result = made(repo)
    assert only(result).title == "Clear gifts and greetings of friends"
    golden(*(f"{number}: {why}" for why, number in result.dropped.items()))


@pytest.mark.parametrize("finished", [False, True])
def test_a_file_of_which_there_is_a_copy_is_no_key(repo: Path, finished: bool) -> None:
    twice = {f"branches/{name}/cart.py": CART for name in ("one", "two")}
    commit(repo, "wip", twice)
    changed = {
        "branches/one/cart.py": ROUNDS,
        **({"branches/two/cart.py": ROUNDS} if finished else {}),
    }
    commit(repo, "Round coupon totals upwards", changed)
    why = "the same change of several copies" if finished else "a file of which there is a copy"
    assert made(repo, finished=finished).dropped[why] == 1


@pytest.mark.parametrize(
    ("message", "is_fit"),
    [
        ("Round totals of every bill(cart) upwards", False),
        ("Round Cart.total() for every bill(cart) upwards", True),
        ("Round totals of sum_up() upwards", True),
    ],
)
def test_what_a_message_names_is_not_defined_in_another_file(
    repo: Path, message: str, is_fit: bool
) -> None:
    commit(repo, message, {"shop/cart.py": ROUNDS})
    why = {} if is_fit else {"what its message names is defined in another file": 1}
    assert (len(made(repo).tasks), dropped(made(repo))) == (is_fit, why)


def test_tests_inside_a_file_are_no_symbols(repo: Path) -> None:
    text = (
        "fn total() -> i32 {\n    1\n}\n#[cfg(test)]\nmod tests {\n    fn sums() -> i32 { 1 }\n}\n"
    )
    commit(repo, "Add", {"lib.rs": text})
    commit(repo, "Round coupon totals upwards", {"lib.rs": text.replace("1", "2")})
    assert only(made(repo)).key.symbols == ("lib.rs::total",)  # type: ignore[union-attr]


def test_generated_files_and_copies_are_no_key(repo: Path, golden: Sentences) -> None:
    commit(repo, "Add", {"a/api.go": "// Code generated by x. DO NOT EDIT.\nvar a = 1\n"})
    commit(repo, "Round coupon totals upwards", {"a/api.go": "var a = 2\n", "shop/cart.py": ROUNDS})
    assert only(made(repo)).key.files == ("shop/cart.py",)  # type: ignore[union-attr]

    commit(repo, "Add", {"deno/cart.py": ROUNDS})
    both = {f"{folder}/cart.py": ROUNDS + "y = 2\n" for folder in ("shop", "deno")}
    commit(repo, "Count customers of every coupon", both)
    golden(*(f"{number}: {why}" for why, number in made(repo).dropped.items()))


NEW = "\n\ndef refuse(voucher):\n    if voucher.expired:\n        raise ValueError(voucher)\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "is_fit"),
    [
        ("shop/bill.py", BILL, BILL + NEW, False),
        ("shop/bill.py", BILL, f"import re\n{BILL}{NEW}", False),
        ("shop/a.py", "import os\n", f"import os, re\n{NEW}", False),
        ("shop/page.rb", "x = 1\n", "x = 1\nvoucher = 2\n", False),
        ("a.go", "package a\n", "package a\n\nfunc expired() {\n}\n", False),
        (
            "shop/cart.py",
            CART,
            CART.replace("    def clear", "    def expired(self):\n        pass\n\n    def clear"),
            False,
        ),
        ("shop/bill.py", BILL, BILL.replace("()", "(voucher)"), True),
    ],
)
def test_what_is_only_added_could_stand_anywhere(
    repo: Path, path: str, before: str, after: str, is_fit: bool
) -> None:
    """Even where the message names the file it landed in: another one would do as well."""
    commit(repo, "wip", {path: before})
    commit(repo, "Refuse expired vouchers in a cart and its bill", {path: after})
    why = {} if is_fit else {"a file that only gets something new, which could stand anywhere": 1}
    result = made(repo)
    assert len(result.tasks) == is_fit
    assert why.items() <= result.dropped.items()
    finished = made(repo, finished=True)
    assert len(finished.tasks) == 1, "it stands there"


def test_what_a_commit_only_adds_is_found_where_it_stands(repo: Path) -> None:
    """And not where it does not stand yet, so that only `--parents` drops it."""
    commit(repo, "Refuse expired vouchers of customers", {"shop/bill.py": BILL + NEW})
    task = only(made(repo, finished=True))
    with Objects(repo) as objects:
        ranks = []
        for revision in ("HEAD", "HEAD~1"):
            tree = objects.tree(revision)
            with build_index(tree) as index:
                ranks.append(difficulty(index, tree, task).sentence)
    assert ranks == [1, DEEPEST + 1]


@pytest.mark.parametrize(
    ("message", "files"),
    [
        ("Round coupon totals upwards!", {"shop/bill.py": BILL.replace("()", "(coupon)")}),
        ("Sum prices of carts without cents", {"shop/cart.py": CART}),
    ],
)
def test_two_tasks_never_ask_the_same(repo: Path, message: str, files: dict[str, str]) -> None:
    commit(repo, "Round coupon totals upwards", {"shop/cart.py": ROUNDS})
    commit(repo, message, files)
    result = made(repo)
    assert (len(result.tasks), result.dropped["like another task"]) == (1, 1)


def test_the_first_ones_are_about_different_files(repo: Path) -> None:
    for number, word in enumerate(("alpha", "gamma", "delta", "omega")):
        text = f"def load(path):\n    return {number}\n"
        commit(repo, f"Count {word} customers of {word}s shops to load", {"shop/cart.py": text})
    commit(repo, "Bill customers twice by mail", {"shop/bill.py": BILL.replace("()", "(2)")})
    for seed in range(5):
        files = [task.key.files[0] for task in made(repo, count=2, seed=seed).tasks if task.key]
        assert sorted(files) == ["shop/bill.py", "shop/cart.py"]


def test_since_a_day(repo: Path) -> None:
    commit(
        repo, "Round coupon totals upwards", {"shop/cart.py": ROUNDS}, date="2026-03-01T00:00:00Z"
    )
    commit(
        repo,
        "Bill customers twice by mail",
        {"shop/bill.py": BILL * 2},
        date="2026-03-02T00:00:00Z",
    )
    result = made(repo, since=date(2026, 3, 2))
    assert (only(result).title, result.dropped) == (
        "Bill customers twice by mail", {"before 2026-03-02": 2},
    )  # fmt: skip


def test_the_seed_draws(repo: Path) -> None:
    for number in range(6):
        words = ["alpha", "beta", "gamma", "delta", "omega", "sigma"][number] * 2
        text = CART + f"\n\ndef load(path):\n    return '{words}'\n"
        commit(
            repo,
            f"Count {words} customers {words}s of{words} shops",
            {"shop/cart.py": text, f"shop/{number}x.py": "x=1\n"},
        )
        commit(repo, "wip", {f"shop/{number}x.py": "x=2\n"})
    one, two = made(repo, count=1), made(repo, count=1, seed=2)
    assert one == made(repo, count=1)
    assert len({made(repo, count=1, seed=seed).tasks[0].id for seed in range(9)}) > 1
    assert one.looked_at == two.looked_at == 13


def test_a_finished_change_is_asked_where_it_stands(repo: Path, golden: Sentences) -> None:
    commit(
        repo,
        "Round coupon totals upwards",
        {"shop/cart.py": ROUNDS, "shop/new.py": "def up(totals):\n    return coupon(totals) + 1\n"},
    )
    commit(repo, "Rename", {"shop/bill.py": BILL.replace("bill", "invoice")})
    task = only(made(repo, finished=True))
    assert task.key is not None
    assert task.commit is None, "whoever has the tree knows it"
    assert task.key.files == ("shop/cart.py", "shop/new.py"), "what was new is part of it"
    assert task.key.symbols == ("shop/cart.py::Cart.total", "shop/new.py::up")
    golden(task.prompt)
    assert searched(task) == ["round", "coupon", "totals", "upwards"]
    assert task.tags == ("changes", "python"), "it counts as any other"


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ({"shop/cart.py": CART}, "it does not stand any more"),
        ({"shop/cart.py": ROUNDS.replace("def total", "def totals")}, "it does not stand any more"),
        ({"shop/cart.py": None}, "its files are not there any more"),
    ],
)
def test_what_does_not_stand_any_more_is_no_finished_change(
    repo: Path, later: dict[str, str | None], why: str
) -> None:
    commit(repo, "Round coupon totals upwards", {"shop/cart.py": ROUNDS})
    commit(repo, "wip", later)
    result = made(repo, finished=True)
    assert (result.tasks, result.dropped.get(why)) == ((), 1)


@pytest.mark.parametrize("scope", ["", "cart.total: ", "fix(cart)!: ", "[cart] "])
@pytest.mark.parametrize("rest", ["Remove clearing of", "All clearing deleted of"])
def test_a_removal_implements_nothing(repo: Path, scope: str, rest: str) -> None:
    commit(
        repo,
        f"{scope}{rest} carts with coupons after orders",
        {"shop/cart.py": CART.replace("[]", "()")},
    )
    assert made(repo, finished=True).dropped["removal"] == 1
    assert len(made(repo).tasks) == 1


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize(
    ("message", "is_asked"),
    [
        ("shop: fix handler to not run the next page", False),
        ("fix(shop): handler should not run the next page", False),
        ("handler should not run the next page", True),
        ("shop: fix handler to not run the next coupon", True),
    ],
)
def test_what_is_left_of_a_message_without_its_scope_leads_to_the_file(
    repo: Path, message: str, is_asked: bool, finished: bool
) -> None:
    """Words that many files have do not: many a file has handlers and a next page."""
    handler = "def handler(page):\n    return {}\n"
    others = {f"web/f{n}.py": handler.format(f"run(page.next, {n})") for n in range(9)}
    commit(repo, "More", others)
    commit(repo, "More", {"shop/serve.py": handler.format("run(page.next, coupon)")})
    commit(repo, message, {"shop/serve.py": handler.format("page.next and coupon.apply")})
    assert (len(made(repo, finished=finished).tasks) == 1) == is_asked


def test_questions_of_nearly_the_same_words_are_told_without_comparing_all() -> None:
    drawn, words = Random(3), [f"coupon{letter}" for letter in "abcdefghijklmno"]
    subjects = [" ".join(drawn.sample(words, drawn.randint(4, 9))) for _ in range(2_000)]
    asked, new, slowly = EarlierPrompts(), list[str](), list[str]()
    for number, subject in enumerate(subjects):
        key = AnswerKey(files=(f"{number}.py",))
        if asked.is_new(key, Message(subject=subject, paragraph="")):
            new.append(subject)
        if not any(_are_alike(subject, other) for other in slowly):
            slowly.append(subject)
    assert new == slowly
    assert 100 < len(new) < 1_900, "some are alike"


def _are_alike(subject: str, other: str) -> bool:
    these, those = {*subject.split()}, {*other.split()}
    return len(these & those) >= 0.8 * len(these | those)
