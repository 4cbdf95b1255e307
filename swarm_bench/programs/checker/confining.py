"""Rights that a process gives up for good before it runs untrusted code; the kernel keeps it to
that."""

import ctypes
import errno
import platform
import struct

_CAPABILITIES_3 = 0x20080522
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Instructions of a filter."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
"""Offsets of these in what a filter sees of a call, and the bytes of an argument."""
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_CLONE_THREAD = 0x10000
_OTHER_ABI = 0x40000000
"""Number from which the calls of x86-64 are repeated."""
_CLONE3 = 435
_ARCHITECTURES: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        56,
        (57, 58, 101, 272, 310, 311, 29, 64, 68, 240, 248, 249, 250),
    ),
    "aarch64": (0xC00000B7, 220, (97, 117, 270, 271, 194, 190, 186, 180, 217, 218, 219)),
}
"""The number of each, of its call `clone`, and of what is refused: `fork`, `vfork`; what looks into
other processes or makes namespaces (`ptrace`, `unshare`, `process_vm_readv`, `…_writev`); and what
outlives its process (`shmget`, `semget`, `msgget`, `mq_open`, `add_key`, `request_key`,
`keyctl`)."""
_OF_ITSELF: dict[str, dict[int, int]] = {
    "x86_64": {302: 1, 142: 1, 144: 1, 203: 1, 314: 1, 141: 2, 251: 2},
    "aarch64": {261: 1, 118: 1, 119: 1, 122: 1, 274: 1, 140: 2, 30: 2},
}
"""Calls that a process may make for itself alone, as a later process would inherit their effect
from the one that starts both: `prlimit64`, `sched_setparam`, `sched_setscheduler`,
`sched_setaffinity`, `sched_setattr`, `setpriority` and `ioprio_set`, with how many of the arguments
are 0 then."""
_libc = ctypes.CDLL(None, use_errno=True)


def hide() -> None:
    """Keep other processes of the same person from looking into this one."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up what root may do, such as to look into processes that hide. Other users have nothing
    to give up, and then it may be refused."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    _libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def forbids_processes() -> bool:
    """Tell whether the kernel of this machine can be had to refuse them."""
    return platform.machine() in _ARCHITECTURES


def forbid_processes() -> None:
    """Have the kernel refuse to start processes, and what a program could leave to a later one;
    threads are allowed. A bomb of processes would take the machine from the process that has to end
    it. Raises `OSError`; on other machines nothing is refused."""
    if not forbids_processes():
        return
    machine = platform.machine()
    instructions = b"".join(_filter(*_ARCHITECTURES[machine], _OF_ITSELF[machine]))
    text = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HxxxxxxP", len(instructions) // 8, ctypes.addressof(text))
    refused = _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    refused = refused or _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0)
    if refused:
        raise OSError(ctypes.get_errno(), "the kernel takes no filter")


def _filter(
    architecture: int, clone: int, refused: tuple[int, ...], of_itself: dict[int, int]
) -> list[bytes]:
    """Write the filter. A jump has the numbers of instructions to skip: when it holds, and else."""
    fails, unknown = _FAIL | errno.EPERM, _FAIL | errno.ENOSYS
    return [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_AT_LEAST, _OTHER_ABI, 0, 1),
        _instruction(_RETURN, fails),
        *(instruction for number in refused for instruction in _match_number(number, fails)),
        *(instruction for pair in of_itself.items() for instruction in _unless_zero(*pair, fails)),
        *_match_number(
            _CLONE3, unknown
        ),  # so that whoever asks takes the older one, which is looked into
        _instruction(_EQUAL, clone, 0, 3),
        _instruction(_LOAD, _FIRST_ARGUMENT),
        _instruction(_HAS_BITS, _CLONE_THREAD, 1, 0),
        _instruction(_RETURN, fails),
        _instruction(_RETURN, _ALLOW),
    ]


def _unless_zero(number: int, arguments: int, result: int) -> list[bytes]:
    """Write what ends a call of that number."""
    tests = [
        instruction
        for argument in range(arguments)
        for instruction in (
            _instruction(_LOAD, _FIRST_ARGUMENT + argument * _ARGUMENT_BYTES),
            _instruction(_EQUAL, 0, 1, 0),
            _instruction(_RETURN, result),
        )
    ]
    last = _instruction(_RETURN, _ALLOW)
    return [_instruction(_EQUAL, number, 0, len(tests) + 1), *tests, last]


def _match_number(number: int, result: int) -> list[bytes]:
    return [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, result)]


def _instruction(code: int, value: int, holds: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, holds, otherwise, value)
