import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.config.layers import load
from swarm_bench.config.text_file import LARGEST
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.session.experiment import Setting
from tests.builders.golden import Sentences


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_first_source_that_has_a_value_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("swarm-bench.toml").write_text("agents = 1\nruns = 1\nseed = 1\ntimeout = 1\n")
    Path(".env").write_text("SWARM_BENCH_AGENTS=2\nSWARM_BENCH_RUNS=2\nSWARM_BENCH_SEED=2\n")
    monkeypatch.setenv("SWARM_BENCH_AGENTS", "3")
    monkeypatch.setenv("SWARM_BENCH_RUNS", "3")
    resolved = load({"agents": 4})
    found = {
        name: (getattr(resolved.settings, name), resolved.sources[name])
        for name in ("agents", "runs", "seed", "timeout", "max_turns")
    }
    assert found == {
        "agents": ([4], "command line"),
        "runs": (3, "environment"),
        "seed": (2, ".env"),
        "timeout": (1, "file"),
        "max_turns": (15, "default"),
    }


def test_a_continued_session_comes_right_after_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SWARM_BENCH_AGENTS", "3")
    session = {
        "agents": Setting(value=2, source="default"),
        "runs": Setting(value=2, source="default"),
        "quiet": Setting(value=True, source="command line"),
    }
    resolved = load({"runs": 5}, session=session)
    assert (resolved.settings.agents, resolved.sources["agents"]) == ([2], "session")
    assert resolved.settings.runs == 5
    assert resolved.settings.quiet is False  # that was said of the earlier call


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["a", "b"], ["a", "b"]),
        (["a,b", "c"], ["a", "b", "c"]),
        (["./my modes/x.json"], ["./my modes/x.json"]),
    ],
)
def test_modes_may_be_separated_by_commas(given: list[str], words: list[str]) -> None:
    assert load({"modes": given}).settings.modes == words


def test_modes_in_the_environment_are_separated_by_spaces_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SWARM_BENCH_MODES", "baseline canopy,x")
    assert load({}).settings.modes == ["baseline", "canopy", "x"]


def test_the_path_of_a_file_may_hold_a_comma() -> None:
    Path("a,b.json").write_text("{}")
    assert load({"modes": ["a,b.json"]}).settings.modes == ["a,b.json"]


def test_continue_can_be_set_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("swarm-bench.toml").write_text('continue = "from-file"\n')
    assert load({}).settings.resume == "from-file"
    monkeypatch.setenv("SWARM_BENCH_CONTINUE", "from-environment")
    assert load({}).settings.resume == "from-environment"


@pytest.mark.parametrize("name", ["CONTINUE", "RESUME", "continue"])
def test_variables_without_the_prefix_are_not_ours(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "yes")
    assert load({}).settings.resume is None


def test_an_option_has_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_RESUME", "yes")
    with pytest.raises(ConfigError, match="SWARM_BENCH_RESUME, which is no option"):
        load({})


def test_variables_of_other_programs_do_not_matter() -> None:
    Path(".env").write_text("ANTHROPIC_API_KEY=secret\nSWARM_BENCH_RUNS=2\n")
    resolved = load({})
    assert resolved.settings.runs == 2
    assert "secret" not in str(resolved.dump_settings())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"agents": 0}, "--agents 0: it must be at least 1"),
        ({"runs": "many"}, "--runs 'many': "),
        ({"timeout": -1}, "--timeout -1: it must be more than 0"),
        ({"timeout": float("inf")}, "--timeout inf: it must be a finite number"),
        (
            {"timeout": "5x"},
            "--timeout '5x': it must be a number of seconds, or a time such as 90s",
        ),
        ({"timeout": "1..5m"}, "--timeout '1..5m': it must be a number of seconds, or a time"),
        (
            {"expect": "0%"},
            "--expect '0%': it must be more than 0% and less than 100%, such as 20%",
        ),
        ({"expect": "200%"}, "--expect '200%': it must be more than 0% and less than 100%"),
        ({"margin": "1"}, "--margin '1': it must be more than 0% and less than 100%"),
        ({"margin": "nan"}, "--margin 'nan': it must be "),
        ({"expect": "x%"}, "--expect 'x%': it must be a percentage such as 10%"),
        ({"margin": "much"}, "--margin 'much': it must be a percentage such as 10%"),
        (
            {"quality_margin": "200%"},
            "--quality-margin '200%': it must be from 0% to 100%, such as 10% or 0.1",
        ),
        ({"quality_margin": "-1"}, "--quality-margin '-1': it must be from 0% to 100%"),
        ({"quality_margin": "nan"}, "--quality-margin 'nan': it must be from 0% to 100%"),
        ({"repo": ""}, "--repo '': it must name a folder"),
        ({"output": ""}, "--output '': it must name a folder"),
        ({"model": ""}, "--model '': it must name a model"),
        ({"repo": "https://host/x"}, "--repo 'https://host/x': it must be a folder; clone"),
        ({"repo": "git@host:x/y"}, "--repo 'git@host:x/y': it must be a folder; clone"),
        ({"service_url": "localhost:1"}, "--service-url 'localhost:1': "),
        ({"service_url": "http://me:secret@host"}, "--service-url "),
        ({"modes": []}, "--modes "),
    ],
)
def test_a_value_that_cannot_be_names_its_option(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(given)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("900", 900),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5 h", 5400),
        ("2 min", 120),
        (7, 7),
    ],
)
def test_times_have_units(written: object, seconds: float) -> None:
    assert load({"timeout": written}).settings.timeout == seconds


def test_a_value_that_cannot_be_names_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_AGENTS", "none")
    with pytest.raises(UsageError, match=r"--agents 'none' \(from environment\)"):
        load({})


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "swarm-bench.toml",
            "agnets = 3\n",
            r"^swarm-bench.toml:1: agnets is no option; did you mean",
        ),
        ("swarm-bench.toml", "agents = \n", "is not TOML"),
        (".env", "SWARM_BENCH_AGNETS=3\n", "sets SWARM_BENCH_AGNETS, which is no option"),
        (".env", "SWARM_BENCH_REPO=\xff\n", ".env is not UTF-8"),
        (".env", "SWARM_BENCH_AGNETS\n", "sets SWARM_BENCH_AGNETS, which is no option"),
        (".env", "SWARM_BENCH_RUNS\n", ".env has SWARM_BENCH_RUNS without a value; write"),
        (".env", "SWARM_BENCH_TRUST\n", "vouch for itself"),
        (".env", "#" * 1024 * 1025, ".env is larger than 1024 KiB"),
        ("swarm-bench.toml", "#" * (LARGEST + 1), "swarm-bench.toml is larger than 256 KiB"),
        ("swarm-bench.toml", "x = {" + "a . 'b'. " * 20_000, "a key of more than 100 parts"),
        ("swarm-bench.toml", "a." * 100_000, "a key of more than 100 parts"),
    ],
)
def test_a_wrong_file_is_named(name: str, content: str, sentence: str) -> None:
    Path(name).write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigError, match=sentence):
        load({})


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_AGNTS", "3")
    with pytest.raises(ConfigError, match="The environment sets SWARM_BENCH_AGNTS"):
        load({})


def test_one_may_run_inside_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_TRIAL", "x")
    monkeypatch.setenv("SWARM_BENCH_OWNER", "y")
    assert load({}).settings.runs == 1


def test_a_settings_file_may_write_options_as_the_command_line_does() -> None:
    Path("swarm-bench.toml").write_text("max-turns = 9\nindex_timeout = 8\n")
    settings = load({}).settings
    assert (settings.max_turns, settings.index_timeout) == (9, 8)


def test_a_settings_file_that_was_named_must_exist() -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load({}, config=Path("absent.toml"))


def test_the_values_of_the_agents_variables_are_not_stored() -> None:
    resolved = load({"agent_env": ["API_KEY=sk-secret", "REGION"]})
    assert resolved.settings.agent_env == ["API_KEY=sk-secret", "REGION"]
    assert resolved.dump_settings()["agent_env"].value == ["API_KEY=(not stored)", "REGION"]


def test_words_for_the_agent_are_cut_as_a_shell_cuts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_AGENT_ARG", "--effort 'very low'")
    assert load({}).settings.agent_arg == ["--effort", "very low"]


def test_a_variable_needs_a_name() -> None:
    with pytest.raises(UsageError, match="--agent-env .*: it must be NAME or NAME=VALUE"):
        load({"agent_env": ["=x"]})


def test_a_mistake_in_a_variable_does_not_show_its_value() -> None:
    with pytest.raises(UsageError) as caught:
        load({"agent_env": ["MY-KEY=sk-secret-value"]})
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sizes"),
    [(4, [4]), ("4", [4]), ("1 2,4", [1, 2, 4]), ([1, 2], [1, 2]), (["1", "2,4"], [1, 2, 4])],
)
def test_sizes_of_swarms(given: object, sizes: list[int]) -> None:
    assert load({"agents": given}).settings.agents == sizes


@pytest.mark.parametrize(
    ("given", "sentence"),
    [([2, 2], "must be numbers that differ"), ("", "must be a number, or several")],
)
def test_a_size_is_said_once(given: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        load({"agents": given})


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (True, ["instructions"]),
        (False, []),
        ("true", ["instructions"]),
        ("0", []),
        ("placebo", ["placebo"]),
        ("placebo,instructions", ["placebo", "instructions"]),
        (["instructions", "placebo", "placebo"], ["instructions", "placebo"]),
    ],
)
def test_controls_are_named_or_only_asked_for(value: object, kinds: list[str]) -> None:
    assert load({"controls": value}).settings.controls == kinds


def test_controls_are_spelt_alike_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("swarm-bench.toml").write_text("controls = true\n")
    assert load({}).settings.controls == ["instructions"]
    Path("swarm-bench.toml").write_text('controls = ["placebo"]\n')
    assert load({}).settings.controls == ["placebo"]
    monkeypatch.setenv("SWARM_BENCH_CONTROLS", "instructions placebo")
    assert load({}).settings.controls == ["instructions", "placebo"]
    stored = {"controls": Setting(value=True, source="command line")}  # of an older session
    assert load({}, session=stored).settings.controls == ["instructions"]


def test_a_control_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="--controls 'placbo': it must be 'instructions' or"):
        load({"controls": ["placbo"]})


def test_a_file_cannot_vouch_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_TRUST", "1")
    load({})
    for name, content in [
        (".env", "SWARM_BENCH_TRUST=1\n"),
        (".env", "export swarm_bench_trust='1'\n"),
        (".env", "SWARM_BENCH_CONFIG=other.toml\n"),
        ("swarm-bench.toml", "trust = true\n"),
        ("swarm-bench.toml", 'config = "other.toml"\n'),
    ]:
        Path(name).write_text(content)
        with pytest.raises(ConfigError, match=r"vouch for itself|is no option"):
            load({})
        Path(name).unlink()


def test_what_other_programs_have_in_dotenv_is_not_filled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "a-secret")
    Path(".env").write_text("ANTHROPIC_API_KEY=${GITHUB_TOKEN}\nSWARM_BENCH_RUNS=2\nEMPTY=\n")
    found = load({})
    assert found.dotenv.raw == {"ANTHROPIC_API_KEY": "${GITHUB_TOKEN}"}
    assert found.dotenv.expanded == {"ANTHROPIC_API_KEY": "a-secret"}
    assert found.settings.runs == 2


def test_an_option_in_dotenv_is_not_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "a-secret")
    Path(".env").write_text("SWARM_BENCH_MODEL=x-${GITHUB_TOKEN}\n")
    with pytest.raises(ConfigError, match=r"\${…} in SWARM_BENCH_MODEL, which is not filled in"):
        load({})


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["A0=xxxxxxxxxx", *(f"A{n + 1}=${{A{n}}}${{A{n}}}" for n in range(24))]),
        "A='" + "${" * 5_000 + ":}'\n",
    ],
)
def test_what_grows_in_dotenv_is_refused_at_once(text: str) -> None:
    Path(".env").write_text(text)
    began = time.process_time()
    with pytest.raises(ConfigError, match=r"\.env .*; write"):
        load({})
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", ["swarm-bench.toml", ".env"])
def test_a_link_that_leads_nowhere_is_not_passed_over(name: str) -> None:
    Path(name).symlink_to("absent")
    with pytest.raises(ConfigError, match=f"{name} (is not a file|cannot be read)"):
        load({})


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_dotenv_that_would_be_read_for_ever_is_refused(make: Callable[[Path], None]) -> None:
    make(Path(".env"))
    with pytest.raises(ConfigError, match=r"\.env cannot be read: it is not a regular file"):
        load({})


def test_a_dotenv_that_is_hidden_from_a_container_is_empty() -> None:
    Path(".env").symlink_to(os.devnull)
    assert load({}).settings.runs == 1


def test_a_virtual_environment_may_be_called_dotenv() -> None:
    Path(".env").mkdir()
    assert load({}).settings.runs == 1


def test_values_may_be_long() -> None:
    words = ["--append-system-prompt", "a, b.c " * 1_000]
    Path("swarm-bench.toml").write_text(f'agent-arg = {words}\nmodel = """\n{words[1]}"""\n')
    Path(".env").write_text(f"DOCUMENT={'x' * LARGEST}\nSWARM_BENCH_RUNS=2\nOTHER\n")
    resolved = load({})
    assert resolved.settings.agent_arg == words
    assert (resolved.settings.model, resolved.settings.runs) == (words[1], 2)


def test_a_settings_file_that_is_a_folder_is_not_passed_over() -> None:
    Path("swarm-bench.toml").mkdir()
    with pytest.raises(
        ConfigError, match="swarm-bench.toml is not a file; fix --config, or remove"
    ):
        load({})


def test_all_options_that_are_wrong_are_said_at_once(golden: Sentences) -> None:
    Path("swarm-bench.toml").write_text("seed = 'x'\n")
    with pytest.raises(UsageError) as failed:
        load({"agents": ["0", "two"], "runs": "many", "min_connected": "90%"})
    golden(str(failed.value))


def test_all_problems_of_a_settings_file_are_said_at_once_with_their_lines(
    golden: Sentences,
) -> None:
    Path("swarm-bench.toml").write_text(
        "# mine\nagnets = 3\ntrust = true\nmax-turns = 0\ntimeout = -3\nnowhere = 1\n"
        "[compare]\nruns = 1\n"
    )
    with pytest.raises(UsageError) as failed:
        load({})
    golden(str(failed.value))


def test_the_mode_of_calibrate_has_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_MODE", "canopy")
    with pytest.raises(ConfigError, match=r"SWARM_BENCH_MODES\? calibrate takes its one mode"):
        load({})
