"""The folder of a session of pairs of an arm and a case, and what one of models has besides."""

from pathlib import Path
from typing import Any

from swarm_bench.core.session.cases import CaseExperiment, CaseRecord, E, R
from swarm_bench.core.session.judgements import JUDGE, Verdict
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.core.session.rescored import ReparsedAnswer
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.lines import Checked, add_checksum, read_checked
from swarm_bench.runtime.files import append_line

PROMPTS = "prompts.jsonl"
RESCORED = "rescored.jsonl"
RESULTS = "results.json"
REFERENCES = "references.json"
GENERATIONS = "generations"


class CaseFolder(Folder[E, R]):
    """The folder of a session of such a benchmark."""

    mark = "arms"

    def write_experiment(self, experiment: E) -> None:
        """Store the experiment."""
        self._write(experiment)

    def read_again(self) -> list[Checked[ReparsedAnswer]]:
        """Read what became of answers that were scored again."""
        return []

    def read_verdicts(self) -> list[Checked[Verdict]]:
        """Read what judges made of pairs of answers."""
        return []

    def _check(self, experiment: E) -> None:
        experiment.check()


class ModelFolder(CaseFolder[ModelExperiment, ModelRecord]):
    """The folder of a session that compares models."""

    mark = "models"

    def __init__(self, path: Path) -> None:
        super().__init__(path, ModelExperiment, ModelRecord)

    def append_reread(self, line: ReparsedAnswer) -> None:
        """Store what became of an answer that was scored again. Raises `StoreError`."""
        append_line(self.path / RESCORED, add_checksum(line.model_dump_json()))

    def read_again(self) -> list[Checked[ReparsedAnswer]]:
        """Read what became of answers that were scored again."""
        return read_checked(self.path / RESCORED, ReparsedAnswer)

    def append_verdict(self, verdict: Verdict) -> None:
        """Store what a judge made of a pair of answers. Raises `StoreError`."""
        append_line(self.path / JUDGE, add_checksum(verdict.model_dump_json()))

    def read_verdicts(self) -> list[Checked[Verdict]]:
        """Read what judges made of pairs of answers."""
        return read_checked(self.path / JUDGE, Verdict)

    def _other_files(self) -> tuple[str, ...]:
        return (PROMPTS, RESULTS, REFERENCES, RESCORED, JUDGE)


def open_case_folder(path: Path) -> CaseFolder[Any, Any]:
    """Open the folder of a session of pairs of an arm and a case, of the kind that it is."""
    if ModelFolder.holds(path):
        return ModelFolder(path)
    return CaseFolder(path, CaseExperiment, CaseRecord)
