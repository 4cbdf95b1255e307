"""`unified-diff`: the installed command has models change files by diffs, however damaged."""

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

import pytest

from tests.builders.chat import Chat, State, chatting, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done

OUT = ("--output", "out", "--quiet", "--environment", "unconfined", "--allow-code-execution")
OLD = "def double(number):\n    return number\n\n\ndef name():\n    return 'double'\n"
NEW = OLD.replace("return number\n", "return 2 * number\n")
TESTS = "from main import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
RIGHT = (
    "--- a/main.py\n+++ b/main.py\n@@ -1,3 +1,3 @@\n def double(number):\n-    return number\n"
    "+    return 2 * number\n \n"
)
SECRET = "/etc/passwd"
LINK = (
    "diff --git a/main.py b/main.py\ndeleted file mode 100644\n--- a/main.py\n+++ /dev/null\n"
    "diff --git a/main.py b/main.py\nnew file mode 120000\n--- /dev/null\n+++ b/main.py\n"
    f"@@ -0,0 +1 @@\n+{SECRET}\n\\ No newline at end of file\n"
)
ANSWERS: Mapping[str, tuple[str, tuple[bool, bool, bool, bool]]] = {
    "right": (f"Here:\n```diff\n{RIGHT}```", (True, True, True, True)),
    "bare": (RIGHT, (True, True, True, True)),
    "without numbers": (RIGHT.replace("@@ -1,3 +1,3 @@", "@@"), (False, False, True, True)),
    "wrong counts": (RIGHT.replace("1,3 @@", "1,9 @@"), (True, False, True, True)),
    "of another file": (RIGHT.replace("main.py", "other.py"), (True, False, False, False)),
    "upwards": (RIGHT.replace("a/main", "../main").replace("b/main", "../main"),
                (True, False, False, False)),
    "absolute": (RIGHT.replace("a/main.py", SECRET).replace("b/main.py", SECRET),
                 (True, False, False, False)),
    "a link": (LINK, (True, False, False, False)),
    "prose": ("I would double it.", (False, False, False, False)),
    "empty": ("", (False, False, False, False)),
    "NULs": (RIGHT.replace("2 * number", "2 * number\0"), (True, True, True, False)),
    "no Python": (RIGHT.replace("2 * number", "2 *"), (True, True, True, False)),
    "wrong": (RIGHT.replace("2 *", "3 *"), (True, True, True, False)),
    "very long": (RIGHT + "+x = 1\n" * 300_000, (True, True, True, True)),  # its count says 3
    "many hunks": (RIGHT + "@@ -1 +1 @@\n-a\n+b\n" * 50_000, (True, False, False, False)),
    "binary": ("diff --git a/main.py b/main.py\nGIT binary patch\nliteral 3\nKcmZ>A00IC2\n",
               (False, False, False, False)),
}  # fmt: skip


def rows(bench: Bench, *contents: Mapping[str, Any]) -> None:
    text = "".join(json.dumps(content) + "\n" for content in contents)
    (bench.folder / "rows.jsonl").write_text(text)


def row(id: str, **changes: Any) -> dict[str, Any]:
    own = {"id": id, "prompt": f"Double it: {id}.", "sourceCode": OLD, "unitTests": TESTS}
    return {**own, "solution": NEW, **changes}


def run(bench: Bench, *words: str) -> Done:
    return bench.call("run", "unified-diff", "--dataset", "rows.jsonl", *words, *OUT)


def scores(bench: Bench) -> dict[str, tuple[Any, ...]]:
    keys = ("form", "strict", "applied", "passed")
    records = bench.records("out")
    return {it["case"]: tuple((it["scores"] or {}).get(key) for key in keys) for it in records}


def answer(chat: Chat) -> State:
    prompt = chat.prompts[-1]
    case = prompt.partition("Double it: ")[2].partition(".")[0]
    return says(ANSWERS[case][0])


def test_damaged_and_hostile_answers_end_where_they_must(bench: Bench, golden: Sentences) -> None:
    rows(bench, *map(row, ANSWERS))
    before = sorted(bench.folder.rglob("*"))
    with chatting(answer) as server:
        done = run(bench, "--models", "reference", f"{server.url}#m", "--concurrency", "2")
    assert done.code == 0, done.err
    of_model = {it["case"]: it for it in bench.records("out") if it["arm"] != "reference"}
    funnel = {
        case: tuple(it["scores"][key] for key in ("form", "strict", "applied", "passed"))
        for case, it in of_model.items()
    }
    assert funnel == {case: expected for case, (_, expected) in ANSWERS.items()}
    assert all(it["scores"]["why"] for it in of_model.values() if not it["scores"]["strict"])
    assert [case for case, it in of_model.items() if it["finish"] == "length"] == ["very long"]
    new = {it.relative_to(bench.folder).parts[0] for it in bench.folder.rglob("*")}
    assert new - {it.relative_to(bench.folder).parts[0] for it in before} <= {"out", "tmp"}
    assert not [it for it in bench.folder.rglob("*") if it.is_symlink()]
    golden(
        parts(done.out, "Results (95 % interval over cases)"),
        *(it for it in done.out.splitlines() if "cut:" in it),
    )


def test_a_reference_that_does_not_pass_is_said(bench: Bench, golden: Sentences) -> None:
    command = "python3 -c 'import sys; print(9 * 400); sys.exit(\"No module named pytest\")'"
    rows(bench, row("broken", command=command), row("whole"), row("other", command="sh {tests}"))
    done = run(bench, "--models", "reference", "--limit", "2")
    assert done.code == 0, done.err
    broken, whole = (it["scores"] for it in bench.records("out"))
    assert (broken["end"], broken["output"]) == ("failed", "3600\nNo module named pytest")
    assert (whole["end"], whole["output"]) == ("passed", None)
    experiment = json.loads((bench.folder / "out" / "experiment.json").read_text())
    assert "1 of 2 rows" in experiment["data_faults"][0]
    golden(*(it for it in done.out.splitlines() if "do not pass" in it or "does not pass" in it))


def test_reference_copy_and_empty(bench: Bench) -> None:
    rows(bench, *(row(f"r{n}") for n in range(3)))
    done = run(bench, "--models", "reference", "copy", "empty")
    assert done.code == 0, done.err
    passed = {arm: [it["scores"]["passed"] for it in bench.records("out") if it["arm"] == arm]
              for arm in ("reference", "empty")}  # fmt: skip
    assert passed == {"reference": [True] * 3, "empty": [False] * 3}


def test_properties(bench: Bench) -> None:
    rows(bench, row("without numbers"))
    with chatting(answer) as server:
        done = run(bench, "--models", f"{server.url}#m", "-p", "tolerant=false",
                   "-p", "systemPrompt=Be brief.")  # fmt: skip
        assert done.code == 0, done.err
        assert server.bodies[-1]["messages"][0] == {"role": "system", "content": "Be brief."}
        assert server.bodies[-1]["temperature"] == 0.1
    assert scores(bench) == {"without numbers": (False, False, False, False)}
    shutil.rmtree(bench.folder / "out")
    with chatting(answer) as server:
        assert run(bench, "--models", f"{server.url}#m", "-p", "systemPrompt=").code == 0
        assert [it["role"] for it in server.bodies[-1]["messages"]] == ["user"]


def test_a_limit_of_time(bench: Bench) -> None:
    slow = NEW.replace("return 2", "while True: pass\n    return 2")
    rows(bench, row("slow", solution=slow))
    assert run(bench, "--models", "reference", "-p", "timeout=1").code == 0
    (record,) = bench.records("out")
    assert (record["scores"]["end"], record["scores"]["passed"]) == ("timeout", False)


def test_what_cannot_be_is_refused_before_anything_is_asked(
    bench: Bench, golden: Sentences
) -> None:
    wrong: list[dict[str, Any]] = [
        {"unitTests": "def check(): pass"},
        {"unitTests": "import pytest\ndef test_a(): pass"},
        {"unitTests": ""},
        {"files": {"a.py": ""}},
        {"files": {"../a.py": ""}, "command": "sh {tests}"},
        {"file": "unit_tests.py", "command": "sh {tests}"},
        {"language": "go"},
        {"command": "sh '{tests}"},
        {"sourceCode": None},
    ]
    sentences = []
    for change in wrong:
        rows(bench, row("good"), row("bad", **change))
        done = run(bench, "--models", "reference", "--plan")
        assert done.code == 2, (change, done.out)
        sentences.append(done.err)
    for words in (("-p", "timeout=0"), ("-p", "tolerant=perhaps"), ("-p", "parity=true")):
        rows(bench, row("good"))
        done = run(bench, "--models", "reference", *words, "--plan")
        assert done.code == 2, words
        sentences.append(done.err)
    golden(*sentences)


@pytest.mark.skipif(
    shutil.which("node") is None and "NEED_NODE" not in os.environ, reason="node: NOT TESTED"
)
def test_an_answer_in_javascript_can_fake_its_tests_which_is_said(
    bench: Bench, golden: Sentences
) -> None:
    old = "exports.double = (number) => number;\n"
    tests = "require('node:assert').strictEqual(require('./main.js').double(4), 8);\n"
    other = {"language": "javascript", "sourceCode": old, "unitTests": tests}
    rows(
        bench,
        row("python"),
        row("right", **other, solution=old.replace("=> n", "=> 2 * n")),
        row("faking", **other, solution=f"process.exit(0);\n{old}"),
        row("wrong", **other, solution=f"// {old}{old}"),
    )
    done = run(bench, "--models", "reference")
    assert done.code == 0, done.err
    passed = {case: values[-1] for case, values in scores(bench).items()}
    assert passed == {"python": True, "right": True, "faking": True, "wrong": False}
    golden(parts(done.out, "Warnings"))


def test_a_program_that_is_not_there_is_no_fault_of_the_answer(
    bench: Bench, golden: Sentences
) -> None:
    rows(bench, row("a", language="cobol", command="cobol-of-nobody {tests}"))
    done = run(bench, "--models", "reference")
    assert done.code == 3
    (record,) = bench.records("out")
    assert record["scores"] is None
    golden(parts(done.out, "Warnings"))
