"""What crosses between the tests and the program: plain values, and numbers for everything else."""

import builtins
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.allowance import Allowance, Exited, TimedOut
else:
    from allowance import Allowance, Exited, TimedOut

LONGEST_DETAIL = 300
LONGEST = 16 * 1024 * 1024
"""Bytes of a message."""
_PLAIN = (type(None), bool, int, float, str)


class CandidateError(Exception):
    """What the program raised, where it is no exception of Python's own."""


class Channel:
    """Messages to and from the other side, each a value."""

    def __init__(
        self, descriptor: int, allowance: Allowance | None = None, longest: int = LONGEST
    ) -> None:
        """`descriptor` is that of a socket; `allowance` has the time of the other side, and
        `longest` is the number of bytes that it may send at once."""
        self.descriptor, self.allowance, self._longest = descriptor, allowance, longest

    def send(self, message: Any) -> None:
        data = json.dumps(message).encode()
        data = len(data).to_bytes(8, "big") + data
        while data:
            try:
                data = data[os.write(self.descriptor, data) :]
            except (BrokenPipeError, ConnectionResetError):
                raise Exited from None

    def receive(self) -> Any:
        size = int.from_bytes(self._exactly(8), "big")
        if size > self._longest:
            raise ValueError(f"a value has more than {self._longest >> 20} MB")
        return json.loads(self._exactly(size))

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            if self.allowance:
                self.allowance.wait(self.descriptor)
            try:
                piece = os.read(self.descriptor, min(size - len(data), 1 << 20))
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Exited
            data += piece
        return bytes(data)


class Side:
    """Side of the channel: what it sends by value, and what it keeps and sends by number."""

    def __init__(
        self, channel: Channel, operations: Mapping[str, Any], *, imports: bool = False
    ) -> None:
        """`operations` are what the other side may ask for, by name; `imports`: and modules of
        Python's. To import some runs what lies in the working folder, so the tests never do."""
        self.channel = channel
        self._imports = imports
        self._operations = operations
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        """Index at which a value is kept, by its identity."""
        self._remotes: dict[int, Remote] = {}

    def pack(self, value: Any) -> Any:
        """Return a value as it crosses. What is of a class of its own crosses as that of Python's
        it is made from, and a number of numpy's as Python's."""
        if "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic):
            value = value.item()
        if type(value) in _PLAIN:
            return value
        if isinstance(value, Remote):
            return {"yours": value._Remote__number}
        for kind, plain in _SIMPLE.items():
            if isinstance(value, kind):
                return plain(value)
        if isinstance(value, dict):
            return {"dict": [[self.pack(k), self.pack(v)] for k, v in dict.items(value)]}
        for name, container in _CONTAINERS.items():
            if isinstance(value, container):
                return {name: [self.pack(item) for item in container.__iter__(value)]}
        if isinstance(value, type(sys)) and _is_standard(value.__name__):
            return {"module": value.__name__}
        return {"mine": self._keep(value)}

    def _keep(self, value: Any) -> int:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return self._numbers[id(value)]

    def unpack(self, value: Any) -> Any:
        """Return the value that crossed."""
        if not isinstance(value, dict):
            return value
        ((tag, inner),) = value.items()
        match tag:
            case "dict":
                return {self.unpack(key): self.unpack(item) for key, item in inner}
            case "bytes":
                return bytes.fromhex(inner)
            case "complex":
                return complex(*inner)
            case "mine":
                if inner not in self._remotes:
                    self._remotes[inner] = Remote(self, inner)
                return self._remotes[inner]
            case "yours":
                return self._kept[inner]
            case "module" if _is_standard(inner):
                return self._module(inner)
        return _CONTAINERS[tag](self.unpack(item) for item in inner)

    def _module(self, name: str) -> Any:
        if self._imports:
            return __import__(name, fromlist=["*"])
        if name in sys.modules:
            return sys.modules[name]
        raise ValueError(f"the tests have not imported the module {name}")

    def ask(self, operation: str, *values: Any) -> Any:
        """Have the other side do something, and return what comes of it; it may ask back."""
        self.channel.send({"ask": operation, "values": [self.pack(value) for value in values]})
        while True:
            message = self.channel.receive()
            if "ask" in message:
                self.answer(message)
            elif "raised" in message:
                raise _exception(*message["raised"])
            else:
                return self._apply_reply(message, values)

    def answer(self, message: Any) -> None:
        """Do what the other side asks, and say what came of it."""
        try:
            values = [self.unpack(value) for value in message["values"]]
            arguments = values[1] if message["ask"] == "call" else []
            before = [self._state(argument) for argument in arguments]
            result = self._operations[message["ask"]](*values)
            after = [self._state(argument) for argument in arguments]
            changed = [[at, new] for at, new in enumerate(after) if new != before[at]]
            reply = {"value": self.pack(result), "changed": changed}
        except (Exited, TimedOut):
            raise
        except BaseException as error:  # noqa: BLE001  # the program may raise anything
            reply = {"raised": [type(error).__name__, str(error)[:LONGEST_DETAIL]]}
        self.channel.send(reply)

    def _state(self, argument: Any) -> Any:
        """Pack what a call may change: the caller's own is to change too."""
        return self.pack(argument) if isinstance(argument, list | dict | set) else None

    def _apply_reply(self, message: Any, values: tuple[Any, ...]) -> Any:
        for at, new in message["changed"]:
            original, changed = values[1][at], self.unpack(new)
            if isinstance(original, list):
                original[:] = changed
            elif isinstance(original, dict | set):
                original.clear()
                original.update(changed)
        return self.unpack(message["value"])


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


_SIMPLE: dict[type, Callable[[Any], Any]] = {
    int: int,
    float: float,
    str: str.__str__,
    bytes: lambda value: {"bytes": value.hex()},
    bytearray: lambda value: {"bytes": value.hex()},
    complex: lambda value: {"complex": [value.real, value.imag]},
}
_CONTAINERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class Remote:
    """Something on the other side. It compares as what it is here, an object like no other: what
    the other side says of equality, order and sums does not count."""

    def __init__(self, side: Side, number: int) -> None:
        object.__setattr__(self, "_Remote__side", side)
        object.__setattr__(self, "_Remote__number", number)

    def __call__(self, *values: Any, **keywords: Any) -> Any:
        return self.__side.ask("call", self, list(values), keywords)

    def __getattr__(self, name: str) -> Any:
        return self.__side.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__side.ask("set", self, name, value)

    def __iter__(self) -> Any:
        return iter(self.__side.ask("items", self))

    def __len__(self) -> int:
        return int(self.__side.ask("length", self))

    def __getitem__(self, key: Any) -> Any:
        return self.__side.ask("item", self, key)

    def __await__(self) -> Any:
        return self.__side.ask("await", self)
        yield  # or it would be no generator, as it has to be

    def __bool__(self) -> bool:
        return bool(self.__side.ask("truth", self))

    def __str__(self) -> str:
        return str(self.__side.ask("text", self))


def _exception(name: str, text: str) -> Exception:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:
            pass
    return CandidateError(f"{name}: {text}")
