"""Every error that may leave the package, in one tree.

SwarmBenchError            exit 1   never raised itself
  UsageError               exit 2   the person must change what they typed or wrote
    ConfigError                     a file they wrote is wrong
      WrongFile                     ... in places that can be named one by one
    WrongAddress                    a server is elsewhere, or takes no such requests
    UnknownName                     a mode, suite or agent of that name does not exist
    Refused                         a file is a link, a pipe, too large or somebody else's
  HarnessError             exit 3   our side broke; nothing recorded is lost
    ProcessLost                     a program could not be started
    ServiceFailed                   a mode's service did not come up, or died
    IndexFailed                     the service could not index the repository
    NotAuthorized                   an agent failed to authenticate with the provider
      NoCredit                      ... or its account has no credit or quota left
    ModelFailed                     a model's server gave no answer
    EnvironmentFailed               code that a model wrote could not be run
    StoreError                      the session's folder could not be written
  GateFailed               exit 4   the session is complete, a requested condition is not met
    CostLimitReached                ... or is not, since another trial could cost too much
    NoVerdictPossible               ... or since no other trial could lead to its verdict

A message is one sentence that says what happened, and what to do about it.
Cancellation passes untouched; the command line turns it into exit 130.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import EnumType
from functools import cache
from pathlib import Path
from sysconfig import get_path
from traceback import walk_tb

from swarm_bench.core.status import Cause


class SwarmBenchError(Exception):
    """Anything that swarm-bench raises on purpose."""

    exit_code = 1


class UsageError(SwarmBenchError):
    """What was asked for cannot be done; the message says what to ask instead."""

    exit_code = 2


class ConfigError(UsageError):
    """A mode file, task file or settings file is wrong; the message names file and line."""


class WrongFile(ConfigError):
    """A file that a person wrote is wrong, perhaps in several places."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(f"{'; '.join(problems)}; fix the file")
        self.problems = tuple(problems)
        """Problems, each with its line."""


class WrongAddress(UsageError):
    """A server is at another address, or takes no such requests at this one."""


_PACKAGE = Path(__file__).parent.parent
_MOST_NAMES = 30
"""Most names in a sentence: data sets have thousands of cases."""


def choice(name: str, existing: Iterable[str]) -> str:
    """Write which of the names that exist may be meant, and which there are beside it."""
    names = list(existing)
    close = get_close_matches(name, names, n=1)
    other_names = [other_name for other_name in names if other_name not in close]
    listing = _list_first(other_names)
    if not close:
        return f"choose one of {listing}"
    return f"did you mean {close[0]!r}?" + (f" There are also {listing}" if other_names else "")


def _list_first(names: Sequence[str]) -> str:
    remaining = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {remaining:,} more" if remaining > 0 else "")


class UnknownName(UsageError):
    """A name that nothing answers to, with the names that exist."""

    def __init__(self, kind: str, name: str, existing: Iterable[str]) -> None:
        names = sorted(existing)
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {_list_first(names) or 'none'}"
        super().__init__(f"There is no {kind} called {name!r}; {hint}")


class Refused(UsageError, OSError):
    """Refusal to open a file or folder: it is a link, a pipe, too large, or belongs to another
    user. To code that reads files it is one that cannot be read."""


class HarnessError(SwarmBenchError):
    """Our side broke. What was recorded before stays, and the session can be continued."""

    exit_code = 3


class ProcessLost(HarnessError):
    """A program could not be started."""


class ServiceFailed(HarnessError):
    """A mode's service did not come up, or died while agents used it."""


class NodeLost(HarnessError):
    """A machine is gone, or what ran groups there."""


class IndexFailed(HarnessError):
    """The service could not index the repository, or not in time."""


class NotAuthorized(HarnessError):
    """An agent failed to authenticate with the provider, as every other one would."""


class NoCredit(NotAuthorized):
    """The account has no credit or no quota left, for any other request either."""


class ModelFailed(HarnessError):
    """A model's server gave no answer, after some attempts."""

    def __init__(self, message: str, cause: Cause = Cause.PROVIDER_FAILED, requests: int = 1):
        super().__init__(message)
        self.cause, self.requests = cause, requests


class EnvironmentFailed(HarnessError):
    """What runs the code that a model wrote is broken, and not that code."""


class StoreError(HarnessError):
    """The session's folder could not be written."""


class GateFailed(SwarmBenchError):
    """The session is complete, and a condition the caller asked for does not hold."""

    exit_code = 4


class CostLimitReached(GateFailed):
    """Another trial could cost more than `--max-cost` allows; the session can be continued."""


class NoVerdictPossible(GateFailed):
    """A session that runs until its verdict stands could have none, whatever else is run."""


def where_raised(error: BaseException) -> str:
    """Write the line of foreign code that raised it, as `my_sql.py, line 25`; empty where none did.
    If that code calls a library, it is the line of the call."""
    library, *packages = _libraries()
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_format_path(Path(error.filename))}, line {error.lineno}"
    frames = [
        (Path(frame.f_code.co_filename), line)
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_code.co_filename.endswith(".py")
    ]
    installed = [frame for frame in frames if not _is_below(frame[0], _PACKAGE, library)]
    own_frames = [frame for frame in installed if not _is_below(frame[0], *packages)]
    raised = own_frames or [
        frame for frame in frames[-1:] if frame in installed
    ]  # by a package that is installed
    return "".join(f"{_format_path(file)}, line {line}" for file, line in raised[-1:])


def _format_path(file: Path) -> str:
    working_folder = Path.cwd()
    return (
        str(file.relative_to(working_folder)) if file.is_relative_to(working_folder) else file.name
    )


@cache
def _libraries() -> tuple[Path, ...]:
    """Return the folder of Python's own library, and those of packages."""
    return tuple(Path(get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def _is_below(file: Path, *folders: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)


def described(error: BaseException) -> str:
    """Write what foreign code raised, as `my_sql.py, line 25: AttributeError: SHARE`."""
    location = where_raised(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, AttributeError) and isinstance(error.obj, EnumType) and error.name:
        names = choice(error.name, error.obj.__members__)
        text = f"{error.obj.__name__} has no {error.name}; {names}"
    return f"{location + ': ' if location else ''}{type(error).__name__}: {text}"


@contextmanager
def wrap_foreign_errors(subject: str, clause: str) -> Iterator[None]:
    """Name whose code it is in what that raises, which may be anything. Raises `ConfigError`."""
    try:
        yield
    except SwarmBenchError:
        raise
    except (Exception, SystemExit) as error:
        text = " ".join(described(error).split())  # a sentence stands on one line
        raise ConfigError(f"{subject} {clause}: {text}; fix it") from error


class Problems:
    """What is wrong with several things that a person wrote, to be reported at once."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the `UsageError`, or the group of several, that ends the block."""
        try:
            yield
        except (UsageError, ExceptionGroup) as error:
            self._errors.append(error)

    def check(self) -> None:
        """Raise what was collected: nothing, the only error, or a group."""
        if len(self._errors) > 1:
            raise ExceptionGroup("several things are wrong", self._errors)
        if self._errors:
            raise self._errors[0]
