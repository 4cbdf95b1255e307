"""The overhead of modes, a line each in `overhead.jsonl`."""

from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.recordings import Recorder
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.recording import CheckedRecording
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.retrieval.handshake import Handshake, Handshakes
from swarm_bench.text import tokens


class OverheadLines:
    """Lines that are complete stay as they are."""

    def __init__(
        self, folder: SessionFolder, recorder: Recorder | None = None, *, asks: bool = True
    ) -> None:
        """Ask no empty prompt without `asks`: it would tell nothing about the agent's usage."""
        self._folder = folder
        self._asks = asks
        self._recorder = recorder
        self._lines = {line.mode: line for line in folder.read_overhead()}
        self._asked = set[str]()
        """Modes whose empty prompt was asked in this call, with figures or without."""

    def greet(self, experiment: Experiment, handshakes: Handshakes) -> None:
        """Write what the servers of the modes said of themselves."""
        for mode in experiment.modes:
            of_mode = handshakes.get(mode.name, {})
            if not self._is_complete(mode.name) and set(of_mode) == set(mode.servers):
                self._write(_make_line(experiment, mode, list(of_mode.values())))

    def take_due(self, mode: str) -> Overhead | None:
        """Return the line of a mode whose empty prompt is still to be asked, if there are no
        figures yet: to one swarm at a time, and once in a call."""
        is_due = self._asks and mode not in self._asked and not self._is_complete(mode)
        line = self._lines.get(mode) if is_due else None
        if line is not None:
            self._asked.add(mode)
        return line

    def give_back(self, mode: str) -> None:
        """Have it asked by the next swarm: this one did not come to it."""
        self._asked.discard(mode)

    def keep(self, line: Overhead) -> None:
        """Store what an empty prompt took. Raises `StoreError`."""
        self._write(line)

    def copy(self, experiment: Experiment, recording: CheckedRecording) -> None:
        """Store what was measured of the modes when they were recorded."""
        modes = {mode.name for mode in experiment.modes}
        lines = {line.mode: line for line in recording.overhead if line.mode in modes}
        update = {"session": experiment.session}
        if lines:
            self._folder.write_overhead([line.model_copy(update=update) for line in lines.values()])

    def _is_complete(self, mode: str) -> bool:
        line = self._lines.get(mode)
        return line is not None and line.prompt_tokens is not None

    def _write(self, line: Overhead) -> None:
        self._lines[line.mode] = line
        self._folder.write_overhead(list(self._lines.values()))
        if self._recorder is not None:
            self._recorder.keep_overhead(line)


def _make_line(experiment: Experiment, mode: Mode, handshakes: list[Handshake]) -> Overhead:
    return Overhead(
        session=experiment.session,
        mode=mode.name,
        server_seconds={
            handshake.server: handshake.seconds
            for handshake in handshakes
            if handshake.seconds is not None
        },
        tools=sum(len(handshake.tools) for handshake in handshakes),
        tool_tokens=sum(handshake.tool_tokens for handshake in handshakes),
        server_instruction_tokens=sum(handshake.instruction_tokens for handshake in handshakes),
        mode_instruction_tokens=tokens.count(mode.instructions),
        unexpected=next((handshake.unexpected for handshake in handshakes), ()),
    )
