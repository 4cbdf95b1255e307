"""A session that is looked at while it runs."""

from pathlib import Path
from shutil import copytree

import pytest

from swarm_bench.app.stored.reporting import report
from swarm_bench.engine.folder import LOCK
from swarm_bench.runtime.files import hold_lock
from tests.builders.golden import GOLDEN


@pytest.mark.parametrize(
    ("name", "member"),
    [("compare", ""), ("growing", "agents-2"), ("retrieve", ""), ("apps", "")],
)
def test_a_summary_says_once_that_its_session_still_runs(
    name: str, member: str, tmp_path: Path
) -> None:
    folder = copytree(GOLDEN / "sessions" / name, tmp_path / "session")
    with hold_lock(folder / member / LOCK):
        running = report(folder)
        assert (folder / "summary.md").read_text() == running.markdown
    ended = report(folder)
    for text in filter(None, (running.markdown, running.details, running.document.banner)):
        assert text.count("This session was still running") == 1
    for text in filter(None, (ended.markdown, ended.details, ended.document.banner)):
        assert "still running" not in text
