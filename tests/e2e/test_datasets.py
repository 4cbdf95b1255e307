"""`swarm-bench datasets`: what is wrong with rows, and a page on a data set."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.golden import Sentences
from tests.builders.packages import block
from tests.e2e.conftest import Bench

RIGHT = {"idx": "a", "func": "f", "target": "0"}


def lines(bench: Bench, *rows: object) -> str:
    texts = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    (bench.folder / "rows.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))
    return "rows.jsonl"


def test_c18_every_fault_is_named_with_its_line_and_its_field(
    bench: Bench, golden: Sentences
) -> None:
    """C18: verify, by the schema of the benchmark."""
    file = lines(
        bench,
        RIGHT,
        {"idx": "b", "func": None},
        b"{",
        b'"\xff"',
        {**RIGHT, "func": "\ud800", "target": "\udfff"},
        {**RIGHT, "func": "g"},
        [],
        {**RIGHT, "idx": "c"},
    )
    done = bench.call("datasets", "verify", file, "--benchmark", "labels")
    assert done.code == 1
    where = [line.split()[:2] for line in done.out.splitlines()]
    assert where[:9] == [
        ["rows.jsonl:2:", "func"],
        ["rows.jsonl:2:", "target"],
        ["rows.jsonl:3:", "not"],
        ["rows.jsonl:4:", "is"],
        ["rows.jsonl:5:", "func"],
        ["rows.jsonl:5:", "target"],
        ["rows.jsonl:6:", "the"],
        ["rows.jsonl:7:", "the"],
        ["8", "rows,"],
    ]
    golden(done.out)


def test_short_and_long_rows_of_csv_are_all_named(bench: Bench) -> None:
    (bench.folder / "rows.csv").write_text("idx,func,target\na,f\nb,g,0\nc,h,1,2\nd,i\n")
    done = bench.call("datasets", "verify", "rows.csv", "--benchmark", "labels")
    wrong = [line.partition(" ")[0] for line in done.out.splitlines()]
    assert (done.code, wrong) == (1, ["rows.csv:2:", "rows.csv:4:", "rows.csv:5:", "4"])


def test_fifty_faults_are_named_and_all_are_counted(bench: Bench, golden: Sentences) -> None:
    file = lines(bench, *[{"idx": str(number)} for number in range(70)])
    done = bench.call("datasets", "verify", file, "--benchmark", "labels")
    assert (done.code, len(done.out.splitlines())) == (1, 52)
    golden("\n".join(done.out.splitlines()[-2:]))


def test_rows_without_a_case_are_counted_and_no_fault(bench: Bench, golden: Sentences) -> None:
    problem = {
        "question": "q",
        "input_output": "",
        "solutions": "[]",
        "starter_code": "",
        "url": "",
    }
    rows = [
        {"problem_id": number, "difficulty": level, **problem}
        for number, level in enumerate(["interview", "interview", "introductory", "interview"])
    ]
    file = lines(bench, *rows)
    for level, number in (("introductory", 3), ("interview", 1), ("all", 0)):
        words = ("--benchmark", "apps", "-p", f"level={level}")
        done = bench.call("datasets", "verify", file, *words)
        assert done.code == 0, done.out + done.err
        assert sum("no case" in line for line in done.out.splitlines()) == bool(number)
        golden(done.out)
    tested = bench.call("datasets", "verify", "mbpp", "--benchmark", "mbpp").out
    assert "474 rows make no case" in tested


def test_what_a_benchmark_says_of_all_rows_is_said_and_is_no_fault(
    bench: Bench, golden: Sentences
) -> None:
    row = {"prompt": "Write f().", "unitTests": "process.exit(0)\n", "language": "javascript"}
    file = lines(bench, {**row, "id": "a"}, {"id": "b", "prompt": "Say hello."}, {"id": "c"})
    done = bench.call("datasets", "verify", file, "--benchmark", "prompt-evaluation")
    assert done.code == 1
    golden(done.out)


def test_rows_that_give_no_case_at_all_are_a_fault(bench: Bench, golden: Sentences) -> None:
    row = {"task_id": 1, "text": "t", "code": "x = 1", "test_list": ["assert x"]}
    done = bench.call("datasets", "verify", lines(bench, row), "--benchmark", "mbpp")
    assert done.code == 1
    golden(done.out)
    empty = bench.call("datasets", "verify", lines(bench), "--benchmark", "mbpp")
    assert (empty.code, empty.out.splitlines()[0]) == (1, "rows.jsonl has no rows")


@pytest.mark.parametrize(
    "words",
    [
        ("rows.jsonl", "--benchmark", "labels"),
        ("mbbp", "--benchmark", "labels"),
        ("mbpp", "--benchmark", "swarm"),
        ("mbpp", "--benchmark", "mbbp"),
        ("mbpp", "--benchmark", "mbpp", "-p", "shots=x"),
    ],
    ids=["no file", "no data set", "no rows", "no benchmark", "no property"],
)
def test_wrong_usage_is_one_sentence(
    bench: Bench, words: tuple[str, ...], golden: Sentences
) -> None:
    done = bench.call("datasets", "verify", *words)
    assert (done.code, done.out) == (2, "")
    golden(done.err)


def test_c18_a_page_has_the_schema_and_the_first_row(bench: Bench, golden: Sentences) -> None:
    """C18: what it is, its licence and source, and the schema of the benchmark."""
    file = lines(bench, {"func": "f" * 500, "target": "\x1b[2J", "idx": [1]}, b"{")
    done = bench.call("datasets", "show", file, "--benchmark", "labels")
    assert (done.code, "\x1b" in done.out) == (0, False), done.err
    golden(done.out)
    plain = bench.call("datasets", "show", "mbpp").out
    assert "CC BY 4.0" in plain
    assert "required" not in plain


PROGRAM = """
from swarm_bench.app.datasets.verifying import verify_dataset
from tests.memory import peak

print(verify_dataset("rows.jsonl", "labels", (), print).text)
print(peak())
"""


def test_rows_are_not_kept(tmp_path: Path) -> None:
    """200 MB, of which less is in memory."""
    row = json.dumps({**RIGHT, "func": "x" * 2_000_000, "idx": None}) + "\n"
    with (tmp_path / "rows.jsonl").open("w") as file:
        file.writelines(row for _ in range(100))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "100 rows, 100 cases, 0 faults" in done.stdout
    assert int(done.stdout.split()[-1]) < 200


OWN = """
class Verified:
    def verify(self):
        yield "the second file was changed"
"""


def test_c18_the_class_of_the_page_is_a_data_set_and_may_say_more(bench: Bench) -> None:
    """C18: load() and verify()."""
    (bench.folder / "my_sums.py").write_text(block("../benchmarks", "python"))
    own = block("../datasets", "python") + OWN.replace("Verified:", "Verified(Sums):")
    (bench.folder / "my_rows.py").write_text(own)
    words = ("--benchmark", "my_sums:Sums")
    right = bench.call("datasets", "verify", "my_rows:Sums", *words)
    assert (right.code, right.out) == (0, "8 rows, 8 cases, 0 faults\n"), right.err
    wrong = bench.call("datasets", "verify", "my_rows:Verified", *words)
    assert (wrong.code, wrong.out.splitlines()[0]) == (1, "the second file was changed")
    run = ("run", "my_sums:Sums", "--dataset", "my_rows:Verified", "--models", "reference")
    assert bench.call(*run, "--quiet").code == 0
    old = own.replace("def load", "def read")
    (bench.folder / "my_rows.py").write_text(old)
    refused = bench.call("datasets", "verify", "my_rows:Sums", *words)
    assert (refused.code, "load()" in refused.err) == (2, True)
