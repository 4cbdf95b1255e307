"""An agent that a file describes: how its program is started, found and watched."""

import signal
import sys
import time
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.testing.contracts import check_agent
from tests.agents.command.command_files import agent, read, request

REHEARSAL = "http://127.0.0.1:9/trial/t"
BUSY = "(x|xx)+y.*(x|xx)+y"
"""A pattern that a line of `x` keeps busy for ever."""
RESULT = {"path": "$[?@.type == 'result'].result"}
EVERYWHERE = [
    "agent", "{{ prompt }}", "{{ max_turns }}", "{{ seed }}", "{{ workspace }}", "{{ home }}",
    "{{ folder }}", "{{ mcp_config }}",
]  # fmt: skip


@pytest.mark.parametrize("format", ["json", "json-lines"])
def test_hostile_output_is_survived(tmp_path: Path, format: str) -> None:
    output = {
        "format": format,
        "answer": [RESULT, "$.result"],
        "turns": ["$..num_turns", {"path": "$..num_turns", "take": "sum"}],
        "cost": "$..total_cost_usd",
        "duration_ms": "$..duration_ms",
        "tokens": {"each": "$..usage", "input": "$.*", "output": "$.*"},
        "tools": {"calls": "$..name", "mcp": "(?P<server>.+)_(?P<tool>.+)"},
        "activity": r'"type": *"(\w+)"',
    }
    failures = [{"when": {"pattern": "(x+x+)+y"}, "cause": "refused"}]
    check_agent(agent(tmp_path, output=output, failures=failures), folder(tmp_path))


def test_hostile_text_is_survived(tmp_path: Path) -> None:
    output = {"format": "text", "answer": {"pattern": r"^ANSWER: (.+)"}}
    check_agent(agent(tmp_path, output=output), folder(tmp_path))


def folder(tmp_path: Path) -> Path:
    empty = tmp_path / "contract"
    empty.mkdir()
    return empty


def test_the_placeholders_are_filled(tmp_path: Path) -> None:
    wanted = request(tmp_path)
    launch = agent(tmp_path, command=EVERYWHERE, mcp=None).launch(wanted)
    paths = (str(tmp_path), str(wanted.home), str(tmp_path.resolve()), str(wanted.mcp_config))
    assert launch.argv == ("agent", "What is here?", "7", "3", *paths)
    assert launch.env == {"HOME": str(wanted.home)}


def test_a_prompt_with_braces_is_passed_on_as_it_is(tmp_path: Path) -> None:
    launch = agent(tmp_path).launch(request(tmp_path, prompt="What does {{ model }} do?"))
    assert "What does {{ model }} do?" in launch.argv


def test_the_braces_of_other_programs_stay_as_they_are(tmp_path: Path) -> None:
    words = ["agent", "{{.Names}} {{json .}} {% raw %}", "{{ prompt }}", "{{ max_turns }}"]
    launch = agent(tmp_path, command=words).launch(request(tmp_path))
    assert launch.argv[1] == "{{.Names}} {{json .}} {% raw %}"


def test_a_group_is_left_out_when_its_value_is_not_set(tmp_path: Path) -> None:
    words = ["agent", ["--model", "{{ model }}"], "{{ arguments }}", "{{ prompt }}"]
    made = agent(tmp_path, command=words, turns={"limit": "none"}, environment={"M": "{{ model }}"})
    without = made.launch(request(tmp_path, arguments=("-v", "{{ x }}")))
    assert without.argv == ("agent", "-v", "{{ x }}", "What is here?")
    assert "M" not in without.env
    given = made.launch(request(tmp_path, model="m-1"))
    assert given.argv == ("agent", "--model", "m-1", "What is here?")
    assert given.env["M"] == "m-1"


def test_words_of_the_user_come_last_without_a_mark(tmp_path: Path) -> None:
    assert agent(tmp_path).launch(request(tmp_path, arguments=("-v",))).argv[-1] == "-v"


def test_files_are_written_below_the_home(tmp_path: Path) -> None:
    files = {
        "conf/agent.json": '{"servers": {{ mcp_servers_json }}}',
        "page.j2": {"literal": "{{ task }}"},
    }
    wanted = request(tmp_path)
    agent(tmp_path, files=files, mcp=None).launch(wanted)
    text = (wanted.home / "conf" / "agent.json").read_text("utf-8")
    assert text == '{"servers": {"canopy": {"command": "c"}}}'
    assert (wanted.home / "page.j2").read_text("utf-8") == "{{ task }}"


def test_the_file_that_is_read_can_be_recorded(tmp_path: Path) -> None:
    output = {"source": "{{ home }}/runs/out.json", "format": "json", "answer": "$.answer"}
    assert agent(tmp_path, output=output).launch(request(tmp_path)).leaves == ("runs/out.json",)
    assert agent(tmp_path).launch(request(tmp_path)).leaves == ()


def test_settings_of_the_user_are_let_in_by_leaving_their_home(tmp_path: Path) -> None:
    assert agent(tmp_path).launch(request(tmp_path, inherit_settings=True)).env == {}


def test_keys_are_let_through_by_name_and_not_in_a_rehearsal(tmp_path: Path) -> None:
    rehearsal = {
        "model": "fake",
        "arguments": ["--base", "{{ rehearsal }}/v1"],
        "environment": {"KEY": "dummy"},
    }
    words = ["agent", "--model={{ model }}", "{{ arguments }}", "{{ prompt }}", "{{ max_turns }}"]
    made = agent(tmp_path, command=words, inherit=["MY_KEY"], rehearsal=rehearsal)
    assert "MY_KEY" in made.launch(request(tmp_path, model="m")).inherit
    launch = made.launch(request(tmp_path, model="rehearsal", rehearsal=REHEARSAL))
    assert launch.inherit == ()
    assert launch.argv[1:4] == ("--model=fake", "--base", f"{REHEARSAL}/v1")
    assert launch.env["KEY"] == "dummy"


def test_a_rehearsal_that_the_file_does_not_provide_for_is_refused(tmp_path: Path) -> None:
    made = agent(tmp_path)
    with pytest.raises(UsageError, match="does not lead its program to the rehearsal server"):
        made.program("rehearsal")
    with pytest.raises(UsageError, match="add 'rehearsal'"):
        made.launch(request(tmp_path, rehearsal=REHEARSAL))


def test_a_model_that_would_not_be_heard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--model would have no effect"):
        agent(tmp_path).program("m")


@pytest.mark.parametrize("where", ["command", "files"])
def test_a_model_that_is_needed_must_be_given(tmp_path: Path, where: str) -> None:
    words = [sys.executable, "{{ prompt }}", "{{ max_turns }}"]
    changes = {
        "command": [*words, "--model={{ model }}"] if where == "command" else words,
        "files": {"conf": "model = {{ model }}"} if where == "files" else {},
    }
    made = agent(tmp_path, **changes)
    with pytest.raises(UsageError, match="needs a model for .*give --model"):
        made.program(None)
    assert made.program("m").name == "mine"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    words = ["no-such-agent", "{{ prompt }}", "{{ max_turns }}"]
    made = agent(tmp_path, command=words, install="pip install no-such-agent")
    with pytest.raises(UsageError, match="'no-such-agent'.*`pip install no-such-agent`"):
        made.program(None)


def test_a_program_beside_its_file(tmp_path: Path) -> None:
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\necho my agent v1.2.3-rc.1\n", encoding="utf-8")
    script.chmod(0o755)
    words = ["{{ folder }}/agent.sh", "{{ prompt }}", "{{ max_turns }}"]
    version = {"command": ["{{ folder }}/agent.sh", "--version"]}
    program = agent(tmp_path, command=words, version=version).program(None)
    assert (program.version, program.path) == ("1.2.3-rc.1", str(script.resolve()))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('none')", "printed 'none'"),
        ("raise SystemExit('broken 1.2')", "ended with exit code 1"),
    ],
)
def test_a_program_without_a_version(tmp_path: Path, code: str, words: str) -> None:
    made = agent(tmp_path, version={"command": [sys.executable, "-c", code]})
    with pytest.raises(UsageError, match=f"{words}.*fix 'version', or omit it"):
        made.program(None)


def test_a_pattern_that_does_not_come_to_an_end_finds_no_version(tmp_path: Path) -> None:
    version = {"command": [sys.executable, "-c", "print('x' * 60)"], "pattern": BUSY}
    with pytest.raises(UsageError, match="fix 'version', or omit it"):
        agent(tmp_path, version=version).program(None)


def test_turns_are_counted_where_the_file_says_so(tmp_path: Path) -> None:
    made = agent(tmp_path, turns={"limit": "counted", "ends": "^tools ran"}, stop_signal="SIGINT")
    launch = made.launch(request(tmp_path))
    assert (launch.turn_limit, launch.stop_signal) == (7, signal.SIGINT)
    seen = made.activity(b"tools ran: 2")
    assert seen is not None
    assert (seen.turns, seen.doing) == (1, "working")
    assert made.activity(b"thinking") is None


def test_what_it_does_is_shown(tmp_path: Path) -> None:
    output = {"format": "text", "answer": {"pattern": "x"}, "activity": "^run: (.*)"}
    seen = agent(tmp_path, output=output).activity(b"run: ls\t -a \xff")
    assert seen is not None
    assert (seen.doing, seen.turns) == ("ls -a \ufffd", 0)


def test_a_pattern_that_a_line_keeps_busy_is_not_looked_for_again(tmp_path: Path) -> None:
    output = {"format": "text", "answer": {"pattern": "x"}, "activity": BUSY}
    made = agent(tmp_path, output=output, turns={"limit": "counted", "ends": "^turn"})
    began = time.monotonic()
    assert [made.activity(b"x" * 60) for _ in range(200)] == [None] * 200
    assert time.monotonic() - began < 5  # and not 200 times 0.05 s of computing
    seen = made.activity(b"turn")
    assert seen is not None
    assert seen.turns == 1


def test_turns_that_cannot_be_counted_in_time_are_an_error(tmp_path: Path) -> None:
    made = agent(tmp_path, turns={"limit": "counted", "ends": BUSY})
    with pytest.raises(ConfigError, match=r"mine.yaml: the pattern 'ends' .* write a simpler one"):
        made.activity(b"x" * 60)


def test_whether_it_takes_servers(tmp_path: Path) -> None:
    assert not agent(tmp_path).capabilities.takes_mcp
    assert agent(tmp_path, command=EVERYWHERE, mcp=None).capabilities.takes_mcp


def test_an_agent_without_servers_says_so_in_its_outcome(tmp_path: Path) -> None:
    assert read(tmp_path, agent(tmp_path), '{"answer": "a"}').servers == {}
    other = agent(tmp_path, command=EVERYWHERE, mcp=None)
    assert read(tmp_path, other, '{"answer": "a"}').servers is None
