"""A real agent program in the place of a model, against the rehearsal server."""

import os

import pytest

from swarm_bench.environments.local import Hiding, find_shipped
from tests.e2e.programs.conftest import MakeProgram, namespace
from tests.e2e.test_models import CODE, OUT, records, stored

pytestmark = [pytest.mark.programs, pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "qwen"])
def test_unified_diff_with_a_real_program(name: str, real_program: MakeProgram) -> None:
    program = real_program(name)
    word = f"agent:{name}:rehearsal"
    done = program.bench.call(
        *("run", "unified-diff", "--models", "reference", word, "--limit", "2"),
        *("--concurrency", "2", *CODE, *OUT),
        env={"HOME": str(program.home), "PATH": f"{program.executables}:{os.environ['PATH']}"},
        inside=namespace(),
    )
    assert done.code == 0, done.err
    asked = [record for record in records(program.bench) if record["arm"] == word]
    assert [record["cause"] for record in asked] == ["finished"] * 2, asked
    for record in asked:
        assert record["answer"]
        assert record["num_turns"] > 1
        assert record["output_tokens"] > 0
        assert record["model"] == "rehearsal"
        assert record["answers_read"] == []
        assert record["scores"]["passed"] is False, "fixed rules write no diffs"
    note = stored(program.bench, "experiment.json")["programs"][word]["note"]
    assert ("could not see" in note) is Hiding(find_shipped()).works
    assert program.home_tree() == {}
