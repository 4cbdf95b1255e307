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
"""Characters between words, and around them."""
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
"""Keywords that a command follows, where a line could not be parsed."""
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
    """Name or path of the program, and its arguments, without quotes."""
    inputs: tuple[str, ...] = ()
    """Files that are put into it (`<`)."""
    outputs: tuple[str, ...] = ()
    """Files that it writes what it prints to (`>`)."""
    folder: str = ""
    """Folder in which it runs, as far as its line says (`cd`); relative to where that begins."""
    code: str = ""
    """A text that it runs: what follows `-c` or a document in the line."""
    assignments: tuple[str, ...] = ()
    """Variables that are set for it, or alone."""

    @property
    def program(self) -> str:
        """Its name without its folder."""
        return PurePosixPath(self.argv[0]).name if self.argv else ""


def find_commands(line: str, layers: int = MOST_LAYERS, folder: str = "") -> Iterator[Command]:
    """Yield every program that a command line starts: instead of shells and the like, what they
    start for it."""
    for command in _split_line(line, folder):
        yield from expand_command(command, layers)


def expand_process(argv: Sequence[str]) -> Iterator[Command]:
    """Yield what a process is, or starts."""
    argv = tuple(argv)
    # Some programs write what they do over their arguments.
    if len(argv) == 1 and " " in argv[0]:
        return find_commands(argv[0])
    return expand_command(Command(argv=argv), MOST_LAYERS)


def expand_command(command: Command, layers: int) -> Iterator[Command]:
    """Yield the command, or instead what it starts: `timeout 5 sh -c 'a; b'` starts a and b."""
    prefix = tuple(
        takewhile(lambda word: word in _KEYWORDS or _ASSIGNMENT.match(word), command.argv)
    )
    argv, assignments = command.argv[len(prefix) :], tuple(word for word in prefix if "=" in word)
    command = replace(command, argv=argv, assignments=(*command.assignments, *assignments))
    if not layers or not argv:
        yield command
    elif command.program in _SHELLS:
        yield from _expand_shell(command, layers)
    elif command.program in ("docker", "podman", "docker-compose") and "exec" in argv[1:3]:
        inside = ("docker exec", *argv[argv.index("exec") + 1 :])
        yield from expand_command(replace(command, argv=inside), layers - 1)
    elif command.program in _WRAPPERS:
        yield from expand_command(replace(command, argv=_unwrap(command)), layers - 1)
    elif command.program == "find" and (inner := _find_executed(argv)):
        yield command
        yield from expand_command(Command(argv=inner, folder=command.folder), layers - 1)
    elif INTERPRETER.fullmatch(command.program):
        yield replace(command, code="\n".join(filter(None, (command.code, _find_inline(argv)))))
    else:
        yield replace(command, code="")


def _expand_shell(command: Command, layers: int) -> Iterator[Command]:
    """Yield what a shell runs: a line, a document, or a script, which is the program then."""
    lines = [command.code] if command.code else []
    arguments = list(command.argv[1:])
    while arguments and arguments[0].startswith(("-", "+")):
        option = arguments.pop(0)
        if option.startswith("--") or not arguments:
            continue
        if option[-1] in "oO":
            arguments.pop(0)  # the name of a setting
        if "c" in option and arguments:
            lines.append(arguments[0])
            arguments.clear()
    for line in lines:
        yield from find_commands(line, layers - 1, command.folder)
    if arguments:
        yield from expand_command(replace(command, argv=tuple(arguments), code=""), layers - 1)
    elif not lines:
        yield command


def _unwrap(command: Command) -> tuple[str, ...]:
    """Return the inner command of a program that only starts it."""
    program, arguments = command.program, list(command.argv[1:])
    if program == "command" and {"-v", "-V"} & set(arguments[:1]):
        return ()  # it only asks where the program is
    skipped = int(arguments[1:2] == ["{"]) if program == "coproc" else _POSITIONS.get(program, 0)
    while arguments:
        word = arguments[0]
        if len(arguments) > 1 and _SHELL_OPTION.fullmatch(f"{program} {word}"):
            return ("sh", "-c", arguments[1])
        if word.startswith("-") or _ASSIGNMENT.match(word):
            del arguments[: 1 + _takes_next(program, word)]
        elif skipped or _AMOUNT.fullmatch(word):
            arguments.pop(0)
            skipped = max(skipped - 1, 0)
        else:
            break
    if arguments and program in ("eval", "watch", "parallel"):
        line = list(takewhile(lambda word: not word.startswith(":::"), arguments))
        return ("sh", "-c", " ".join(line) or ";".join(arguments[1:]))
    return tuple(arguments)


def _takes_next(program: str, option: str) -> bool:
    """Tell whether the next word belongs to an option."""
    letters = _WRAPPERS[program]
    if option.startswith("--"):
        return _TAKING_NEXT.fullmatch(option) is not None
    return option[-1] in letters and not set(option[1:-1]) & set(letters)


def _find_executed(argv: Sequence[str]) -> tuple[str, ...]:
    """Return what `find` starts for its matches."""
    at = next((i for i, word in enumerate(argv) if word in ("-exec", "-execdir", "-ok")), None)
    return () if at is None else tuple(argv[at + 1 :])


def _find_inline(argv: Sequence[str]) -> str:
    """Return the program that an interpreter has as one of its arguments."""
    for option, value in zip(argv[1:], argv[2:], strict=False):
        if option in _CODE or (len(option) < 5 and re.fullmatch(r"-[A-Za-z]+[ce]", option)):
            return value
        if not option.startswith("-"):
            break
    return ""


def _split_line(line: str, folder: str) -> Iterator[Command]:
    """Yield the commands of a line, as they stand between its separators."""
    from swarm_bench.source.grammars import BASH, parse  # heavy

    source = line.encode("utf-8", "replace")
    root = parse(BASH, source) if len(source) <= _LONGEST else None
    return (
        _split_roughly(line, folder)
        if root is None
        else _Reader(source).find_commands(root, folder)
    )


def _split_roughly(text: str, folder: str) -> Iterator[Command]:
    """Yield what may be commands in a text that is no shell's."""
    for part in _SEPARATORS.split(text):
        if argv := tuple(filter(None, _MARKS.split(part))):
            yield Command(argv=argv, inputs=tuple(_REDIRECTED.findall(part)), folder=folder)


class _Reader:
    """Reads the commands in a tree of the grammar."""

    def __init__(self, source: bytes) -> None:
        self._source = source

    def find_commands(self, root: "Node", folder: str) -> Iterator[Command]:
        folders, redirects = [folder], dict[int, list["Node"]]()
        pending: list[Node | None] = [root]
        while pending:
            node = pending.pop()
            if node is None:  # the end of a subshell
                folders.pop()
                continue
            if node.type == "ERROR" or len(folders) > _DEEPEST:
                yield from _split_roughly(self._raw(node), folders[-1])
            if len(folders) > _DEEPEST:
                continue
            if node.type == "redirected_statement":
                attached = [child for child in node.children if child.type in _REDIRECTS]
                redirects.setdefault(_find_last(node).id, []).extend(attached)
            if node.type in _COMMANDS or node.id in redirects:
                command = self._read(node, redirects.get(node.id, ()), folders[-1])
                yield command
                folders[-1] = _follow_cd(command)
            if node.type in _OWN_FOLDER:
                folders.append(folders[-1])
                pending.append(None)
            pending += _find_inner(node)

    def _read(self, node: "Node", further: Sequence["Node"], folder: str) -> Command:
        """Read one command, with the redirections that stand around it."""
        argv, inputs, outputs, code = list[str](), list[str](), list[str](), ""
        children = [node] if node.type == "variable_assignment" else node.children
        pending = [*reversed(further), *reversed(children if node.type in _COMMANDS else ())]
        while pending:
            part = pending.pop()
            if part.type == "file_redirect":
                mark, names = self._raw(part), part.children_by_field_name("destination")
                if not mark.startswith("2>"):
                    to = inputs if mark.lstrip("0123456789").startswith("<") else outputs
                    to += map(self._word, names[:1])
                argv += map(self._word, names[1:])
            elif part.type == "herestring_redirect":
                code = self._word(part.children[-1])
            elif part.type == "heredoc_redirect":
                code = "".join(
                    self._raw(child) for child in part.children if child.type == "heredoc_body"
                )
                pending += [child for child in part.children if child.type in _REDIRECTS]
                argv += map(self._word, part.children_by_field_name("argument"))
            elif part.type.endswith("_expression") and node.type == "test_command":
                pending += reversed(part.children)
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
                return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text)
            case "concatenation" | "command_name" | "translated_string" | "variable_assignment":
                parts = [child for child in node.children if child.type != "$"]
                is_array = parts[-1].type == "array"
                return text if is_array else "".join(map(self._word, parts))
            case "word":
                return re.sub(r"\\(.)", lambda match: match[1].strip("\n"), text, flags=re.DOTALL)
        return text

    def _raw(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _find_inner(node: "Node") -> Iterator["Node"]:
    """Yield what is to be looked into, the last one first. What is set for a command is read with
    it."""
    for child in reversed(node.children):
        is_own = child.type == "variable_assignment" and node.type in _COMMANDS
        yield from (part for part in (child.children if is_own else [child]) if part.child_count)


def _find_last(statement: "Node") -> "Node":
    """Return the command that the redirections of a statement are of."""
    node = statement
    while node.type in _LAST_OF:
        parts = [part for part in node.named_children if part.type not in (*_REDIRECTS, "comment")]
        if not parts:
            break
        node = parts[-1]
    return node


def _follow_cd(command: Command) -> str:
    """Follow `cd` to where the next command runs."""
    if command.program not in ("cd", "pushd", "popd"):
        return command.folder
    to = next((word for word in command.argv[1:] if not word.startswith("-")), "")
    return posixpath.join(command.folder, to) if to else ""
