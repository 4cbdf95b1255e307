"""Names by which a program is recognised when it is started: its own script, module, package or
binary. What only runs it (an interpreter, a launcher of packages) is no name of it."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from swarm_bench.retrieval.reach.command_lines import (
    INTERPRETER,
    Command,
    expand_command,
    find_commands,
)

COMMON = frozenset(
    {
        *("ag", "ack", "awk", "base64", "basename", "bat", "bc", "cargo", "cat", "cd", "chmod"),
        *("clang", "cmake", "cmp", "column", "comm", "cp", "ctags", "curl", "cut", "date", "dd"),
        *("df", "diff", "dirname", "docker", "du", "echo", "egrep", "export", "fd", "fdfind"),
        *("fgrep", "file", "find", "fzf", "gawk", "gcc", "gh", "git", "go", "gradle", "grep"),
        *("gzip",),
        *("head", "hexdump", "id", "install", "jq", "kill", "less", "ln", "ls", "lsof", "make"),
        *("mkdir", "mktemp", "more", "mv", "mvn", "mypy", "nc", "nl", "npm", "od", "paste"),
        *("patch", "pip", "pip3", "pnpm", "podman", "poetry", "printf", "ps", "pwd", "pytest"),
        *("readlink", "realpath", "rg", "ripgrep", "rm", "rmdir", "rsync", "ruff", "rustc", "sed"),
        *("seq", "set", "sleep", "sort", "source", "sqlite3", "ssh", "stat", "strings", "tail"),
        *("tar", "tee", "test", "touch", "tr", "trap", "tree", "true", "tsc", "type", "uname"),
        *("uniq", "unzip", "uv", "wait", "wc", "wget", "which", "xxd", "yarn", "yq", "zip", "["),
        *("[[", ":", ".", "false", "kubectl", "psql", "redis-cli", "cloc", "tokei", "scc"),
    }
)
"""Programs that an agent without the tool uses as well: to start one of them shows nothing."""
_GENERIC = frozenset(
    {
        *("app", "bin", "cli", "client", "core", "dist", "index", "main", "mcp", "mcp-server"),
        *("run", "script", "serve", "server", "start", "stdio", "tool", "tools", "wrapper"),
    }
)
"""Names that many programs have; one of them alone identifies none."""
_LAUNCHERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx"})
_LAUNCHING = {
    "npm": ("exec", "x"),
    "pnpm": ("dlx", "exec"),
    "yarn": ("dlx", "exec"),
    "bun": ("x",),
    "uv": ("tool", "run"),
    "pipx": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "pipenv": ("run",),
    "cargo": ("run",),
    "docker": ("run",),
    "podman": ("run",),
}
"""Words after which the name of what is started follows, by program."""
_WITH_VALUE = frozenset(
    {
        *("-p", "--package", "--from", "--with", "--python", "--directory", "--project", "--env"),
        *("-e", "-v", "--volume", "--mount", "--name", "--network", "-w", "--workdir", "--user"),
        *("-u", "--platform", "--extra", "--group", "--env-file", "--index-url", "--spec"),
        *("--with-editable", "--prefix", "--bin"),
    }
)
"""Options of launchers that take the next word."""
_LOADING = frozenset({"-r", "--require", "--import", "--loader", "-X", "-W", "-cp"})
"""Options of interpreters."""
_NAMING = ("-p", "--package", "--from", "--spec", "--bin")
"""Options whose word names a package."""
_RUNNERS = frozenset({"coverage", "cprofile", "debugpy", "pdb", "profile", "runpy", "trace"})
"""Modules of Python that run the one that follows."""
_COPYING = frozenset({"cp", "install", "ln"})
_INSTALLED = frozenset({".bin", "bin", "debug", "release", "sbin"})
"""Folders in which programs lie."""
_STRING = r"""[bfru]{0,2}(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)"""
_STRINGS = rf"{_STRING}(?:[\s,\[]+{_STRING})*"
_STARTING = (
    r"(?<![.\w])(?:(?:asyncio|Bun|child_process|cp|Deno|Kernel|os|pexpect|pty|sp|subprocess"
    r"|(?:__import__|require)\(['\"][\w:]+['\"]\))\.)?"
    r"(?:call|check_call|check_output|Command|create_subprocess_\w+|exec\w*|fork|getoutput"
    r"|getstatusoutput|Popen|popen|run|spawn\w*|system)"
)
_CALL = re.compile(rf"{_STARTING}(?:\(|(?=\s['\"]))([\s\[(]*)(?:[\w.]+,\s*)?({_STRINGS})")
"""A program that a text in another language starts."""
_CALLED_NAME = re.compile(rf"{_STARTING}\(\s*\*?(\w+)\b")
_SET = re.compile(rf"(?<![\w.])(\w+)\s*=([\s\[(]*)({_STRINGS})")
_IMPORT = re.compile(r"(?:^|[;\n])[ \t]*(?:import|from)[ \t]+([\w.]+)")
_LOADED = re.compile(
    r"\b(?:import_module|__import__|run_module|run_path|require|import|exec\(open)\(\s*['\"]([^'\"]+)"
)
_SOURCE = re.compile(r"\.(?:py|pyz|js|mjs|cjs|ts|mts|rb|pl|php|jar|sh|lua|r)$", re.IGNORECASE)
_VERSION = re.compile(r"(?<=.)(?:[@:][^/@:]+|\[[^\]]*\].*|[=<>~!]=?.*)$")
_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?(?!\.bin/)[^/]+)/")


def find_names(command: Command, folder: str | None = None) -> frozenset[str]:
    """Return the names of what a command starts; none for interpreters without a program, and for
    what every agent uses. `folder` is where relative paths of scripts begin."""
    return frozenset(filter(_is_telling, _find_names(command, _join_folder(command, folder))))


def find_copied_names(command: Command, folder: str | None = None) -> Iterator[str]:
    """Yield the names of what a command makes a copy of, or a link to."""
    arguments = [word for word in command.argv[1:] if not word.startswith("-")]
    sources: Sequence[str] = ()
    if command.program in _COPYING:
        sources = arguments[:-1] if len(arguments) > 1 and "-t" not in command.argv else arguments
    elif command.program == "cat" and any(not name.startswith("/dev/") for name in command.outputs):
        sources = arguments
    for source in sources:
        yield _join_path(source, _join_folder(command, folder))
        path = PurePosixPath(source)
        if path.parent.name in _INSTALLED:
            yield normalise(path.name)


def find_loaded_names(code: str) -> frozenset[str]:
    """Find modules and scripts that a text in another language loads; a module of one word may be
    of any program."""
    loaded = {*_LOADED.findall(code), *_IMPORT.findall(code)}
    return frozenset(
        posixpath.normpath(name) if name.startswith("/") else normalise(name)
        for name in loaded
        if re.search(r"[-_./]", name)
    )


def find_packages(modules: Iterable[str]) -> frozenset[str]:
    """Return the packages that modules are in, for what an agent starts: a mode's own module may
    lie in the user's package. A package of a single word may be of any program."""
    tops = {name.partition(".")[0] for name in modules if "." in name and "/" not in name}
    return frozenset(top for top in tops if "-" in top)


def find_started(code: str) -> Iterator[Command]:
    """Yield what a text in another language starts, as far as it does so in strings."""
    calls = _CALL.findall(code)
    if called_names := set(_CALLED_NAME.findall(code)):
        calls += [
            (mark, strings) for name, mark, strings in _SET.findall(code) if name in called_names
        ]
    for mark, strings in calls:
        argv = [text.lstrip("bfru")[1:-1] for text in re.findall(_STRING, strings)]
        if len(argv) == 1 and "[" not in mark:
            yield from find_commands(argv[0])
        else:
            yield from expand_command(Command(argv=tuple(argv)), 2)


def _join_folder(command: Command, folder: str | None) -> str | None:
    return posixpath.join(folder or "", command.folder) or None


def _join_path(path: str, folder: str | None) -> str:
    return posixpath.normpath(posixpath.join(folder or "", path))


def _is_telling(name: str) -> bool:
    if name in COMMON or name in _GENERIC or INTERPRETER.fullmatch(name):
        return False
    return name.startswith("/") or not _SOURCE.search(name)


def is_launcher(program: str) -> bool:
    """Tell whether a program of that name starts others, such as those of packages."""
    return program in _LAUNCHERS or program in _LAUNCHING


def list_launched_packages(program: str, args: Sequence[str]) -> list[str]:
    """List the packages, as they are written, in which a launcher is to look for a program."""
    options = args[: len(args) - len(_find_launched_command(program, args))]
    return list(_find_named_packages(program, options)) or _find_launched_command(program, args)[:1]


def normalise(name: str) -> str:
    """Normalise a name: programs and their packages differ in `-`, `_` and case."""
    return name.casefold().replace("_", "-")


def _find_names(command: Command, folder: str | None) -> Iterator[str]:
    program, argv = command.program, command.argv
    if not argv:
        return
    if program in _LAUNCHERS or (program in _LAUNCHING and _is_launch(program, argv)):
        yield from _find_launched(program, argv, folder)
    elif INTERPRETER.fullmatch(program):
        yield from _find_interpreted(argv, folder)
    elif _SOURCE.search(program):
        yield from _name_script(argv[0], folder)
    else:
        yield normalise(program)
        yield from _find_npm_packages(argv[0])


def _is_launch(program: str, argv: Sequence[str]) -> bool:
    return any(word in _LAUNCHING[program] for word in _drop_options(argv[1:])[:1])


def _find_launched(program: str, argv: Sequence[str], folder: str | None) -> Iterator[str]:
    """Yield the names of the package and the program that a launcher is to start."""
    for package in _find_named_packages(program, argv[1:]):
        yield from _name_package(package)
    launched = _find_launched_command(program, argv[1:])
    if not launched:
        return
    if "/" not in launched[0] or launched[0].startswith("@") or program in ("docker", "podman"):
        yield from _name_package(launched[0])
    inner = Command(argv=tuple(launched))
    if not is_launcher(inner.program):
        yield from _find_names(inner, folder)
    for option, line in zip(argv, argv[1:], strict=False):
        if option in ("-c", "--call"):
            for inner in find_commands(line):
                yield from _find_names(inner, folder)


def _find_named_packages(program: str, args: Sequence[str]) -> Iterator[str]:
    """Yield the packages that options name."""
    for option, value in zip(args, (*args[1:], ""), strict=False):
        name, _, joined = option.partition("=")
        if name in _NAMING and (joined or value) and not (program == "uvx" and name == "-p"):
            yield joined or value


def _find_launched_command(program: str, args: Sequence[str]) -> list[str]:
    """Return what a launcher is to start, and its arguments."""
    arguments = _drop_options(args)
    while arguments and arguments[0] in _LAUNCHING.get(program, ()):
        arguments = _drop_options(arguments[1:])
    return arguments


def _drop_options(arguments: Sequence[str]) -> list[str]:
    """Return what follows the options at the beginning."""
    remaining = list(arguments)
    while remaining and remaining[0].startswith("-"):
        option = remaining.pop(0)
        if option in _WITH_VALUE and remaining:
            remaining.pop(0)
    return remaining


def _name_package(package: str) -> Iterator[str]:
    name = normalise(_VERSION.sub("", package))
    yield name
    yield name.rpartition("/")[2]


def _find_interpreted(argv: Sequence[str], folder: str | None) -> Iterator[str]:
    arguments = list(argv[1:])
    if PurePosixPath(argv[0]).name.startswith(("python", "pypy")):
        arguments = list(_split_module_option(arguments))
    while arguments:
        word = arguments.pop(0)
        if word in ("-m", "-jar") and arguments:
            if word == "-m" and normalise(arguments[0]) in _RUNNERS:
                arguments.pop(0)
                continue
            yield from (
                _name_module(arguments[0]) if word == "-m" else _name_script(arguments[0], folder)
            )
            return
        if re.fullmatch(r"-\w*[ce]|--eval|--print|-", word):
            return  # a program that has no name
        if word == "run":
            continue
        if not word.startswith("-"):
            yield from _name_script(word, folder)
            return
        if word in _LOADING and arguments:
            arguments.pop(0)


def _split_module_option(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, a module apart that is glued to its option."""
    for word in arguments:
        glued = re.fullmatch(r"-[bBdEiIOPqsSuvx]*m(.*)", word)
        yield from filter(None, ("-m", glued[1])) if glued else (word,)


def _name_module(name: str) -> Iterator[str]:
    yield normalise(name.removesuffix(".__main__"))


def _name_script(path: str, folder: str | None) -> Iterator[str]:
    """Name a script by its whole path; if it was installed as a program, by its name too."""
    yield from _find_npm_packages(path)
    if (full_path := _join_path(path, folder)).startswith("/"):
        yield full_path
    if not _SOURCE.search(path):
        yield normalise(PurePosixPath(path).name)


def _find_npm_packages(path: str) -> Iterator[str]:
    """Yield the package of npm that a file belongs to."""
    if packages := _PACKAGE.findall(path):
        yield normalise(packages[-1])
