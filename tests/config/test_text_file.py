"""What a person's editor or shell writes is read, wherever it is read."""

import gzip
import json
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from swarm_bench.agents.command.file import read_command_file
from swarm_bench.app.setup.case_properties import read_value
from swarm_bench.config.dotenv_file import read_dotenv
from swarm_bench.config.settings_file import read_settings
from swarm_bench.config.text_file import decode_text, read_text
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.roles.language_model import Around
from swarm_bench.datasets.contracts import Contracts
from swarm_bench.datasets.rows import read_rows
from swarm_bench.datasets.suites import read_suite
from swarm_bench.models.offline.generations import Generations
from swarm_bench.models.own_prices import read_prices
from swarm_bench.retrieval.modes.mode import read_mode

MARKED = ("utf-8-sig", "utf-16", "utf-32")
"""The codecs of the library that write a mark, in the order of this machine's bytes."""
TURNED = {"utf-16-be": b"\xfe\xff", "utf-32-be": b"\x00\x00\xfe\xff"}


class Row(BaseModel):
    id: str
    number: int


AGENT = Path(__file__).parents[2] / "docs/examples/mini-swe-agent.yaml"
ROWS = [{"id": "ä", "number": 1}, {"id": "b", "number": 2}]
LINES = "".join(f"{json.dumps(row, ensure_ascii=False)}\r\n" for row in ROWS)


def forms(text: str) -> dict[str, bytes]:
    turned = {name: mark + text.encode(name) for name, mark in TURNED.items()}
    return {"utf-8": text.encode(), **{it: text.encode(it) for it in MARKED}, **turned}


@given(st.text())
def test_a_mark_says_how_a_text_is_written(text: str) -> None:
    assert decode_text(text.encode("utf-8-sig")) == text
    if not text.startswith(("\ufeff", "\ufffe", "\0")):
        assert {decode_text(content) for content in forms(text).values()} == {text}


@pytest.mark.parametrize("form", forms(""))
def test_rows_and_answers_are_read(tmp_path: Path, form: str) -> None:
    table = "id,number\r\nä,1\r\nb,2\r\n"
    files = {
        "rows.jsonl": forms(LINES)[form],
        "rows.json": forms(json.dumps(ROWS))[form],
        "rows.csv": forms(table)[form],
        "rows.csv.gz": gzip.compress(forms(table)[form]),
        "packed.jsonl": gzip.compress(forms(LINES)[form]),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        read = read_rows(str(tmp_path / name), Row).rows
        assert [(row.id, row.number) for row in read] == [("ä", 1), ("b", 2)], name
    around = Around(cases=("ä", "b"), every=("ä", "b"))
    samples = "".join(f'{{"task_id": "{row["id"]}", "completion": "1"}}\n' for row in ROWS)
    for text in (samples, "ä\t1\nb\t2\n", '[["1"], ["2"]]'):
        for content in (forms(text)[form], gzip.compress(forms(text)[form])):
            (tmp_path / "answers").write_bytes(content)
            assert Generations(str(tmp_path / "answers")).program(around).note is None


def test_files_that_were_put_together_have_marks_between_them(tmp_path: Path) -> None:
    part = json.dumps(ROWS[0]).encode("utf-8-sig") + b"\n"
    (tmp_path / "rows.jsonl").write_bytes(part + part)
    assert len(read_rows(str(tmp_path / "rows.jsonl"), Row).rows) == 2
    sample = [f'{{"task_id": "{it}", "completion": "1"}}\n'.encode("utf-8-sig") for it in "ab"]
    (tmp_path / "samples.jsonl.gz").write_bytes(b"".join(map(gzip.compress, sample)))
    Generations(str(tmp_path / "samples.jsonl.gz")).program(
        Around(cases=("a", "b"), every=("a", "b"))
    )


@pytest.mark.parametrize("form", forms(""))
def test_files_of_settings_are_read(tmp_path: Path, form: str) -> None:
    def file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_bytes(forms(text)[form])
        return path

    with chdir(tmp_path):
        file(".env", "SWARM_BENCH_SEED=7\n")
        assert read_dotenv().raw == {"SWARM_BENCH_SEED": "7"}
        settings = read_settings(file("swarm-bench.toml", "runs = 3\n"))
        assert settings.options == {"runs": 3}
        assert settings.position("runs").endswith(":1")
        file(
            "prices.toml",
            "[m]\ninput = 1\ncache_write = 1\ncache_read = 1\noutput = 2\n",
        )
        assert "m" in read_prices()
    task = "tasks:\n- id: a\n  title: A\n  prompt: Where?\n"
    assert read_suite(file("tasks.yaml", task)).tasks[0].id == "a"
    mode = file("mode.json", '{"mcpServers": {"a": {"command": "sh"}}}')
    assert read_mode(mode).name == "mode"
    agent = file("agent.yaml", AGENT.read_text())
    assert read_command_file(agent).name == "mini-swe-agent"
    assert read_value(f"@{file('prompt', 'ä, b')}", "--property") == "ä, b"
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "a.sol").write_bytes(forms("contract A {}\n")[form])
    (folder / "dataset.json").write_bytes(forms('{"licence": "MIT"}')[form])
    data = Contracts(str(folder))
    assert data.licence == "MIT"
    assert next(iter(data.load().rows)).content["content"] == "contract A {}\n"


@pytest.mark.parametrize("content", [b"\xff", b"\xff\xfea", b"a\xe4"])
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ConfigError, match=r"The file .*a is not UTF-\d+"):
        read_text(tmp_path / "a", "file")
