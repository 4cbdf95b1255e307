"""Which part of a chat's answer is the code."""

import re
from collections.abc import Callable
from textwrap import indent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.cases.reasoning import drop_thoughts
from swarm_bench.benchmarks.cases.texts import (
    JAVA,
    PYTHON,
    SQL,
    find_blocks,
    find_program,
    unify_lines,
)
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion

TWICE = "def twice(x):\n    return 2 * x\n"
QUOTED = 'def twice(x):\n    """Double it.\n\n```\ntwice(2)\n```\n    """\n    return 2 * x\n'
OTHER = "def half(x):\n    return x / 2\n"
PROSE = st.sampled_from(["", "Here it is:\n\n", "1. First\n2. `x = 1` next\n\n", "It's `f(\"a`.\n"])
PYTHON_INFO = st.sampled_from(
    ["python", "py", "python3", "Python", " python", "{.python}", '{.python .numberLines}',
     "python title=\"a.py\"", "PY", "twice.py", "python:src/a.py", "language-python"]
)  # fmt: skip
FENCES = st.sampled_from(["```", "````", "~~~", "~~~~~"])
FOREIGN = st.sampled_from(
    [
        "```bash\npip install x\n```\n",
        "```text\n2 4\n```\n",
        "~~~json\n{}\n~~~\n",
        "```\n$ twice 2\n```\n",
    ]
)
MARK = "\ufeff"
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(
    around=st.tuples(*[st.lists(PROSE | FOREIGN, max_size=3).map("".join)] * 2),
    code=st.sampled_from([TWICE, QUOTED]),
    info=PYTHON_INFO,
    fence=FENCES,
    width=st.sampled_from([0, 1, 3, 4, 8]),
    ends=ENDS,
)
def test_the_block_that_has_the_function_is_the_answer(
    around: tuple[str, str], code: str, info: str, fence: str, width: int, ends: str
) -> None:
    block = indent(f"{fence}{info}\n{code}{fence}\n", " " * width)
    text = block.join(around).replace("\n", ends)
    assert find_program(text, names=("twice",)) == code


@given(before=st.lists(PROSE | FOREIGN, max_size=3).map("".join), info=PYTHON_INFO, ends=ENDS)
def test_the_last_block_may_have_no_end(before: str, info: str, ends: str) -> None:
    text = f"{before}```{info}\n{TWICE}".replace("\n", ends)
    assert find_program(text, names=("twice",)) == TWICE


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"```python\n{OTHER}```\n```python\n{TWICE}```", TWICE),
        (f"```python\n{OTHER}```\n```\n{TWICE}```", TWICE),
        (f"```python\ndef twice(x):\n```\nBetter:\n```python\n{TWICE}```", TWICE),
        (f"```python\n{TWICE}```\n```python\n{TWICE.replace('2', '3')}```", TWICE),
        (f"```python\n{TWICE}\nWait, no:\n```python\n{TWICE}```", TWICE),
        (f"```markdown\n# Answer\n```python\n{TWICE}```\n```", TWICE),
        (f"- ```python\n{indent(TWICE, '  ')}  ```\n", TWICE),
        ("```python\ndef twice(x): return 2 * x```\nDone.", "def twice(x): return 2 * x"),
        ("```python def twice(x): return 2 * x```", "def twice(x): return 2 * x"),
        (f"```python {TWICE}```", TWICE),
        (f"```python {TWICE}", TWICE),
        (f"```python\n{indent(TWICE, '  ')}```", TWICE),
        (indent(TWICE, "    "), TWICE),
        (f"    `````python\n    # Step 1\n    ```\nSo:\n\n````python\n{TWICE}```\nIt.", TWICE),
        ("Use ```twice = int.__add__``` here.", "twice = int.__add__"),
        ("```python\n    return 2 * x\n```\n```python\ntwice(1)\n```", "    return 2 * x\n"),
        ("```\nno code here\n```\n```\nx = 1\n```", "x = 1\n"),
        ("```\nno code\n```\n```\nnor here\n```", "no code\n"),
        ("```javascript\nlet a\n```\n```python\nb\n```", "b\n"),
        (TWICE, TWICE),
        ("```It doubles.", "```It doubles."),
        ("", ""),
    ],
)
def test_of_several_blocks_one_is_taken(text: str, code: str) -> None:
    assert find_program(text, names=("twice",)) == code


@pytest.mark.parametrize(
    ("text", "languages", "code"),
    [
        ("```text\na\n```\n```sql\nSELECT 1\n```", SQL, "SELECT 1\n"),
        ("```SQLite\nSELECT 1\n```", SQL, "SELECT 1\n"),
        ("```text\na\n```\n```\nint f() { return 1; }\n```", JAVA, "int f() { return 1; }\n"),
        ("```text\na\n```\n```xml\nb\n```", JAVA, "a\n"),
        ("```sql SELECT 1```", SQL, "SELECT 1"),
    ],
)
def test_other_languages_are_told_by_their_fences(
    text: str, languages: frozenset[str], code: str
) -> None:
    assert find_program(text, languages) == code


def test_a_whole_program_is_told_by_what_it_does() -> None:
    text = f"The core:\n```python\n{TWICE}```\nAll of it:\n```python\nprint(2 * int(input()))\n```"
    assert find_program(text) == TWICE
    assert find_program(text, sign=re.compile("input")) == "print(2 * int(input()))\n"


READS = "n = int(input())\n"
SOLVES = f"def solve():\n    {READS}    print(2 * n)\n"


@pytest.mark.parametrize(
    ("blocks_", "taken"),
    [
        ([SOLVES, "solve()\n"], [0, 1]),
        ([SOLVES, 'if __name__ == "__main__":\n    solve()\n'], [0, 1]),
        ([READS, "print(2 * n)\n"], [0, 1]),
        ([READS, f"{READS}print(2 * n)\n", f"{READS}print(3 * n)\n"], [1]),
        ([SOLVES, f"{SOLVES}solve()\n"], [1]),
        ([SOLVES, "print('Done')\n"], [0]),
        ([READS, "x = 1\n"], [0]),
    ],
)
def test_definitions_alone_are_half_of_a_program(blocks_: list[str], taken: list[int]) -> None:
    text = "".join(f"So:\n```python\n{it}```\n" for it in blocks_)
    sign = re.compile(r"(?s)\A(?=.*input)(?=.*print)|\Aimport|\An = int\(input\(\)\)\n\Z")
    assert find_program(text, sign=sign) == "\n".join(blocks_[it] for it in taken)


def test_blocks_that_define_what_the_function_uses_stand_before_it() -> None:
    head, helper = "import math\n", "def root(x):\n    return math.sqrt(x)\n"
    function = "def twice(x):\n    return 2 * root(x)\n"
    example = "print(root(4))\n"
    every = [head, helper, f"{OTHER}{example}", function, example]
    text = "\nand\n".join(f"```python\n{code}```\n" for code in every)
    assert find_program(text, names=("twice",)) == f"{head}\n{helper}\n{function}"
    behind = "".join(f"```python\n{code}```\n" for code in (function, f"{head}{helper}"))
    assert find_program(behind, names=("twice",)) == f"{head}{helper}\n{function}"


def test_the_block_that_has_most_of_what_is_asked_is_taken_with_what_it_lacks() -> None:
    pair = "class Pair:\n    pass\n"
    text = f"```python\n{pair}```\n```python\n{TWICE}```"
    assert find_program(text, names=("Pair", "twice")) == f"{TWICE}\n{pair}"
    both = f"{text}\n```python\n{pair}{TWICE}```"
    assert find_program(both, names=("Pair", "twice")) == f"{pair}{TWICE}"


def test_another_version_of_the_function_is_no_helper() -> None:
    first = "LIMIT = 3\ndef twice(x):\n    return LIMIT\n"
    second = "def twice(x):\n    return min(2 * x, LIMIT)\n"
    assert find_program(f"```\n{second}```\n```\n{first}```", names=("twice",)) == second


LINES = st.sampled_from(
    ["```", "````", "~~~", "```python", "   ```", "def twice(x):", '    """', "'''", "return 1",
     "```a```", "x```", "", "text"]
)  # fmt: skip


@given(st.lists(LINES, max_size=14), ENDS)
def test_whatever_is_read_stands_in_the_answer(lines: list[str], ends: str) -> None:
    """And in all of two ways to end a line."""
    text = ends.join(lines)
    code = find_program(text, names=("twice",))
    assert code == find_program("\n".join(lines), names=("twice",))
    assert all(line.strip() in unify_lines(text) for line in code.split("\n"))
    every = find_blocks(unify_lines(text))
    assert all(a.end <= b.begin for a, b in zip(every, every[1:], strict=False))
    if any(
        it.language in PYTHON and parse_python(it.text) and "def twice" in it.text for it in every
    ):
        assert parse_python(code)


@pytest.mark.parametrize(
    "piece",
    ["`", "~", "```a", "```\n", " ", "\n```` \n```", "\t\n", '```\n"""\n', "```\n'''\n```\n",
     "```python\n", "```x```\n", "1. ```\n", "```\na = b\n```\n", "- - ", "x```\n"],
)  # fmt: skip
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    assert len(find_program(text, names=("twice",))) <= len(text)


def test_blocks_that_use_each_other_are_read_at_once() -> None:
    calls = [" + ".join(f"f{(number + it) % 200}(x)" for it in range(300)) for number in range(200)]
    every = [f"def f{number}(x):\n    return {call}\n" for number, call in enumerate(calls)]
    text = "".join(f"```python\n{code}```\n" for code in every)
    assert find_program(text, sign=re.compile("print")).endswith(every[0])


def test_code_stands_behind_an_example_and_long_prose() -> None:
    example, prose = "a = 1\n" * 50, "That is so. " * 5000
    text = f"Say:\n\n{example}\n{prose}\n\n{TWICE}\nIt doubles."
    assert find_program(text, names=("twice",)).endswith(TWICE)


@pytest.mark.parametrize(
    "text",
    [
        "Here is the code: ```python\n{}```\nIt adds.",
        "Sure!\nThe function:```\n{}```",
        "[PYTHON]\n{}[/PYTHON]\nIt adds.",
        "It adds: [PYTHON]{}",
        "Look:\n\n> ```python\n> {}> ```\n> Fine.",
        '<p>Code:</p><pre><code class="language-python">{}</code></pre>',
    ],
)
def test_code_is_marked_in_other_ways(text: str) -> None:
    code = "def add(a, b):\n    return a + b if a < b else b\n"
    lines = code.replace("\n", "\n> ", 1) if text.startswith("Look") else code
    lines = lines.replace("<", "&lt;") if "<pre>" in text else lines
    assert find_program(text.format(lines), names=("add",)).strip() == code.strip()


@pytest.mark.parametrize(
    "answer",
    [f"{MARK}```python\n{TWICE}```", f"```python\n{MARK}{TWICE}```", f"{MARK}{TWICE}",
     f"It:\r\n{MARK}```py\r\n{MARK}{TWICE}```\r\n"],
)  # fmt: skip
def test_a_byte_order_mark_is_no_part_of_an_answer(answer: str) -> None:
    assert find_program(answer, names=("twice",)) == TWICE
    for way in ("chat", "text"):
        said = Completion(text=answer, finish=None, usage=Usage())
        assert not drop_thoughts(said, way).text.startswith(MARK)


ANSWER = "import math\n\n\ndef twice(x):\n    return 2 * x\n"


@pytest.mark.parametrize(
    "text",
    [
        "Here is the function:\n\n{}\nIt's fast (O(1)).\nTime: O(1)\nDone",
        "Let me think about import and for loops.\n\n{}",
        "```python\n{}\nThis one doesn't loop.\n",
        "````python\n{}```\n",
        "``python\n{}``\n",
        "<code>\n{}</code>",
        "\\begin{{lstlisting}}\n{}\\end{{lstlisting}}\n",
        "BEGIN CODE\n{}END",
        "[BEGIN]\n{}[DONE]\n",
        "{}<|im_end|>\n<|im_start|>user\nThanks!",
        "```bash\npip install x\n```\n{}\nIt doubles.",
        "{}```",
        "{}```\nIt doubles.",
        "python\n{}",
        "{}\n\nHuman: thanks\n\nAssistant: ok",
        "{}def twice(x):\n    y = 3\n    for z in (x,",
        "````markdown\nThe answer:\n```python\n{}```\n````\n",
    ],
)
def test_where_no_fences_hold_it_python_is_told_by_its_lines(text: str) -> None:
    assert find_program(text.format(ANSWER), names=("twice",)).strip() == ANSWER.strip()


def test_helpers_among_prose_stand_before_what_uses_them() -> None:
    every = ["import math\n", "def root(x):\n    y = x\n    return math.sqrt(y)\n",
             "def twice(x):\n    return 2 * root(x) + y\n"]  # fmt: skip
    text = "".join(f"\nNow import, for each one:\n\n{it}" for it in every)
    assert find_program(f"{text}\nThat's it.", names=("twice",)) == "\n".join(every)


def test_an_indented_function_among_prose_ends_where_the_indentation_does() -> None:
    text = f"So:\n\n{indent(ANSWER, '    ')}\nIt doubles.\n"
    assert find_program(text, names=("twice",)).strip() == ANSWER.strip()


def test_whole_programs_among_prose_read_something() -> None:
    code = "n = int(input())\nfor _ in range(n):\n    print(input())\n"
    sign = re.compile(r"\binput\b")
    assert find_program(f"Sure, for each input:\n{code}\nThat's it.", sign=sign) == code
    assert find_program("I can't do that.\nx = 1", sign=sign) == "I can't do that.\nx = 1"


@pytest.mark.parametrize("code", ["def twice(x)\n    return 2 * x\n", f"{TWICE}\nif x\n"])
def test_a_mistake_between_fences_is_the_model_s(code: str) -> None:
    assert find_program(f"So:\n```python\n{code}```\nIt doubles.", names=("twice",)) == code


@pytest.mark.parametrize(
    "body",
    ["pass", "...", '"""Double it."""', "raise NotImplementedError()", "return None",
     "y = 2\n    ...\n    return y"],
)  # fmt: skip
def test_a_function_that_does_nothing_is_no_answer(body: str) -> None:
    stub = f"```python\ndef twice(x):\n    {body}\n```\n"
    assert find_program(f"Given:\n{stub}\nSo:\n```python\n{TWICE}```", names=("twice",)) == TWICE
    assert find_program(stub, names=("twice",)) in stub


@pytest.mark.parametrize(
    "change",
    [
        lambda code: code.replace("    ", "\xa0\xa0\xa0\xa0"),
        lambda code: code.replace("\n", "\n\u200b"),
        lambda code: code.replace("<", "&lt;"),
        lambda code: code.replace("\n", "\n+").join(("--- a\n+++ b\n@@ -0,0 +1,3 @@\n+", "\n")),
        lambda code: (
            f">>> {code.strip()}".replace("\n", "\n... ") + "\n...\n>>> less(1, 2)\nTrue\n"
        ),
        lambda code: f"!pip install x\n%matplotlib inline\n{code}",
    ],
)
@pytest.mark.parametrize("text", ["```python\n{}```", "```\n{}\n```\nSo.", "{}"])
def test_python_is_read_in_the_form_that_a_page_or_a_session_gives_it(
    change: Callable[[str], str], text: str
) -> None:
    code = "def less(a, b):\n    c = a < b\n    return c\n"
    scope: dict[str, Any] = {}
    exec(find_program(text.format(change(code)), names=("less",)), scope)
    assert scope["less"](1, 2) is True


def test_what_is_python_is_taken_as_it_is() -> None:
    code = "def twice(x):\n    return '\xa0&lt;' and 2 * x\n"
    assert find_program(f"```python\n{code}```", names=("twice",)) == code
