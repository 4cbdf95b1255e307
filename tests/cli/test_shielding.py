"""What other processes of the same user can read of us."""

import subprocess
import sys

import pytest

CODE = """
import ctypes, os, subprocess, sys
from swarm_bench.cli.main import shield_memory

def become_anybody():  # root reads everything
    if os.getuid() == 0:
        os.setresuid(65534, 65534, 65534)
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as after an exec

def reads(pid):
    try:
        return "canary-of-mine" in open(f"/proc/{pid}/environ").read()
    except PermissionError:
        return False

become_anybody()
if sys.argv[1] == "shielded":
    shield_memory()
descriptor = os.open("/dev/null", os.O_RDONLY)
os.stat(f"/proc/self/fd/{descriptor}")
assert str(descriptor) in os.listdir("/proc/self/fd")
sleep = subprocess.Popen(["/bin/sleep", "60"])
while b"sleep" not in open(f"/proc/{sleep.pid}/cmdline", "rb").read():
    pass
pid, (end, other_end) = os.getpid(), os.pipe()
if os.fork() == 0:
    os.write(other_end, repr((reads(pid), reads(sleep.pid))).encode())
    os._exit(0)
print(os.read(end, 100).decode())
sleep.kill()
"""


CALLED = """
import ctypes, sys
from swarm_bench.cli.main import main
sys.argv = ["swarm-bench", "--version"]
try:
    main()
finally:
    print("dumpable", ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_the_command_shields_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLED], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "dumpable 0", done.stderr


@pytest.mark.parametrize(("how", "read"), [("open", (True, True)), ("shielded", (False, True))])
def test_a_shielded_process_keeps_its_environment(how: str, read: tuple[bool, bool]) -> None:
    """Its own can be read by a process of the same user or not; that of one it starts always."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, how],
        env={"CANARY": "canary-of-mine"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == (repr(read), "")
