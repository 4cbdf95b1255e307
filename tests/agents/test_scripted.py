"""The scripted agent: real processes that do what a test needs, good or bad."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from swarm_bench.agents.scripted import Scripted
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, Usage
from swarm_bench.core.status import Cause

Prepare = Callable[..., Launch]
Run = Callable[..., Outcome]


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    def prepare(script: str, *, prompt: str = "task", servers: str = "{}") -> Launch:
        (tmp_path / "script.yaml").write_text(script, encoding="utf-8")
        (tmp_path / "mcp.json").write_text(f'{{"mcpServers": {servers}}}', encoding="utf-8")
        request = AgentRequest(
            prompt=prompt,
            workspace=tmp_path,
            home=tmp_path,
            mcp_config=tmp_path / "mcp.json",
            max_turns=5,
            model=str(tmp_path / "script.yaml"),
            seed=0,
        )
        return Scripted().launch(request)

    return prepare


@pytest.fixture
def run(tmp_path: Path, prepare: Prepare) -> Run:
    def run(script: str, *, prompt: str = "task", servers: str = "{}") -> Outcome:
        argv = prepare(script, prompt=prompt, servers=servers).argv
        with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
            done = subprocess.run(
                argv, cwd=tmp_path, stdout=out, stderr=err, env={"A": "b"}, check=False
            )
        return Scripted().outcome(
            AgentExit(
                returncode=done.returncode,
                stopped=None,
                stdout=tmp_path / "out",
                stderr=tmp_path / "err",
            )
        )

    return run


def test_an_answer_with_figures(run: Run) -> None:
    outcome = run(
        """
        - steps:
          - init: {tools: [Read]}
          - call: {tool: Read, input: {file_path: a.py}, error: true}
          - answer: {text: See a.py, turns: 2, cost: 0.5, duration_ms: 9, usage: {input: 1}}
        """
    )
    assert outcome.cause is Cause.FINISHED
    assert outcome.text == "See a.py"
    assert (outcome.turns, outcome.cost, outcome.duration_ms) == (2, 0.5, 9)
    assert outcome.usage == Usage(input=1)
    assert outcome.tool_failures == {"Read": 1}
    assert outcome.servers == {}


def test_a_call_has_the_seconds_that_the_script_says(run: Run) -> None:
    found = run(
        """
        - steps:
            - call: {tool: Read, result: "12345", seconds: 1.5}
            - call: {tool: Read, seconds: 0.5}
            - call: {tool: Grep}
            - answer: {text: "a"}
        """
    )
    assert found.tool_seconds == {"Read": 2.0}
    assert found.tool_result_tokens == {"Read": 2, "Grep": 0}


def test_plays_are_chosen_by_prompt_and_servers(run: Run) -> None:
    script = """
        - {when: {servers: [canopy]}, steps: [{answer: {text: with canopy}}]}
        - {when: {prompt: models}, steps: [{answer: {text: about models}}]}
        - {steps: [{answer: {text: else}}]}
    """
    assert run(script, prompt="the models", servers='{"canopy": {}}').text == "with canopy"
    assert run(script, prompt="the models").text == "about models"
    assert run(script).text == "else"


@pytest.mark.parametrize(
    ("steps", "cause", "detail"),
    [
        ("[]", Cause.NO_OUTPUT, None),
        ("[{stderr: no key}, {exit: 3}]", Cause.NO_OUTPUT, "Exit code 3: no key"),
        ("[{print: hello}]", Cause.UNREADABLE_OUTPUT, None),
        ('[{print: \'{"type":"res\'}, {exit: 1}]', Cause.EXIT_CODE, None),
        ("[{print_hex: fffe00}]", Cause.UNREADABLE_OUTPUT, None),
        ("[{max_turns: {}}]", Cause.MAX_TURNS, "Reached maximum number of turns (5)"),
        ("[{error: {text: overloaded}}]", Cause.PROVIDER_FAILED, "overloaded"),
        ("[{init: {}}, {signal: SIGKILL}]", Cause.EXIT_CODE, "Exit code -9"),
        ("[{flood: 1}]", Cause.UNREADABLE_OUTPUT, None),
        (
            "[{answer: {text: a}}, {exit: 2}]",
            Cause.FINISHED,
            "It failed after its answer. Exit code 2",
        ),
        ("[{dance: 1}]", Cause.NO_OUTPUT, None),
    ],
)
def test_bad_endings(run: Run, steps: str, cause: Cause, detail: str | None) -> None:
    outcome = run(f"- steps: {steps}")
    assert outcome.cause is cause
    assert detail is None or outcome.detail == detail


def test_it_shows_its_environment(run: Run) -> None:
    text = run("- steps: [{environment: }]").text
    assert text is not None
    assert "A=b" in text.split("\n")


def test_it_changes_the_workspace(run: Run, tmp_path: Path) -> None:
    run(
        "- steps: [{write: {a/b.py: x, c.py: y}}, {delete: [c.py]}, "
        "{run: [git, init, -q, new]}, {answer: {text: done}}]"
    )
    assert (tmp_path / "a/b.py").read_text(encoding="utf-8") == "x"
    assert not (tmp_path / "c.py").exists()
    assert (tmp_path / "new/.git").is_dir()


def test_it_hangs_and_ignores_the_signal_to_end(prepare: Prepare) -> None:
    argv = prepare("- steps: [{ignore_term: }, {print: ready}, {hang: }]").argv
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        assert process.poll() is None
        process.kill()


def test_it_leaves_a_child_behind(prepare: Prepare) -> None:
    argv = prepare("- steps: [{spawn: 30}, {answer: {text: done}}]").argv
    tag = f"SCRIPTED_{os.getpid()}"
    subprocess.run(argv, env={tag: "1"}, stdout=subprocess.DEVNULL, check=True)
    left = [process for process in psutil.process_iter() if tag in _environment(process)]
    assert len(left) == 1
    left[0].kill()


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


def test_a_script_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"There is no script 'none\.yaml'"):
        Scripted().program("none.yaml")
