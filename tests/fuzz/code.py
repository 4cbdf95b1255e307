"""Code of which holes are made, the files of a folder and packages; and the code in an answer."""

from contextlib import suppress
from pathlib import Path
from textwrap import dedent

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.cases.reasoning import drop_thoughts
from swarm_bench.benchmarks.cases.texts import JAVA, find_blocks, find_program, unify_lines
from swarm_bench.benchmarks.completion.benchmark import CodeCompletion
from swarm_bench.benchmarks.completion.holes import drop_fences
from swarm_bench.benchmarks.completion.rows import Code
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Completion
from swarm_bench.datasets.rows import read_rows
from swarm_bench.models.offline.generations import Generations
from tests.fuzz.parts import joined, parts

FOLDERS = [
    joined(
        b"contract A {\n    uint256 public x;\n\n    function f() external {}\n}\n",
        b'{"date": "2026-01-31", "dates": {"a": "2026-02-01"}, "licence": "MIT"}',
    ),
]
PACKAGES = [
    b'{"path": "a.sol", "content": "contract A {\\n    uint x;\\n}\\n", "date": "2026-01-31"}\n',
    b'{"path": "a.sol", "prefix": "a\\n", "middle": "b\\n", "suffix": "c\\n", "part": "p"}\n',
    b'\xef\xbb\xbfpath;content\r\na.sol;"contract A {\n    uint x;\n}\n"\r\n',
]

CASES = ("a", "b")
WRITTEN = [
    b'[["def function_a(x):\\n    return x"], ["b"]]',
    b'\xef\xbb\xbf{"task_id": "a", "completion": "a"}\r\n{"task_id": "b", "completion": "b"}\n',
    b"0\ta\n1\tb c\n",
    "a\t1\nb\t2\n".encode("utf-16"),
]
ANSWERS = [
    b"<think>\n```python\nno\n```\n</think>\n\n1. It:\n   ```py\n   def f(x):\n"
    b"       return x\n   ```\n",
    b"```sh\npip install x\n```\r\n~~~{.python}\r\ndef f(x):\r\n    '''\n```\nf(1)\n```'''\r\n"
    b"~~~\n",
    b"<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>```f = '</think>'```"
    b"<|return|>",
    b"It is:\n\nimport a\n\ndef f(x):\n    return a.g(x &lt; 1)\n\nTime: O(1)\n\n"
    b"def g():\n    x = (",
    b"...done thinking.\n```\n>>> def f(x):\n...     ...\n```\n"
    b"```diff\n+def f(x):\n+\xc2\xa0   pass\n```",
]


def folder(data: bytes, place: Path) -> None:
    """A source file, and the dates beside it."""
    text, dates = parts(data, 2)
    (place / "a.sol").write_bytes(text)
    if dates:
        (place / "dataset.json").write_bytes(dates)
    _ask(f"contracts:{place}")


def package(data: bytes, place: Path) -> None:
    """Rows that somebody wrote, as lines and as a table."""
    for name in ("package.jsonl", "package.csv"):
        file = place / name
        file.write_bytes(data)
        _ask(str(file))


def answers(data: bytes, place: Path) -> None:
    """Answers that somebody has written down: each case has one, or a sentence says why not."""
    file = place / "answers"
    file.write_bytes(data)
    prompts = [(case, f"def function_{case}(x):\n") for case in CASES]
    around = Around(cases=CASES, every=CASES, prompts=lambda: prompts)
    with suppress(SwarmBenchError):
        assert Generations(str(file)).program(around).name == "generations"


def _ask(word: str) -> None:
    with suppress(SwarmBenchError):
        rows = read_rows(word, Code).rows
        own = CodeCompletion(chunk_tokens=16)
        cases = list(own.cases(rows))
        assert len({case.id for case in cases}) == len(cases)
        for case in cases:
            hole = case.row
            assert hole.middle.strip()
            assert hole.prefix + hole.middle + hole.suffix == hole.text
            assert own.ask(case, "gap") == own.ask(case, "gap")
        assert all(note.endswith(".") for note in own.notes(rows))


def answer(data: bytes, _place: Path) -> None:
    """What a model says in a chat: each line that is scored stands in it, but for blanks and marks
    in Python."""
    said = data.decode("utf-8", "replace")
    heard = drop_thoughts(Completion(text=said, finish="stop", usage=Usage()), "chat").text
    assert heard in said
    assert drop_fences(heard) == heard or find_blocks(heard)
    lines = unify_lines(heard)
    for code in (find_program(heard, names=("f", "g")), find_program(heard, JAVA)):
        assert all(line.strip() in lines for line in code.split("\n")) or parse_python(dedent(code))
