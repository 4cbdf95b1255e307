"""Sessions in a folder that cannot be written, such as the artifact of a build: they are shown, and
what would have to write there says so."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(180)

MOUNTED = 'mount --bind kept kept && mount -o remount,ro,bind kept && exec "$@"'
INSIDE = ("unshare", "--map-root-user", "--mount", "sh", "-c", MOUNTED, "sh")
COMPARE = ("compare", "--modes", "baseline", "--tasks", "exploration", "--runs", "1")
TASKS = """
tasks:
  - {id: auth, title: Auth, prompt: "Where is a token checked?", key: {files: [shop/auth.py]}}
"""


@pytest.fixture
def kept(bench: Bench) -> Bench:
    if subprocess.run([*INSIDE[:3], "true"], check=False).returncode != 0:
        pytest.skip("NO MOUNT NAMESPACE HERE: no folder can be made read-only")
    bench.folder.joinpath("kept").mkdir()
    return bench


def of_shop(bench: Bench, *words: str) -> Done:
    done = bench.call(*words, "--repo", str(bench.repo), "--quiet")
    assert done.code == 0, done.err
    return done


def content(folder: Path) -> dict[str, bytes]:
    return {str(it): it.read_bytes() for it in folder.rglob("*") if it.is_file()}


def shown(bench: Bench, *words: str) -> Done:
    """Run the command where the folder is read-only; it leaves everything as it is."""
    before = content(bench.folder / "kept")
    done = bench.call(*words, inside=INSIDE)
    assert content(bench.folder / "kept") == before
    return done


def test_sessions_of_every_kind_are_shown(kept: Bench) -> None:
    of_shop(kept, *COMPARE, "--agents", "2", "--output", "kept/swarm")
    of_shop(kept, *COMPARE, "--agents", "1", "2", "--output", "kept/series")
    (kept.folder / "mine.yaml").write_text(TASKS)
    of_shop(kept, "retrieve", "--modes", "bm25", "--tasks", "mine.yaml", "--output", "kept/asked")
    done = kept.call("run", "labels", "--quiet", "--limit", "4", "--output", "kept/cases")
    assert done.code == 0, done.err
    for name in ("swarm", "series", "asked", "cases"):
        written = kept.call("report", f"kept/{name}")
        done = shown(kept, "report", f"kept/{name}")
        assert (written.code, done.code) == (0, 0), done.err
        pages = [
            [line for line in it.out.splitlines() if line and line[:2] != "!["]
            for it in (written, done)
        ]
        assert pages[0] == pages[1], name
        assert (done.err.count("\n"), "summary in it stays" in done.err) == (1, True), done.err
    for words in (
        ("compare", "--continue", "kept/swarm"),
        ("retrieve", "--continue", "kept/asked"),
    ):
        planned = shown(kept, *words, "--plan")
        assert planned.code == 0, planned.err
    exported = shown(kept, "export", "kept/swarm", "--format", "json")
    assert len(json.loads(exported.out)["trials"]) == 2


def test_who_would_write_there_says_what_to_do(kept: Bench) -> None:
    of_shop(kept, *COMPARE, "--agents", "1", "--output", "kept/swarm")
    for words in (
        ("rescore", "kept/swarm"),
        ("compare", "--continue", "kept/swarm", "--runs", "2"),
    ):
        done = shown(kept, *words)
        assert done.code == 3, done.err
        assert (done.err.count("\n"), "Read-only file system" in done.err) == (1, True), done.err
