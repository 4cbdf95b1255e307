"""Layout of the files of agents below a folder: that of a session, or any other.

run-1/              only with several runs
  canopy/
    agent-1.json  agent-1.md  agent-1.stream.jsonl  agent-1.stderr.log
    feedback-metrics.json  service.log  (of several blocks: service-1.log)
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import MODE_NAME
from swarm_bench.runtime.files import make_folder, make_room, set_aside, store_errors

STDOUT, STDERR = "stream.jsonl", "stderr.log"
SUFFIXES = ("json", "md", STDOUT, STDERR)


class Artefacts:
    """Paths of the files of agents, and room for them. An agent can put anything in their way."""

    def __init__(self, root: Path, *, runs: int) -> None:
        """Take how many runs the experiment has: with one, the modes are directly in the root."""
        self.root = root
        self._runs = runs

    def mode_folder(self, run: int, mode: str) -> Path:
        """Return the folder of a swarm's files. Raises `UsageError` for a name that could lead out
        of the root."""
        if not MODE_NAME.fullmatch(mode):
            raise UsageError(f"The mode {mode!r} cannot name a folder; give it another name")
        return (self.root if self._runs == 1 else self.root / f"run-{run}") / mode

    def agent_file(self, trial: SwarmTrial, suffix: str) -> Path:
        """Return the path of a file of one trial; the suffix is one of `SUFFIXES`."""
        return self.mode_folder(trial.run, trial.arm) / _file_name(trial, suffix)

    def make_mode_folder(self, run: int, mode: str) -> Path:
        """Make the folder of a swarm's files, also where an agent put something else."""
        folder = self.mode_folder(run, mode)
        for path in (folder.parent, folder):
            if path != self.root:
                make_room(path, folder=True)
        make_folder(folder)
        return folder

    def make_room(self, trial: SwarmTrial) -> None:
        """Put the files of an earlier attempt out of the way of the next one."""
        folder = self.make_mode_folder(trial.run, trial.arm)
        for suffix in SUFFIXES:
            self.set_aside(folder / _file_name(trial, suffix))

    def set_aside(self, file: Path) -> None:
        """Keep a file of an earlier attempt, if there is one, as the next free `attempt-N-…`."""
        with store_errors(self.root):
            set_aside(file, "attempt")


def _file_name(trial: SwarmTrial, suffix: str) -> str:
    return f"agent-{trial.number}.{suffix}"


def name_service_log(swarm: Swarm, *, is_alone: bool) -> str:
    """Name the log of the services of a swarm, by its first agent where its mode has others in the
    run."""
    return "service.log" if is_alone else f"service-{swarm.trials[0].number}.log"


def list_printed(swarm: Swarm) -> Iterator[PurePosixPath]:
    """List where what the programs of a swarm print can be stored, below the root, whether there
    is one run or several."""
    names = [_file_name(trial, suffix) for trial in swarm.trials for suffix in (STDOUT, STDERR)]
    names += [name_service_log(swarm, is_alone=is_alone) for is_alone in (True, False)]
    for folder in (swarm.arm, f"run-{swarm.run}/{swarm.arm}"):
        yield from (PurePosixPath(folder, name) for name in names)
