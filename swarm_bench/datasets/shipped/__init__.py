"""The data sets that come with swarm-bench, each a folder with its rows, its licence and where it
is from."""

from datetime import date
from pathlib import Path
from typing import ClassVar

import yaml
from pydantic import BaseModel, ConfigDict

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.datasets.files import RowFile


class Description(BaseModel):
    """What `dataset.yaml` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    source: str
    attribution: str
    licence: str
    file: str
    sha256: str
    published: date | None = None
    """Models that were trained later may have read it."""


class ShippedFile(RowFile):
    """A file of rows that must be as it was shipped."""

    folder: ClassVar[str]
    """Name of the data set's folder, which is beside this module."""

    def __init__(self) -> None:
        """Read its description."""
        folder = Path(__file__).parent / self.folder
        text = (folder / "dataset.yaml").read_text(encoding="utf-8")
        description = Description.model_validate(yaml.safe_load(text))
        super().__init__(folder / description.file)
        self.about, self.licence = description.about, description.licence
        self.source = f"{description.source} ({description.attribution})"
        self.published = description.published
        self.sha256 = description.sha256

    def load(self) -> RawRows:
        """Load the rows. Raises `ConfigError` where they were changed."""
        raw = super().load()
        if raw.sha256 != self.sha256:
            raise ConfigError(f"{self.path} is not as it was shipped; install swarm-bench again")
        return raw


class HumanEval(ShippedFile):
    """The problems of HumanEval."""

    folder = "humaneval"


class Mbpp(ShippedFile):
    """The problems of MBPP."""

    folder = "mbpp"


class AppsMini(ShippedFile):
    """Problems of our own in the schema of APPS."""

    folder = "apps-mini"


class ConalaMini(ShippedFile):
    """Tasks of our own in the schema of CoNaLa."""

    folder = "conala-mini"


class SpiderMini(ShippedFile):
    """Questions of our own in the schema of Spider."""

    folder = "spider-mini"


class ConcodeMini(ShippedFile):
    """Methods of our own in the schema of Concode."""

    folder = "concode-mini"


class CodeToTextMini(ShippedFile):
    """Documented functions of our own in the schema of CodeXGLUE."""

    folder = "code-to-text-mini"


class ContractsMini(ShippedFile):
    """Contracts of our own in Solidity."""

    folder = "contracts-mini"


class ComplexityMini(ShippedFile):
    """Programs of our own in the schema of CodeComplex."""

    folder = "complexity-mini"


class CloneMini(ShippedFile):
    """Pairs of functions of our own in the schema of BigCloneBench."""

    folder = "clone-mini"


class DefectMini(ShippedFile):
    """Functions of our own in the schema of Devign."""

    folder = "defect-mini"


class DiffDataset(ShippedFile):
    """Changes of files of our own."""

    folder = "diff-dataset"


class PromptMini(ShippedFile):
    """Small tasks of our own, which are asked with and without prompts."""

    folder = "prompt-mini"
