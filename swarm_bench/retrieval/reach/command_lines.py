"""Takes shell command lines apart: which programs are started in one, with which arguments.

A reading of text, and no shell: variables are not filled in and loops are not run. What cannot be
parsed is read word by word.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_LAYERS = 6
"""Shells within shells that are gone into."""
_LONGEST = 131_072
"""Bytes of a line that is parsed: Linux gives no program a longer argument."""
_DEEPEST = 40
"""Levels of substitutions and subshells in one line that are told apart."""
_SEPARATORS = re.compile(r"[;|&\n()`]+")
_MARKS = re.compile(r"[\s<>'\"\\]+|\$(?=['\"])")
"""What stands between words, and around them."""
_REDIRECTED = re.compile(r"[<>]\s*([^\s<>'\"]+)")
_COMMANDS = frozenset(
    {
        *("command", "declaration_command", "unset_command", "test_command"),
        *("for_statement", "case_statement", "variable_assignment"),
    }
)
_OWN_FOLDER = frozenset({"subshell", "command_substitution", "process_substitution"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_NO_WORDS = frozenset({"do_group", "case_item", "comment", "process_substitution", ";", "\n"})
_LAST_OF = frozenset({"list", "pipeline", "negated_command", "redirected_statement"})
"""Parts of a line whose redirection is that of their last command."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_AMOUNT = re.compile(r"[\d.]+[smhd%]?|\{\}")
_KEYWORDS = frozenset({*("if", "then", "elif", "else", "do", "while", "until", "!", "{")})
"""What a command follows, where a line could not be parsed."""
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

    @property
    def program(self) -> str:
        """Its name without its folder."""
        return PurePosixPath(self.argv[0]).name if self.argv else ""


def commands_in(line: str, layers: int = MOST_LAYERS, folder: str = "") -> Iterator[Command]:
    """Yield every program that a command line starts: instead of shells and the like, what they
    start for it."""
    for command in _simple(line, folder):
        yield from started_by(command, layers)


def command_of(argv: Sequence[str]) -> Iterator[Command]:
    """Yield what a process is, or starts."""
    argv = tuple(argv)
    # Some programs write what they do over their arguments.
    if len(argv) == 1 and " " in argv[0]:
        return commands_in(argv[0])
    return started_by(Command(argv=argv), MOST_LAYERS)


def started_by(command: Command, layers: int) -> Iterator[Command]:
    """Yield the command, or instead what it starts: `timeout 5 sh -c 'a; b'` starts a and b."""
    before = tuple(takewhile(lambda it: it in _KEYWORDS or _ASSIGNMENT.match(it), command.argv))
    argv, assignments = command.argv[len(before) :], tuple(it for it in before if "=" in it)
    command = replace(command, argv=argv, assignments=(*command.assignments, *assignments))
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


def _simple(line: str, folder: str) -> Iterator[Command]:
    """Yield the commands of a line, as they stand between its separators."""
    from swarm_bench.source.grammars import BASH, parse  # heavy

    source = line.encode("utf-8", "replace")
    root = parse(BASH, source) if len(source) <= _LONGEST else None
    return _rough(line, folder) if root is None else _Reader(source).commands(root, folder)


def _rough(text: str, folder: str) -> Iterator[Command]:
    """Yield what may be commands in a text that is no shell's."""
    for part in _SEPARATORS.split(text):
        if argv := tuple(filter(None, _MARKS.split(part))):
            yield Command(argv=argv, inputs=tuple(_REDIRECTED.findall(part)), folder=folder)


class _Reader:
    """Reads the commands in a tree of the grammar."""

    def __init__(self, source: bytes) -> None:
        self._source = source

    def commands(self, root: "Node", folder: str) -> Iterator[Command]:
        folders, redirects = [folder], dict[int, list["Node"]]()
        waiting: list[Node | None] = [root]
        while waiting:
            node = waiting.pop()
            if node is None:  # the end of a subshell
                folders.pop()
                continue
            if node.type == "ERROR" or len(folders) > _DEEPEST:
                yield from _rough(self._raw(node), folders[-1])
            if len(folders) > _DEEPEST:
                continue
            if node.type == "redirected_statement":
                own = [child for child in node.children if child.type in _REDIRECTS]
                redirects.setdefault(_last(node).id, []).extend(own)
            if node.type in _COMMANDS or node.id in redirects:
                command = self._read(node, redirects.get(node.id, ()), folders[-1])
                yield command
                folders[-1] = _moved(command)
            if node.type in _OWN_FOLDER:
                folders.append(folders[-1])
                waiting.append(None)
            waiting += _inside(node)

    def _read(self, node: "Node", further: Sequence["Node"], folder: str) -> Command:
        """Read one command, with the redirections that stand around it."""
        argv, inputs, outputs, code = list[str](), list[str](), list[str](), ""
        own = [node] if node.type == "variable_assignment" else node.children
        waiting = [*reversed(further), *reversed(own if node.type in _COMMANDS else ())]
        while waiting:
            part = waiting.pop()
            if part.type == "file_redirect":
                mark, names = self._raw(part), part.children_by_field_name("destination")
                if not mark.startswith("2>"):
                    to = inputs if mark.lstrip("0123456789").startswith("<") else outputs
                    to += map(self._word, names[:1])
                argv += map(self._word, names[1:])
            elif part.type == "herestring_redirect":
                code = self._word(part.children[-1])
            elif part.type == "heredoc_redirect":
                code = "".join(self._raw(it) for it in part.children if it.type == "heredoc_body")
                waiting += [it for it in part.children if it.type in _REDIRECTS]
                argv += map(self._word, part.children_by_field_name("argument"))
            elif part.type.endswith("_expression") and node.type == "test_command":
                waiting += reversed(part.children)
            elif part.type not in _NO_WORDS:
                argv.append(self._word(part))
        return Command(
            argv=tuple(argv),
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            folder=folder,
            code=code,
        )

    def _word(self, node: "Node") -> str:
        """Return a word without its quotes."""
        text = self._raw(node)
        match node.type:
            case "string":
                return re.sub(r'\\([$`"\\\n])', r"\1", text[1:].removesuffix('"'))
            case "raw_string":
                return text[1:].removesuffix("'")
            case "ansi_c_string":
                text = text[2:].removesuffix("'")
                return re.sub(r"\\(.)", lambda it: {"n": "\n"}.get(it[1], it[1]), text)
            case "concatenation" | "command_name" | "translated_string" | "variable_assignment":
                parts = [it for it in node.children if it.type != "$"]
                is_array = parts[-1].type == "array"
                return text if is_array else "".join(map(self._word, parts))
            case "word":
                return re.sub(r"\\(.)", lambda it: it[1].strip("\n"), text, flags=re.DOTALL)
        return text

    def _raw(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _inside(node: "Node") -> Iterator["Node"]:
    """Yield what is to be looked into, the last one first. What is set for a command is read with
    it."""
    for child in reversed(node.children):
        is_own = child.type == "variable_assignment" and node.type in _COMMANDS
        yield from (it for it in (child.children if is_own else [child]) if it.child_count)


def _last(statement: "Node") -> "Node":
    """Return the command that the redirections of a statement are of."""
    node = statement
    while node.type in _LAST_OF:
        parts = [it for it in node.named_children if it.type not in (*_REDIRECTS, "comment")]
        if not parts:
            break
        node = parts[-1]
    return node


def _moved(command: Command) -> str:
    """Follow `cd` to where the next command runs."""
    if command.program not in ("cd", "pushd", "popd"):
        return command.folder
    to = next((word for word in command.argv[1:] if not word.startswith("-")), "")
    return posixpath.join(command.folder, to) if to else ""
