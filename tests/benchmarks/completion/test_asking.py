"""Prompts are those of the reference program in parity; by default as a family documents them."""

import pytest

from swarm_bench.benchmarks.completion.holes import (
    CLOSE,
    OPEN,
    Family,
    drop_opening,
    find_family,
    find_form,
    make_turns,
)
from tests.benchmarks.completion.data_files import read_json

GOLDEN = read_json("prompts.json")
PREFIX, SUFFIX = GOLDEN["prefix"], GOLDEN["suffix"]


def word_of(model: str) -> str:
    """A model of the reference program, as it is written after --models."""
    provider, _, name = model.partition("/")
    return f"ollama:{name}" if provider == "ollama" else f"http://127.0.0.1:8000/v1#{model}"


def around(family: Family, *, parity: bool = False) -> str:
    return find_form(family, parity=parity).fill(PREFIX, SUFFIX)


@pytest.mark.parametrize("model", GOLDEN["prompts"])
def test_parity_asks_as_the_reference_program_does(model: str) -> None:
    family = find_family(word_of(model), parity=True)
    assert family is not None
    assert around(family, parity=True) == GOLDEN["prompts"][model]


def test_by_default_two_families_are_asked_as_they_document_it() -> None:
    assert around("codestral") == f"[SUFFIX]{SUFFIX}[PREFIX]{PREFIX}"
    assert around("codellama") == f"<PRE> {PREFIX} <SUF>{SUFFIX} <MID>"
    others: tuple[Family, ...] = (
        "codegemma", "codeqwen", "qwen2.5-coder", "deepseek-coder", "starcoder2",
    )  # fmt: skip
    for family in others:
        assert around(family) == around(family, parity=True)


def test_what_stands_in_the_code_is_no_slot() -> None:
    form = find_form("starcoder2", parity=False)
    assert form.fill("{suffix}{prefix}", "{prefix}\\1") == (
        "<fim_prefix>{suffix}{prefix}<fim_suffix>{prefix}\\1<fim_middle>"
    )


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("ollama:qwen2.5-coder:1.5b-base", "qwen2.5-coder"),
        ("ollama:hf.co/Qwen/Qwen2.5-Coder-7B-GGUF:Q4@http://10.0.0.1:11434", "qwen2.5-coder"),
        ("ollama:codegemma@http://codellama:11434", "codegemma"),
        ("http://127.0.0.1:8000/v1#mistralai/Codestral-22B-v0.1", "codestral"),
        ("http://codestral/v1", None),
        ("ollama:deepseek-coder-v2:16b", "deepseek-coder"),
        ("ollama:deepseek-r1:8b", None),
        ("http://127.0.0.1:8000/v1#qwen2.5-7b-instruct", None),
        ("llamacpp:http://127.0.0.1:8080", None),
        ("anthropic:claude-sonnet", None),
        ("copy", None),
        ("", None),
    ],
)
def test_a_family_is_known_by_the_name_of_a_model(word: str, family: str | None) -> None:
    assert find_family(word) == family


@pytest.mark.parametrize("parity", [False, True])
def test_turns_put_the_gap_and_end_with_an_open_tag(parity: bool) -> None:
    (turn,) = make_turns("PRE", "SUF", parity=parity)
    mark = "{FILL_HERE}" if parity else "{{FILL_HERE}}"
    assert turn.role == "user"
    assert f"<QUERY>\nPRE{mark}SUF\n</QUERY>" in turn.text
    assert turn.text.endswith(f"\n{OPEN}")
    assert turn.text.count(CLOSE) == 1 + 5  # the task names it, and each example has it


def test_an_opening_tag_is_dropped_and_nothing_trimmed() -> None:
    assert drop_opening(f"{OPEN}\n  x \n") == "\n  x \n"
    assert drop_opening(f" {OPEN}x") == f" {OPEN}x"


def test_models_stop_at_the_tokens_of_their_family() -> None:
    assert find_form("codegemma", parity=True).stops == ("<|file_separator|>",)
    assert find_form("codestral", parity=True).stops == ("[PREFIX]", "[SUFFIX]")
    assert find_form("starcoder2", parity=True).stops == ()
    assert "<|endoftext|>" in find_form("starcoder2", parity=False).stops
