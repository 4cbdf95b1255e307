"""Options of the commands, as the settings describe them. `None`: not here, look elsewhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.output.terminal import say
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.config.command_line import Setting

LATEST = "latest"
SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR|ID",
        help="Folder of a session, its name below results/, or its id; the newest without it.",
        autocompletion=completing.offer_sessions,
        show_default=False,
    ),
]
NAMED_MODES = Parameter(
    "named_modes",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODE",
            help="Names of modes, or paths to mode files, as after --modes.",
            autocompletion=completing.offer_modes,
            show_default=False,
        ),
    ],
)
_TYPES: Mapping[str, Any] = {"switch": bool, "text": str, "texts": list[str]}
_OF_THE_CALL = (
    (
        "trust",
        bool,
        typer.Option(
            "--trust",
            help="Let the files of this folder, and a session from elsewhere, run what they name; "
            "remembered until that changes.",
            show_default=False,
        ),
    ),
    (
        "config",
        Path,
        typer.Option(
            "--config",
            help="Settings file. [default: swarm-bench.toml]",
            metavar="FILE",
            show_default=False,
        ),
    ),
)
"""Options that are no settings, and so stand on the command line only."""


def find_session(word: str) -> Path:
    """Return the folder that was named, and say which it is where that is no path. Raises
    `UsageError`."""
    with show_step("looking for the session"):
        from swarm_bench.app.stored.past import find_session_folder

        folder = find_session_folder(word)
    if str(folder) != word:
        say(f"Session: {folder}")
    return folder


def add_options(
    settings: Iterable[Setting],
    run: Callable[[dict[str, Any]], None],
    also: Iterable[Parameter] = (),
    of_the_call: Iterable[tuple[str, Any, Any]] = _OF_THE_CALL,
) -> Callable[..., None]:
    """Make a command of `run`, which gets the options that were typed, and what it takes also."""
    described = [
        (setting.name, _TYPES[setting.kind], _build_option(setting)) for setting in settings
    ]
    parameters = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
        )
        for name, kind, option in (*described, *of_the_call)
    ]
    parameters = [*also, *parameters]

    def command(**values: Any) -> None:
        run({name: value for name, value in values.items() if value is not None})

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def add_named_modes(
    typed_options: Mapping[str, Any], default_modes: Sequence[str]
) -> dict[str, Any]:
    """Put the modes that were typed as arguments behind those of `--modes`; where there are none,
    behind what a new session holds them against."""
    options = dict(typed_options)
    if named_modes := options.pop(NAMED_MODES.name, None):
        base_modes = options.get("modes") or ([] if "resume" in options else default_modes)
        options["modes"] = list(dict.fromkeys([*base_modes, *named_modes]))
    return options


def _build_option(setting: Setting) -> Any:
    default = f" [default: {setting.default}]" if setting.default else ""
    return typer.Option(
        setting.flag,
        help=setting.help + default,
        metavar=setting.metavar,
        autocompletion=completing.OF_OPTION.get(setting.name),
        rich_help_panel=setting.group,
        show_default=False,
    )
