"""Metrics of packages that cannot be told apart."""

from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.metrics.registered import load_metrics
from tests.builders.golden import Sentences
from tests.builders.packages import install


def test_without_packages_there_are_those_of_the_benchmark() -> None:
    assert load_metrics() == METRICS


def test_two_packages_with_one_name_are_omitted_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    for module in ("ours", "theirs"):
        install(module, "", f"[swarm_bench.metrics]\ntone = {module}:TONE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    metrics = load_metrics()
    assert metrics.all == METRICS.all
    (sentence,) = metrics.omitted
    golden(sentence.partition("(")[0], sentence.partition(")")[2])
