"""The names by which a program that somebody starts is recognised: its own script, module, package
or binary. What only runs it (an interpreter, a launcher of packages) is no name of it."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from swarm_bench.retrieval.reach.command_lines import INTERPRETER, Command, commands_in, started_by

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
"""Names that many programs have; one of them alone is nobody's."""
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
"""By program: words after which the name of what is started follows."""
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
"""Those of interpreters."""
_NAMING = ("-p", "--package", "--from", "--spec", "--bin")
"""Those whose word names a package."""
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
_CALLED = re.compile(rf"{_STARTING}\(\s*\*?(\w+)\b")
_SET = re.compile(rf"(?<![\w.])(\w+)\s*=([\s\[(]*)({_STRINGS})")
_IMPORT = re.compile(r"(?:^|[;\n])[ \t]*(?:import|from)[ \t]+([\w.]+)")
_LOADED = re.compile(
    r"\b(?:import_module|__import__|run_module|run_path|require|import|exec\(open)\(\s*['\"]([^'\"]+)"
)
_SOURCE = re.compile(r"\.(?:py|pyz|js|mjs|cjs|ts|mts|rb|pl|php|jar|sh|lua|r)$", re.IGNORECASE)
_VERSION = re.compile(r"(?<=.)(?:[@:][^/@:]+|\[[^\]]*\].*|[=<>~!]=?.*)$")
_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?(?!\.bin/)[^/]+)/")


def names_of(command: Command, folder: str | None = None) -> frozenset[str]:
    """Return the names of what a command starts; none for interpreters without a program, and for
    what every agent uses. `folder` is where relative paths of scripts begin."""
    return frozenset(filter(_is_telling, _names(command, _folder(command, folder))))


def copied_names(command: Command, folder: str | None = None) -> Iterator[str]:
    """Yield the names of what a command makes a copy of, or a link to."""
    arguments = [word for word in command.argv[1:] if not word.startswith("-")]
    sources: Sequence[str] = ()
    if command.program in _COPYING:
        sources = arguments[:-1] if len(arguments) > 1 and "-t" not in command.argv else arguments
    elif command.program == "cat" and any(not name.startswith("/dev/") for name in command.outputs):
        sources = arguments
    for source in sources:
        yield _whole(source, _folder(command, folder))
        path = PurePosixPath(source)
        if path.parent.name in _INSTALLED:
            yield plain(path.name)


def loaded_names(code: str) -> frozenset[str]:
    """Find modules and scripts that a text in another language loads; a module of one word may be
    anybody's."""
    loaded = {*_LOADED.findall(code), *_IMPORT.findall(code)}
    return frozenset(
        posixpath.normpath(name) if name.startswith("/") else plain(name)
        for name in loaded
        if re.search(r"[-_./]", name)
    )


def packages_of(modules: Iterable[str]) -> frozenset[str]:
    """Return the packages that modules are in, for what an agent starts: a mode's own module may
    lie in the user's package. A package of a single word may be anybody's."""
    tops = {name.partition(".")[0] for name in modules if "." in name and "/" not in name}
    return frozenset(top for top in tops if "-" in top)


def started_in(code: str) -> Iterator[Command]:
    """Yield what a text in another language starts, as far as it does so in strings."""
    calls = _CALL.findall(code)
    if called := set(_CALLED.findall(code)):
        calls += [(mark, strings) for name, mark, strings in _SET.findall(code) if name in called]
    for mark, strings in calls:
        argv = [text.lstrip("bfru")[1:-1] for text in re.findall(_STRING, strings)]
        if len(argv) == 1 and "[" not in mark:
            yield from commands_in(argv[0])
        else:
            yield from started_by(Command(argv=tuple(argv)), 2)


def _folder(command: Command, folder: str | None) -> str | None:
    return posixpath.join(folder or "", command.folder) or None


def _whole(path: str, folder: str | None) -> str:
    return posixpath.normpath(posixpath.join(folder or "", path))


def _is_telling(name: str) -> bool:
    if name in COMMON or name in _GENERIC or INTERPRETER.fullmatch(name):
        return False
    return name.startswith("/") or not _SOURCE.search(name)


def is_launcher(program: str) -> bool:
    """Tell whether a program of that name starts others, such as those of packages."""
    return program in _LAUNCHERS or program in _LAUNCHING


def launched_packages(program: str, args: Sequence[str]) -> list[str]:
    """List the packages, as they are written, in which a launcher is to look for a program."""
    before = args[: len(args) - len(_launched_command(program, args))]
    return list(_named_packages(program, before)) or _launched_command(program, args)[:1]


def plain(name: str) -> str:
    """Normalise a name: programs and their packages differ in `-`, `_` and case."""
    return name.casefold().replace("_", "-")


def _names(command: Command, folder: str | None) -> Iterator[str]:
    program, argv = command.program, command.argv
    if not argv:
        return
    if program in _LAUNCHERS or (program in _LAUNCHING and _is_launch(program, argv)):
        yield from _launched(program, argv, folder)
    elif INTERPRETER.fullmatch(program):
        yield from _interpreted(argv, folder)
    elif _SOURCE.search(program):
        yield from _script(argv[0], folder)
    else:
        yield plain(program)
        yield from _packages(argv[0])


def _is_launch(program: str, argv: Sequence[str]) -> bool:
    return any(word in _LAUNCHING[program] for word in _positional(argv[1:])[:1])


def _launched(program: str, argv: Sequence[str], folder: str | None) -> Iterator[str]:
    """Yield the names of the package and the program that a launcher is to start."""
    for written in _named_packages(program, argv[1:]):
        yield from _package(written)
    rest = _launched_command(program, argv[1:])
    if not rest:
        return
    if "/" not in rest[0] or rest[0].startswith("@") or program in ("docker", "podman"):
        yield from _package(rest[0])
    inner = Command(argv=tuple(rest))
    if not is_launcher(inner.program):
        yield from _names(inner, folder)
    for option, line in zip(argv, argv[1:], strict=False):
        if option in ("-c", "--call"):
            for inner in commands_in(line):
                yield from _names(inner, folder)


def _named_packages(program: str, args: Sequence[str]) -> Iterator[str]:
    """Yield the packages that options name."""
    for option, value in zip(args, (*args[1:], ""), strict=False):
        name, _, joined = option.partition("=")
        if name in _NAMING and (joined or value) and not (program == "uvx" and name == "-p"):
            yield joined or value


def _launched_command(program: str, args: Sequence[str]) -> list[str]:
    """Return what a launcher is to start, and its arguments."""
    rest = _positional(args)
    while rest and rest[0] in _LAUNCHING.get(program, ()):
        rest = _positional(rest[1:])
    return rest


def _positional(arguments: Sequence[str]) -> list[str]:
    """Return what follows the options at the beginning."""
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in _WITH_VALUE and rest:
            rest.pop(0)
    return rest


def _package(written: str) -> Iterator[str]:
    name = plain(_VERSION.sub("", written))
    yield name
    yield name.rpartition("/")[2]


def _interpreted(argv: Sequence[str], folder: str | None) -> Iterator[str]:
    rest = list(argv[1:])
    if PurePosixPath(argv[0]).name.startswith(("python", "pypy")):
        rest = list(_apart(rest))
    while rest:
        word = rest.pop(0)
        if word in ("-m", "-jar") and rest:
            if word == "-m" and plain(rest[0]) in _RUNNERS:
                rest.pop(0)
                continue
            yield from _module(rest[0]) if word == "-m" else _script(rest[0], folder)
            return
        if re.fullmatch(r"-\w*[ce]|--eval|--print|-", word):
            return  # a program that has no name
        if word == "run":
            continue
        if not word.startswith("-"):
            yield from _script(word, folder)
            return
        if word in _LOADING and rest:
            rest.pop(0)


def _apart(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, a module apart that is glued to its option."""
    for word in arguments:
        glued = re.fullmatch(r"-[bBdEiIOPqsSuvx]*m(.*)", word)
        yield from filter(None, ("-m", glued[1])) if glued else (word,)


def _module(name: str) -> Iterator[str]:
    yield plain(name.removesuffix(".__main__"))


def _script(path: str, folder: str | None) -> Iterator[str]:
    """Name a script by its whole path; if it was installed as a program, by its name too."""
    yield from _packages(path)
    if (whole := _whole(path, folder)).startswith("/"):
        yield whole
    if not _SOURCE.search(path):
        yield plain(PurePosixPath(path).name)


def _packages(path: str) -> Iterator[str]:
    """Yield the package of npm that a file belongs to."""
    if packages := _PACKAGE.findall(path):
        yield plain(packages[-1])
