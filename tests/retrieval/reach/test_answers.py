"""What counts as reaching where the answers are, and what does not."""

import pytest

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.reach.answers import AnswerLocations
from tests.builders.golden import Sentences

ANSWERS = AnswerLocations(
    places={
        "/home/me/shop": "the original repository",
        "/home/me/shop/.venv/bin": None,
        "/home/me/shop/tmp/swarm-bench-1": None,
        "/home/me/shop/tmp/swarm-bench-1/snapshot.git": "the copy of another commit",
        "/srv/results": "the results of sessions",
        "/srv/tasks/mine.yaml": "the task file",
        "/app": "the application",
    },
    workspace="/home/me/shop/tmp/swarm-bench-1/repo/shop",
)
WORK = "/home/me/shop/tmp/swarm-bench-1"


def reached(*commands: str, paths: tuple[str, ...] = ()) -> str:
    outcome = Outcome(cause=Cause.FINISHED, commands=commands, paths=paths)
    return " ".join(ANSWERS.find_reached(outcome))


@pytest.mark.parametrize(
    "line",
    [
        "pwd; ls -la; git log --all",
        f"cat {WORK}/repo/shop/cart.py",
        f"cd {WORK}/repo/shop && grep -rn checkout .",
        "cd src && cat ../cart.py && ls ..",
        "cat /home/me/shopping/list.txt /home/me/shop.txt",
        "/home/me/shop/.venv/bin/python -m pytest -q",
        "ls ~ $HOME/notes; cat ~/.bashrc",
        "grep -rn '/home/me/shop' docs | head",
        "rg /app/orders src",
        "sed -n 's#/app/#/x/#p' routes.py",
        "curl http://localhost:8080/app/orders",
        "echo /home/me/shop; printf '%s' /srv/results",
        "python -c 'print(\"app/orders\")'",
        f"ls {WORK}/homes/1 ../..",
        "ls -lr /srv / /home; find / -maxdepth 1; grep key /home/me/*.txt",
        "find . .. -name '*.py' | xargs grep checkout; rg checkout ..; ls -R src",
        "cat /proc/self/cwd/cart.py /proc/cpuinfo; ls /proc/self/root/usr/lib",
    ],
)
def test_an_agent_in_its_own_workspace_is_no_suspect(line: str) -> None:
    assert reached(line) == ""


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("cat /home/me/shop/cart.py", "the original repository"),
        ("git -C /home/me/shop log -p", "the original repository"),
        ("git --git-dir=/home/me/shop/.git show HEAD", "the original repository"),
        ("cd /home/me/shop && git log", "the original repository"),
        ("cd /home/me; cat shop/cart.py", "the original repository"),
        ("bash -lc 'rg checkout /home/me/shop'", "the original repository"),
        ("ls ../../../..", "the original repository"),
        ("git clone file:///home/me/shop /tmp/x", "the original repository"),
        ("R=/home/me/shop; cat $R/cart.py", "the original repository"),
        ("python -c \"print(open('/home/me/shop/cart.py').read())\"", "the original repository"),
        ("git -C ../../snapshot.git log", "the copy of another commit"),
        ("cat src/../../../snapshot.git/HEAD", "the copy of another commit"),
        ("grep -r key /srv/results", "the results of sessions"),
        ("cat < /srv/tasks/mine.yaml", "the task file"),
        ("cat /home/*/sho?/cart.py", "the original repository"),
        ("cat /home/me/{shop,other}/cart.py", "the original repository"),
        ("find /home -name cart.py", "the original repository"),
        ("find /srv/tasks -type f -exec cat {} +", "the task file"),
        ("grep -rn checkout /home/me", "the original repository"),
        ("rg checkout /home", "the original repository"),
        ("ls -R /home/me", "the original repository"),
        ("cat /proc/self/root/home/me/shop/cart.py", "the original repository"),
        ("cat /proc/self/cwd/../../../../cart.py", "the original repository"),
        ("cat /proc/4711/cwd/cart.py", "the working folder of another process"),
        ("ls /proc/*/cwd/", "the working folder of another process"),
        (
            "echo /home/me/shop/.git/objects > .git/objects/info/alternates",
            "the original repository",
        ),
    ],
)
def test_a_command_that_leads_there_is_noted(line: str, what: str) -> None:
    assert f"It reached {what} (transcript)." in reached(line)


def test_what_tools_read_counts_and_each_place_is_named_once(golden: Sentences) -> None:
    paths = ("cart.py", f"{WORK}/repo/shop/a.py", "/home/me/shop/a.py", "/home/me/shop/b.py")
    golden(reached(paths=paths))
    assert reached(paths=paths[:2]) == ""
    assert AnswerLocations().find_reached(Outcome(cause=Cause.FINISHED, paths=paths)) == ()


def test_the_users_home_is_there_only_with_the_users_settings(golden: Sentences) -> None:
    outcome = Outcome(cause=Cause.FINISHED, commands=("cat ~/shop/cart.py",))
    home = AnswerLocations(places=ANSWERS.places, workspace=ANSWERS.workspace, home="/home/me")
    golden(*home.find_reached(outcome))
    assert ANSWERS.find_reached(outcome) == ()
