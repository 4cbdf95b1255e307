"""How much of what a careful reader finds in a text is read out of it, and what else is."""

import os
import re
from collections import Counter
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_bench.source.references.extraction import references

LABELLED = Path(__file__).parent / "labelled"
ERRORS = LABELLED / "errors.yaml"
LABEL = re.compile(r"(.*?)(?::(\d+)(?:-(\d+))?)?$")
KINDS = ("files", "lines", "symbols")
Counts = dict[str, Counter[Hashable]]


@lru_cache
def files_of(repository: str) -> frozenset[str]:
    path = LABELLED / "repositories" / f"{repository}.txt"
    return frozenset(path.read_text(encoding="utf-8").splitlines())


def labelled(labels: list[str]) -> Counts:
    counts: Counts = {kind: Counter() for kind in KINDS}
    for label in labels:
        head, *symbols = [label] if label.startswith("!") else label.split(" ")
        path, first, last = _parts(head)
        counts["files"][path] += 1
        if first:
            counts["lines"][path, first, last] += 1
        for symbol in symbols:
            counts["symbols"][path, symbol] += 1
    return counts


def _parts(head: str) -> tuple[str, int | None, int | None]:
    match = LABEL.match(head)
    assert match
    first, last = (int(number) if number else None for number in match.groups()[1:])
    return match[1], first, last


def extracted(text: str, repository: str, workspace: str) -> Counts:
    counts: Counts = {kind: Counter() for kind in KINDS}
    places = set()
    for reference in references(text, files_of(repository), workspace):
        path = reference.path or f"!{reference.mention}"
        if (reference.position, path) not in places:
            counts["files"][path] += 1
            if reference.first_line and reference.path:
                counts["lines"][path, reference.first_line, reference.last_line] += 1
        places.add((reference.position, path))
        if reference.symbol and reference.path:
            counts["symbols"][path, reference.symbol] += 1
    return counts


def measured(folder: str) -> dict[str, Any]:
    """Figures of a part of the set, and its errors by text."""
    hits, missed, extra = (Counter[str]() for _ in range(3))
    errors: dict[str, Any] = {}
    for path in sorted((LABELLED / folder).glob("*.yaml")):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        text = path.with_suffix(".txt").read_text(encoding="utf-8")
        right = labelled(content["references"])
        read = extracted(text, content["repository"], content["workspace"])
        for kind in KINDS:
            hits[kind] += (right[kind] & read[kind]).total()
            missed[kind] += (lost := right[kind] - read[kind]).total()
            extra[kind] += (wrong := read[kind] - right[kind]).total()
            if lost or wrong:
                errors[f"{path.stem}, {kind}"] = {
                    "missed": sorted(map(str, lost.elements())),
                    "extra": sorted(map(str, wrong.elements())),
                }
    figures = {
        kind: {
            "recall": round(hits[kind] / (hits[kind] + missed[kind]), 4),
            "precision": round(hits[kind] / (hits[kind] + extra[kind]), 4),
            "labels": hits[kind] + missed[kind],
        }
        for kind in KINDS
    }
    return {"figures": figures, "errors": errors}


@pytest.mark.parametrize("folder", ["tuning", "held-out"])
def test_errors_are_those_that_are_listed(folder: str) -> None:
    """`make golden` writes them anew; read the difference before you commit it."""
    listed = yaml.safe_load(ERRORS.read_text(encoding="utf-8")) if ERRORS.exists() else {}
    result = measured(folder)
    if os.environ.get("RENEW"):
        ERRORS.write_text(
            yaml.safe_dump({**listed, folder: result}, sort_keys=False, width=200), encoding="utf-8"
        )
    else:
        assert result == listed[folder]
    assert result["figures"]["files"]["recall"] >= 0.98
    assert result["figures"]["files"]["precision"] >= 0.98
