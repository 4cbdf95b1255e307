"""The page for those who come from another harness names nothing of ours that is not there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.cli.commands import app
from swarm_bench.core import entry_points
from swarm_bench.engine.benchmark import find_benchmark
from tests.e2e.conftest import Bench

PAGE = Path(__file__).parents[2] / "docs" / "from-other-harnesses.md"
TEXT = PAGE.read_text(encoding="utf-8")
BIGCODE = """
model modeltype peft_model revision use_auth_token trust_remote_code tasks instruction_tokens
batch_size max_length_generation precision load_in_8bit load_in_4bit left_padding limit limit_start
save_every_k_tasks postprocess allow_code_execution generation_only load_generations_path
load_data_path metric_output_path save_generations load_generations_intermediate_paths
save_generations_path save_references save_references_path prompt max_memory_per_gpu
check_references do_sample temperature top_p top_k n_samples eos seed prefix
"""
EARLIER = """
include_tests_mbpp include_solution_mbpp prompt_type_mbpp setup_apps level_apps language prompt_type
"""
COMPCHOMPER = """
title content samples_per_contract completion_after_newline lines_to_mask tokens_to_chunk
chars_per_token minimum_split_length seed max_new_tokens lines_to_match score_indel
"""
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
KINDS = {
    plugin.name: benchmark.kind
    for plugin in entry_points.list_plugins("benchmarks")
    if isinstance(benchmark := find_benchmark(plugin.name), RowBenchmark)
}
FILE = re.compile(r"[\w/-]+\.(json|jsonl|md)")


def rows() -> Iterator[tuple[str, str]]:
    """What stands there, and what here."""
    for line in TEXT.splitlines():
        if line.startswith("| ") and not line.startswith("| there"):
            there, here = line.strip("| ").split(" | ")
            yield there, here


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


OURS = sorted({span for _, here in rows() for span in spans(here)})


def options(command: str) -> set[str]:
    return {word for it in COMMANDS[command].params for word in (*it.opts, *it.secondary_opts)}


def named() -> set[str]:
    """The words that packages register, and the keys of metrics."""
    kinds = ("benchmarks", "models", "datasets", "environments")
    words = {plugin.name for kind in kinds for plugin in entry_points.list_plugins(kind)}
    return words | {metric.key for kind in KINDS.values() for metric in kind.metrics()}


@pytest.mark.parametrize("span", [it for it in OURS if not FILE.fullmatch(it)])
def test_each_name_of_ours_exists(span: str) -> None:
    first, *others = span.split()
    if first == "-p":
        name, _, value = others[0].partition("=")
        assert value
        assert any(name in kind.model_fields for kind in KINDS.values())
    elif first == "swarm-bench":
        assert others[0] in COMMANDS
    elif first.startswith("--"):
        assert first in options("run")
        if first == "--vary":
            assert any(others[0].partition("=")[0] in it.model_fields for it in KINDS.values())
    else:
        assert first.partition(":")[0] in named() | {"MODEL_API_KEY", "whole_line", "until_eol"}


def test_each_file_is_written(bench: Bench) -> None:
    done = bench.call("run", "conala", "--models", "reference", "--output", "out", "--quiet")
    assert done.code == 0, done.err
    files = [span for span in OURS if FILE.fullmatch(span) and span != "dataset.json"]
    assert len(files) >= 4
    assert not [name for name in files if not (bench.folder / "out" / name).exists()]


def test_each_option_of_the_originals_has_its_line() -> None:
    there = {span for cell, _ in rows() for span in spans(cell)}
    assert {f"--{name}" for name in BIGCODE.split()} <= there
    assert set(f"{EARLIER} {COMPCHOMPER}".split()) <= there


def test_values_of_properties_are_taken() -> None:
    """`-p level=interview` and so on: by one of the benchmarks that have it."""
    values = [span.split()[1].partition("=") for span in OURS if span.startswith("-p ")]
    for name, _, value in values:
        kinds = [kind for kind in KINDS.values() if name in kind.model_fields]
        if value != "@FILE":
            assert any(_takes(kind, name, value) for kind in kinds), (name, value)


def _takes(kind: type, name: str, value: str) -> bool:
    try:
        kind.model_validate({name: value})  # type: ignore[attr-defined]
    except ValueError:
        return False
    return True
