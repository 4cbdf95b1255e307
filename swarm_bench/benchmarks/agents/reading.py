"""Whether an agent read the answers of its data set: it names what holds them."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from swarm_bench.benchmarks.swarm.running.home_files import read_home_files
from swarm_bench.core.outcome import AgentExit, Launch, Outcome
from swarm_bench.environments.folders import SHIPPED
from swarm_bench.runtime.untrusted import read

_ALWAYS = (SHIPPED, SHIPPED.replace("/", "."), "swarm-bench datasets", "swarm_bench datasets")
"""Of every swarm-bench, wherever it lies."""


_IN_MEMORY = "tmpfs"
"""In a line on one of the mounts that hide answers, as `df`, `mount` and `ps` print it."""
_LINE_END = re.compile(r"\n|\\n")
"""Also within JSON."""


def find_named_answers(
    exit: AgentExit,
    launch: Launch,
    outcome: Outcome,
    prompt: str,
    answers: Iterable[Path],
    *,
    are_hidden: bool,
) -> tuple[str, ...]:
    """List what is named in the transcript of an agent, in its log, or in the calls of its tools,
    of the paths that hold answers, unless the prompt names it. Where they are hidden, lines on
    mounts do not count. To be called in a thread."""
    sought = [*_ALWAYS, *_find_names(answers, exit.files)]
    sought = [name for name in dict.fromkeys(sought) if name not in prompt]
    texts = [*_read_transcript(exit, launch), *_list_calls(outcome)]
    if are_hidden:
        texts = [line for text in texts for line in _LINE_END.split(text) if _IN_MEMORY not in line]
    return tuple(name for name in sought if any(_names_it(name, text) for text in texts))


def _find_names(answers: Iterable[Path], case_files: Iterable[str]) -> Iterator[str]:
    """Yield how they can be named. What a file of the case is called too says nothing."""
    file_names = {Path(name).name for name in case_files}
    for path in answers:
        yield str(path)
        yield from _name_shipped(path)
        if path.suffix and path.name not in file_names and not path.name.startswith("."):
            yield path.name


def _name_shipped(path: Path) -> Iterator[str]:
    """Yield how whoever stands in the folder of shipped data sets names them."""
    if path.as_posix().endswith(SHIPPED):
        for file in path.glob("*/*"):
            yield f"{path.name}/{file.parent.name}"
            yield f"{file.parent.name}/{file.name}"


def _read_transcript(exit: AgentExit, launch: Launch) -> Iterator[str]:
    for path in (exit.stdout, exit.stderr):
        with suppress(OSError):
            yield read(path).decode(errors="replace").replace("\\/", "/")
    if exit.home is not None:
        for content in read_home_files(exit.home, launch, exit.secrets).values():
            yield content.decode(errors="replace").replace("\\/", "/")


def _list_calls(outcome: Outcome) -> Iterator[str]:
    yield from outcome.commands or ()
    yield from outcome.paths or ()
    for retrieved in outcome.retrieved or ():
        yield from retrieved.mentions


def _names_it(name: str, text: str) -> bool:
    return name in text or json.dumps(name)[1:-1] in text
