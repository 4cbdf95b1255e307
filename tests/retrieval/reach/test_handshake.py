"""Versions by the metadata of packages as npm and pip lay them out; no program is started."""

import json
import sys
from pathlib import Path

import pytest

from swarm_bench.retrieval.handshake import find_package_version, may_be_of_sdk


def program(path: Path, text: str = "#!/bin/sh\nexit 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def npm(tmp_path: Path) -> Path:
    """A program as npm installs it: a link to a script of a package with a nested package.json."""
    modules = tmp_path / "node_modules"
    script = program(modules / "@org" / "finder" / "dist" / "cli.js")
    (script.parent / "package.json").write_text('{"type": "module"}')
    about = {"name": "@org/finder", "version": "2.4.6-rc1"}
    (script.parent.parent / "package.json").write_text(json.dumps(about))
    (modules / ".bin").mkdir()
    (modules / ".bin" / "finder").symlink_to("../@org/finder/dist/cli.js")
    return modules


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A script as pip installs it, in an environment with another distribution."""
    home = tmp_path / "venv"
    for name, entry in (("graph-server", "graph"), ("mcp", "mcp")):
        info = home / "lib" / "python3.11" / "site-packages" / f"{name}-3.2.1.dist-info"
        info.mkdir(parents=True)
        version = "3.2.1" if entry == "graph" else "9.9.9"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\n{entry} = {entry}:main\n")
        (info / "top_level.txt").write_text(f"{entry}_module\n")
    program(home / "bin" / "python")
    program(home / "bin" / "graph", f"#!{home}/bin/python\nimport graph\n")
    return home


def test_of_npm(npm: Path) -> None:
    assert find_package_version("finder", [], str(npm / ".bin")) == "2.4.6-rc1"
    script = str(npm / "@org" / "finder" / "dist" / "cli.js")
    node = program(npm.parent / "bin" / "node")
    assert find_package_version(str(node), ["--no-warnings", script], None) == "2.4.6-rc1"


def test_of_pip(venv: Path, tmp_path: Path) -> None:
    assert find_package_version("graph", [], str(venv / "bin")) == "3.2.1"
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "graph").symlink_to(venv / "bin" / "graph")
    assert find_package_version("graph", [], str(tmp_path / "shims")) == "3.2.1"
    python = str(venv / "bin" / "python")
    assert find_package_version(python, ["-I", "-m", "graph_module.server", "-m"], None) == "3.2.1"
    assert find_package_version(python, ["server.py"], None) is None


def test_what_belongs_to_no_package_has_no_version(npm: Path, tmp_path: Path) -> None:
    (npm / "broken").mkdir()
    (npm / "broken" / "package.json").write_text("[")
    program(npm / "broken" / "cli.js")
    for command in ("sh", "no-such-program", str(npm / "broken" / "cli.js"), sys.executable):
        assert find_package_version(command, [], "/usr/bin:/bin") is None
    assert find_package_version(str(program(tmp_path / "plain")), [], None) is None


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("npx -y @org/finder", None),
        ("npx -y @org/finder@latest", None),
        ("npx -y finder@2", None),
        ("npx -y finder@^2.4.6", None),
        ("npx -y @org/finder@2.4.6-rc1 --port 1", "2.4.6-rc1"),
        ("npx --package=finder@2.4.6 -- other@1.0.0", "2.4.6"),
        ("npx -p finder@2.4.6 -p other@1.0.0 find", None),
        ("npm exec -- finder@2.4.6", "2.4.6"),
        ("npm start", None),
        ("pnpm dlx finder@2.4.6", "2.4.6"),
        ("bunx finder@2.4.6", "2.4.6"),
        ("bun x finder@2.4.6", "2.4.6"),
        ("uvx graph-server", None),
        ("uvx -p 3.11 graph-server@3.2.1", "3.2.1"),
        ("uvx --from graph-server[all]==3.2.1 graph", "3.2.1"),
        ("uv tool run --from graph-server==3.2 graph", "3.2"),
        ("uv run graph", None),
        ("pipx run --spec graph-server>=3.2.1 graph", None),
        ("pipx run graph-server==3.2.1", "3.2.1"),
        ("poetry run graph", None),
        ("docker run -i --rm org/graph", None),
    ],
)
def test_the_version_of_a_launcher_is_not_that_of_what_it_launches(
    npm: Path, venv: Path, line: str, version: str | None
) -> None:
    launcher, *args = line.split()
    (npm / ".bin" / launcher).symlink_to(npm / "@org" / "finder" / "dist" / "cli.js")
    assert find_package_version(launcher, args, str(npm / ".bin")) == version
    (
        venv / "lib/python3.11/site-packages/graph-server-3.2.1.dist-info/entry_points.txt"
    ).write_text(f"[console_scripts]\n{launcher} = launcher:main\n")
    program(venv / "bin" / launcher, f"#!{venv}/bin/python\n")
    assert find_package_version(launcher, args, str(venv / "bin")) == version


def test_what_an_sdk_says_where_nobody_gives_a_version(venv: Path, tmp_path: Path) -> None:
    """The distribution `mcp` of that environment has 9.9.9."""
    python, script = str(venv / "bin" / "python"), str(venv / "bin" / "graph")
    for command in (python, script):
        assert may_be_of_sdk("9.9.9", command, ["server.py"], None)
        assert not may_be_of_sdk("1.0.0", command, ["server.py"], None)
    uv, other = str(program(tmp_path / "bin" / "uv")), str(program(tmp_path / "bin" / "canopy"))
    assert may_be_of_sdk("1.0.0", uv, ["run", "server.py"], None)
    assert not may_be_of_sdk("9.9.9", other, [], None)
    assert not may_be_of_sdk("9.9.9", "no-such-program", [], "/usr/bin")
