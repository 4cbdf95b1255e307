from pathlib import Path

from swarm_bench.runtime.environment import small_environment


def test_only_what_is_common_or_named_is_let_through() -> None:
    user = {"LANG": "C", "LC_ALL": "C", "API_KEY": "k", "OTHER": "x", "CANOPY_ROOT": "y"}
    assert small_environment(user) == {"LANG": "C", "LC_ALL": "C"}
    assert small_environment(user, ("API_KEY",)) == {"LANG": "C", "LC_ALL": "C", "API_KEY": "k"}


def test_programs_are_not_looked_for_in_the_agents_folder() -> None:
    here = Path.cwd()
    assert small_environment({"PATH": "bin:/usr/bin:"})["PATH"] == f"{here / 'bin'}:/usr/bin:{here}"
