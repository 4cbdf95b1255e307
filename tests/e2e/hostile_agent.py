"""What an agent with its user's rights can do to the rest of its swarm, one kind at a time.

    python -I -S hostile_agent.py KIND SESSION STREAM VICTIM

Runs as a child of the agent, in the clone. `SESSION` is the session's folder, `STREAM` the file of
the agent's own output and `VICTIM` a file of the user's. When it is done there is `KIND.done`
beside the session's folder.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

KIND, ESCAPED = sys.argv[1], "97.531"
SESSION, STREAM, VICTIM = map(Path, sys.argv[2:5])
WORK = Path(os.environ["HOME"]).parents[1]
"""The session's folder for its work, with the snapshot and the homes."""


def deep() -> None:
    """Folders in folders, the last of them locked."""
    for _ in range(3000):
        Path("d").mkdir()
        os.chdir("d")
    Path("locked").mkdir(0)


def endless() -> None:
    """A database whose table never ends."""
    Path(".canopy").mkdir(exist_ok=True)
    rows = "WITH RECURSIVE t(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM t)"
    with sqlite3.connect(".canopy/feedback.db") as database:
        database.execute(
            f"CREATE VIEW query_events AS {rows} SELECT id, '[]' AS predicted_globs FROM t"
        )


def special() -> None:
    """Pipes, devices and links where files are looked for."""
    replaced = [STREAM, WORK / "owner.json", Path("README.md"), Path(".mcp.json")]
    for path in replaced:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    home = Path(os.environ["HOME"])
    for name in ("mcp.json", "answer.md", ".env"):
        (home / name).unlink(missing_ok=True)
        (home / name).symlink_to("/dev/zero")
    for name, target in (("pipe", None), ("zero", "/dev/zero"), ("victim", VICTIM)):
        folder = WORK.parent / f"swarm-bench-{name}"
        folder.mkdir()
        if target is None:
            os.mkfifo(folder / "owner.json")
        else:
            (folder / "owner.json").symlink_to(target)


def chain() -> None:
    """Sleepers that leave, one of them without our signs, and a chain that forks for ever."""
    sleeper = ["setsid", "-f", "sleep", ESCAPED]
    subprocess.run(sleeper, env={"PATH": os.environ["PATH"]}, check=True)
    subprocess.run(["sh", "-c", f"nohup sleep {ESCAPED} >/dev/null 2>&1 &"], check=True)
    end = time.monotonic() + 60
    if os.fork() == 0:
        while time.monotonic() < end:
            os.setsid()
            if os.fork() > 0:
                os._exit(0)
        os._exit(0)


def push() -> None:
    """A hint for later agents, in the snapshot from which they are cloned."""
    snapshot = next(
        path.parent for path in WORK.rglob("HEAD") if (path.parent / "objects").is_dir()
    )
    command = (
        "git init -q hint && cd hint && echo hint > hint.txt && git add -A && "
        "git -c user.name=e -c user.email=e@e commit -qm e && "
        f"git push -qf '{snapshot}' HEAD:main HEAD:refs/tags/hint"
    )
    subprocess.run(["sh", "-c", command], check=True)


def meddle() -> None:
    """Links to the user's file, and lines that are none, in the session's folder."""
    for name in ("summary.md", ".summary.md.part"):
        (SESSION / name).unlink(missing_ok=True)
        (SESSION / name).symlink_to(VICTIM)
    for suffix in (".json", ".md"):
        (SESSION / "baseline" / (STREAM.name.partition(".")[0] + suffix)).symlink_to(VICTIM)
    with (SESSION / "metrics.jsonl").open("ab") as file:
        file.write(b"{}\nnot a record\n\xff\x00\n")


def names() -> None:
    """A million tools."""
    tools = [f"t{number}" for number in range(1_000_000)]
    event = {"type": "system", "subtype": "init", "tools": tools, "mcp_servers": []}
    with Path(f"/proc/{os.getppid()}/fd/1").open("wb") as output:
        output.write(json.dumps(event).encode() + b"\n")


if __name__ == "__main__":
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)  # whoever waits for the end of our output does not wait for what escapes
    globals()[KIND]()
    (SESSION.parent / f"{KIND}.done").touch()
