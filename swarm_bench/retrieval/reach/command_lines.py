"""Takes shell command lines apart: which programs are started in one, with which arguments.

A reading of text, and no shell: variables are not filled in and loops are not run. What it cannot
read, it reads as it stands.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath

MOST_LAYERS = 6
"""Shells within shells that are gone into."""
_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\n)+)
    | (?P<end>\|\||&&|;;|[;|\n`()]|&(?![>\d]))
    | (?P<redirect>\d*(?:<<<|<<-?|<>|<&|<|>>|>&|>\||>)|&>>?)
    | (?P<array>[A-Za-z_]\w*\+?=\([^()]*\)) | \$'(?P<ansi>(?:\\.|[^'\\])*)'
    | '(?P<single>[^']*)' | \$?"(?P<double>(?:\\.|[^"\\])*)"
    | \\(?P<escaped>.) | (?P<plain>[^\s;|&()<>'"\\`]+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_HERE = re.compile(
    r"(?<!<)<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A document within the line: its word, the rest of its first line, its text."""
_INNER = re.compile(r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_AMOUNT = re.compile(r"[\d.]+[smhd%]?|\{\}")
_KEYWORDS = frozenset({*("if", "then", "elif", "else", "do", "while", "until", "!", "{")})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "busybox"})
_WRAPPERS = {
    **dict.fromkeys(("nohup", "setsid", "command", "builtin", "unbuffer", "chronic", "chroot"), ""),
    **{"env": "uC", "sudo": "ughpCDRTUrt", "doas": "uC", "su": "sgGw"},
    **{"nice": "n", "ionice": "ncp", "timeout": "sk", "stdbuf": "ioe", "time": "of", "exec": "a"},
    **{"xargs": "adEILnPs", "parallel": "adjnILNPS", "flock": "wE", "script": "IOBTEmo"},
    **{"strace": "eopPsuabEIOSX", "ltrace": "eopsualnAFS", "watch": "n", "unshare": "SGRw"},
    **{"nsenter": "tSGrw", "systemd-run": "upEHM", "docker exec": "ewu", "eval": "", "coproc": ""},
}
"""Programs that start the one that they name, and their letters that take the next word."""
_TAKING_NEXT = re.compile(
    r"--(?:unset|chdir|user|group|adjustment|class|classdata|signal|kill-after|input|output|error"
    r"|format|arg-file|delimiter|max-(?:args|procs|lines)|jobs|colsep|joblog|delay|timeout|wait"
    r"|log-(?:in|out|io)|interval|unit|property|setenv|slice|env|env-file|workdir|shell)"
)
_POSITIONS = dict.fromkeys(("flock", "timeout", "chroot", "su", "script", "docker exec"), 1)
"""How many arguments they have before it."""
_SHELL_OPTION = re.compile(
    r"(?:flock|script|su) (?:-[a-z]*c|--command)|env (?:-\w*S|--split-string)"
)
"""Their options with a line for a shell."""
INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|java|tsx|ts-node|Rscript|lua)[\d.]*",
    re.IGNORECASE,
)
_CODE = {"-c", "-e", "-r", "--eval", "-p", "--print"}
"""Options of interpreters and shells whose value is a program."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One program that is started."""

    argv: tuple[str, ...]
    """Its name or path, and its arguments, without quotes."""
    inputs: tuple[str, ...] = ()
    """Files that are put into it (`<`)."""
    outputs: tuple[str, ...] = ()
    """Files that it writes what it prints to (`>`)."""
    folder: str = ""
    """Where it runs, as far as its line says (`cd`); relative to where that begins."""
    code: str = ""
    """A text that it runs: what follows `-c` or a document in the line."""
    assignments: tuple[str, ...] = ()
    """Variables that are set for it, or alone."""
    substitutions: tuple[str, ...] = ()
    """Command lines within its quoted arguments."""

    @property
    def program(self) -> str:
        """Its name without its folder."""
        return PurePosixPath(self.argv[0]).name if self.argv else ""


def commands_in(line: str, layers: int = MOST_LAYERS, folder: str = "") -> Iterator[Command]:
    """Yield every program that a command line starts: instead of shells and the like, what they
    start for it."""
    documents: list[str] = []

    def put_aside(match: "re.Match[str]") -> str:
        documents.append(match[4])
        return f"<<{len(documents) - 1}{match[3]}\n"

    for command in _simple(_HERE.sub(put_aside, line), documents, folder):
        yield from started_by(command, layers)
        for inner in command.substitutions if layers else ():
            yield from commands_in(inner, layers - 1, command.folder)


def command_of(argv: Sequence[str]) -> Iterator[Command]:
    """Yield what a process is, or starts."""
    argv = tuple(argv)
    # Some programs write what they do over their arguments.
    if len(argv) == 1 and " " in argv[0]:
        return commands_in(argv[0])
    return started_by(Command(argv=argv), MOST_LAYERS)


def started_by(command: Command, layers: int) -> Iterator[Command]:
    """Yield the command, or instead what it starts: `timeout 5 sh -c 'a; b'` starts a and b."""
    argv = command.argv
    while argv and (argv[0] in _KEYWORDS or _ASSIGNMENT.match(argv[0])):
        if "=" in argv[0]:
            command = replace(command, assignments=(*command.assignments, argv[0]))
        argv = argv[1:]
    command = replace(command, argv=argv)
    if not layers or not argv:
        yield command
    elif command.program in _SHELLS:
        yield from _in_shell(command, layers)
    elif command.program in ("docker", "podman", "docker-compose") and "exec" in argv[1:3]:
        inside = ("docker exec", *argv[argv.index("exec") + 1 :])
        yield from started_by(replace(command, argv=inside), layers - 1)
    elif command.program in _WRAPPERS:
        yield from started_by(replace(command, argv=_wrapped(command)), layers - 1)
    elif command.program == "find" and (inner := _executed(argv)):
        yield command
        yield from started_by(Command(argv=inner, folder=command.folder), layers - 1)
    elif INTERPRETER.fullmatch(command.program):
        yield replace(command, code="\n".join(filter(None, (command.code, _inline(argv)))))
    else:
        yield replace(command, code="")


def _in_shell(command: Command, layers: int) -> Iterator[Command]:
    """Yield what a shell runs: a line, a document, or a script, which is the program then."""
    lines = [command.code] if command.code else []
    rest = list(command.argv[1:])
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if option.startswith("--") or not rest:
            continue
        if option[-1] in "oO":
            rest.pop(0)  # the name of a setting
        if "c" in option and rest:
            lines.append(rest[0])
            rest.clear()
    for line in lines:
        yield from commands_in(line, layers - 1, command.folder)
    if rest:
        yield from started_by(replace(command, argv=tuple(rest), code=""), layers - 1)
    elif not lines:
        yield command


def _wrapped(command: Command) -> tuple[str, ...]:
    """Return the inner command of a program that only starts it."""
    program, rest = command.program, list(command.argv[1:])
    if program == "command" and {"-v", "-V"} & set(rest[:1]):
        return ()  # it only asks where the program is
    skipped = int(rest[1:2] == ["{"]) if program == "coproc" else _POSITIONS.get(program, 0)
    while rest:
        word = rest[0]
        if len(rest) > 1 and _SHELL_OPTION.fullmatch(f"{program} {word}"):
            return ("sh", "-c", rest[1])
        if word.startswith("-") or _ASSIGNMENT.match(word):
            del rest[: 1 + _takes_next(program, word)]
        elif skipped or _AMOUNT.fullmatch(word):
            rest.pop(0)
            skipped = max(skipped - 1, 0)
        else:
            break
    if rest and program in ("eval", "watch", "parallel"):
        line = list(takewhile(lambda word: not word.startswith(":::"), rest))
        return ("sh", "-c", " ".join(line) or ";".join(rest[1:]))
    return tuple(rest)


def _takes_next(program: str, option: str) -> bool:
    """Tell whether the next word belongs to an option."""
    letters = _WRAPPERS[program]
    if option.startswith("--"):
        return _TAKING_NEXT.fullmatch(option) is not None
    return option[-1] in letters and not set(option[1:-1]) & set(letters)


def _executed(argv: Sequence[str]) -> tuple[str, ...]:
    """Return what `find` starts for its matches."""
    at = next((i for i, word in enumerate(argv) if word in ("-exec", "-execdir", "-ok")), None)
    return () if at is None else tuple(argv[at + 1 :])


def _inline(argv: Sequence[str]) -> str:
    """Return the program that an interpreter has as one of its arguments."""
    for option, value in zip(argv[1:], argv[2:], strict=False):
        if option in _CODE or (len(option) < 5 and re.fullmatch(r"-[A-Za-z]+[ce]", option)):
            return value
        if not option.startswith("-"):
            break
    return ""


def _simple(line: str, documents: Sequence[str], folder: str) -> Iterator[Command]:
    """Yield the commands of a line, as they stand between its separators."""
    parts = _Parts(documents, folder)
    for match in _TOKEN.finditer(line):
        kind = match.lastgroup or "other"
        text = match[kind]
        if kind == "end":
            yield from parts.end(text)
        else:
            parts.take(kind, text)
    yield from parts.end("\n")


class _Parts:
    """Puts the words of a command together."""

    def __init__(self, documents: Sequence[str], folder: str) -> None:
        self._documents = documents
        self._folders = [folder]
        self._argv: list[str] = []
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._substitutions: list[str] = []
        self._code = ""
        self._word: str | None = None
        self._redirect = ""
        self._comment = False

    def take(self, kind: str, text: str) -> None:
        """Add a piece of the line."""
        if self._comment:
            return
        if kind == "blank":
            self._finish()
        elif kind == "redirect":
            if self._word is not None and not self._word.isdigit():
                self._finish()
            errors = text.startswith("2>")
            self._word, self._redirect = None, text if errors else text.lstrip("0123456789")
        elif kind == "plain" and self._word is None and text.startswith("#"):
            self._comment = True
        else:
            if kind == "double":
                inner = _INNER.findall(text)
                self._substitutions += [dollar or back for dollar, back in inner]
                text = re.sub(r'\\([$`"\\\n])', r"\1", text)
            elif kind == "ansi":
                text = re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), text)
            self._word = (self._word or "") + text

    def end(self, separator: str) -> Iterator[Command]:
        """Yield the command that ends here, if any."""
        if self._comment and separator != "\n":
            return
        self._finish()
        self._comment = False
        if self._argv or self._inputs or self._outputs:
            yield Command(
                argv=tuple(self._argv),
                inputs=tuple(self._inputs),
                outputs=tuple(self._outputs),
                folder=self._folders[-1],
                code=self._code,
                substitutions=tuple(self._substitutions),
            )
        self._move(self._argv, separator)
        self._argv, self._inputs, self._outputs, self._substitutions = [], [], [], []
        self._code = self._redirect = ""

    def _move(self, argv: list[str], separator: str) -> None:
        """Follow `cd` to where the next command runs."""
        if argv[:1] in (["cd"], ["pushd"], ["popd"]):
            to = next((word for word in argv[1:] if not word.startswith("-")), "")
            self._folders[-1] = posixpath.join(self._folders[-1], to) if to else ""
        if separator == "(":
            self._folders.append(self._folders[-1])
        elif separator == ")" and len(self._folders) > 1:
            self._folders.pop()

    def _finish(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        redirect, self._redirect = self._redirect, ""
        if not redirect:
            self._argv.append(word)
        elif redirect in ("<<", "<<-"):
            is_document = word.isdecimal() and int(word) < len(self._documents)
            self._code = self._documents[int(word)] if is_document else ""
        elif redirect == "<<<":
            self._code = word
        elif redirect.startswith("<"):
            self._inputs.append(word)
        elif redirect.startswith(">"):
            self._outputs.append(word)
