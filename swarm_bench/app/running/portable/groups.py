"""What sessions of cases share whose groups run in other interpreters: jobs without keys,
deliveries as JSON, and the files of the working folder that are sent along."""

import os
import shutil
import sys
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import anyio
from pydantic import TypeAdapter, ValidatorFunctionWrapHandler, WrapSerializer, WrapValidator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from swarm_bench.config.dotenv_file import FILE as DOTENV
from swarm_bench.core.entry_points import names_code
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.outcome import BYTES_AS_BASE64
from swarm_bench.core.roles.executor import Deliver, Executor
from swarm_bench.core.session.cases import CaseDelivery, CaseEnded, CaseGroup, CaseJob, CaseStarted
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.models import AnswerFields
from swarm_bench.core.status import Cause
from swarm_bench.engine.case_running import run_cases
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.runtime.files import make_folder, write_whole
from swarm_bench.runtime.sink import clean_value
from swarm_bench.runtime.untrusted import read

MOST_BYTES = 256 << 20
"""Most bytes of all files that are sent."""
_LONGEST_NAME = 1_000
_FIELDS = "own"


def _dump(delivery: CaseDelivery, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
    if not isinstance(delivery, CaseEnded) or delivery.own is None:
        return dict(handler(delivery))
    dumped = handler(replace(delivery, own=None))
    return {**dumped, _FIELDS: delivery.own.model_dump(mode="json")}


def _parse(content: Any, handler: ValidatorFunctionWrapHandler) -> CaseDelivery:
    if not isinstance(content, dict) or content.get(_FIELDS) is None:
        return handler(content)  # type: ignore[no-any-return]
    delivery: CaseEnded = handler({**content, _FIELDS: None})
    return replace(delivery, own=AnswerFields.model_validate(content[_FIELDS]))


_Delivery = Annotated[CaseDelivery, WrapValidator(_parse), WrapSerializer(_dump)]


class PortableGroups:
    """Groups of cases as JSON. Only records of models have keys of their own kind."""

    async def start(
        self, context: bytes, folder: Path, emit: Emit
    ) -> Executor[CaseJob, CaseDelivery]:
        """Prepare what runs groups below the folder."""
        raise NotImplementedError

    @asynccontextmanager
    async def unpacked(
        self, context: bytes, folder: Path, emit: Emit
    ) -> AsyncIterator[Executor[CaseJob, CaseDelivery]]:
        """Open what runs groups."""
        yield await self.start(context, folder, emit)

    @cached_property
    def jobs(self) -> TypeAdapter[CaseJob]:
        return TypeAdapter(CaseJob)

    @cached_property
    def deliveries(self) -> TypeAdapter[CaseDelivery]:
        return TypeAdapter(_Delivery)

    def find_end(self, delivery: CaseDelivery) -> str | None:
        """Return the id of the trial that has ended."""
        return delivery.trial.id if isinstance(delivery, CaseEnded) else None

    def find_group(self, job: CaseJob) -> CaseGroup:
        """Return the cases of an arm."""
        return job.group

    def owns_file(self, job: CaseJob, file: PurePosixPath) -> bool:
        """Tell that no file is of a group: its records are all that it comes to."""
        return False

    def describe_lost(
        self, job: CaseJob, finished_ids: Collection[str], detail: str
    ) -> Iterator[CaseDelivery]:
        """Yield the end of each trial that has none yet."""
        for trial in job.group.trials:
            if trial.id not in finished_ids:
                yield CaseEnded(trial=trial, cause=Cause.NODE_LOST, detail=detail)


def make_executor(
    run: Callable[[CaseJob, Deliver[CaseDelivery]], Awaitable[None]],
    properties: dict[str, Any],
    store: CaseStore,
    *,
    has_limit: bool,
) -> Executor[CaseJob, CaseDelivery]:
    """Return what runs groups with the properties of this machine. What it delivers is as the store
    says that it can be stored, and without the secrets of this machine. Without a limit of the cost
    nobody is asked whether a trial may start."""

    async def execute(job: CaseJob, deliver: Deliver[CaseDelivery]) -> None:
        async def deliver_clean(delivery: CaseDelivery) -> None:
            if isinstance(delivery, CaseStarted) and not has_limit:
                await store.keep(delivery)
                return
            if isinstance(delivery, CaseEnded):
                # Answers can be long.
                delivery = await anyio.to_thread.run_sync(
                    store.clean, delivery, limiter=store.scoring
                )
            await deliver(delivery)

        await run_cases(run, replace(job, properties=properties), deliver_clean)

    return execute


@dataclass(frozen=True, kw_only=True)
class NamedFiles:
    """Files that a session names."""

    __pydantic_config__ = BYTES_AS_BASE64

    contents: Mapping[str, bytes]
    """Those that are sent, by their paths relative to the working folder."""
    absent: tuple[str, ...]
    """Those that are not, and have to be on the other machine."""


def read_files(texts: Iterable[str], secrets: Collection[str]) -> NamedFiles:
    """Read the files of the working folder that texts name by a relative path: a text itself, what
    stands behind a colon of it, and the module of `module:Class`. Raises `UsageError` for those
    that are too large, or hold a key."""
    names = dict.fromkeys(name for text in texts for name in _list_files(text))
    absent = tuple(name for name in names if _leads_out(Path(name)))
    files, total = dict[str, bytes](), 0
    for name in (name for name in names if name not in absent):
        total += Path(name).stat().st_size
        if total > MOST_BYTES:
            raise UsageError(
                f"{name} and the files before it have more than {MOST_BYTES >> 20} MB, and no more "
                "is sent to other machines; put them on each machine, and name absolute paths"
            )
        files[name] = content = read(Path(name), MOST_BYTES)
        if clean_value(content, secrets) != content:
            raise UsageError(
                f"{name} has a key in it, and keys are not sent to other machines; name a variable "
                "there that each machine sets"
            )
    return NamedFiles(contents=files, absent=absent)


def _list_files(word: str) -> Iterator[str]:
    parts = word.partition(":")[0].split(".")
    if names_code(word) and parts[0] not in packages_distributions():  # those are installed
        yield from _select_files(Path(*parts[:end], "__init__.py") for end in range(1, len(parts)))
        yield from _select_files([Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py")])
    pieces = word.split(":")
    yield from _select_files(Path(piece) for piece in (word, word.partition(":")[2], *pieces))


def _select_files(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        with suppress(OSError, ValueError):  # the text of a property is no name
            if len(str(path)) < _LONGEST_NAME and path != DOTENV and path.is_file():
                yield path.as_posix()


def _leads_out(path: Path) -> bool:
    return path.is_absolute() or ".." in path.parts


def list_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from list_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from list_texts(item)


def move_to(folder: Path, files: NamedFiles) -> None:
    """Make the folder the working folder of this process, with the files in it, and the `.env` of
    the one before. Raises `UsageError` for a file that is not here, or would be elsewhere."""
    make_folder(folder)
    if DOTENV.exists():
        (folder / DOTENV).symlink_to(DOTENV.resolve())
    for name, content in files.contents.items():
        if _leads_out(Path(name)):
            raise UsageError(f"The file {name} leads out of the folder; name it by a relative path")
        path = folder / name
        make_folder(path.parent)
        write_whole(path, content)
    os.chdir(folder)
    if missing := [name for name in files.absent if not Path(name).is_file()]:
        raise UsageError(
            f"There is no file {missing[0]} on this machine, and files that lie outside of the "
            "working folder are not sent; put it there, or name one below the working folder"
        )


def list_programs(programs: Iterable[Program | None]) -> tuple[str, ...]:
    """List the programs that are found on the PATH, and did not come with swarm-bench."""
    paths = (Path(program.path) for program in programs if program and program.path)
    shipped = Path(sys.executable).parent
    names = {
        path.name
        for path in paths
        if path.parent != shipped and shutil.which(path.name) == str(path)
    }
    return tuple(sorted(names))
