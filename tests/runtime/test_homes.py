import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from swarm_bench.runtime.homes import (
    CACHES,
    LONGEST,
    SHORT,
    TEMPORARY,
    Home,
    Homes,
    add_home_variables,
)
from swarm_bench.runtime.ownership import sweep


def visit(homes: Homes, keep: list[str], writes: list[str]) -> tuple[list[str], dict[str, str]]:
    """Open a home and write files below it. Returns which files were there, and its variables."""

    async def one() -> tuple[list[str], dict[str, str]]:
        async with homes.open_home("home", keep=keep, owner="mode") as variables:
            home = Path(variables["HOME"])
            files = sorted(str(p.relative_to(home)) for p in home.rglob("*") if p.is_file())
            for name in writes:
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).touch()
            return files, variables

    return anyio.run(one)


def test_a_home_is_empty_and_gone_but_for_what_is_kept(tmp_path: Path) -> None:
    homes = Homes(work=tmp_path)
    writes = [".tool/models/big", ".tool/index", ".cache/x/y", "other"]
    keep = [".tool/models", ".cache/x", "never-made"]
    assert visit(homes, keep, writes)[0] == []
    kept, variables = visit(homes, keep, [])
    assert kept == [".cache/x/y", ".tool/models/big"]
    assert not Path(variables["HOME"]).exists()


@pytest.mark.parametrize("keep", [".cache/models", ".cache", ".cache/models/deep"])
def test_what_lies_behind_a_link_is_neither_kept_nor_touched(tmp_path: Path, keep: str) -> None:
    """A server may lead its home to the user's."""
    (users := tmp_path / "users" / "models" / "deep").mkdir(parents=True)
    (users / "big").touch()

    async def link() -> None:
        async with Homes(work=tmp_path / "work").open_home(
            "a", keep=[keep], owner="mode"
        ) as variables:
            (Path(variables["HOME"]) / ".cache").symlink_to(tmp_path / "users")

    anyio.run(link)
    anyio.run(link)
    assert (users / "big").is_file()


@pytest.mark.parametrize("keep", [["a", "a/b"], ["a/b", "a"], ["a/b", "a", "a"]])
def test_kept_folders_may_lie_in_each_other(tmp_path: Path, keep: list[str]) -> None:
    homes = Homes(work=tmp_path)
    visit(homes, keep, ["a/x", "a/b/y"])
    for _ in range(2):
        assert visit(homes, keep, [])[0] == ["a/b/y", "a/x"]


def test_every_variable_leads_into_the_work_folder(tmp_path: Path) -> None:
    _, variables = visit(Homes(work=tmp_path), [], [])
    assert {"HOME", "XDG_CACHE_HOME", *TEMPORARY, *CACHES} <= set(variables)
    outside = {name for name, path in variables.items() if not Path(path).is_relative_to(tmp_path)}
    assert outside <= set(TEMPORARY)
    assert all(Path(variables[name]).is_dir() for name in CACHES)


def test_what_the_user_sets_comes_first(tmp_path: Path) -> None:
    first = {"HOME": "/home/me", "PIP_CACHE_DIR": "/pip", "KEY": "sesame"}
    _, variables = visit(
        Homes(work=tmp_path, first={**first, "HOME": str(tmp_path / "me")}), [], []
    )
    assert variables["XDG_CACHE_HOME"] == str(tmp_path / "me" / ".cache")
    assert variables["PIP_CACHE_DIR"] == "/pip"
    assert "KEY" not in variables


def test_with_the_home_of_the_user_only_the_temporary_folder_is_another(tmp_path: Path) -> None:
    async def variables() -> dict[str, str]:
        async with Homes(work=tmp_path, of_user=True).open_home("home") as variables:
            return variables

    assert set(anyio.run(variables)) == set(TEMPORARY)


def test_a_servers_own_variables_come_first() -> None:
    variables = {**Home(path=Path("/w/home")).variables, "npm_config_cache": "/w/npm"}
    led = add_home_variables(
        variables, {"HOME": "/home/me", "XDG_DATA_HOME": "/d", "NPM_CONFIG_CACHE": "/n"}
    )
    assert led["XDG_CONFIG_HOME"] == "/home/me/.config"
    assert led["XDG_DATA_HOME"] == "/d"
    assert led["TMPDIR"] == "/w/home/tmp"
    assert led["NPM_CONFIG_CACHE"] == "/n"
    assert "npm_config_cache" not in led


def test_a_temporary_folder_is_short_enough_for_sockets(tmp_path: Path) -> None:
    home = Home(path=tmp_path / ("long" * 20) / "home")
    assert len(str(home.temporary)) <= LONGEST
    home.make()
    assert home.temporary.is_dir()
    (home.temporary / "x").touch()
    home.make()  # as after a crash
    assert not list(home.temporary.iterdir())
    home.remove()
    assert not home.temporary.parent.exists()
    home.make()
    folder = str(home.temporary.parent)
    killed = f"from swarm_bench.runtime.ownership import *; mark(Path({folder!r}))"
    home.remove()
    home.temporary.parent.mkdir()
    subprocess.run([sys.executable, "-c", killed], check=True)
    sweep(tmp_path, SHORT)
    assert not home.temporary.parent.exists()


def test_the_caches_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "homes.md").read_text(encoding="utf-8")
    assert [name for name in CACHES if f"`{name}`" not in page] == []
