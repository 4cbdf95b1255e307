"""Takes shell command lines apart: which programs are started in one, with which words.

A reading of text, and no shell: variables are not filled in and loops are not run. What it cannot
read, it reads as it stands.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

MOST_LAYERS = 6
"""Shells within shells that are gone into."""
_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\n)+)
    | (?P<end>\|\||&&|;;|[;|\n`()]|&(?![>\d]))
    | (?P<redirect>\d*(?:<<<|<<-?|<>|<&|<|>>|>&|>\||>)|&>>?)
    | '(?P<single>[^']*)' | "(?P<double>(?:\\.|[^"\\])*)"
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
_KEYWORDS = frozenset({*("if", "then", "elif", "else", "do", "while", "until", "!", "{", "time")})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "busybox"})
_WRAPPERS = frozenset(
    {
        *("env", "sudo", "doas", "nohup", "nice", "ionice", "timeout", "stdbuf", "setsid", "time"),
        *("command", "exec", "builtin", "xargs", "flock", "unbuffer", "chronic", "eval"),
    }
)
"""Programs that start the one that their words name."""
INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|java|tsx|ts-node|Rscript|lua)[\d.]*",
    re.IGNORECASE,
)
_CODE = {"-c", "-e", "-r", "--eval", "-p", "--print"}
"""Options of interpreters and shells whose value is a program."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One program that is started."""

    words: tuple[str, ...]
    """Its name or path, and its arguments, without quotes."""
    inputs: tuple[str, ...] = ()
    """Files that are put into it (`<`)."""
    code: str = ""
    """A text that it runs: what follows `-c` or a document in the line."""
    assignments: tuple[str, ...] = ()
    """Variables that are set for it, or alone."""
    substitutions: tuple[str, ...] = ()
    """Command lines within its quoted words."""

    @property
    def program(self) -> str:
        """Its name without its folder."""
        return PurePosixPath(self.words[0]).name if self.words else ""


def commands_in(line: str, layers: int = MOST_LAYERS) -> Iterator[Command]:
    """Every program that a command line starts, those that shells and other programs start for it
    in their place."""
    documents: list[str] = []

    def put_aside(match: "re.Match[str]") -> str:
        documents.append(match[4])
        return f"<<{len(documents) - 1}{match[3]}\n"

    for command in _simple(_HERE.sub(put_aside, line), documents):
        yield from started_by(command, layers)
        for inner in command.substitutions if layers else ():
            yield from commands_in(inner, layers - 1)


def command_of(argv: Sequence[str]) -> Iterator[Command]:
    """The same of a process."""
    words = tuple(argv)
    # Some programs write what they do over their arguments.
    if len(words) == 1 and " " in words[0]:
        return commands_in(words[0])
    return started_by(Command(words=words), MOST_LAYERS)


def started_by(command: Command, layers: int) -> Iterator[Command]:
    """The command, or in its place what it starts: `timeout 5 sh -c 'a; b'` starts a and b."""
    words = command.words
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        if "=" in words[0]:
            command = replace(command, assignments=(*command.assignments, words[0]))
        words = words[1:]
    command = replace(command, words=words)
    if not layers or not words:
        yield command
    elif command.program in _SHELLS:
        yield from _in_shell(command, layers)
    elif command.program in _WRAPPERS:
        yield from started_by(replace(command, words=_wrapped(command)), layers - 1)
    elif command.program == "find" and (inner := _executed(words)):
        yield command
        yield from started_by(Command(words=inner), layers - 1)
    elif INTERPRETER.fullmatch(command.program):
        yield replace(command, code="\n".join(filter(None, (command.code, _inline(words)))))
    else:
        yield replace(command, code="")


def _in_shell(command: Command, layers: int) -> Iterator[Command]:
    """What a shell runs: a line, a document, or a script, which is the program then."""
    lines = [command.code] if command.code else []
    rest = list(command.words[1:])
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if not option.startswith("--") and option.endswith("c") and rest:
            lines.append(rest.pop(0))
            rest.clear()
    for line in lines:
        yield from commands_in(line, layers - 1)
    if rest:
        yield from started_by(replace(command, words=tuple(rest), code=""), layers - 1)
    elif not lines:
        yield command


def _wrapped(command: Command) -> tuple[str, ...]:
    """The words of the command within one that only starts it."""
    rest, skipped = list(command.words[1:]), int(command.program == "flock")
    if command.program == "command" and {"-v", "-V"} & set(rest[:1]):
        return ()  # it only asks where the program is
    while rest:
        word = rest[0]
        if command.program == "flock" and word in ("-c", "--command") and len(rest) > 1:
            return ("sh", "-c", rest[1])
        if word.startswith("-") or _AMOUNT.fullmatch(word) or _ASSIGNMENT.match(word):
            rest.pop(0)
        elif skipped:
            rest.pop(0)  # the file that is locked
            skipped -= 1
        elif command.program == "eval":
            return ("sh", "-c", " ".join(rest))
        else:
            break
    return tuple(rest)


def _executed(words: Sequence[str]) -> tuple[str, ...]:
    """What `find` starts for its finds."""
    at = next((i for i, word in enumerate(words) if word in ("-exec", "-execdir", "-ok")), None)
    return () if at is None else tuple(words[at + 1 :])


def _inline(words: Sequence[str]) -> str:
    """The program that an interpreter is given as one of its words."""
    for option, value in zip(words[1:], words[2:], strict=False):
        if option in _CODE or (len(option) < 5 and re.fullmatch(r"-[A-Za-z]+[ce]", option)):
            return value
        if not option.startswith("-"):
            break
    return ""


def _simple(line: str, documents: Sequence[str]) -> Iterator[Command]:
    """The commands of a line, as they stand between its separators."""
    parts = _Parts(documents)
    for match in _TOKEN.finditer(line):
        kind = match.lastgroup or "other"
        text = match[kind]
        if kind == "end":
            yield from parts.end(text)
        else:
            parts.take(kind, text)
    yield from parts.end("\n")


class _Parts:
    """Puts the words of one command together."""

    def __init__(self, documents: Sequence[str]) -> None:
        self._documents = documents
        self._words: list[str] = []
        self._inputs: list[str] = []
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
            self._word, self._redirect = None, text.lstrip("0123456789")
        elif kind == "plain" and self._word is None and text.startswith("#"):
            self._comment = True
        else:
            if kind == "double":
                found = _INNER.findall(text)
                self._substitutions += [dollar or back for dollar, back in found]
                text = re.sub(r'\\([$`"\\\n])', r"\1", text)
            self._word = (self._word or "") + text

    def end(self, separator: str) -> Iterator[Command]:
        """The command that ends here, if there is one."""
        if self._comment and separator != "\n":
            return
        self._finish()
        self._comment = False
        if self._words or self._inputs:
            yield Command(
                words=tuple(self._words),
                inputs=tuple(self._inputs),
                code=self._code,
                substitutions=tuple(self._substitutions),
            )
        self._words, self._inputs, self._substitutions = [], [], []
        self._code = self._redirect = ""

    def _finish(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        redirect, self._redirect = self._redirect, ""
        if not redirect:
            self._words.append(word)
        elif redirect in ("<<", "<<-"):
            known = word.isdigit() and int(word) < len(self._documents)
            self._code = self._documents[int(word)] if known else ""
        elif redirect == "<<<":
            self._code = word
        elif redirect.startswith("<"):
            self._inputs.append(word)
