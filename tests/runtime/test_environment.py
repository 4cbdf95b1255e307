import os
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.runtime.environment import small_environment


def test_only_what_is_common_or_named_is_let_through() -> None:
    user = {"LANG": "C", "LC_ALL": "C", "API_KEY": "k", "OTHER": "x", "CANOPY_ROOT": "y"}
    assert small_environment(user) == {"LANG": "C", "LC_ALL": "C"}
    assert small_environment(user, ("API_KEY",)) == {"LANG": "C", "LC_ALL": "C", "API_KEY": "k"}


def test_programs_are_not_looked_for_in_the_agents_folder() -> None:
    here = Path.cwd()
    assert small_environment({"PATH": "bin:/usr/bin:"})["PATH"] == f"{here / 'bin'}:/usr/bin:{here}"


HOMELESS = """
import os
from swarm_bench.core.errors import ConfigError
from swarm_bench.runtime.environment import home_folder
from swarm_bench.runtime.trusted import state_folder
os.setuid(54321)  # which has no entry
del os.environ["HOME"]
try:
    state_folder({})
except ConfigError as error:
    print(home_folder(), error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without an entry")
def test_a_user_without_a_home_is_no_defect() -> None:
    command = [sys.executable, "-c", HOMELESS]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("None Without a home folder what you trust cannot be remembered")
