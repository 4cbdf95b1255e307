"""What answers without being a model."""

import gzip
import json
import re
import tempfile
import tracemalloc
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.core.errors import ConfigError, ModelFailed, SwarmBenchError, UsageError
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    ModelSource,
    Sampling,
    Way,
)
from swarm_bench.models.offline.copy import ORDER, CopySource
from swarm_bench.models.offline.empty import Empty
from swarm_bench.models.offline.generations import Generations
from swarm_bench.models.offline.reference import Reference

pytestmark = pytest.mark.anyio
CASES = ("a", "b")


async def answer(source: ModelSource, ask: Ask, **around: tuple[str, ...]) -> Completion:
    async with source.opened(Around(**{"cases": CASES, **around})) as model:  # type: ignore[arg-type]
        return await model.complete(ask)


async def test_the_reference_says_what_the_data_set_has() -> None:
    said = await answer(Reference(), Ask(prompt="1 +", reference=" 1"))
    assert (said.text, said.whole, said.usage.output) == (" 1", True, 0)
    with pytest.raises(ModelFailed, match="no answer to this case"):
        await answer(Reference(), Ask(prompt="1 +"))


async def test_empty_answers_nothing_whatever_is_asked() -> None:
    answered = await answer(Empty(), Ask(prompt="1 +", reference=" 1"))
    assert (answered.text, answered.finish, answered.usage.output) == ("", "stop", 0)


async def test_copy_continues_as_the_other_answers_do_and_never_as_its_own() -> None:
    lessons = (
        "def one():\n    return 1\n",
        "def two():\n    return 2\n",
        "def two():\n    return 2\n",
    )
    ask = Ask(prompt="def one():\n", number=0, sampling=Sampling(max_tokens=20))
    said = await answer(CopySource(), ask, lessons=lessons)
    assert said.text.startswith("    return 2"), said.text
    own = await answer(CopySource(), Ask(prompt="def one():\n", number=0), lessons=lessons[:1])
    assert "1" not in own.text
    cut = await answer(
        CopySource(), Ask(prompt="a b a b a b", sampling=Sampling(max_tokens=3)), lessons=lessons
    )
    assert cut.finish == "length"


async def test_copy_reads_the_end_of_a_long_prompt() -> None:
    text = "".join(f"uint a{number};\n" for number in range(150_000)) + "uint b;\nuint b;\nuint "
    tracemalloc.start()
    copied = await answer(CopySource(), Ask(prompt=text, sampling=Sampling(max_tokens=2)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert copied.text == "b;"
    assert most < 100_000_000


async def test_copy_learns_nothing_of_the_group_of_its_case() -> None:
    lessons = ("int a = 1;", "int a = 1;", "int a = 2;")
    ask = Ask(prompt="int a =", number=0, sampling=Sampling(max_tokens=3))
    leaking = await answer(CopySource(), ask, lessons=lessons)
    assert leaking.text == " 1;"
    groups = ("one.sol", "one.sol", "two.sol")
    assert (await answer(CopySource(), ask, lessons=lessons, groups=groups)).text == " 2;"
    alone = await answer(CopySource(), ask, lessons=lessons[:2], groups=groups[:2])
    assert (alone.text, alone.finish) == ("", "stop")


async def test_copy_learns_from_two_megabytes_that_the_seed_draws() -> None:
    lessons = tuple(f"name = {number};\n" + "x" * 9_990 for number in range(300))
    notes = {CopySource().program(Around(lessons=lessons, seed=seed)).note for seed in (1, 2)}
    assert notes == {"learned from 1.99 of 3.00 MB, drawn by the seed"}
    assert CopySource().program(Around(lessons=lessons[:100])).note is None
    ask = Ask(prompt="name =", number=299, sampling=Sampling(max_tokens=2))
    learned = {
        seed: [await copied(Around(lessons=lessons, seed=seed), ask) for _ in range(2)]
        for seed in range(8)
    }
    assert all(first == second for first, second in learned.values())
    assert len({first for first, _ in learned.values()}) > 1


async def copied(around: Around, ask: Ask) -> str:
    async with CopySource().opened(around) as model:
        return (await model.complete(ask)).text


TEXTS = st.text("ab (;\n", max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
async def test_copy_takes_what_is_counted_most_after_the_longest_known_context(
    lessons: list[str], prompt: str
) -> None:
    """Count by brute force: all contexts of all other lessons."""
    ask = Ask(prompt=prompt, number=0, sampling=Sampling(max_tokens=1))
    after = Counter[str]()
    tokens = re.findall(r"[ \t]+|\w+|[^\w\s]|\s", prompt)
    for length in range(min(ORDER, len(tokens)), 0, -1):
        context = tokens[-length:]
        for text, weight in ((prompt, 3), *((lesson, 1) for lesson in lessons[1:])):
            end = [""] if weight == 1 and text else []
            own = [*re.findall(r"[ \t]+|\w+|[^\w\s]|\s", text), *end]
            for at in range(length, len(own)):
                if own[at - length : at] == context:
                    after[own[at]] += weight
        if after:
            break
    best = min(after, key=lambda token: (-after[token], token), default="")
    assert await copied(Around(lessons=tuple(lessons)), ask) == best


async def test_answers_come_from_lists_of_lists_by_case_and_run(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([["a1", "a2"], ["b1", "b2"]]))
    source = Generations(str(file))
    assert (await answer(source, Ask(prompt="", case="b", run=2))).text == "b2"
    with pytest.raises(UsageError, match=r"has 2 answers to one of the cases, and --runs 3"):
        source.program(Around(cases=CASES, runs=3))
    assert source.program(Around(cases=CASES, runs=2)).note is None
    note = "has more answers than runs to 2 of 2 cases, of which the first of each are read"
    assert source.program(Around(cases=CASES, runs=1)).note == note
    three = (*CASES, "c")
    with pytest.raises(UsageError, match=r"no answer to 1 of 3 cases, such as c"):
        source.program(Around(cases=three, every=three))


@pytest.mark.parametrize(
    ("texts", "ways", "is_noted"),
    [
        (["```python\nx = 1\n```", "So:\n~~~\ny\n~~~\n"], {"text"}, True),
        (["```python\nx = 1\n```", "y = 1"], {"text"}, False),
        (["x = 1\n```", "y = 1\n```\nSo."], {"text"}, False),
        (["```python\nx = 1\n```", "```\ny\n```"], {"chat"}, False),
        (["```python\nx = 1\n```", "```\ny\n```"], set(), False),
    ],
)
def test_answers_of_a_chat_are_noted_where_nobody_chats(
    tmp_path: Path, texts: list[str], ways: set[Way], is_noted: bool
) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([[text] for text in texts]))
    note = Generations(str(file)).program(Around(cases=CASES, ways=frozenset(ways))).note
    assert ("answers of a chat to 2 of 2 cases" in (note or "")) is is_noted


@pytest.mark.parametrize(
    ("texts", "every", "is_noted"),
    [
        (["    return 1", "    return 2"], ("a", "b", "c"), True),
        (["    return 1", "    return 2"], CASES, False),
        (["    return 1", "def b():\n    return 2"], ("a", "b", "c"), False),
        (["    return 1", "    return 2", "    return 3"], ("a", "b", "c"), False),
    ],
)
def test_answers_of_which_nothing_tells_the_case_are_noted(
    tmp_path: Path, texts: list[str], every: tuple[str, ...], is_noted: bool
) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([[text] for text in texts]))
    note = Generations(str(file)).program(Around(cases=CASES, every=every)).note
    assert ("names no cases" in (note or "")) is is_noted


@pytest.mark.parametrize("completion", [None, 5, ["x = 1"], {"text": "x = 1"}])
def test_what_is_no_text_is_no_answer(tmp_path: Path, completion: object) -> None:
    file = tmp_path / "samples.jsonl"
    lines = [{"task_id": "a", "completion": "x"}, {"task_id": "b", "completion": completion}]
    file.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(UsageError, match=r"samples.jsonl:2: the completion of b is no text"):
        Generations(str(file)).program(Around(cases=CASES, every=CASES))


async def test_a_list_is_of_the_cases_that_are_asked_or_of_the_data_set(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    every = ("a", "b", "c", "d")
    for texts, first in ((["b", "c"], "b"), (["a", "b", "c"], "b"), ([*every], "b")):
        file.write_text(json.dumps([[text] for text in texts]))
        source, around = Generations(str(file)), Around(cases=("b", "c"), every=every)
        source.program(around)
        async with source.opened(around) as model:
            assert (await model.complete(Ask(prompt="", case="b"))).text == first
    file.write_text(json.dumps([["x"]] * 5))
    with pytest.raises(UsageError, match="to 5 cases, and the data set has 4, so it is of another"):
        Generations(str(file)).program(Around(cases=("b", "c"), every=every))


async def test_samples_are_separated_by_newlines_alone(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    sample = json.dumps({"task_id": "a", "completion": "1\u2028\x852"}, ensure_ascii=False)
    file.write_text(f"{sample}\n\n")
    assert (await answer(Generations(str(file)), Ask(prompt="", case="a"))).text == "1\u2028\x852"


async def test_answers_come_from_samples_by_their_ids(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    lines = [{"task_id": "b", "completion": "b1"}, {"task_id": "a", "completion": "a1"}]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert (await answer(Generations(str(file)), Ask(prompt="", case="a"))).text == "a1"
    with pytest.raises(UsageError, match="no answer to 1 of 2 cases, such as c"):
        Generations(str(file)).program(Around(cases=("a", "c"), every=("a", "b", "c")))


@pytest.mark.parametrize("text", ["", "{}", "[[]]", "[[1]]", '{"task_id": 1}\n', "\0"])
async def test_what_holds_no_answers_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "answers.json"
    file.write_text(text)
    with pytest.raises((ConfigError, UsageError), match=r"answers"):
        Generations(str(file)).program(Around(cases=CASES))


LINES = "1\tb 1\t2\r\n0\ta\r\n\r\n"
PAIRS = "7\t9\t0\n7 8 1\n"


@pytest.mark.parametrize(
    ("text", "every", "answers"),
    [
        (LINES, ("0", "1"), ("a", "b 1\t2")),
        (LINES, ("x", "y"), ("a", "b 1\t2")),
        ("0\ta\n1\t\n", ("0", "1"), ("a", "")),
        ("\ufeff1 0\n0 1", ("1", "0"), ("0", "1")),
        (PAIRS, ("7-8", "7-9"), ("1", "0")),
        (PAIRS.replace("\n", "\r\n"), ("7-8", "7-9"), ("1", "0")),
    ],
)
async def test_predictions_are_lines_of_ids_or_numbers_and_a_text(
    tmp_path: Path, text: str, every: tuple[str, ...], answers: tuple[str, ...]
) -> None:
    file = tmp_path / "predictions.txt"
    file.write_text(text, newline="")
    source, around = Generations(str(file)), Around(cases=every, every=every)
    source.program(around)
    async with source.opened(around) as model:
        read = [await model.complete(Ask(prompt="", case=case)) for case in every]
    assert tuple(it.text for it in read) == answers
    assert all(it.whole for it in read)


SAMPLES = "".join(
    json.dumps({"task_id": case, "completion": "1"}) + "\n" for case in ("7-8", "7-10")
)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("7 8 1\n7 10 0\n", r"predictions.txt:2: '7-10' is no case of the data set"),
        ("7 8 1\n\n7 8 0\n", r"predictions.txt:3: there is an answer to 7-8 already"),
        ("7 8 1\n", r"no answer to 1 of 2 cases, such as 7-9"),
        ("yes\nno\n", r"predictions.txt:1: 'yes' is no case of the data set"),
        ("7 8 1\n7 9 0 extra\n", r"predictions.txt:2: is no line of id id label"),
        ("7\t8\t17\t9\t0\n", r"predictions.txt:1: is no line of id id label"),
        ("7 8 1\n7 9\n", r"predictions.txt:2: is no line of id id label"),
        ("7\t8\t1\n7\t9\t\n", r"predictions.txt:2: is no line of id id label"),
        ("7-8 1\n7-9\n", r"predictions.txt:2: is no line of id text"),
        (SAMPLES, r"predictions.txt:2: '7-10' is no case of the data set"),
    ],
)
async def test_predictions_for_other_rows_are_refused(
    tmp_path: Path, text: str, error: str
) -> None:
    file, every = tmp_path / "predictions.txt", ("7-8", "7-9")
    file.write_text(text)
    with pytest.raises(UsageError, match=error):
        Generations(str(file)).program(Around(cases=every, every=every))


@pytest.mark.parametrize(
    "text", ["0 1\n1 0 extra\n", "0\t1\n1\t02\t1\n", "0\t1\n1\t\n", "0 1\n1\n"]
)
async def test_a_line_of_a_label_has_one_word(tmp_path: Path, text: str) -> None:
    file, every = tmp_path / "predictions.txt", ("0", "1")
    file.write_text(text)
    with pytest.raises(UsageError, match=r"predictions.txt:2: is no line of id label"):
        Generations(str(file)).program(Around(cases=every, every=every, one_word=True))
    file.write_text("1\tmaybe \r\n0 1")
    Generations(str(file)).program(Around(cases=every, every=every, one_word=True))


async def test_samples_may_be_packed(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"task_id": "a", "completion": "a1"}\n'))
    assert (await answer(Generations(str(file)), Ask(prompt="", case="a"))).text == "a1"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"cannot be read .*; fix generations:FILE"):
        Generations(str(file)).program(Around(cases=CASES))


IDS = ("0", "1", "7-8")


@given(st.binary(max_size=60) | st.text('01789-ab \t\r\n{["', max_size=40).map(str.encode))
async def test_any_file_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.txt"
        file.write_bytes(content)
        with suppress(SwarmBenchError):
            Generations(str(file)).program(Around(cases=IDS, every=IDS))
            async with Generations(str(file)).opened(Around(cases=IDS, every=IDS)) as model:
                for case in IDS:
                    await model.complete(Ask(prompt="", case=case))


PROMPTS = tuple((f"c{number}", f"def function_{number}(x):\n    ...\n") for number in range(30))
EVERY = tuple(case for case, _ in PROMPTS)


def asked_for(first: int, last: int) -> Around:
    return Around(cases=EVERY[first:last], every=EVERY, runs=2, prompts=lambda: PROMPTS)


@pytest.mark.parametrize("indented", [False, True])
async def test_answers_with_the_prompts_of_other_cases_are_refused(
    tmp_path: Path, indented: bool
) -> None:
    """As many as are asked, of rows 20 to 29; a harness may have stripped the prompts."""
    file, blank = tmp_path / "answers.json", "\n" if indented else ""
    texts = [[f"{blank}{prompt.strip()}\n    return 1\n"] * 2 for _, prompt in PROMPTS]
    file.write_text(json.dumps(texts[20:]))
    assert Generations(str(file)).program(asked_for(20, 30)).note is None
    with pytest.raises(UsageError, match=r"answer to c0 begins with the prompt of c20; give"):
        Generations(str(file)).program(asked_for(0, 10))
    texts[21][1] = texts[3][0]
    file.write_text(json.dumps(texts[20:]))
    with pytest.raises(UsageError, match=r"answer to c21 begins with the prompt of c3; give"):
        Generations(str(file)).program(asked_for(20, 30))
    bodies = [["    return 1\n"] * 2] * 10
    file.write_text(json.dumps(bodies))
    assert "names no cases" in str(Generations(str(file)).program(asked_for(0, 10)).note)


async def test_answers_that_define_what_other_cases_ask_for_are_refused(tmp_path: Path) -> None:
    file, every = tmp_path / "answers.json", tuple("abcdef")
    lessons = tuple(f"def {it}_function(x):\n    return x\n" for it in every)
    around = Around(cases=every, every=every, lessons=lessons)
    answers = [[f"```python\n{lesson}```"] for lesson in lessons]
    for texts in (answers, [["pass"]] * 6, [["def helper(): ..."]] * 6, [answers[0]] * 6):
        file.write_text(json.dumps(texts))
        if texts[:2] == [answers[0]] * 2:
            with pytest.raises(UsageError, match="5 of 6 answers define what another case"):
                Generations(str(file)).program(around)
        else:
            assert Generations(str(file)).program(around).note is None
    file.write_text(json.dumps(answers[::-1]))
    with pytest.raises(UsageError, match="such as that to a, which defines f_function"):
        Generations(str(file)).program(around)


async def test_an_answer_may_begin_with_prompts_that_others_begin_with(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    short, long = "def function(x):\n    # one", "def function(x):\n    # one\n    # more"
    prompts = (("a", short), ("b", long), ("c", short))
    around = Around(cases=("a", "b", "c"), every=("a", "b", "c"), prompts=lambda: prompts)

    def sample(case: str, text: str) -> str:
        return json.dumps({"task_id": case, "completion": text}) + "\n"

    right = sample("a", f"{short}\npass") + sample("b", f"{long}\npass") + sample("c", short)
    file.write_text(right)
    Generations(str(file)).program(around)
    file.write_text(right.replace("# more", "# less"))
    with pytest.raises(UsageError, match="answer to b begins with the prompt of a"):
        Generations(str(file)).program(around)


async def test_what_is_packed_is_told_by_its_content(tmp_path: Path) -> None:
    sample = b'{"task_id": "a", "completion": "a1"}\n'
    for name, content in (("samples", gzip.compress(sample)), ("samples.jsonl.gz", sample)):
        (tmp_path / name).write_bytes(content)
        source = Generations(str(tmp_path / name))
        assert (await answer(source, Ask(prompt="", case="a"))).text == "a1"
