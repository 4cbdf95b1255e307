"""What a model thinks aloud before it answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.benchmarks.cases.reasoning import drop_thoughts
from swarm_bench.benchmarks.cases.texts import find_program
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Way

PAIRS = [
    ("<think>", "</think>"),
    ("<Thinking>", "</Thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>thought", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
    ('<think effort="high">', "</think >"),
    ("<thought_process>", "</thought_process>"),
    ("<antThinking>", "</antThinking>"),
    ("<own:reasoning_content>", "</own:reasoning_content>"),
    ("<analysis>", "</analysis>"),
    ("<|thinking_start|>", "<|thinking_end|>"),
    ("<|think|>", "<|/think|>"),
    ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
    ("[Start thinking]", "[End thinking]"),
]
DRAFTS = st.lists(
    st.sampled_from(
        ["Hm.", "```python\ndef draft():\n    pass\n```", "```python\nunfinished", "It's \"so\".",
         "The mark `</think>` ends it.", "split('</think>')", "<think>", "</think>", "~~~"]
    ),
    max_size=5,
).map("\n".join)  # fmt: skip
CODE = "def after(text):\n    return text.split('</think>')[-1]\n"
DOCUMENTED = (
    f'def after(text):\n    """Drop\n</think>\n    """\n    return text\n\n# <think>\n{CODE}'
)


def heard(text: str, way: Way = "chat") -> str:
    return drop_thoughts(Completion(text=text, finish="stop", usage=Usage()), way).text


@given(
    draft=DRAFTS,
    pair=st.sampled_from(PAIRS),
    opened=st.booleans(),
    code=st.sampled_from([CODE, DOCUMENTED]),
    is_fenced=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_behind_the_last_end_of_thoughts_is_the_answer(
    draft: str, pair: tuple[str, str], opened: bool, code: str, is_fenced: bool, end: str
) -> None:
    """Also where the prompt has begun them, and where the code has such marks."""
    answer = f"```python\n{code}```" if is_fenced else code
    text = f"{pair[0] if opened else ''}\n{draft}\n{pair[1]}\n\n{answer}".replace("\n", end)
    assert find_program(heard(text), names=("after",)) == code


@pytest.mark.parametrize("pair", PAIRS)
def test_thoughts_without_an_end_are_no_answer(pair: tuple[str, str]) -> None:
    assert heard(f"\n{pair[0]}\n```python\n{CODE}```\n") == ""
    assert heard(f"{pair[0]}a{pair[1]}") == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\n<think>\nno\n</think>\n\n  yes", "  yes"),
        ("<think>a <think>b</think> c</think>yes", "yes"),
        ("<think></think>yes <think>a</think>", "yes "),
        ("yes <think>no</think>", "yes "),
        ("yes\n<think>no", "yes\n"),
        ("I don't know.</think>It's 5.", "It's 5."),
        ("Use the <think> tag.", "Use the <think> tag."),
        ("Put it into `<think>x</think>`.", "Put it into `<think>x</think>`."),
        ("<think>a</think>\n<answer>\nyes\n</answer>\nDone.", "yes\n"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b"),
        (CODE, CODE),
        (DOCUMENTED, DOCUMENTED),
        (f"```python\n{DOCUMENTED}```", f"```python\n{DOCUMENTED}```"),
        ('```java\ns.split("</think>");\n```', '```java\ns.split("</think>");\n```'),
        ("nothing of it", "nothing of it"),
        ("<think>`a```</think>```b```", "```b```"),
        ("A reason\n</ul>\nThe <b>reason</b>.", "A reason\n</ul>\nThe <b>reason</b>."),
        ('<details type="reasoning" done="true">\n> a\n</details>\nb', "b"),
        ("b\n<details><summary>Why</summary>c</details>",) * 2,
    ],
)
def test_what_is_left_of_an_answer(text: str, answer: str) -> None:
    assert heard(text) == answer
    for way in ("text", "gap"):
        assert heard(text, way) == text


FINAL = "<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (f"<|channel|>analysis<|message|>a<|end|><|start|>assistant{FINAL}b<|return|>", "b"),
        (
            f"<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant{FINAL}b",
            "b",
        ),
        (f"{FINAL}b", "b"),
        ("<|channel|>final <|constrain|>json<|message|>{}", "{}"),
        ("<|channel|>analysis<|message|>a", ""),
        ("<|channel|>commentary to=f<|message|>a<|call|>", ""),
        ("analysisWe need b.assistantfinalb", "b"),
        (f"A `draft`.<|end|><|start|>assistant{FINAL}b<|return|>", "b"),
        (f"<|message|>A draft.<|end|><|start|>assistant{FINAL}b", "b"),
        ("analysis of it: b", "analysis of it: b"),
        (f"It prints '{FINAL}b'.", f"It prints '{FINAL}b'."),
    ],
)
def test_the_last_channel_is_the_answer(text: str, answer: str) -> None:
    assert heard(text) == answer


@pytest.mark.parametrize(
    "piece",
    ["<think>", "</think>", "'</think>'", "'</think>", '"\\"', "```\n</think>\n```\n", "<think>a\n",
     "<|channel|>", "</s>", "'", "</think>(", "`</think>\n", "<think></think>"],
)  # fmt: skip
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    assert len(heard(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{CODE}",
        f"\u200b```python\n{CODE}```",
        f"{CODE}<|im_end|>",
        f"{CODE}</s>\n<|endoftext|>\n",
        f"<s>{CODE}<|eot_id|>",
        f"```python\n{CODE}<|end_of_text|>",
        f"```python\n{CODE}```<|eot_id|>",
        f"<|im_start|>assistant\n{CODE}<|im_end|>",
        f"<think>Hm.</think><|begin_of_box|>{CODE}<|end_of_box|>",
        f"<think>Hm.</think>\n<response>\n{CODE}</response>",
        f"<|think|>Hm.<|end|><|content|>{CODE}",
        f"Hm.\n[BEGIN FINAL RESPONSE]\n{CODE}\n[END FINAL RESPONSE]<|end|>",
        f"Here is my thought process: hm. Here is my response:\n{CODE}",
        f"<scratchpad>Hm.</scratchpad>{CODE}",
        f"Thinking...\nHm.\n...done thinking.\n\n{CODE}",
        f"<|python_tag|>{CODE}<|eom_id|>",
        f"<think>Hm.</think><|start_header_id|>assistant<|end_header_id|>\n\n{CODE}<|eot_id|>",
        f"<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{CODE}<|END_OF_TURN_TOKEN|>",
        f"<|assistant|>\n{CODE}<|user|>",
        f"analysis\nHm.\nassistant\nfinal\n{CODE}",
        f"<｜begin▁of▁thinking｜>Hm.<｜end▁of▁thinking｜>{CODE}",
    ],
)
def test_tokens_of_templates_are_no_answer(text: str) -> None:
    assert find_program(heard(text), names=("after",)).strip() == CODE.strip()
