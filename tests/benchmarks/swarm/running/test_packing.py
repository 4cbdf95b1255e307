"""What of a session can be handed to another machine."""

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.benchmarks.swarm.running.packing import add_agent_needs, pack_kit, unpack_kit
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.core.roles.executor import Needs
from swarm_bench.core.session.experiment import Task
from swarm_bench.runtime.workspaces.snapshots import estimate_disk_mb, pack_snapshot
from tests.builders.kits import kit_for

AGENT = """
name: mine
command: [{program}, '{{{{ prompt }}}}']
turns: {{limit: none}}
mcp: none
output: {{source: stdout, format: json, answer: '$.a'}}
"""


def pack(folder: Path, spec: str) -> bytes:
    return anyio.run(pack_kit, replace(kit_for(Scout(), folder), agent_spec=spec))


def test_an_agent_of_a_file_is_sent_with_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(AGENT.format(program="cat"))
    content = pack(tmp_path / "here", str(file))
    file.unlink()
    kit = unpack_kit(content, tmp_path / "there", lambda _: None)
    assert (kit.agent.name, kit.agent_spec) == ("mine", str(file))


def test_what_lies_beside_the_file_of_an_agent_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(AGENT.format(program="'{{ folder }}/mine'"))
    with pytest.raises(UsageError, match="what is in its folder is not sent"):
        pack(tmp_path / "here", str(file))


@pytest.mark.parametrize(
    ("text", "is_sent"),
    [
        (AGENT.format(program="cat") + "# not in {{ folder }}\n", True),
        (AGENT.format(program='"\\x7b\\x7b folder }}/mine"'), False),
    ],
)
def test_its_texts_count_as_they_are_read(tmp_path: Path, text: str, *, is_sent: bool) -> None:
    file = tmp_path / "mine.yaml"
    for encoding in ("utf-8", "utf-16"):
        file.write_text(text, encoding)
        if is_sent:
            assert pack(tmp_path / encoding, str(file))
        else:
            with pytest.raises(UsageError, match="is not sent"):
                pack(tmp_path / encoding, str(file))


def test_a_class_of_a_file_is_that_of_the_file_that_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, name in ((here, "mine"), (there, "another")):
        folder.mkdir()
        (folder / "sent_agent.py").write_text(
            "from swarm_bench.agents.scout.adapter import Scout\n\n"
            f"class Mine(Scout):\n    name = {name!r}\n"
        )
    monkeypatch.chdir(here)
    with monkeypatch.context() as path:
        path.syspath_prepend(str(here))
        content = pack(tmp_path / "kit", "sent_agent:Mine")
    monkeypatch.syspath_prepend(str(there))
    monkeypatch.delitem(sys.modules, "sent_agent")
    kit = unpack_kit(content, tmp_path / "far", lambda _: None)
    assert kit.agent.name == "mine"
    del sys.modules["sent_agent"]


@pytest.mark.parametrize("spec", ["nothing.yaml", "no_such_module:Mine"])
def test_an_agent_that_is_not_there_is_no_kit(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigError):
        pack(tmp_path, spec)


def test_a_class_in_a_package_of_the_working_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "mine_of_a_package"
    package.mkdir()
    (package / "__init__.py").write_text("from swarm_bench.agents.scout.adapter import Scout\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__(package.name)
    with pytest.raises(UsageError, match="install them as a package on every machine"):
        pack(tmp_path / "here", f"{package.name}:Scout")


def test_a_commit_that_is_not_there_is_no_kit(tmp_path: Path) -> None:
    kit = kit_for(Scout(), tmp_path)
    task = Task(id="t", title="t", prompt="t", commit="a" * 40)
    experiment = kit.experiment.model_copy(update={"tasks": (task,)})
    with pytest.raises(HarnessError):
        anyio.run(pack_kit, replace(kit, experiment=experiment))


def test_the_commits_of_all_swarms_are_sent(tmp_path: Path) -> None:
    kit = kit_for(Scout(), tmp_path)
    tasks = tuple(
        Task(id=name, title=name, prompt=name, commit=name * 40 if name in "ab" else None)
        for name in "abc"
    )
    experiment = kit.experiment.model_copy(update={"tasks": tasks})
    commits = {name * 40: pack_snapshot(kit.snapshot) for name in "ab"}
    content = anyio.run(pack_kit, replace(kit, experiment=experiment, commits=commits))
    assert [*unpack_kit(content, tmp_path / "there", lambda _: None).commits] == [*commits]


def test_disk_is_for_copies_of_commits_and_clones(tmp_path: Path) -> None:
    snapshot = kit_for(Scout(), tmp_path).snapshot
    snapshot.path.mkdir(exist_ok=True)
    (snapshot.path / "large").write_bytes(bytes(1 << 20))
    assert estimate_disk_mb(snapshot, [None]) == 3
    assert estimate_disk_mb(snapshot, ["a", None, "b", "a"], at_once=4) == 8


def test_memory_that_no_adapter_says_is_not_known() -> None:
    for agent, memory_mb in ((Scout(), None), (Claude(), 2 * 268), (None, None)):
        needs = add_agent_needs(Needs(agents_at_once=2), agent, "x", None, needs_no_key=True)
        assert needs.memory_mb == memory_mb
