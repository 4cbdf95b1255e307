import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.config.shipped import MODES
from swarm_bench.config.text_file import LARGEST
from swarm_bench.core.errors import ConfigError, UnknownName
from swarm_bench.core.session.experiment import Mode, Preparation
from swarm_bench.retrieval.modes.mode import (
    add_secrets,
    drop_secrets,
    fill_search_calls,
    find_modes,
    list_modes,
    read_mode,
    render_command,
    render_servers,
)
from swarm_bench.runtime.mcp.transports import HTTP_TYPES
from tests.builders.golden import Sentences

SERVER = {"mcpServers": {"s": {"command": "sh", "args": ["--root", "{{ workspace }}"]}}}


SEARCH = {"tool": "find", "arguments": {"q": ["{{query}}"], "root": "{{ workspace }}"}}


def own(**keys: object) -> dict[str, object]:
    return {**SERVER, "swarmBench": keys}


def mode_file(folder: Path, content: object, name: str = "mine.json") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_modes_can_be_used() -> None:
    listings = {listing.name: listing for listing in list_modes()}
    assert {"baseline", "canopy", "canopy-service"} <= set(listings)
    assert all(listing.problem is None for listing in listings.values())
    baseline, canopy, service = find_modes(["baseline", "canopy", "canopy-service"])
    assert baseline.servers == {}
    assert canopy.instructions == service.instructions != ""
    assert canopy.control == service.control != ""
    assert "canopy" not in canopy.control
    assert canopy.prepare == Preparation(tool="canopy_index", arguments={"glob": "**/*"})
    assert service.prepare is None  # the service indexes before the clock starts


def test_an_ordinary_mcp_file_is_a_mode(tmp_path: Path) -> None:
    content = {
        "mcpServers": {
            "files": {"command": "sh", "args": ["x"], "env": {"A": "b"}, "alwaysLoad": True},
            "web": {"type": "http", "url": "http://127.0.0.1:1/mcp"},
        }
    }
    mode = read_mode(mode_file(tmp_path, content, ".mcp.json"))
    assert mode.name == "mcp"
    assert mode.servers == content["mcpServers"]  # unknown keys of a server are the agent's


def test_placeholders_are_filled_in_wherever_they_stand(tmp_path: Path) -> None:
    mode = read_mode(mode_file(tmp_path, SERVER))
    where = """/a "b" {{ c }} 'ü'"""
    rendered = render_servers(mode, {"workspace": where}, {})
    assert rendered["s"]["args"] == ["--root", where]


def test_a_preparation_is_a_command_or_a_tool(tmp_path: Path) -> None:
    """What a command makes is needed; what a tool makes, it makes itself when it is asked."""

    def written(value: object, key: str = "prepare") -> Preparation | None:
        return read_mode(mode_file(tmp_path, own(**{key: value}))).prepare

    assert written(["sh", "-x"]) == Preparation(command=("sh", "-x"), when="always")
    tool = {"tool": "build", "arguments": {"glob": "*"}}
    assert written(tool) == Preparation(tool="build", arguments={"glob": "*"}, when="warm")
    assert written(tool, "index") == written(tool)
    needed = written({"tool": "build", "when": "always", "copyable": True})
    assert needed == Preparation(tool="build", when="always", copyable=True)


def test_a_session_of_before_has_its_index(tmp_path: Path) -> None:
    old = {"name": "tool", "source": "/t.json", "index": {"tool": "build", "arguments": {"a": 1}}}
    assert Mode.model_validate(old).prepare == Preparation(tool="build", arguments={"a": 1})


def test_a_command_is_filled_in_and_relative_to_its_file(tmp_path: Path) -> None:
    path = mode_file(tmp_path, own(prepare=["sh", "{{ workspace }}", "${HERE:-x}"]))
    mode = read_mode(path).model_copy(update={"teardown": ("./stop.sh",)})
    assert mode.prepare
    filled = render_command(mode, mode.prepare.command, {"workspace": "/w"}, {"HERE": "y"})
    assert filled == ("sh", "/w", "y")
    assert render_command(mode, mode.teardown, {}, {}) == (str(tmp_path / "stop.sh"),)


def test_a_search_is_filled_in_with_the_question_as_it_is(tmp_path: Path) -> None:
    mode = read_mode(mode_file(tmp_path, own(search=SEARCH)))
    question = """where is "{{ workspace }}" ${HOME}?"""
    calls = fill_search_calls(mode, question, {"workspace": "/w"}, {})
    assert calls == [{"q": [question], "root": "/w"}]


QUESTION = "Where is the `Session.token` checked, and by what middleware?"


@pytest.mark.parametrize(
    ("search", "asked"),
    [
        ({"q": "{{ words }}"}, {"q": ["Session", "token", "checked", "middleware"]}),
        (
            {"q": "{{words}}", "of": "{{ query }}"},
            {"q": ["Session", "token", "checked", "middleware"], "of": QUESTION},
        ),
    ],
)
def test_the_words_of_a_question_are_a_list(
    tmp_path: Path, search: dict[str, Any], asked: dict[str, Any]
) -> None:
    mode = read_mode(mode_file(tmp_path, own(search={"tool": "find", "arguments": search})))
    assert fill_search_calls(mode, QUESTION, {}, {}) == [asked]


def test_the_words_of_a_question_are_joined_or_asked_one_by_one(tmp_path: Path) -> None:
    search: dict[str, Any] = {"tool": "find", "arguments": {"q": "({{ words }})"}}
    mode = read_mode(mode_file(tmp_path, own(search={**search, "join": "|"})))
    assert fill_search_calls(mode, QUESTION, {}, {}) == [
        {"q": "(Session|token|checked|middleware)"}
    ]
    mode = read_mode(mode_file(tmp_path, own(search={**search, "per_word": True})))
    asked = [{"q": "(Session)"}, {"q": "(token)"}, {"q": "(checked)"}, {"q": "(middleware)"}]
    assert fill_search_calls(mode, QUESTION, {}, {}) == asked
    assert fill_search_calls(mode, "?", {}, {}) == [{"q": "(?)"}]


@pytest.mark.parametrize(
    "search",
    [
        {"q": "x"},
        {"q": "a {{ words }}"},
        {"q": "{{ query }}", "join": "|"},
        {"q": "{{ query }}", "per_word": True},
        {"q": "{{ words }}", "per_word": True, "join": "|"},
    ],
)
def test_words_that_cannot_be_put_in_are_refused(
    tmp_path: Path, search: dict[str, Any], golden: Sentences
) -> None:
    question, how = search.pop("q"), search
    written = {"tool": "find", "arguments": {"q": question}, **how}
    with pytest.raises(ConfigError) as refused:
        read_mode(mode_file(tmp_path, own(search=written)))
    golden(str(refused.value))


def test_the_shipped_modes_say_how_they_are_searched() -> None:
    for mode in find_modes(["canopy", "canopy-service"]):
        assert mode.search is not None
        assert mode.search.tool == "canopy_evidence_pack"
        (asked,) = fill_search_calls(mode, "How are tokens checked?", {}, {})
        assert asked["patterns"] == ["tokens", "checked"]


def test_modes_of_the_working_folder_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode_file(tmp_path / "mcp_configs", SERVER)
    mode_file(tmp_path / "mcp_configs", "{", "broken.json")
    monkeypatch.chdir(tmp_path)
    assert find_modes(["mine"])[0].servers == SERVER["mcpServers"]
    broken = next(listing for listing in list_modes() if listing.name == "broken")
    assert "is not JSON" in (broken.problem or "")


def test_a_working_folder_cannot_quietly_replace_a_shipped_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode_file(tmp_path / "mcp_configs", SERVER, "baseline.json")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="Two files define the mode 'baseline'"):
        find_modes(["baseline"])


def test_a_copy_of_a_shipped_mode_in_the_working_folder_is_no_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a checkout of swarm-bench, when another one is installed."""
    shipped = sorted(MODES.folders()[0].glob("*.json"))
    (tmp_path / "mcp_configs").mkdir()
    for path in shipped:
        (tmp_path / "mcp_configs" / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = [path.stem for path in shipped]
    modes = find_modes(names)
    assert [Path(mode.source) for mode in modes] == shipped
    assert [listing.name for listing in list_modes()] == names


def test_two_modes_of_one_name_are_refused(tmp_path: Path) -> None:
    path = mode_file(tmp_path, SERVER, "baseline.json")
    with pytest.raises(ConfigError, match=r"Two modes are called 'baseline' .*; rename yours"):
        find_modes(["baseline", str(path)])
    others = [str(mode_file(tmp_path / name, SERVER)) for name in ("a", "b")]
    with pytest.raises(ConfigError, match=r"Two modes are called 'mine' .*; rename one of the two"):
        find_modes(others)
    with pytest.raises(ConfigError, match="'baseline' is named twice; name it once"):
        find_modes(["baseline", "baseline"])


def test_an_unknown_mode_is_named_with_a_hint() -> None:
    with pytest.raises(UnknownName, match="no mode called 'canpy'; did you mean 'canopy'"):
        find_modes(["canpy"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{ nonsense", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"mcpServers": {"\\ud800": {"command": "sh"}}}', "is not JSON"),
        ([], "it must be a mapping"),
        ({}, "mcpServers is missing"),
        ({"mcpServers": {}, "servers": {}}, "servers is not a key that is known"),
        ({"mcpServers": {}, "swarmBench": {"instuctions": "x"}}, "swarmBench.instuctions"),
        ({"mcpServers": {"s": {"args": ["x"]}}}, "needs either 'command' or 'url'"),
        (
            {"mcpServers": {}, "swarmBench": {"services": ["redis"]}},
            "swarmBench.services: item 1 must be",
        ),
        ({"mcpServers": {"s": {"command": "no-such-program"}}}, "which is not on the PATH"),
        ({"mcpServers": {"s": {"command": "./absent.py"}}}, "which is no program at"),
        ({"mcpServers": {"s": {"command": "/absent/server"}}}, "which is no program at"),
        (
            {"mcpServers": {"s": {"url": "http://x", "type": "sse"}}},
            "'sse', which is not supported",
        ),
        ({"mcpServers": {"s": {"command": "sh", "type": "http"}}}, "give a server with 'command'"),
        ({"mcpServers": {"s": {"command": "sh", "args": ["${env:A}"]}}}, "only an editor fills in"),
        (
            {"mcpServers": {"a b": {"command": "sh"}, "a.b": {"command": "sh"}}},
            "'a b' and 'a.b', which agents cannot tell apart",
        ),
        *(
            ({"mcpServers": {"s": {"command": "sh", key: []}}}, f"'{key}'; did you mean")
            for key in ("arg", "envs", "Header", "typ", "cwdd")
        ),
        ({"servers": {}}, "call it 'mcpServers'"),
        *(
            ({"mcpServers": {"s": {"url": url}}}, "needs a 'url' such as http://127")
            for url in ("localhost:3000/mcp", "http://[::1/mcp", "", "ftp://x/y", "http:///mcp")
        ),
        ({"mcpServers": {"s": {"command": "~/run.sh"}}}, "~ is not filled in here; write .{HOME}"),
        ({"mcpServers": {"s": {"command": "sh", "env": {"A": 1}}}}, "a string; put it into quotes"),
        ({"mcpServers": {"": {"command": "sh"}}}, "has a server without a name"),
        (
            '{"mcpServers": {},\n"mcpServers": {}}',
            "mine.json:2: the key 'mcpServers' appears twice",
        ),
        (
            '{"mcpServers": {"s":\n{"command": "sh", "args": 1,\n"env": {"": "", "": ""}}}}',
            "json:2: mcpServers.s.args must be a list; .*json:3: the key '' appears twice; keep",
        ),
        (own(prepare="make index"), r'as a list of words, such as \["make", "index"\], or a map'),
        (own(prepare=5), r'as a list of words, such as \["make", "index"\], or a mapping with'),
        (own(version="tool --version"), r"version must be a command as a list of words, such as"),
        ({"mcpServers": {}, "swarmBench": {"index": {}}}, "either .command. or .tool."),
        *((own(keep=[path]), "must be a path below") for path in ("", "/x", "~/x", "a/../../x")),
        (own(prepare=["sh"], index={"tool": "x"}), "'prepare' and 'index'"),
        (own(prepare=[]), "swarmBench.prepare.command must not be empty"),
        (own(prepare=["no-such-program"]), "prepares a clone with 'no-such-program'"),
        (
            own(prepare=["sh", "{{ x }}"]),
            "prepare: item 2 has the placeholder {{ x }}; known are work",
        ),
        (own(prepare={"command": ["sh"], "arguments": {"a": 1}}), "put them into 'command'"),
        (own(prepare={"tool": "x", "command": ["sh"]}), "needs either 'command' or 'tool'"),
        (own(teardown=["./absent"]), "tears down with './absent', which is no program at"),
        (own(version=["sh", "${env:A}"]), "only an editor fills in"),
        (own(start_seconds=0), "must be more than 0"),
        (own(warm_up={"tool": "x", "args": {}}), "swarmBench.warm_up.args is not a key"),
        (own(may_create=["!x"]), "must be a glob"),
        (own(search={"tool": "find", "arguments": {"q": "x"}}), 'needs "{{ query }}"'),
        (own(search={**SEARCH, "pattern": "("}), "that is no regular expression"),
        (own(search={**SEARCH, "pattern": "(.*)"}), "without the named group 'path'"),
        (own(search={**SEARCH, "json_path": "$..["}), "a json_path that is none"),
        (own(search={**SEARCH, "json_path": "$", "pattern": "(?P<path>.)"}), "one of them"),
        (
            own(search={**SEARCH, "arguments": {"q": "{{ query }} {{ x }}"}}),
            "has the placeholder {{ x }}",
        ),
        (own(teardown=["sh", "{{ query }}"]), "has the placeholder {{ query }}"),
        (own(teardown=["sh", "{{ workspace | e }}"]), "write {{ workspace }} alone"),
        (
            '{"mcpServers": {"s":\n{"args": [],\n"command": "{{ nobody }}"}}}',
            "json:3: mcpServers.s.command has the placeholder {{ nobody }}; known are workspace",
        ),
        *(
            ({"mcpServers": {"s": {"command": "sh", "args": [f"--root={text}"]}}}, words)
            for text, words in (
                ("{{ workspace} }}", "has {{ without its end; close it"),
                (f"${{K:-{'x' * 2001}}}", r"has \${K:- without its end; .* at most 2000 char"),
            )
        ),
        (
            {"mcpServers": {"s": {"command": "{{ workspace.__class__.__mro__ }}"}}},
            "has the placeholder {{ workspace.__class__.__mro__ }}",
        ),
    ],
)
def test_a_wrong_mode_file_names_file_and_place(
    tmp_path: Path, content: object, words: str
) -> None:
    path = mode_file(tmp_path, content)
    with pytest.raises(ConfigError, match=words) as caught:
        read_mode(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("file", "name"), [("my mode", "my-mode"), ("mödé 'x'", "mödé-x"), (".mcp", "mcp")]
)
def test_any_file_name_gives_a_name(tmp_path: Path, file: str, name: str) -> None:
    assert read_mode(mode_file(tmp_path, SERVER, f"{file}.json")).name == name


@pytest.mark.parametrize("name", ["run-1", "summary.md", "metrics.jsonl", "--", "?"])
def test_a_mode_that_cannot_name_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot name a folder"):
        read_mode(mode_file(tmp_path, SERVER, f"{name}.json"))


def test_all_wrong_files_are_said_at_once_with_all_their_commands(
    tmp_path: Path, golden: Sentences
) -> None:
    servers = {"a": {"command": "absent-a"}, "b": {"command": "sh -c x"}, "c": {"command": "sh"}}
    commands = mode_file(tmp_path, {"mcpServers": servers}, "commands.json")
    plain = tmp_path / "plain"
    plain.touch()
    script = mode_file(tmp_path, {"mcpServers": {"s": {"command": "./plain"}}}, "script.json")
    with pytest.raises(ExceptionGroup) as group:
        find_modes(["canpy", str(commands), "baseline", str(script)])
    unknown, two, one = map(str, group.value.exceptions)
    assert "did you mean 'canopy'" in unknown
    golden(two)
    golden(one)


def test_a_mark_at_the_beginning_is_no_obstacle(tmp_path: Path) -> None:
    path = mode_file(tmp_path, "\ufeff" + json.dumps({"mcpServers": {}}))
    assert read_mode(path).servers == {}


def test_a_name_that_is_too_long_for_a_file_is_unknown() -> None:
    with pytest.raises(UnknownName, match="There is no mode called 'xxx"):
        find_modes(["x" * 300])


def test_an_absent_mode_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_mode(tmp_path / "absent.json")


def test_a_mode_file_has_a_cap(tmp_path: Path) -> None:
    path = mode_file(tmp_path, SERVER)
    with path.open("a") as file:
        file.write(" " * LARGEST)
    with pytest.raises(ConfigError, match="larger than 256 KiB"):
        read_mode(path)


def test_keys_are_not_stored_and_come_back_from_the_file(tmp_path: Path) -> None:
    server = {"command": "sh", "env": {"KEY": "sk-1", "NAME": "${HOME}", "AT": "{{ workspace }}"}}
    path = mode_file(tmp_path, {"mcpServers": {"s": server}})
    mode = read_mode(path)
    stored = drop_secrets(mode)
    assert "sk-1" not in stored.model_dump_json()
    assert stored.servers["s"]["env"]["NAME"] == "${HOME}"
    assert add_secrets(stored) == mode
    mode_file(tmp_path, {"mcpServers": {"s": {**server, "args": ["more"]}}})
    with pytest.raises(ConfigError, match="have changed since the session began"):
        add_secrets(stored)


def test_variables_are_filled_in_as_claude_code_does_it(tmp_path: Path) -> None:
    server = {
        "url": "${BASE}/mcp/${ABSENT:-9}",
        "type": "streamable-http",
        "headers": {"Authorization": "Bearer ${TOKEN:-none}", "X-Empty": "${EMPTY:-full}"},
        "note": "${BASE}",
    }
    mode = read_mode(mode_file(tmp_path, {"mcpServers": {"s": server}}))
    environment = {
        "BASE": "http://127.0.0.1:1",
        "TOKEN": "t${BASE}{{ workspace }}$HOME",
        "EMPTY": "",
    }
    assert render_servers(mode, {"workspace": "/w"}, environment)["s"] == {
        "url": "http://127.0.0.1:1/mcp/9",
        "type": "http",
        # What a value holds is not filled in again; a variable that is set and empty is set.
        "headers": {"Authorization": "Bearer t${BASE}{{ workspace }}$HOME", "X-Empty": ""},
        "note": "${BASE}",
    }


@pytest.mark.parametrize("kind", HTTP_TYPES)
def test_every_spelling_that_our_client_speaks_may_stand_in_a_mode_file(
    tmp_path: Path, kind: str
) -> None:
    server = {"url": "http://127.0.0.1:1/mcp", "type": kind}
    mode = read_mode(mode_file(tmp_path, {"mcpServers": {"s": server}}))
    assert render_servers(mode, {}, {})["s"]["type"] == "http"


def test_the_braces_of_other_programs_stay_as_they_are(tmp_path: Path) -> None:
    args = ["--format", "{{.Names}} {{json .}} {% raw %} ${A:-{{.Ports}}}", "{{ workspace }}"]
    content = {"mcpServers": {"s": {"command": "sh", "args": args}}}
    mode = read_mode(mode_file(tmp_path, content))
    filled = render_servers(mode, {"workspace": "/w"}, {})["s"]["args"]
    assert filled == ["--format", "{{.Names}} {{json .}} {% raw %} {{.Ports}}", "/w"]


def test_a_default_may_be_the_workspace(tmp_path: Path) -> None:
    content = {"mcpServers": {"s": {"command": "sh", "args": ["${ROOT:-{{ workspace }}}/x", "$A"]}}}
    mode = read_mode(mode_file(tmp_path, content))
    assert render_servers(mode, {"workspace": "/w"}, {})["s"]["args"] == ["/w/x", "$A"]
    assert render_servers(mode, {"workspace": "/w"}, {"ROOT": "/r"})["s"]["args"][0] == "/r/x"


def test_a_variable_that_is_not_set_is_named_with_its_file(tmp_path: Path) -> None:
    content = {"mcpServers": {"s": {"command": "sh", "env": {"KEY": "${MY_KEY}"}}}}
    mode = read_mode(mode_file(tmp_path, content))  # so it can be listed
    with pytest.raises(ConfigError, match=r"mine.json needs the variable MY_KEY, which is not set"):
        render_servers(mode, {}, {"OTHER": "x"})


def test_a_command_is_relative_to_the_mode_file_and_arguments_to_the_workspace(
    tmp_path: Path,
) -> None:
    server = {"command": "./serve", "args": ["./x", "{{ mode_folder }}/y"]}
    path = mode_file(tmp_path, {"mcpServers": {"s": server}})
    program = tmp_path / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    rendered = render_servers(read_mode(path), {}, {})["s"]
    assert rendered["command"] == str(program)
    assert rendered["args"] == ["./x", f"{tmp_path}/y"]


def test_a_command_that_is_not_there_is_named_beside_other_mistakes(tmp_path: Path) -> None:
    servers = {"a": {"command": "absent-a"}, "b": {"url": "http://127.0.0.1:9/x", "type": "sse"}}
    content = {"mcpServers": servers, "swarmBench": {"tool": 1}}
    with pytest.raises(ConfigError) as caught:
        find_modes([str(mode_file(tmp_path, content, "several.json"))])
    for clause in ("'absent-a', which is not on the PATH", "the type 'sse'", "swarmBench.tool"):
        assert clause in str(caught.value)
