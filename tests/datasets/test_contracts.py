"""`contracts:FOLDER`: the files of a folder as rows, and what is refused in one sentence."""

import json
import os
from pathlib import Path

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.datasets.contracts import LARGEST, Contracts, Manifest
from swarm_bench.testing.model_contracts import check_dataset

TEXT = "contract A {\n    uint256 public x;\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "b/B.sol": TEXT,
        "a/deep/A.sol": "\ufeffcontract ü {\r\n}\r\n",
        "c.py": "x = 1\n",
        ".git/D.sol": TEXT,
        "README.md": "#\n",
    }
    for name, text in files.items():
        path = tmp_path / "contracts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "contracts"


def rows(argument: object) -> dict[str, object]:
    return {row.content["path"]: row.content for row in Contracts(str(argument)).load().rows}


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as raised:
        Contracts(str(folder)).load()
    return str(raised.value)


def test_files_are_rows_in_the_order_of_their_paths(folder: Path) -> None:
    raw = Contracts(str(folder)).load()
    assert [(row.content["path"], row.where) for row in raw.rows] == [
        ("a/deep/A.sol", f"{folder}/a/deep/A.sol"),
        ("b/B.sol", f"{folder}/b/B.sol"),
    ]
    assert rows(folder)["a/deep/A.sol"] == {
        "path": "a/deep/A.sol",
        "content": "contract ü {\r\n}\r\n",
    }
    assert list(rows(f"{folder}/*.py")) == ["c.py"]
    check_dataset(Contracts(str(folder)))


def test_the_longest_path_of_a_manifest_dates_a_file() -> None:
    days = {
        "a": "2024-01-01",
        "a/b/": "2024-01-02",
        "a/b/c.sol": "2024-01-03",
        "a/b.sol/": "2024-01-04",
    }
    own = Manifest.model_validate({"dates": days})
    for path, day in (("a/x.sol", 1), ("a/b/x/y.sol", 2), ("a/b/c.sol", 3), ("a/b.sol", 1)):
        assert own.date_of(path) == f"2024-01-0{day}"
    assert own.date_of("ab/c.sol") is None


def test_a_manifest_dates_files(folder: Path) -> None:
    dates = {"a": "2024-06-01", "a/deep/A.sol": "2024-07-01"}
    manifest = {"date": "2025-01-31", "dates": dates, "licence": "MIT", "source": "example"}
    (folder / "dataset.json").write_text(json.dumps(manifest))
    own = Contracts(str(folder))
    days = {path: row["date"] for path, row in rows(folder).items()}  # type: ignore[index]
    assert days == {"a/deep/A.sol": "2024-07-01", "b/B.sol": "2025-01-31"}
    assert (own.licence, own.source, own.published) == ("MIT", "example", None)
    del manifest["date"]
    (folder / "dataset.json").write_text(json.dumps(manifest), encoding="utf-8-sig")
    assert "date" not in rows(folder)["b/B.sol"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON"),
        ('{"dates": {"a": "June"}}', "dates.a must be a day, as 2026-01-31"),
        ('{"day": 1}', "day is not a key that is known here"),
    ],
)
def test_a_manifest_that_is_none_is_named(folder: Path, text: str, problem: str) -> None:
    (folder / "dataset.json").write_text(text)
    sentence = refusal(folder)
    assert str(folder / "dataset.json") in sentence
    assert problem in sentence


def test_what_is_no_source_file_is_refused_with_its_place(folder: Path, tmp_path: Path) -> None:
    bad = folder / "z.sol"
    bad.write_bytes("one\ntwo\nthree ü\n".encode("latin-1"))
    assert f"{bad}:3: is no UTF-8" in refusal(folder)
    bad.unlink()
    with bad.open("wb") as large:
        large.truncate(50_000_000)
    assert f"{bad} is larger than {LARGEST >> 20} MiB" in refusal(folder)
    bad.unlink()
    os.mkfifo(bad)
    assert f"{bad} is no regular file" in refusal(folder)
    bad.unlink()
    outside = tmp_path / "secret.sol"
    outside.write_text(TEXT)
    bad.symlink_to(outside)
    assert f"{bad} is a link out of {folder}" in refusal(folder)
    bad.unlink()
    bad.symlink_to("../other")
    assert f"{bad} is a link out of {folder}" in refusal(folder)
    bad.unlink()
    for target in ("nothing.sol", ".git/D.sol", "README.md", "b"):
        bad.symlink_to(target)
        assert f"{bad} is a link to none of its files" in refusal(folder)
        bad.unlink()
    bad.symlink_to("b/B.sol")
    assert list(rows(folder)) == ["a/deep/A.sol", "b/B.sol"]


def test_what_names_no_folder_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dataset.json").write_text('{"somebody": "else"}')
    monkeypatch.chdir(tmp_path)
    assert (Contracts().licence, Contracts().source) == (None, None)


def test_a_folder_whose_files_come_and_go_is_refused() -> None:
    """Processes end while their files are listed."""
    with pytest.raises(UsageError, match=r"^/proc\S* (cannot be read|has)"):
        Contracts("/proc").load()


def test_linked_folders_are_not_entered(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/E.sol").write_text(TEXT)
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "loop").symlink_to(folder)
    assert list(rows(folder)) == ["a/deep/A.sol", "b/B.sol"]


def test_a_folder_without_source_files_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "has no files *.sol; give another folder" in refusal(tmp_path / "empty")
    assert "is no folder; give another --dataset" in refusal(tmp_path / "nowhere")
    assert "is no folder" in refusal(folder / "c.py")
    with pytest.raises(UsageError, match=r"name the folder, contracts:FOLDER$"):
        Contracts().load()
