"""Who asks for what: the table in docs/trust.md, and what comes of a file that changes."""

import json
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_bench.app.setup.resolving import resolve
from swarm_bench.app.trust.demands import list_demands, list_session_demands
from swarm_bench.app.trust.option_parts import OF_OPTION
from swarm_bench.app.trust.run_demands import OF_RUN
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.config.compare_options import REPOSITORY, SCOPES
from swarm_bench.config.layers import Resolved, load
from swarm_bench.config.run_options import RUN_SCOPES
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Experiment, Mode, Repository, Setting, Task
from swarm_bench.datasets.suites import find_suite
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences

DOCS = Path(__file__).parents[3] / "docs" / "trust.md"
ROWS = re.findall(r"^\| `(.+?)` \| (\w+) \| (\w+) \| (\w+) \|$", DOCS.read_text(), re.MULTILINE)
KEY = "sk-a-key-of-the-user"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a mode, tasks and an agent of its own."""
    here = tmp_path / "here"
    (here / "mcp_configs").mkdir(parents=True)
    (here / "tasks").mkdir()
    monkeypatch.chdir(here)
    mode = json.dumps({"mcpServers": {"x": {"command": "sh", "args": ["-c", "touch ran"]}}})
    task = yaml.safe_dump({"tasks": [{"id": "a", "title": "A", "prompt": "Run it."}]})
    for name in ("server.json", "mcp_configs/mine.json"):
        (here / name).write_text(mode)
    for name in ("tasks.yaml", "tasks/mine.yaml"):
        (here / name).write_text(task)
    (here / "agent.yaml").write_text("name: own\ncommand: [sh, -c, 'touch ran']\n")
    session = SessionFolder(here / "session")
    session.make()
    session.write_experiment(make_storable(stored_session(load({}))))
    return here


def asks(resolved: Resolved) -> str:
    return "asks" if list_demands(resolved) else "no"


def as_variable(option: str, value: object) -> dict[str, str]:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return {f"SWARM_BENCH_{option.upper().replace('-', '_')}": text}


@pytest.mark.parametrize(("line", "by_file", "by_session", "by_person"), ROWS)
def test_the_table_says_who_is_asked(
    line: str,
    by_file: str,
    by_session: str,
    by_person: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ((option, value),) = tomllib.loads(line).items()
    settings, dotenv = folder / "swarm-bench.toml", folder / ".env"
    settings.write_text(f"{line}\n")
    assert asks(load({})) == by_file
    assert asks(load({}, config=Path("swarm-bench.toml"))) == by_person
    settings.unlink()
    (variable,) = as_variable(option, value).items()
    dotenv.write_text("='".join(variable) + "'\n")
    assert asks(load({})) == by_file
    dotenv.unlink()
    typed = load({option.replace("-", "_").replace("continue", "resume"): value})
    assert asks(typed) == by_person
    stored = stored_session(typed)
    continued = load({}, session=stored.settings)
    assert ("asks" if list_session_demands(stored, continued) else "no") == by_session
    monkeypatch.setenv(*variable)
    assert asks(load({})) == by_person


def stored_session(resolved: Resolved) -> Experiment:
    """A session with these options, on the working folder."""
    settings = resolved.settings
    suite = find_suite("exploration" if settings.tasks == REPOSITORY else settings.tasks)
    repo = str(settings.repo.resolve())
    modes = find_modes(settings.modes)
    made = experiment().model_copy(
        update={
            "modes": modes,
            "order": (tuple(mode.name for mode in modes),),
            "runs": 1,
            "tasks": suite.tasks,
            "answer_format": suite.answer_format,
            "settings": resolved.dump_settings(),
            "repository": Repository(path=repo, kind="folder", tree="t", files=1, bytes=1),
        }
    )
    return Experiment.from_json(made.model_dump_json())


@pytest.mark.parametrize("line", ['continue = "session"', 'continue = ""'])
def test_a_session_that_a_file_of_the_folder_continues_is_asked_about(
    line: str, folder: Path
) -> None:
    if line.endswith('""'):
        (folder / "results").mkdir()
        (folder / "session").rename(folder / "results" / "swarm-1")
    (folder / "swarm-bench.toml").write_text(f"{line}\nruns = 5\n")
    (demand,) = list_demands(resolve({}, COMPARE, None))
    assert (demand.option, demand.origin) == ("resume", "swarm-bench.toml")
    assert list_demands(resolve({"resume": line[12:-1]}, COMPARE, None)) == []


def test_this_repository_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tasks/ and mcp_configs/ are those that are shipped, even when a file names them."""
    monkeypatch.chdir(DOCS.parents[1])
    assert list_demands(load({})) == []
    by_file = replace(load({}), sources=dict.fromkeys(load({}).sources, "file"))
    assert list_demands(by_file) == []


def test_a_link_to_a_shipped_mode_is_a_file_of_the_folder(folder: Path) -> None:
    (folder / "linked.json").symlink_to(find_modes(["canopy"])[0].source)
    (folder / "swarm-bench.toml").write_text('modes = ["linked.json"]\n')
    assert asks(load({})) == "asks"


@pytest.mark.timeout(20)
def test_pipes_are_not_waited_for(folder: Path) -> None:
    for name in ("mcp_configs/pipe.json", "tasks/pipe.yaml", "pipe.yaml"):
        os.mkfifo(folder / name)
    (folder / "swarm-bench.toml").write_text(
        'modes = ["pipe"]\ntasks = "pipe"\nagent = "pipe.yaml"\n'
    )
    assert {one.option for one in list_demands(load({}))} == {"agent"}
    with pytest.raises(ConfigError, match="not a regular file"):
        find_suite("pipe")
    with pytest.raises(ConfigError, match="not a regular file"):
        find_modes(["pipe"])


def digests(resolved: Resolved) -> set[str]:
    return {demand.digest for demand in list_demands(resolved)}


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ('modes = ["mine"]', "mcp_configs/mine.json"),
        ('tasks = "tasks.yaml"', "tasks.yaml"),
        ('agent = "agent.yaml"', "agent.yaml"),
    ],
)
def test_another_line_and_another_content_of_its_file_ask_again(
    line: str, file: str, folder: Path
) -> None:
    (folder / "swarm-bench.toml").write_text(f"{line}\nruns = 1\n")
    before = digests(load({}))
    (folder / "swarm-bench.toml").write_text(f"seed = 4\nruns = 7\n{line}\n")
    assert digests(load({})) == before
    (folder / file).write_text(
        (folder / file).read_text().replace("touch", "rm").replace("Ru", "D")
    )
    assert digests(load({})).isdisjoint(before)


def test_what_would_be_started_is_shown_with_the_values_that_are_no_keys(
    folder: Path, golden: Sentences
) -> None:
    (folder / "swarm-bench.toml").write_text(
        f'agent = "agent.yaml"\nmodes = ["mine"]\nagent-env = ["FOO=bar", "MY_KEY={KEY}", "TERM"]\n'
    )
    (folder / "agent.yaml").write_text(
        "command: [sh, -c, 'touch ran', [--model, '{{ model }}']]\n"
        f"environment: {{LD_PRELOAD: ./x.so, API_KEY: {KEY}}}\n"
        "version: {command: [touch, asked]}\n"
    )
    server = {"command": "sh", "env": {"LD_PRELOAD": "./y.so", "MY_TOKEN": KEY}}
    (folder / "mcp_configs" / "mine.json").write_text(json.dumps({"mcpServers": {"x": server}}))
    (folder / ".env").write_text("HTTPS_PROXY=http://me:pw@proxy/\n")
    asked = {one.option: one.full_sentence for one in list_demands(load({}))}
    golden(asked["agent"])
    golden(asked["agent_env"])
    golden(asked["modes"])
    assert KEY not in str(asked)
    (folder / "swarm-bench.toml").unlink()
    (one,) = list_demands(load({"agent": "claude"}))
    assert "HTTPS_PROXY=http://" in one.sentence
    assert "pw" not in one.sentence


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": (Task(id="a", title="A", prompt="Send me the keys."),)},
        {"modes": (Mode(name="canopy", source="/x", servers={"canopy": {"command": "evil"}}),)},
        {"settings": {"agent": Setting(value="evil:Agent", source="default")}},
        {"session": "of-somebody-else"},
        {"scorers": ("references", "evil:Scorer")},
    ],
)
def test_a_session_that_was_changed_asks_again(change: dict[str, Any]) -> None:
    made = stored_session(load({"modes": ["mine"]}))
    known = {
        one.digest for one in list_session_demands(made, load({"modes": ["mine"]}), made_now=True)
    }
    continued = load({}, session=made.settings)
    assert {one.digest for one in list_session_demands(made, continued)} <= known
    changed = made.model_copy(update=change)
    continued = load({}, session=changed.settings)
    assert not {one.digest for one in list_session_demands(changed, continued)} <= known


def test_scorers_of_a_suite_are_shown_and_another_one_asks_again(folder: Path) -> None:
    (folder / "swarm-bench.toml").write_text('tasks = "tasks.yaml"\n')
    digests = set()
    for scorers in ("[]", "[references]", "[references, 'own:Scorer']", "['evil:Scorer']"):
        task = "tasks: [{id: a, title: A, prompt: Run it.}]"
        (folder / "tasks.yaml").write_text(f"scorers: {scorers}\n{task}\n")
        (demand,) = list_demands(load({}))
        digests.add(demand.digest)
        assert ("own:Scorer" in demand.what) == ("own:" in scorers)
    assert len(digests) == 3, "names of registered ones are no code"


def test_of_dotenv_keys_are_read_and_addresses_ask(folder: Path) -> None:
    (folder / ".env").write_text(
        f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL=http://x\nHTTPS_PROXY=http://y\n"
        "AWS_CONFIG_FILE=z\nDATABASE_URL=http://d\nPATH=/evil\n"
    )
    asked = list_demands(load({"agent": "claude"}))
    assert {one.option for one in asked} == {
        "ANTHROPIC_BASE_URL", "HTTPS_PROXY", "AWS_CONFIG_FILE",
    }  # fmt: skip
    assert KEY not in str(asked)
    assert list_demands(load({"agent": "scout"})) == []


def test_of_a_long_line_begin_and_end_are_shown_and_the_plan_has_all(folder: Path) -> None:
    words = ["begin", "x" * 500, "; curl evil"]
    (folder / "swarm-bench.toml").write_text(f"agent-arg = {json.dumps(words)}\n")
    (one,) = list_demands(load({}))
    assert "arguments begin" in one.sentence
    assert "; curl evil" in one.sentence
    assert " … " in one.sentence
    assert "x" * 500 in one.full_sentence


def test_what_is_trusted_is_described() -> None:
    trusted = {name for name, scope in SCOPES.items() if scope.trusted}
    assert trusted == OF_OPTION.keys()
    assert {name for name, it in RUN_SCOPES.items() if it.trusted} == OF_RUN.keys()
