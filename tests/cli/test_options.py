"""The options of the commands are those of the settings."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from swarm_bench.cli.commands import app
from swarm_bench.cli.completing import OF_OPTION
from swarm_bench.cli.helping import COMMANDS as GROUPED
from swarm_bench.cli.options import add_options
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.annotations import Group
from swarm_bench.config.command_line import command_line
from swarm_bench.config.compare_options import SCOPES, Settings
from swarm_bench.config.run_options import RUN_SCOPES, RunSettings
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE
from tests.builders.golden import Sentences

WHOLE: Any = typer.main.get_command(app)
COMMANDS = {"": WHOLE, **WHOLE.commands, "show": WHOLE.commands["benchmarks"].commands["show"]}


def _all_words() -> Iterator[tuple[str, ...]]:
    for name, command in WHOLE.commands.items():
        yield (name,)
        yield from ((name, inner) for inner in getattr(command, "commands", ()))


def test_help_does_without_what_checks_values() -> None:
    """So that it answers at once."""
    script = (
        "import sys\n"
        "from swarm_bench.cli.commands import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: print({'pydantic', 'pydantic_core', 'anyio'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "calibrate" in done.stdout
    assert done.stdout.endswith("set()\n")


def test_a_command_has_what_the_settings_say_and_passes_on_what_was_typed() -> None:
    settings = {one.name: one for one in command_line(CALIBRATE)}
    assert settings["runs"].default == "2, with --agents 5"
    assert settings["modes"].default == "baseline"
    typed: list[dict[str, object]] = []
    app = typer.Typer(rich_markup_mode=None)
    app.command()(
        add_options([settings["runs"]._replace(help="Rounds."), settings["quiet"]], typed.append)
    )
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "Rounds. [default: 2, with --agents 5]" in " ".join(shown.split())
    assert "--seed" not in shown
    CliRunner().invoke(app, ["--runs", "7"])
    CliRunner().invoke(app, ["--quiet", "--trust"])
    assert typed == [{"runs": "7"}, {"quiet": True, "trust": True}]


def test_completion_is_of_settings() -> None:
    compared = {one.name for one in command_line(COMPARE)}
    assert compared <= SCOPES.keys()
    assert OF_OPTION.keys() <= compared | RUN_SCOPES.keys()


def test_each_field_says_where_it_counts() -> None:
    assert [*SCOPES] == [field.name for field in fields(Settings)]
    assert [*RUN_SCOPES] == [field.name for field in fields(RunSettings)]


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize(("words"), [*_all_words()], ids=" ".join)
def test_help_breaks_no_word(words: tuple[str, ...], width: int) -> None:
    shown = CliRunner().invoke(app, [*words, "-h"], terminal_width=width, max_content_width=width)
    long = [line for line in shown.output.splitlines() if len(line) > width]
    assert not [line for line in long if len(line.split()) > 1]
    examples = [line for line in shown.output.splitlines() if line.startswith("    swarm-bench ")]
    assert len(examples) >= (words[:1] != ())


@pytest.mark.parametrize("words", ["tasks make", "datasets show", "benchmarks new"])
def test_help_of_a_command_of_a_group_does_nothing_of_the_group(words: str) -> None:
    script = (
        "import sys\n"
        "from swarm_bench.cli.commands import app\n"
        "try: app([*sys.argv[1:], '-h'])\n"
        "except SystemExit: print([it for it in sys.modules if it.startswith('swarm_bench.app.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words.split()], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


def test_the_short_help_breaks_no_word() -> None:
    shown = CliRunner().invoke(app, [], terminal_width=50).stderr
    assert max(map(len, shown.splitlines())) <= 50
    assert {"swarm-bench compare", "swarm-bench list"} <= {
        " ".join(line.split()[:2]) for line in shown.splitlines()
    }


@pytest.mark.parametrize("words", [(), *((name,) for name in WHOLE.commands)])
def test_help_has_an_example_and_each_option_a_group(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "-h"]).output
    assert shown == CliRunner().invoke(app, [*words, "--help"]).output
    assert "Example" in shown or not words
    command = COMMANDS[words[0] if words else ""]
    if isinstance(command, VariadicCommand):
        options: list[Any] = [it for it in command.params if it.param_type_name == "option"]
        groups = {it.rich_help_panel or Group.SESSION for it in options}
        assert groups <= {*Group}
        assert all(f"\n{group}:\n" in shown for group in groups)


def test_each_command_has_its_own_defaults() -> None:
    defaults = [{one.name: one.default for one in command_line(it)} for it in (COMPARE, CALIBRATE)]
    assert [it["tasks"] for it in defaults] == ["repository", "repository"], "the noise of the same"
    assert {one.name: one.default for one in command_line(AB)}["tasks"] == "ab"


def test_every_command_stands_in_one_group() -> None:
    names = [name for group in GROUPED.values() for name in group]
    assert sorted(names) == sorted(WHOLE.commands)


def test_without_a_command_the_help_is_short_and_nothing_was_done(golden: Sentences) -> None:
    done = CliRunner().invoke(app, [])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) < 14
    golden(done.stderr)


PLURALS = {"Agents", "Models", "Names", "Repetitions", "Requests", "Sessions", "Settings", "Turns"}


@pytest.mark.parametrize(("name", "command"), COMMANDS.items())
def test_help_is_in_the_imperative_and_of_options_also_a_noun(name: str, command: Any) -> None:
    first = (command.help or "").split()[0]
    assert first.istitle()
    assert not first.endswith("s")
    for option in command.params:
        word = (option.help or "").split()[0]
        assert word.istitle(), (name, option.name)
        assert word not in {"Even", "How", "What", "When", "Whether", "Where"}, (name, option.name)
        assert not word.endswith("s") or word in PLURALS, (name, option.name)
