"""What a folder does with its summary, and with what others put there."""

from pathlib import Path

from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.pictures import MARK
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.engine.folder import Folder

OURS = f"{MARK}<svg/>\n"


def write_summary(path: Path, *pictures: str) -> None:
    document = Document(title="T", banner=None, head=(), sections=())
    summary = RenderedDocument(
        document=document, markdown="# T\n", pictures=dict.fromkeys(pictures, OURS)
    )
    Folder(path, CaseExperiment, CaseRecord).write_summary(summary)


def test_a_picture_goes_when_its_summary_has_it_no_more(tmp_path: Path) -> None:
    write_summary(tmp_path, "effects.svg", "tasks-1.svg")
    write_summary(tmp_path, "effects.svg")
    assert {path.name for path in tmp_path.iterdir()} == {"summary.md", "effects.svg"}


def test_pictures_of_others_stay_unless_they_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "cost.svg").write_text("<svg>mine</svg>")
    (tmp_path / "effects.svg").write_text("<svg>saves 90 %</svg>")
    (tmp_path / "tasks-1.svg").symlink_to(tmp_path / "target")
    (tmp_path / "recall.svg").mkdir()
    write_summary(tmp_path, "effects.svg", "tasks-1.svg", "recall.svg")
    for name in ("effects.svg", "tasks-1.svg", "recall.svg"):
        assert (tmp_path / name).read_text() == OURS
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "planted-1-effects.svg").read_text() == "<svg>saves 90 %</svg>"
    assert (tmp_path / "planted-1-recall.svg").is_dir()
    assert (tmp_path / "cost.svg").read_text() == "<svg>mine</svg>"
    assert (tmp_path / "target").read_text() == "kept"
