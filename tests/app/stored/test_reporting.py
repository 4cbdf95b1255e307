"""A session's folder that comes from a stranger."""

import gc
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.app.stored.reporting import report
from swarm_bench.app.stored.session import open_session
from swarm_bench.benchmarks.cases.passing import COMMON_METRICS
from swarm_bench.benchmarks.retrieve.benchmark import METRICS
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.catalogue import load_metrics
from swarm_bench.core.errors import Refused, UsageError
from swarm_bench.core.report.pictures import MARK
from swarm_bench.runtime.files import hold_lock
from tests.builders.contradicted import store_contradicted

GOLDEN = Path(__file__).parents[2] / "golden" / "session"


def test_links_in_it_lead_nowhere(tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("mine", encoding="utf-8")
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    folder = SessionFolder(session)
    for name in ("summary.md", ".summary.md.part", folder.lock.name):
        (session / name).unlink(missing_ok=True)
        (session / name).symlink_to(precious)
    assert report(session).markdown.startswith("# ")
    assert (session / "summary.md").is_file()
    assert not (session / "summary.md").is_symlink()
    with hold_lock(folder.lock):
        assert not folder.lock.is_symlink()
    assert precious.read_text("utf-8") == "mine"


def test_a_pipe_in_it_is_not_waited_for(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    (session / "metrics.jsonl").unlink()
    os.mkfifo(session / "metrics.jsonl")
    with pytest.raises(Refused, match="no regular file; remove it"):
        report(session)


def test_no_cycles_are_looked_for_meanwhile(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    collections = list[str]()
    gc.callbacks.append(lambda phase, _: collections.append(phase))
    try:
        report(session)
        during = len(collections)
    finally:
        gc.callbacks.pop()
    assert during <= 2, "one collection, when it is allowed again, begins and ends"
    assert gc.isenabled()


def test_a_summary_loads_nothing_that_takes_longer_than_itself(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from swarm_bench.app.stored.reporting import report\n"
        "print(report(Path(sys.argv[1])).markdown)\n"
        "heavy = {'scipy.stats', 'scipy.optimize', 'httpx2', 'mcp'}\n"
        "heavy.add('swarm_bench.app.setup.retrieve')\n"
        "print(heavy & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, session], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("# ")
    assert done.stdout.endswith("set()\n")


def test_other_settings_of_the_verdict_change_nothing_that_is_stored(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    report(session)
    before = {path: path.read_bytes() for path in session.rglob("*") if path.is_file()}
    other = report(session, {"primary": "cost", "margin": "20%"}).markdown
    assert other.startswith("# ")
    assert {path: path.read_bytes() for path in session.rglob("*") if path.is_file()} == before
    with pytest.raises(UsageError, match="--primary joy: a verdict is on a metric of which less"):
        report(session, {"primary": "joy"})
    with pytest.raises(UsageError, match="--margin"):
        report(session, {"margin": "much"})
    with pytest.raises(UsageError, match="holds no session"):
        report(tmp_path, {"primary": "cost"})


def test_the_picture_is_written_where_the_summary_is(tmp_path: Path) -> None:
    """And a session that is only looked at stays as it is."""
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    picture = session / "effects.svg"
    assert "](effects.svg)" not in report(session, {"margin": 0.2}).markdown
    assert not picture.exists()
    assert "](effects.svg)" in report(session).markdown
    assert picture.read_text("utf-8").startswith(f"{MARK}<svg ")


def test_without_effects_there_is_no_picture_of_older_ones(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    older = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 236" width="860"></svg>'
    (session / "effects.svg").write_text(older)
    (session / "metrics.jsonl").write_text("")
    assert "](effects.svg)" not in report(session).markdown
    assert not (session / "effects.svg").exists()


SESSIONS = Path(__file__).parents[2] / "golden" / "sessions"
KEYS = {metric.key for metric in (*load_metrics(), *METRICS, *COMMON_METRICS)} | {"pass_at_1"}


@pytest.mark.parametrize(
    "name", sorted(path.name for path in SESSIONS.iterdir() if path.name != "toy")
)
def test_a_reader_sees_titles_of_metrics_and_no_keys(name: str) -> None:
    summary = open_session(SESSIONS / name).reanalyse({})
    words = {*re.findall(r"\w+", summary.markdown + summary.details)}
    assert not {key for key in KEYS & words if "_" in key}


def test_a_page_says_of_which_trials_the_figures_were_changed(tmp_path: Path) -> None:
    store_contradicted(tmp_path)
    session = open_session(tmp_path)
    summary = session.report()
    assert "gives other figures" in (tmp_path / "summary.md").read_text()
    (task, *_) = session.build_page(summary.document).tasks
    remark = "Its stored output gives other figures than its record: one of the two was changed."
    assert [remark in trial.remarks for trial in task.trials] == [True, True]
