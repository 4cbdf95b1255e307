"""The golden files of sentences have a section for each test that fills one, and no other."""

import subprocess
import sys

from tests.builders.golden import RENEWED, SENTENCES, TESTS, sections, write_sections


def test_every_section_is_of_a_test() -> None:
    files = sorted(SENTENCES.rglob("*.txt"))
    modules = [TESTS / file.relative_to(SENTENCES).with_suffix(".py") for file in files]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, *modules], cwd=TESTS.parent, capture_output=True, text=True, check=True
    )
    collected = set(done.stdout.splitlines())
    for file, module in zip(files, modules, strict=True):
        held = sections(file)
        stale = {
            heading
            for heading in held
            if f"{module.relative_to(TESTS.parent)}::{heading.rpartition(': ')[0]}" not in collected
        }
        if RENEWED and stale:
            write_sections(file, {name: held[name] for name in held.keys() - stale})
            continue
        assert not stale
