"""`report` on a session whose records were changed, in each way in which that can be done."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.stored.reporting import report
from swarm_bench.engine.lines import add_checksum
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

TOKENS = ("input_tokens", "cache_create", "output_tokens", "total_tokens", "effective_tokens")


def cheaper(record: dict[str, Any]) -> dict[str, Any]:
    """A hundredth of all tokens."""
    return {key: value // 100 if key in TOKENS else value for key, value in record.items()}


def edit(
    folder: Path,
    copy: Path,
    write: Callable[[dict[str, Any]], bytes],
    modes: tuple[str, ...] = ("canopy",),
) -> None:
    """A copy of the session in which the lines of these modes are written anew."""
    shutil.copytree(folder, copy)
    metrics = copy / "metrics.jsonl"
    lines = metrics.read_bytes().splitlines()
    new = [write(one) if (one := json.loads(line))["mode"] in modes else line for line in lines]
    metrics.write_bytes(b"".join(line + b"\n" for line in new))


def plain(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()


def unsealed(record: dict[str, Any]) -> bytes:
    return plain({key: value for key, value in record.items() if key != "sha256"})


def resealed(record: dict[str, Any]) -> bytes:
    """As somebody writes it who knows about checksums."""
    return add_checksum(unsealed(record).decode())


def test_records_that_were_changed_are_named_and_qualify_the_headline(
    bench: Bench, golden: Sentences
) -> None:
    made = bench.call(
        *("compare", "--repo", str(bench.repo), "--modes", "baseline", "canopy"),
        *("--agents", "2", "--runs", "1", "--output", "whole"),
    )
    assert made.code == 0, made.err
    whole = bench.folder / "whole"
    summary = (whole / "summary.md").read_text()

    report(whole)
    assert (whole / "summary.md").read_text() == summary, "nothing to be said of it"

    edit(whole, bench.folder / "edited", lambda record: plain(cheaper(record)))
    golden(parts(bench.call("report", "edited").out, "Headline", "Warnings"))

    edit(whole, bench.folder / "resealed", lambda record: resealed(cheaper(record)))
    golden(parts(report(bench.folder / "resealed").markdown, "Headline", "Warnings"))

    edit(whole, bench.folder / "stripped", unsealed)
    golden(parts(report(bench.folder / "stripped").markdown, "Headline", "Warnings"))

    old = bench.folder / "old"
    edit(whole, old, unsealed, modes=("baseline", "canopy"))
    golden(parts(report(old).markdown, "Headline", "Warnings"))
    experiment = json.loads((old / "experiment.json").read_text())
    (old / "experiment.json").write_text(json.dumps({**experiment, "sealed": False}))
    text = report(old).markdown
    (note,) = set(text.splitlines()) - set(summary.splitlines())
    golden(note)

    edit(whole, bench.folder / "other", lambda record: resealed({**record, "session": "x"}))
    golden(parts(report(bench.folder / "other").markdown, "Headline", "Warnings"))
