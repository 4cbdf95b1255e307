"""What a command asks and reads, by its arguments: addresses, and folders that are looked into
and not merely named, listed, excluded or searched for."""

import re
import socket
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from swarm_bench.retrieval.reach.command_lines import Command

LOOPBACK = "loopback"
"""Stand-in for any of the names that this machine has for itself."""
_URL = re.compile(r"\b(?:https?|wss?)://[^\s'\"\\<>|)]+", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w./@-])(localhost|\[[0-9a-f:]+\]|[\w-]+(?:\.[\w-]+)*):(\d{1,5})(?!\d)(/[\w/.-]*)?"
)
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)/(\d{1,5})$")
"""A connection as the shell opens it."""
_CONNECTING = re.compile(
    r"(?:connect|telnet|socket)\w{0,30}(?:\.\w{1,30})?\([\s(\[]*['\"]([\w.:-]+)['\"]\s*,\s*(\d{1,5})\b",
    re.IGNORECASE,
)
"""One as a program opens it."""
_TALKING = frozenset({"nc", "ncat", "netcat", "telnet"})
"""Programs whose host and port are two arguments."""
_REQUESTING = frozenset({"http", "https", "xh", "xhs"})
"""Programs for which a port alone is one of this machine."""
_FETCHING = frozenset({"curl", "wget", *_REQUESTING})
"""Programs whose arguments are addresses, a mere number too."""
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_GREPS = frozenset({"rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack"})
_FILTERS = frozenset({"sed", "awk", "gawk", "jq", "yq"})
"""Programs whose first word is a program in their own language and no file."""
PATTERNED = _GREPS | _FILTERS
_SPEAKING = PATTERNED | {"echo", "printf", "git", "cat", "head", "tail", "find", "fd"}
"""Programs that connect to no address among their arguments."""
_NOT_READING = frozenset(
    {
        *("echo", "printf", "rm", "rmdir", "mkdir", "touch", "git", "test", "[", "[[", "ls"),
        *("stat", "du", "chmod", "chown", "which", "type", "exit", "return", "basename"),
        *("dirname", "realpath", "export", "set", "for", "case", "code", "codium", "cursor"),
    }
)
_EXCLUDING = re.compile(
    r"--?(?:no-|extend-|force-)?(?:exclude|ignore|skip|not|prune|omit|invert)[\w-]*"
)
_EXCLUDING_OF = {
    **{"fd": "-E", "fdfind": "-E", "tree": "-I", "eza": "-I", "diff": "-x", "zip": "-x"},
    **{"tokei": "-e", "scc": "-i", "bandit": "-x", "watchexec": "-i", "codespell": "-S"},
}
_OMITTING = re.compile(r"ignore|exclu|skip|omit|prune|filter|without|^ex$", re.IGNORECASE)
"""Names of variables for what is omitted."""
_FINDING = frozenset(
    {"-path", "-ipath", "-name", "-iname", "-wholename", "-iwholename", "-regex", "-iregex"}
)
_WITH_VALUE = frozenset(
    {
        *("-A", "-B", "-C", "-m", "-t", "-T", "-d", "-D", "-M", "-j", "--max-count", "--type"),
        *("--type-not", "--context", "--after-context", "--before-context", "--color", "--sort"),
        *("-e", "--regexp", "--include", "--max-depth", "--threads", "--max-columns"),
    }
)
"""Options of programs that search texts whose next word is no file."""
_OPENING = (
    r"\b(?:\w{0,20}(?:open|connect|glob|Path|Database|Stream|listdir|scandir|walk|join|slurp)"
    r"|(?:read|load|copy)\w{0,20})\("
)
_ASKING_ABOUT = r"\)*\.(?:exists|is_\w+|mkdir|name|parts|stat|touch|unlink)\b"
_LOOKING_INTO = r"\)\.(?:glob|iterdir|joinpath|open|read\w*|rglob|walk)\b"


@dataclass(frozen=True, kw_only=True)
class Address:
    """Address of a server."""

    host: str
    port: int
    path: str = ""

    @property
    def name(self) -> str:
        """Return the address as people write it."""
        host = "127.0.0.1" if self.host == LOOPBACK else self.host
        return f"{host}:{self.port}"

    def covers(self, address: "Address") -> bool:
        """Tell whether the other asks what is here. On this machine a port is one program's; a host
        has many, told apart by their paths."""
        if (self.host, self.port) != (address.host, address.port):
            return False
        path = self.path.rstrip("/")
        return self.host == LOOPBACK or (address.path + "/").startswith(f"{path}/")


def read_address(url: str) -> Address | None:
    """Read the address in a URL; `None` when there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:
        return None
    if not parts.hostname or port is None:
        return None
    return Address(host=_normalise_host(parts.hostname), port=port, path=parts.path)


def find_addresses_in(text: str) -> Iterator[Address]:
    """Yield all addresses that a text names."""
    for url in _URL.findall(text):
        if (address := read_address(url)) is not None:
            yield address
    for host, port, path in _HOST.findall(_URL.sub(" ", text)):
        if not host.isdigit():  # of a time or a place in a file
            yield Address(host=_normalise_host(host.strip("[]")), port=int(port), path=path)


def find_addresses(command: Command) -> Iterator[Address]:
    """Yield the addresses that a command may connect to."""
    program, arguments = command.program, command.argv[1:]
    yield from find_addresses_in(" ".join(command.assignments))
    for device in map(_DEVICE.match, (*command.inputs, *command.outputs)):
        if device:
            yield _make_address(device[1], device[2])
    if program in _SPEAKING:
        return
    if program in _TALKING and not any(re.fullmatch(r"-[a-z]*l[a-z]*", word) for word in arguments):
        pairs = zip(arguments, arguments[1:], strict=False)
        yield from (_make_address(*pair) for pair in pairs if re.fullmatch(r"\d{1,5}", pair[1]))
    if program in _REQUESTING:
        arguments = tuple(re.sub(r"^:(?=\d|/)", "localhost:", word) for word in arguments)
    if program in _FETCHING:
        arguments = tuple(re.sub(r"^(?=\w+:\d)", "http://", word) for word in arguments)
    yield from find_addresses_in(" ".join(arguments))
    yield from find_addresses_in(command.code)
    yield from (_make_address(*pair) for pair in _CONNECTING.findall(command.code))


def find_read_folders(command: Command, names: Collection[str]) -> Iterator[str]:
    """Yield the folders of these names that a command looks into."""
    paths = [*command.inputs, *find_paths(command)]
    assigned = (value.partition("=") for value in command.assignments if command.argv)
    set_to = [
        value
        for variable, _, value in assigned
        if not (_OMITTING.search(variable) or "*" in value or value[:1] in "-!(")
    ]
    for name in names:
        if (
            any(is_below(path, name) for path in paths)
            or any(is_below(value.rpartition("/")[0], name) for value in set_to)
            or _opens(command.code, name)
        ):
            yield name


def is_below(path: str, name: str) -> bool:
    """Tell whether a path is that of a folder of the name, or of something in it."""
    if "://" in path and not path.startswith("file://"):
        return False
    return any(name in part.split("/") for part in re.split(r"[=:,]", path))


def find_paths(command: Command) -> Iterator[str]:
    """Yield arguments that may be files or folders to look into."""
    program, arguments = command.program, list(command.argv[1:])
    if program == "git":
        yield from _find_committed(arguments)
    if program == "find" and {"-exec", "-execdir"} & set(arguments):
        yield from _find_targets(arguments)
    if program in _NOT_READING:
        return
    if program == "zip" and "-x" in arguments:
        del arguments[arguments.index("-x") :]
    pattern_to_come = program in PATTERNED and not {"-e", "-f"} & set(arguments)
    for word, previous in zip(arguments, ["", *arguments], strict=False):
        if _is_other(program, word, previous):
            continue
        if pattern_to_come and not word.startswith("-"):
            pattern_to_come = False
            continue
        if program not in ("jq", "yq") or "/" in word:  # more likely a key
            yield word


def _is_other(program: str, word: str, previous: str) -> bool:
    """Tell whether a word is an option, the value of one that names no file, or excluded."""
    option, _, value = word.partition("=")
    if _is_excluded(program, previous) or "!" in (word[:1], value[:1]):
        return True
    if option != word and _is_excluded(program, option):
        return True
    if word.startswith("-") and "=" not in word:
        return True
    if program in _FILTERS and previous in ("-e", "--expression"):
        return True
    return program in _GREPS and (previous in _WITH_VALUE or word.isdigit())


def _find_committed(arguments: Sequence[str]) -> Iterator[str]:
    """Yield files that `git` shows from a commit, or searches because they are named."""
    remaining = list(arguments)
    while remaining and remaining[0].startswith("-"):
        del remaining[: 2 if remaining[0] in ("-C", "-c") else 1]
    if remaining[:1] == ["grep"] and "--" in remaining:
        yield from (
            word for word in remaining[remaining.index("--") + 1 :] if not word.startswith(":")
        )
    elif remaining[:1] in (["show"], ["cat-file"]):
        yield from (word for word in remaining if re.match(r"[^:]*:[^!^(]", word))


def _find_targets(arguments: Sequence[str]) -> Iterator[str]:
    """Yield what `find` looks for and gives to a program that reads it."""
    at = next(i for i, word in enumerate(arguments) if word in ("-exec", "-execdir"))
    reader = arguments[at + 1].rpartition("/")[2] if len(arguments) > at + 1 else ""
    if reader not in _NOT_READING and not {"!", "-not", "-prune"} & set(arguments):
        pairs = zip(arguments[:at], arguments[1:at], strict=False)
        yield from (value for option, value in pairs if option in _FINDING)


def _is_excluded(program: str, option: str) -> bool:
    """Tell whether what follows an option is not looked into."""
    if program == "find" and option in _FINDING:
        return True
    return bool(_EXCLUDING.fullmatch(option)) or _EXCLUDING_OF.get(program) == option


def _opens(code: str, name: str) -> bool:
    """Tell whether a program text opens a path below the folder, or looks into the folder itself.
    A mere name may as well be excluded."""
    if name not in code:
        return False
    folder = re.escape(name)
    inner_path = rf"[bfru]{{0,2}}['\"`](?!!)[^'\"`\n]*(?<![\w.*!-]){folder}/[\w.*][^'\"`\n]*['\"`]"
    variables = set(re.findall(rf"\b(\w{{1,60}})\s?=\s?{inner_path}", code))
    return any(
        re.search(pattern, code)
        for pattern in (
            rf"{_OPENING}\s*(?:[^()\[\]{{}}=\n]{{0,60}},\s*)?{inner_path}(?!{_ASKING_ABOUT})",
            rf"['\"]{folder}['\"]\s*/\s*['\"\w]",
            rf"join\([^()\n]*['\"]{folder}['\"]\s*,",
            rf"Path\(\s*['\"][^'\"\n]*(?<![\w.*!-]){folder}/?['\"](?:{_LOOKING_INTO}|\)\s*/)",
        )
    ) or any(variable in variables for variable in re.findall(rf"{_OPENING}\s*(\w+)", code))


def _make_address(host: str, port: str) -> Address:
    return Address(host=_normalise_host(host), port=int(port))


def _normalise_host(name: str) -> str:
    name = name.lower().removesuffix(".")
    if name in ("localhost", "ip6-localhost") or name.endswith((".localhost", ".localdomain")):
        return LOOPBACK
    try:
        number = _parse_number(name)
    except (OSError, ValueError):
        return name
    return LOOPBACK if number.is_loopback or number.is_unspecified else name


def _parse_number(name: str) -> IPv4Address | IPv6Address:
    """Read the address of a number, in any of its spellings: 127.1, 0x7f000001, 0."""
    if ":" not in name:
        return IPv4Address(socket.inet_aton(name))
    number = IPv6Address(name)
    return number.ipv4_mapped or number
