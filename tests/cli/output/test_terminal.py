import os
import subprocess
import sys

import pytest

from swarm_bench.cli.output.terminal import print_listing, printable
from swarm_bench.core.listing import Listing


def test_an_error_names_no_login_and_drives_no_terminal() -> None:
    shown = printable("\x1b[31mhttps://me:pw@host/x is not there\n")
    assert shown == " [31mhttps://host/x is not there "


def test_what_a_file_says_of_itself_drives_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_listing([Listing(name="a", about="\x1b[2Jgone\n\nb  (usable)", source="a.json")])
    assert capsys.readouterr().out == "a  (usable, from a.json)\n     [2Jgone  b  (usable)\n"


def test_a_reader_who_has_seen_enough_changes_no_exit_code() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        words = [sys.executable, "-m", "swarm_bench", "tasks"]
        done = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_what_the_caller_closed_changes_nothing(closed: str) -> None:
    words = f"exec {sys.executable} -m swarm_bench tasks {closed}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
