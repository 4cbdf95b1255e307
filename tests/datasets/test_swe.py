"""`swe-dataset:FILE`: rows of SWE-bench's form are read with the files of a clone beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.benchmarks.cases.role import Tools
from swarm_bench.benchmarks.diffs.applying import find_diff
from swarm_bench.benchmarks.diffs.benchmark import UnifiedDiff
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.datasets.rows import read_rows
from swarm_bench.environments.unconfined import Unconfined
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start

pytestmark = pytest.mark.anyio
SUM = "from shop.prices import price\n\n\ndef total(cart):\n    return sum(map(price, cart))\n"
TAXED = SUM.replace("sum(map(price, cart))", "round(sum(map(price, cart)) * 1.2)")
TEST = "import unittest\nfrom shop.sums import total\n\n\nclass Totals(unittest.TestCase):\n"
OLD_TEST = TEST + "    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n"
NEW_TEST = OLD_TEST + "\n    def test_tax(self):\n        self.assertEqual(total(['a']), 120)\n"
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": "PRICES = {'a': 100}\n\n\ndef price(name):\n    return PRICES[name]\n",
    "shop/sums.py": SUM,
    "tests/__init__.py": "",
    "tests/test_sums.py": OLD_TEST,
    "logo.txt": "ö\n",
}
COMMAND = "python3 -m unittest {tests}"


def repository(folder: Path) -> dict[str, Any]:
    """Make a repository with a fix and its test in one commit, and return the row of it."""
    clone = start(folder / "someone" / "shop")
    base = commit(clone, "shop", FILES)
    commit(clone, "tax", {"shop/sums.py": TAXED})
    patch = git(clone, "diff", base, "HEAD") + "\n"
    commit(clone, "its test", {"tests/test_sums.py": NEW_TEST, "tests/data/new.json": "{}\n"})
    tests = git(clone, "diff", "HEAD~1", "HEAD") + "\n"
    commit(clone, "later", {"shop/sums.py": "broken(", "shop/prices.py": None})
    return {
        "repo": "someone/shop", "instance_id": "someone__shop-1", "base_commit": base,
        "problem_statement": "Totals lack the tax of 20 %.", "patch": patch, "test_patch": tests,
        "FAIL_TO_PASS": '["tests.test_sums.Totals.test_tax"]',
        "PASS_TO_PASS": ["tests.test_sums.Totals.test_nothing"],
        "command": COMMAND, "version": "1.0", "hints_text": "",
    }  # fmt: skip


def rows_of(folder: Path, *rows: dict[str, Any]) -> tuple[Edit, ...]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_rows(f"swe-dataset:{path}", Edit).rows


async def scores(row: Edit, answer: str) -> dict[str, Any]:
    benchmark = UnifiedDiff()
    (case,) = benchmark.cases([row])
    return dict(await benchmark.score(case, find_diff(answer), Tools(environment=Unconfined())))


async def test_rows_are_edits_with_the_files_of_their_commit(tmp_path: Path) -> None:
    content = repository(tmp_path)
    before = {it: it.stat().st_mtime_ns for it in (tmp_path / "someone").rglob("*")}
    (row,) = rows_of(tmp_path, content)
    assert (row.id, row.file, row.source_code, row.files) == (
        "someone__shop-1", "shop/sums.py", SUM, {},
    )  # fmt: skip
    assert row.checkout
    assert row.checkout.tests == {"tests/test_sums.py": NEW_TEST, "tests/data/new.json": "{}\n"}
    benchmark = UnifiedDiff()
    (case,) = benchmark.cases([row])
    ask = benchmark.ask(case, "chat")
    texts = "".join(ask.texts)
    assert content["problem_statement"] in texts
    assert "PRICES" not in texts  # only what is to be changed is shown
    assert "test_tax" not in texts
    right = await scores(row, str(ask.reference))
    assert (right["strict"], right["passed"]) == (True, True), right
    wrong = await scores(row, str(ask.reference).replace("1.2", "1.3"))
    assert (wrong["applied"], wrong["passed"]) == (True, False)
    assert {it: it.stat().st_mtime_ns for it in (tmp_path / "someone").rglob("*")} == before


async def test_tests_are_those_of_the_row_and_not_of_an_answer(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, repository(tmp_path))
    assert row.patch
    test = row.patch.replace("shop/sums.py", "tests/test_sums.py")
    assert (await scores(row, test))["applied"] is False


def test_without_ids_the_files_of_the_tests_are_run(tmp_path: Path) -> None:
    content = repository(tmp_path)
    del content["FAIL_TO_PASS"], content["PASS_TO_PASS"]
    (row,) = rows_of(tmp_path, {**content, "instance_id": None})
    assert row.command == "python3 -m unittest tests/data/new.json tests/test_sums.py"
    assert row.id == f"someone/shop@{content['base_commit'][:7]}"


def test_rows_that_cannot_be_are_refused_with_their_line(tmp_path: Path, golden: Sentences) -> None:
    good = repository(tmp_path)
    clone = tmp_path / "someone" / "shop"
    (clone / "sums").symlink_to("/etc/passwd")
    git(clone, "add", "-A")
    made = git(clone, "diff", "--cached") + "\n"
    wrong: list[dict[str, Any]] = [
        {"base_commit": "0" * 40},
        {"base_commit": "HEAD"},
        {"repo": "someone/else"},
        {"repo": "../shop"},
        {"command": ""},
        {"patch": good["patch"].replace("sums", "nothing")},
        {"patch": "sorry"},
        {"patch": made},
        {"test_patch": good["test_patch"].replace("Totals", "Other")},
        {"test_patch": good["patch"]},
        {"FAIL_TO_PASS": "[1"},
        {"patch": good["patch"].replace("shop/sums.py", "../sums.py")},
    ]
    sentences = []
    for change in wrong:
        with pytest.raises(ConfigError) as refusal:
            rows_of(tmp_path, good, {**good, **change})
        assert "rows.jsonl:2" in str(refusal.value)
        sentences.append(str(refusal.value).replace(good["base_commit"][:12], "COMMIT"))
    for word in ("swe-dataset", f"swe-dataset:{tmp_path}/nothing.jsonl"):
        with pytest.raises(UsageError) as refused:
            read_rows(word, Edit)
        sentences.append(str(refused.value))
    golden(*sentences)
