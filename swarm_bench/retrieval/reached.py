"""What a command asks and reads, as its words say it: addresses, and folders that are looked into
and not merely named, listed, left out or searched for."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from swarm_bench.retrieval.command_lines import Command

LOOPBACK = "loopback"
"""Any of the names that this machine has for itself."""
_URL = re.compile(r"\b(?:https?|wss?)://[^\s'\"\\<>|)]+", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w./@-])(localhost|\[[0-9a-f:]+\]|[\w-]+(?:\.[\w-]+)*):(\d{1,5})(?!\d)(/[\w/.-]*)?"
)
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_GREPS = frozenset({"rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack"})
_FILTERS = frozenset({"sed", "awk", "gawk", "jq", "yq"})
"""Programs whose first word is a program of theirs and no file."""
_SPEAKING = _GREPS | _FILTERS | {"echo", "printf", "git", "cat", "head", "tail", "find", "fd"}
"""Programs that connect to no address among their words."""
_NOT_READING = frozenset(
    {
        *("echo", "printf", "rm", "rmdir", "mkdir", "touch", "git", "test", "[", "[[", "ls"),
        *("stat", "du", "chmod", "chown", "which", "type", "exit", "return", "basename"),
        *("dirname", "realpath", "export", "set", "for", "case"),
    }
)
_EXCLUDING = re.compile(r"--?(?:no-)?(?:exclude|ignore|skip|not|prune|omit|invert)[\w-]*")
_EXCLUDING_OF = {"fd": "-E", "fdfind": "-E", "tree": "-I", "diff": "-x", "zip": "-x"}
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


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where somebody can be asked."""

    host: str
    port: int
    path: str = ""

    @property
    def name(self) -> str:
        """As people write it."""
        host = "127.0.0.1" if self.host == LOOPBACK else self.host
        return f"{host}:{self.port}"

    def covers(self, other: "Address") -> bool:
        """Whether the other one asks what is here. On this machine a port is one program's; a host
        has many, told apart by their paths."""
        if (self.host, self.port) != (other.host, other.port):
            return False
        path = self.path.rstrip("/")
        return self.host == LOOPBACK or (other.path + "/").startswith(f"{path}/")


def address_of(url: str) -> Address | None:
    """The address in a URL; `None` when there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:
        return None
    if not parts.hostname or port is None:
        return None
    return Address(host=_host(parts.hostname), port=port, path=parts.path)


def addresses_in(text: str) -> Iterator[Address]:
    """All addresses that a text names."""
    for url in _URL.findall(text):
        if (found := address_of(url)) is not None:
            yield found
    for host, port, path in _HOST.findall(_URL.sub(" ", text)):
        yield Address(host=_host(host.strip("[]")), port=int(port), path=path)


def asked(command: Command) -> Iterator[Address]:
    """Addresses that a command may connect to."""
    if command.program not in _SPEAKING:
        yield from addresses_in(" ".join((*command.words[1:], *command.assignments)))
        yield from addresses_in(command.code)
    else:
        yield from addresses_in(" ".join(command.assignments))


def folders_read(command: Command, names: Collection[str]) -> Iterator[str]:
    """Which folders of these names a command looks into."""
    words = [*command.inputs, *_paths(command)]
    for name in names:
        set_to = (value.partition("=")[2] for value in command.assignments)
        if (
            any(is_below(word, name) for word in words)
            or any(is_below(value.rpartition("/")[0], name) for value in set_to)
            or _opens(command.code, name)
        ):
            yield name


def is_below(path: str, name: str) -> bool:
    """Whether a path is that of a folder of the name, or of something in one."""
    if "://" in path and not path.startswith("file://"):
        return False
    return any(name in part.split("/") for part in re.split(r"[=:,]", path))


def _paths(command: Command) -> Iterator[str]:
    """Words that may be files or folders to look into."""
    program, words = command.program, list(command.words[1:])
    if program in _NOT_READING:
        return
    pattern_to_come = program in _GREPS | _FILTERS and not {"-e", "-f"} & set(words)
    for word, before in zip(words, ["", *words], strict=False):
        option = word.partition("=")[0]
        if _is_left_out(program, before) or "!" in (word[:1], word.partition("=")[2][:1]):
            continue
        if option != word and _is_left_out(program, option):
            continue
        if word.startswith("-") and "=" not in word:
            continue
        if program in _GREPS and (before in _WITH_VALUE or word.isdigit()):
            continue
        if pattern_to_come and not word.startswith("-"):
            pattern_to_come = False
            continue
        yield word


def _is_left_out(program: str, option: str) -> bool:
    """Whether what follows an option is not looked into."""
    if program == "find" and option in _FINDING:
        return True
    return bool(_EXCLUDING.fullmatch(option)) or _EXCLUDING_OF.get(program) == option


def _opens(code: str, name: str) -> bool:
    """Whether a program text has a path below the folder, and not the folder's name alone, by
    which it may as well be left out."""
    if name not in code:
        return False
    folder = re.escape(name)
    return any(
        re.search(pattern, code)
        for pattern in (
            rf"['\"`](?!!)[^'\"`\n]*(?<![\w.*!-]){folder}/[\w.]",
            rf"['\"]{folder}['\"]\s*/\s*['\"\w]",
            rf"join\([^()\n]*['\"]{folder}['\"]\s*,",
        )
    )


def _host(name: str) -> str:
    if name.lower() == "localhost":
        return LOOPBACK
    try:
        number = ip_address(name)
    except ValueError:
        return name.lower()
    return LOOPBACK if number.is_loopback or number.is_unspecified else name.lower()
