"""Runs a command in the namespaces of another process, as if it were that command: signals are
passed on, the exit code is the command's, and whoever kills this process kills the command.
`nsenter` ends at the first signal, and leaves the command running.

    python entering.py PID CWD COMMAND…
"""

import ctypes
import os
import signal
import sys

NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Mounts, host name, IPC, pids and network: `CLONE_NEWNS` and so on."""
SET_PDEATHSIG = 1
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def main(pid: int, cwd: str, command: list[str]) -> None:
    """Run a command in a new session in the namespaces of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(os.pidfd_open(pid), NAMESPACES):
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    child = os.fork()
    if child == 0:
        libc.prctl(SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        os.chdir(cwd)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        os.execvp(command[0], command)
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
