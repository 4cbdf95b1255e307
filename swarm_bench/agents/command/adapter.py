"""Any other agent program, described by a YAML file of the user: `--agent ./my-agent.yaml`."""

import json
import shutil
import signal
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from swarm_bench.agents.command.file import (
    RehearsalOf,
    Unset,
    Values,
    VersionOf,
    fill,
    fill_all,
    fill_arguments,
    is_arguments,
    read_command_file,
)
from swarm_bench.agents.command.locators import PATTERN_SECONDS, first_match
from swarm_bench.agents.command.outcome import read_outcome
from swarm_bench.agents.reading.installed import PROXIES, ask_program
from swarm_bench.agents.reading.json_lines import may_end_document
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Capabilities
from swarm_bench.core.session.experiment import REHEARSAL, Program
from swarm_bench.runtime.untrusted import read
from swarm_bench.text.terminal import plain_text, strip_formatting

MAX_LINE = 64 * 1024
"""Characters of a line that are read while the agent works."""
LINE_SECONDS = 0.05
"""Seconds for a pattern on a line: everything else waits meanwhile."""
_VERSION_SECONDS = 20.0
"""Seconds for a program to print its version; some load all their libraries before."""


class Command:
    """An agent program that a file of your own describes (swarm-bench docs command-agents)."""

    argument = "FILE.yaml"

    def __init__(self, path: str) -> None:
        """Read the file. Raises `ConfigError` for one that is wrong."""
        self._path = Path(path).expanduser()
        self._file = read_command_file(self._path)
        self.name = self._file.name
        self._shows = self._file.output.activity

    @property
    def capabilities(self) -> Capabilities:
        """The file's capabilities: `mcp: none` takes one away, and so does a lack of tokens."""
        return Capabilities(
            takes_mcp=self._file.mcp is None,
            reports_usage=bool(self._file.output.tokens.input),
        )

    def launch(self, request: AgentRequest) -> Launch:
        """Make the command, and write the file's `files` into the home. Raises `UsageError` when a
        model is needed and missing, and for a rehearsal that the file does not provide for."""
        rehearsal = request.rehearsal is not None
        self._check_model(REHEARSAL if rehearsal else request.model)
        values = self._build_values(request)
        argv = tuple(self._build_argv(values, request.arguments, rehearsal))
        self._write_files(request.home, values)
        file = self._file
        home_variables = {} if request.inherit_settings else {"HOME": str(request.home)}
        added = self._rehearsal.environment if rehearsal else {}
        written_path = file.output.written_path
        return Launch(
            argv=(shutil.which(argv[0]) or argv[0], *argv[1:]),
            env={**fill_all({**file.environment, **added}, values), **home_variables},
            # No key is needed in a rehearsal, and a proxy would be asked for the loopback server.
            inherit=() if rehearsal else (*file.inherit, *PROXIES),
            stop_signal=signal.Signals[file.stop_signal],
            turn_limit=request.max_turns if file.turns.limit == "counted" else None,
            leaves=(written_path,) if written_path else (),
        )

    def activity(self, line: bytes) -> Activity | None:
        """Read a line for the live view. Raises `ConfigError` when it cannot determine in time
        whether a turn is over: an agent whose turns are not counted would have no budget."""
        may_be_last = self._may_be_last(line)
        if self._shows is None and self._file.turns.ends is None and not may_be_last:
            return None
        text = plain_text(line[:MAX_LINE])
        description, turn_over = self._find_activity(text), self._ends_turn(text)
        if description is None and not turn_over and not may_be_last:
            return None
        clause = " ".join((description or "").split())
        return Activity(
            doing=clause[:120] or "working", turns=int(turn_over), over=may_be_last or None
        )

    def outcome(self, exit: AgentExit) -> Outcome:
        return read_outcome(self._file, exit)

    def program(self, model: str | None) -> Program:
        """Identify the program. Raises `UsageError` when there is none, it does not print its
        version, or the model does not go with the file."""
        file = self._file
        self._check_model(model)
        program = fill(str(file.command[0]), self._config_folder)
        path = shutil.which(program)
        if path is None:
            install = f"install it with `{file.install}`" if file.install else "install it"
            raise UsageError(
                f"The agent file {self._path} starts {program!r}, which is not a program on the "
                f"PATH; {install}, or fix the first word of 'command'"
            )
        version = (
            _ask_version(file.version, self._path, self._config_folder) if file.version else None
        )
        return Program(name=file.name, version=version, path=path)

    def _may_be_last(self, line: bytes) -> bool:
        """Tell whether one JSON document as its output may end with a line; only the whole of it
        can show that it does."""
        output = self._file.output
        if output.source != "stdout" or output.format != "json":
            return False
        text = strip_formatting(line).strip().removeprefix(BOM_UTF8).strip()
        is_document = text.startswith((b"{", b"[")) and text.endswith((b"}", b"]"))
        return is_document or may_end_document(line)

    def _find_activity(self, text: str) -> str | None:
        try:
            return None if self._shows is None else first_match(self._shows, text, LINE_SECONDS)
        except TimeoutError:
            self._shows = None  # the next line would take as long, and all agents wait meanwhile
            return None

    def _ends_turn(self, text: str) -> bool:
        pattern = self._file.turns.ends
        try:
            return pattern is not None and first_match(pattern, text, LINE_SECONDS) is not None
        except TimeoutError:
            raise ConfigError(
                f"{self._path}: the pattern 'ends' of 'turns' takes more than {LINE_SECONDS:g} s "
                "on a line, so turns cannot be counted; write a simpler one"
            ) from None

    @property
    def _rehearsal(self) -> RehearsalOf:
        return self._file.rehearsal or RehearsalOf()

    @property
    def _config_folder(self) -> dict[str, str]:
        return {"folder": str(self._path.resolve().parent)}

    def _check_model(self, model: str | None) -> None:
        file = self._file
        if model == REHEARSAL:
            if file.rehearsal is None:
                raise UsageError(
                    f"The agent file {self._path} does not lead its program to the rehearsal "
                    "server; add 'rehearsal', as 'swarm-bench docs command-agents' shows"
                )
            model = file.rehearsal.model
        elif model is not None and "model" not in file.list_placeholders():
            raise UsageError(
                f"The agent file {self._path} has no {{{{ model }}}}, so --model would have no "
                "effect; put it where the program takes its model, or omit --model"
            )
        if model is None and (needing := self._needs_model()) is not None:
            raise UsageError(
                f"The agent file {self._path} needs a model for {needing!r}; give --model, or make "
                "that a list of its own in 'command', which is omitted without one"
            )

    def _needs_model(self) -> str | None:
        """Return the text that cannot be filled without a model, if there is one."""
        values: dict[str, str | None] = dict.fromkeys(self._file.used_in_rehearsal(), "")
        values["model"] = None
        try:
            tuple(fill_arguments(self._file.command, values))
            for text in self._file.files.values():
                fill(text.template or "", values)
        except Unset as unset:
            return unset.template
        return None

    def _build_values(self, request: AgentRequest) -> Values:
        servers = json.loads(read(request.mcp_config))["mcpServers"]
        rehearsal = request.rehearsal is not None
        return {
            "prompt": request.prompt,
            "model": self._rehearsal.model if rehearsal else request.model,
            "max_turns": str(request.max_turns),
            "workspace": str(request.workspace),
            "home": str(request.home),
            "seed": str(request.seed),
            "mcp_config": str(request.mcp_config),
            "mcp_servers_json": json.dumps(servers),
            "rehearsal": request.rehearsal,
            **self._config_folder,
        }

    def _build_argv(
        self, values: Values, arguments: tuple[str, ...], rehearsal: bool
    ) -> Iterator[str]:
        """Yield the command, with what the rehearsal and the user add where the file wants it."""
        added = [
            *(fill_arguments(self._rehearsal.arguments, values) if rehearsal else ()),
            *arguments,
        ]
        command = self._file.command
        at = next((i for i, entry in enumerate(command) if is_arguments(entry)), len(command))
        yield from fill_arguments(command[:at], values)
        yield from added
        yield from fill_arguments(command[at + 1 :], values)

    def _write_files(self, home: Path, values: Values) -> None:
        for name, text in self._file.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = text.literal if text.template is None else fill(text.template, values)
            path.write_text(content or "", encoding="utf-8")


def _ask_version(version: VersionOf, path: Path, values: Values) -> str:
    """Return the version that the program prints. Raises `UsageError` when it prints none."""
    argv = [fill(word, values) for word in version.command]
    answer = ask_program(argv, _VERSION_SECONDS)
    printed = answer.stdout + answer.stderr
    match = _version_in(version.pattern, printed) if answer.code == 0 else None
    if not match:
        raise UsageError(
            f"`{' '.join(argv)}`, run in an empty home folder for the agent file {path}, "
            f"{answer.description}, and so gives no version; fix 'version', or omit it"
        )
    return match


def _version_in(pattern: str, printed: str) -> str | None:
    try:
        return first_match(pattern, printed, PATTERN_SECONDS)
    except TimeoutError:
        return None
