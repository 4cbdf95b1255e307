"""`swarm-bench judge` on a session of the installed command."""

import re
import signal
import time
from pathlib import Path
from threading import Event

import pytest

import swarm_bench
from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.golden import Sentences
from tests.builders.judged import make_session
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
KEY = "sk-judge-0123456789"


def second(chat: Chat) -> State:
    return fails(500) if len(chat.bodies) == 1 else says("Why not.\nB")


NAMES = re.compile("baseline|canopy|swarm.bench", re.IGNORECASE)
"""They must be in no prompt, so they are in no file of the repository."""


def test_a_session_is_judged_and_stays_what_it_was(bench: Bench, golden: Sentences) -> None:
    for path in Path(swarm_bench.__file__).parent.glob("models/**/*.py"):
        text = NAMES.sub("x", path.read_text("utf-8"))
        (bench.repo / path.name).write_text(text, "utf-8")
    words = ("--modes", "baseline", "canopy", "--runs", "1", "--agents", "2", "--output", "s")
    assert bench.call("compare", "--repo", str(bench.repo), "--dirty", *words).code == 0
    folder = bench.folder / "s"
    before = {path.name: path.read_bytes() for path in folder.glob("*.json*")}
    summary = (folder / "summary.md").read_text("utf-8")

    with chatting(second) as chat:
        judge = ("judge", "s", "--model", "claude-sonnet-4-5", "--url", chat.url, "--key", "K")
        plan = bench.call(*judge, "--plan")
        assert (plan.code, plan.err, chat.bodies) == (0, "", [])
        done = bench.call(*judge, env={"K": KEY})
        assert (done.code, len(chat.bodies)) == (0, 5), done.err
        again = bench.call(*judge, env={"K": KEY})
        assert (again.code, len(chat.bodies)) == (0, 5)

    assert plan.out.startswith(f"claude-sonnet-4-5 at {chat.url} is asked 4 times")
    assert done.err.startswith(plan.out.strip())
    row = r"\| canopy +\| [^|]+\| +0 \| +2 \| +0 \| +2 \| +0\.0 % \| +0 \| +0 \| +0 \|"
    assert re.search(row, done.out)
    assert re.search(r"\| +5 \| +240 \| +160 \| +40 \| +\$0\.0013", done.out)
    golden(again.err)
    after = {path.name: path.read_bytes() for path in folder.glob("*.json*")}
    assert KEY.encode() not in after.pop("judge.jsonl")
    assert after == before
    without = re.sub(r"## Judge\n.*?(?=\n## )", "", done.out, flags=re.DOTALL)
    assert without.split() == summary.split()
    assert not NAMES.search("".join(chat.prompts))
    assert "still running" not in (folder / "report.html").read_text("utf-8"), (
        "judge held it itself"
    )


def test_what_cannot_be_judged_is_said(bench: Bench) -> None:
    for words in (("nowhere",), (".",), ("s", "--url", "example.org")):
        done = bench.call("judge", *words, "--model", "m")
        assert done.code == 2
        assert done.err.startswith("swarm-bench: ")
        assert "Traceback" not in done.err


def test_an_interrupted_call_keeps_its_verdicts(bench: Bench) -> None:
    session = make_session(bench.folder / "s", {"baseline": ("a", "b"), "canopy": ("c", "d")})
    waiting, over = Event(), Event()

    def slow(chat: Chat) -> State:
        if len(chat.bodies) > 1:
            waiting.set()
            over.wait(60)
        return says("A")

    with chatting(slow) as chat:
        process = bench.start("judge", "s", "--model", "m", "--url", chat.url)
        assert waiting.wait(60)
        while not (session.path / "judge.jsonl").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        over.set()
    assert process.returncode == 130
    assert b"Interrupted; the same command asks what is still open." in err
    assert len(session.read().verdicts) == 1
