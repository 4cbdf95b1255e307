"""`swarm-bench tasks make` and `tasks check`."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from swarm_bench.cli.commands import app
from swarm_bench.core.errors import UsageError
from swarm_bench.datasets.suites import read_suite
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start

CART = (
    'class Cart:\n    """Goods that a customer carries around before paying."""\n\n'
    '    def total(self):\n        """Sum what the goods cost before any discount or rebate."""\n'
    "        return sum(self.prices)\n"
)
BILL = (
    'def bill(cart):\n    """Ask a customer to pay for what was taken home today."""\n'
    "    return cart.total()\n"
)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    repo = start(tmp_path / "shop")
    commit(repo, "Start", {"cart.py": CART, "bill.py": BILL, "old.rb": "x = 1\n"})
    commit(repo, "Round coupon totals upwards", {"cart.py": CART.replace("sum", "up")})
    commit(repo, "Bill customers twice by mail", {"bill.py": BILL * 2})
    return repo


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["tasks", *map(str, words)])


def test_a_file_is_made_and_is_right(repo: Path, golden: Sentences) -> None:
    made = call("make", "--repo", repo, "--kind", "changes")
    assert made.exit_code == 0, made.output
    suite = read_suite(Path("tasks/shop.yaml"))
    assert {task.title for task in suite.tasks} == {
        "Round coupon totals upwards",
        "Bill customers twice by mail",
    }
    head = git(repo, "rev-parse", "HEAD")
    how = "swarm-bench tasks make --kind changes --count 30 --seed 0"
    assert suite.made == f"{how}, at commit {head}"
    assert "changes: reading" in made.stderr
    golden(made.stdout)
    assert "ruby (1)" in made.stdout
    assert "The commit has no parent here" in made.stdout

    checked = call("check", "shop", "--repo", repo)
    assert checked.exit_code == 0, checked.output
    golden(checked.stdout)
    assert "## Problems\n\nNone.\n" in checked.stdout
    says = [line for line in checked.stdout.splitlines() if line in made.stdout.splitlines()]
    assert {line.split()[0] for line in says if line} >= {"The", "Where", "Plain"}


def test_a_path_that_is_no_text_is_in_no_task(repo: Path) -> None:
    strange = "\udcff.py"
    commit(repo, "Import", {strange: BILL.replace("bill", "odd"), "a\nb.py": "def two(): 1\n"})
    made = call("make", "--repo", repo, "--kind", "symbols", "--per-file", "9")
    assert made.exit_code == 0, made.output
    assert {task.title for task in read_suite(Path("tasks/shop.yaml")).tasks} == {
        "Definition of Cart",
        "Definition of Cart.total",
        "Definition of bill",
    }
    checked = call("check", "shop", "--repo", repo)
    assert checked.exit_code == 0, checked.output


def test_names_that_are_no_words_are_keys(repo: Path) -> None:
    names = ("app/[id]/page.py", "src/my tool.py", "src/fru\u0308h, it's.py")
    texts = {
        name: BILL.replace("bill", f"page_{n}").replace("home", f"home {n}")
        for n, name in enumerate(names)
    }
    commit(repo, "Import", texts)
    assert call("make", "--repo", repo, "--kind", "symbols").exit_code == 0
    made = read_suite(Path("tasks/shop.yaml"))
    keys = {file for task in made.tasks if task.key for file in task.key.files}
    assert keys >= set(names)
    checked = call("check", "shop", "--repo", repo)
    assert checked.exit_code == 0, checked.output
    composed = {"title": "A", "prompt": "Where is page_2?", "key": {"files": ["src/früh, it's.py"]}}
    Path("mine.yaml").write_text(json.dumps({"tasks": [{"id": "a", **composed}]}), encoding="utf-8")
    checked = call("check", "./mine.yaml", "--repo", repo)
    assert "there is no file" not in checked.stdout


def test_the_same_seed_gives_the_same_file(repo: Path) -> None:
    texts = set()
    for name in ("a.yaml", "b.yaml"):
        call("make", "--repo", repo, "--seed", "3", "--output", name)
        texts.add(Path(name).read_bytes())
    assert len(texts) == 1
    assert b"shop" in texts.pop()


def test_a_file_is_replaced_with_force_only(repo: Path) -> None:
    Path("mine.yaml").write_text("tasks: []\n")
    arguments = ("make", "--repo", repo, "--output", "mine.yaml", "--kind", "changes")
    refused = call(*arguments)
    assert isinstance(refused.exception, UsageError)
    assert "replace it with --force" in str(refused.exception)
    assert Path("mine.yaml").read_text() == "tasks: []\n"
    assert call(*arguments, "--force").exit_code == 0
    assert read_suite(Path("mine.yaml")).tasks


def test_everything_is_asked_on_one_commit(repo: Path) -> None:
    parent = git(repo, "rev-parse", "HEAD~1")
    call("make", "--repo", repo, "--commit", parent[:9], "--output", "a.yaml")
    suite = read_suite(Path("a.yaml"))
    assert suite.tasks[0].title == "Round coupon totals upwards", "changes come first"
    assert {task.commit for task in suite.tasks} == {parent}
    assert not any("done-already" in task.tags for task in suite.tasks), "they count as any other"
    assert suite.made.endswith(f"--commit {parent}")
    assert call("check", "./a.yaml", "--repo", repo).exit_code == 0


def test_changes_can_be_asked_on_the_parents(repo: Path) -> None:
    commit(repo, "Bill customers thrice by mail", {"bill.py": BILL.replace("()", "(2)")})
    words = ("--kind", "changes", "--parents", "--output", "a.yaml")
    made = call("make", "--repo", repo, *words)
    assert made.exit_code == 0, made.output
    suite = read_suite(Path("a.yaml"))
    parents = {git(repo, "rev-parse", revision) for revision in ("HEAD~1", "HEAD~3")}
    assert {task.commit for task in suite.tasks} == parents
    assert " --parents, at commit " in suite.made
    assert call("check", "./a.yaml", "--repo", repo).exit_code == 0


def test_each_file_is_asked_about_once(repo: Path) -> None:
    for number, words in (("1", ()), ("2", ("--per-file", "2"))):
        made = call("make", "--repo", repo, "--output", f"{number}.yaml", *words)
        assert made.exit_code == 0, made.output
    once, twice = (read_suite(Path(f"{number}.yaml")).tasks for number in "12")
    files = [file for task in once if task.key for file in task.key.files]
    assert sorted(files) == ["bill.py", "cart.py"]
    assert len(twice) == 4
    assert "4 tasks, worth 2: " in made.stdout
    scarce = call("make", "--repo", repo, "--output", "9.yaml", "--count", "9")
    assert "--per-file 3 makes some of them" in scarce.stdout
    assert "this session" not in made.stdout


def test_on_parents_too_all_that_would_share_a_file_are_counted(repo: Path) -> None:
    numbers = []
    for words in ((), ("--parents",)):
        scarce = call("make", "--repo", repo, "--kind", "all", *words, "--count", "9", "--force")
        assert scarce.exit_code == 0, scarce.output
        numbers += re.findall(r"(\d+) further ones would share a file", scarce.stdout)
    assert numbers[0] == numbers[1]


def test_tasks_about_many_files_tell_something_apart(repo: Path) -> None:
    told = "Fill bags with apples, pears, plums and nuts for guest"
    texts = {f"p{n}.py": f'def part_{n}():\n    """{told} {n}."""\n' for n in range(12)}
    commit(repo, "Fill", texts)
    made = call("make", "--repo", repo, "--kind", "symbols")
    assert "tells nothing apart" not in made.stdout
    assert len(read_suite(Path("tasks/shop.yaml")).tasks) > 11


@pytest.mark.parametrize(
    ("count", "cure"), [(1, "give a larger --count"), (9, "a repository that has more")]
)
def test_a_file_that_tells_nothing_apart_says_what_would(
    count: int, cure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repo = start(tmp_path / "one")
    body = "    '''Round a price to whole cents for bills.'''\n    return round(price, 2)\n"
    commit(repo, "Start", {"one.py": f"def settle_it(price):\n{body}"})
    text = call("make", "--repo", repo, "--kind", "symbols", "--count", str(count)).stdout
    assert "tells nothing apart" in text
    assert cure in text
    assert "too few" in text
    assert "--plan" not in text


def test_the_count_is_of_all_kinds(repo: Path) -> None:
    told = "Fill bags with apples, pears, plums and nuts for guest"
    texts = {f"p{n}.py": f'def part_{n}():\n    """{told} {n}."""\n' for n in range(12)}
    commit(repo, "Fill", texts)
    every = call("make", "--repo", repo).stdout
    assert "of the 90 that are wanted" in every
    kinds = {kind: count_of(every, kind) for kind in ("changes", "symbols", "callers")}
    assert kinds["symbols"] > kinds["changes"] > 0
    for number in (5, sum(kinds.values())):
        made = call("make", "--repo", repo, "--count", str(number), "--force")
        suite = read_suite(Path("tasks/shop.yaml"))
        assert len(suite.tasks) == number
        assert f"--count {number} " in (suite.made or "")
        assert "wanted" not in made.stdout
        assert count_of(made.stdout, "changes") == kinds["changes"], "they are taken in turn"
    *_, last, options = made.stdout.splitlines()
    assert "--agent" in options
    assert last == f"swarm-bench compare --repo {repo} --tasks tasks/shop.yaml"


def count_of(page: str, kind: str) -> int:
    row = next(line for line in page.splitlines() if line.startswith(f"| {kind} "))
    return int(row.split("|")[2])


def test_a_file_that_nothing_reads_is_not_written(
    repo: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    monkeypatch.setattr("swarm_bench.app.tasks.making.LARGEST", 1024)
    refused = call("make", "--repo", repo, "--output", "a.yaml")
    golden(str(refused.exception))
    assert not Path("a.yaml").exists()


def test_since_is_kept(repo: Path) -> None:
    call("make", "--repo", repo, "--since", "2026-01-01", "--output", "a.yaml")
    assert str(read_suite(Path("a.yaml")).since) == "2026-01-01"


@pytest.mark.parametrize(
    "words",
    [
        ["--repo", "plain"],
        ["--repo", "absent"],
        ["--repo", "shop", "--commit", "v9"],
        ["--repo", "shop", "--commit", "--all"],
        ["--repo", "shop", "--kind", "changes", "--since", "2030-01-01"],
        ["--repo", "shop", "--kind", "symbols", "--since", "2026-01-01"],
        ["--repo", "shop", "--kind", "questions", "--model", "openai:m", "--parents"],
        ["--repo", "shop", "--output", "shop", "--force"],
        ["--repo", "ruby", "--kind", "symbols"],
        ["--repo", "cut", "--kind", "changes"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_made_is_said(repo: Path, words: list[str], golden: Sentences) -> None:
    (repo.parent / "plain").mkdir()
    (repo.parent / "plain" / "a.py").touch()
    commit(start(repo.parent / "ruby"), "Start", {"a.rb": "x = 1\n"})
    git(repo.parent, "clone", "-q", "--depth", "1", repo.as_uri(), "cut")
    refused = call("make", *words).exception
    assert isinstance(refused, UsageError)
    golden(str(refused))
    assert not Path("tasks").exists()


def test_every_problem_has_its_line(repo: Path, golden: Sentences) -> None:
    parent = git(repo, "rev-parse", "HEAD~1")
    Path("mine.yaml").write_text(
        "tasks:\n"
        "  - {id: a, title: A, prompt: 'Where?'}\n"
        "  - id: b\n    title: B\n    prompt: Where is a total?\n    key:\n"
        "      files:\n        - cart.py\n        - gone.py\n"
        "      symbols:\n        - cart.py::total\n        - cart.py::Cart.total\n"
        "        - bill.py::absent\n        - old.rb::anything\n        - gone.py::x\n"
        f"  - id: c\n    title: C\n    prompt: Where?\n    commit: {'a' * 40}\n"
        f"  - id: d\n    title: D\n    prompt: Where?\n    commit: {parent}\n"
        "    key: {files: [bill.py]}\n"
    )
    checked = call("check", "./mine.yaml", "--repo", repo)
    assert checked.exit_code == 2
    lines = [line for line in checked.stdout.splitlines() if line.startswith("mine.yaml:")]
    golden(*lines)
    assert "**Without a key:** 2" in checked.stdout


def test_tasks_and_facts_that_tell_nothing_apart_are_problems(
    repo: Path, golden: Sentences
) -> None:
    head, parent = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    commit(repo, "Fill", {f"part_{number}.py": "x = 1\n" for number in range(20)})
    tasks: list[tuple[str, str | None, dict[str, list[str]]]] = [
        ("Where is a total?", head, {"files": ["cart.py"]}),
        ("Where  is a total?", head, {"files": ["cart.py"]}),
        ("Where is a total?", head, {"files": ["bill.py"]}),
        ("Where is a total?", parent, {"files": ["bill.py"]}),
        ("Where is a `Total`?", head, {"files": ["bill.py"]}),  # a class, and no total
        ("Which total?", None, {"facts": [".*", "TOTALS?", r"\w", "part_", r"\bsum\b", "no"]}),
    ]
    entries = [
        {"id": f"t{number}", "title": "T", "prompt": prompt, "commit": at, "key": key}
        for number, (prompt, at, key) in enumerate(tasks)
    ]
    Path("mine.yaml").write_text(json.dumps({"tasks": entries}, indent=1))  # JSON is YAML
    checked = call("check", "./mine.yaml", "--repo", repo)
    assert checked.exit_code == 2
    lines = Path("mine.yaml").read_text().splitlines()
    problems = [it.split(":", 2) for it in checked.stdout.splitlines() if it.startswith("mine.y")]
    golden(*(f"{lines[int(line) - 1].strip(' ,')}: {said.strip()}" for _, line, said in problems))


def test_facts_that_match_nearly_every_path_of_a_small_repository_are_problems(repo: Path) -> None:
    commit(repo, "Fill", {f"shop/part_{number}.py": "x = 1\n" for number in range(10)})
    facts = ["shop/.*", r"\.py", "part_[1-5]", "part_3"]
    task = {"id": "t", "title": "T", "prompt": "Where?", "key": {"facts": facts}}
    Path("mine.yaml").write_text(json.dumps({"tasks": [task]}, indent=1))  # JSON is YAML
    checked = call("check", "./mine.yaml", "--repo", repo)
    said = [it for it in checked.stdout.splitlines() if "most paths" in it]
    assert [fact in line for fact, line in zip(facts, said, strict=False)] == [True, True]


def test_what_is_not_written_as_tasks_are_has_a_line_each(repo: Path, golden: Sentences) -> None:
    Path("mine.yaml").write_text(
        "tasks:\n  - id: a\n    title: A\n    prompt: ''\n    weight: heavy\n"
        "    written: last summer\n"
    )
    checked = call("check", "./mine.yaml", "--repo", repo)
    assert checked.exit_code == 2
    golden(checked.stdout)


def test_a_scorer_that_is_not_known_is_a_problem_and_no_code_is_loaded(
    repo: Path, golden: Sentences
) -> None:
    Path("mine.yaml").write_text(
        "scorers:\n  - files\n  - fils\n  - absent_module:Class\n"
        "tasks:\n  - {id: a, title: A, prompt: 'Where?'}\n"
    )
    checked = call("check", "./mine.yaml", "--repo", repo)
    assert checked.exit_code == 2
    golden(checked.stdout)
    assert "absent_module" not in checked.stdout


def test_tasks_alone_lists_suites() -> None:
    listed = call()
    assert listed.exit_code == 0
    assert "exploration  (usable" in listed.stdout


def test_what_is_declared_generated_is_no_key(repo: Path) -> None:
    commit(repo, "Declare", {".gitattributes": "cart.py linguist-generated\n"})
    for kind in ("changes", "symbols"):
        made = call("make", "--repo", repo, "--kind", kind, "--output", f"{kind}.yaml")
        assert made.exit_code == 0, made.output
        keys = [task.key for task in read_suite(Path(f"{kind}.yaml")).tasks]
        assert {file for key in keys if key for file in key.files} == {"bill.py"}


def test_a_declaration_takes_back_what_a_path_says(repo: Path) -> None:
    text = CART.replace("Cart", "Crate").replace("total", "weight")
    text = text.replace("Goods", "Boxes").replace("goods", "boxes")
    commit(repo, "Import", {"dist/crate.py": f"# @generated\n{text}"})
    commit(repo, "Declare", {".gitattributes": "dist/** -linguist-generated\n"})
    made = call("make", "--repo", repo, "--kind", "symbols")
    assert made.exit_code == 0, made.output
    titles = {task.title for task in read_suite(Path("tasks/shop.yaml")).tasks}
    assert "Definition of Crate" in titles


def test_a_partial_clone_says_what_brings_its_history(repo: Path, golden: Sentences) -> None:
    commit(repo, "Bill customers thrice by mail", {"bill.py": BILL.replace("()", "(2)")})
    made = call("make", "--repo", repo, "--parents", "--output", "whole.yaml")
    assert made.exit_code == 0, made.output
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "clone", "-q", "--filter=blob:none", repo.as_uri(), "../partial")

    made = call("make", "--repo", "partial", "--output", "part.yaml")
    assert made.exit_code == 0, made.output
    assert {tag for task in read_suite(Path("part.yaml")).tasks for tag in task.tags} & {
        "changes",
        "symbols",
    } == {"symbols"}
    golden(made.stdout)

    texts = list[str]()
    for words in (["check", "whole.yaml"], ["make", "--kind", "changes"]):
        refused = call(*words, "--repo", "partial").exception
        assert isinstance(refused, UsageError)
        texts.append(str(refused))
    golden(*texts)
