"""`run completion`: from files and packages to the summary, and with a real server."""

import csv
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.benchmarks.completion.holes import find_form
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Sampling
from swarm_bench.models.servers.llamacpp import LlamaCppSource
from tests.benchmarks.completion.data_files import PACKAGE
from tests.builders.golden import Sentences, parts
from tests.builders.llamacpp import needs_llamacpp, serving, write_model
from tests.e2e.conftest import Bench, Done

OPENZEPPELIN = "@openzeppelin/contracts@5.7.0"
TEXT = "contract A {\n    uint256 public x;\n}\n"
HOLE = {"path": "a.sol", "prefix": "a {\n", "middle": "    x = 1;\n", "suffix": "}\n"}


def run(bench: Bench, *words: str) -> Done:
    return bench.call("run", "completion", "--quiet", "--output", "out", *words)


def records(bench: Bench) -> list[dict[str, Any]]:
    lines = (bench.folder / "out/metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def figures(bench: Bench) -> dict[tuple[str, str | None], dict[str, float]]:
    """Figures by arm and part."""
    measures = json.loads((bench.folder / "out/results.json").read_text())["measures"]
    own: dict[tuple[str, str | None], dict[str, float]] = {}
    for it in measures:
        own.setdefault((it["arm"], it["part"]), {})[it["measure"]] = it["value"]
    return own


def write_lines(path: Path, *rows: object) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def test_a_call_without_a_data_set_asks_our_own_contracts(bench: Bench, golden: Sentences) -> None:
    done = run(bench, "--models", "reference", "copy", "empty")
    assert done.code == 0, done.err
    own = figures(bench)
    for part in ("whole_line", "until_eol"):
        assert own["reference", part]["indel"] == own["reference", part]["exact"] == 1
        assert own["reference", part]["indel_sum"] == 12
        assert 0 < own["copy", part]["indel"] < 1
        assert own["empty", part]["indel"] == own["empty", part]["indel_sum"] == 0
    assert len(records(bench)) == 3 * 12 * 6
    golden(parts(done.out))


@pytest.mark.timeout(180)
def test_two_sets_of_contracts_have_their_ceiling_and_their_floors(bench: Bench) -> None:
    done = run(bench, "--dataset", str(PACKAGE), "--models", "reference", "copy", "empty")
    assert done.code == 0, done.err
    own = figures(bench)
    assert own["reference", None]["indel"] == 1
    for part, code_bleu, low, high in (
        ("whole_line", 0.85, 0.46, 0.57),
        ("until_eol", 0.75, 0.12, 0.21),
    ):
        assert own["reference", part]["indel_sum"] == pytest.approx(50)
        assert own["reference", part]["code_bleu"] == pytest.approx(code_bleu, abs=0.03)
        assert low <= own["copy", part]["indel"] <= high
        assert own["empty", part]["indel"] == 0
    for part, figure, cells in table_of_the_page():
        shown = [f"{own[arm, part][figure]:.2f}" for arm in ("reference", "copy", "empty")]
        assert shown == cells, (part, figure)


def table_of_the_page() -> Iterator[tuple[str, str, list[str]]]:
    """Yield a part, the key of a figure, and what it comes to; an empty part is that above."""
    keys, part = {"Indel": "indel", "CodeBLEU": "code_bleu"}, ""
    rows = re.findall(r"^\| (`\w+` )?\| (Indel|CodeBLEU) \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == 4
    for name, title, cells in rows:
        part = name.strip("` ") or part
        yield part, keys[title], [cell.strip() for cell in cells.split("|")]


def test_a_folder_is_asked_with_what_is_left_out(bench: Bench) -> None:
    folder = bench.folder / "contracts"
    folder.mkdir()
    for name, text in (("A.sol", TEXT), ("B.sol", TEXT + "\n"), ("C.sol", "\n"), ("d.py", TEXT)):
        (folder / name).write_text(text)
    (folder / "dataset.json").write_text('{"dates": {"A.sol": "2026-01-31"}}')
    done = run(bench, "--dataset", "contracts:contracts/", "-p", "cutoff=2026-01-01")
    assert done.code == 0, done.err
    assert {record["group"] for record in records(bench)} == {"A.sol"}
    omitted = "Rows left out: 2 (1 equal to another but for blanks, 1 of fewer than 3 lines)."
    assert omitted in done.out
    again = bench.call("run", "completion", "--continue", "out", "--models", "empty", "--quiet")
    assert again.code == 0, again.err
    assert omitted in again.out
    (folder / "A.sol").write_text(TEXT.replace("x", "y"))
    changed = bench.call("run", "completion", "--continue", "out", "--runs", "2")
    assert "The session was begun with other rows of contracts:contracts/" in changed.err


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_package_of_holes_is_asked_as_it_is(kind: str, bench: Bench) -> None:
    rows = [{**HOLE, "part": "whole_line"}, {**HOLE, "part": "until_eol"}]
    path = bench.folder / f"package.{kind}"
    if kind == "jsonl":
        write_lines(path, *rows)
    elif kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=rows[0])
            writer.writeheader()
            writer.writerows(rows)
    done = run(bench, "--dataset", str(path), "--models", "reference")
    assert done.code == 0, done.err
    ids = {record["case"] for record in records(bench)}
    assert ids == {"a.sol:whole_line:1", "a.sol:until_eol:1"}
    assert all(record["answer"] == HOLE["middle"] for record in records(bench))


def test_names_of_rows_reach_no_path(bench: Bench) -> None:
    names = (
        {"path": "../../../evil.sol", "part": "../../part"},
        {"path": "/a|`b` <i>.sol", "part": "b"},
    )
    write_lines(bench.folder / "rows.jsonl", *({**HOLE, **name} for name in names))
    done = run(bench, "--dataset", "rows.jsonl", "--models", "reference", "empty")
    assert done.code == 0, done.err
    assert len(records(bench)) == 4
    files = {path for path in bench.folder.parent.rglob("*") if path.is_file()}
    assert not [path for path in files if re.search("evil|part|sol", path.name)]
    session = {path.relative_to(bench.folder / "out").as_posix()
               for path in files if path.is_relative_to(bench.folder / "out")}  # fmt: skip
    assert {"metrics.jsonl", "generations/reference.json"} <= session
    assert not [path for path in session if path.count("/") > 1]


PAGE = Path(__file__).parents[2] / "docs/completion.md"
COMMANDS = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    ")]
OFFLINE = [line for line in COMMANDS if not {"llamacpp", "ollama"} & set(re.split(r"[: ]", line))]


@pytest.mark.parametrize("command", OFFLINE)
def test_commands_of_the_page_run(command: str, bench: Bench) -> None:
    name, *words = shlex.split(command)
    assert name == "swarm-bench"
    done = bench.call(*words)
    assert done.code == 0, done.err


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {*OFFLINE}))
def test_commands_of_the_page_that_need_a_server_can_be_planned(command: str, bench: Bench) -> None:
    (bench.folder / "contracts").mkdir()
    (bench.folder / "contracts/A.sol").write_text(TEXT)
    write_lines(bench.folder / "package.jsonl", HOLE)
    done = bench.call(*shlex.split(command)[1:], "--plan")
    assert done.code == 0, done.err


def test_a_case_is_shown_in_the_way_that_is_named(bench: Bench) -> None:
    write_lines(bench.folder / "hole.jsonl", HOLE)
    words = ("benchmarks", "show", "completion", "--case", "a.sol:1", "--dataset", "hole.jsonl",
             "--json", "-p", "family=codestral")  # fmt: skip
    assert list(json.loads(bench.call(*words).out)) == ["gap", "text", "chat"]
    assert list(json.loads(bench.call(*words, "-p", "way=text").out)) == ["text"]


def test_what_cannot_be_asked_is_one_sentence_before_anything_is(
    bench: Bench, golden: Sentences
) -> None:
    top = bench.folder
    (top / "none").mkdir()
    (top / "bad").mkdir()
    (top / "bad/A.sol").write_bytes(b"one\ntwo \xff\n")
    no_suffix = {name: text for name, text in HOLE.items() if name != "suffix"}
    sets = {
        "no-column.jsonl": [HOLE, no_suffix],
        "empty-middle.jsonl": [{**HOLE, "middle": ""}],
        "both.jsonl": [{"path": "a.sol", "content": TEXT}, HOLE],
        "short.jsonl": [{"path": "a.sol", "content": ""}],
        "line.jsonl": [{"path": "a.sol", "content": "x" * 100_000}],
        "old.jsonl": [{"path": "a.sol", "content": TEXT, "date": "2020-01-01"}],
    }
    for name, rows in sets.items():
        write_lines(top / name, *rows)
    (top / "form.txt").write_text("{prefix} without the other")
    calls = [
        *(["--dataset", name] for name in sets if name != "old.jsonl"),
        ["--dataset", "old.jsonl", "-p", "cutoff=2026-01-01"],
        ["--dataset", "contracts:none"],
        ["--dataset", "contracts:nowhere"],
        ["--dataset", "contracts:bad"],
        ["--dataset", "contracts"],
        ["-p", "template=@form.txt"],
        ["-p", "family=gpt"],
        ["-p", "way=text", "--models", "llamacpp:http://127.0.0.1:8080"],
    ]
    sentences = []
    for words in calls:
        done = run(bench, *words)
        assert done.code == 2, (words, done.err)
        sentences.append(done.err.strip())
    assert not (top / "out").exists()
    golden(*sentences)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("fim")
    with serving(write_model(folder / "tiny.gguf"), folder / "log", batch=4096) as url:
        yield url


@needs_llamacpp
@pytest.mark.timeout(180)
def test_a_real_server_fills_gaps_and_continues_raw_tokens(server: str, bench: Bench) -> None:
    raw = f"{server}/v1#Qwen2.5-Coder"
    done = run(bench, "--models", f"llamacpp:{server}", raw, "--limit", "6",
               "-p", "chunk_tokens=256", "-p", "max_tokens=64")  # fmt: skip
    assert done.code == 0, done.err
    by_arm: dict[str, list[dict[str, Any]]] = {}
    for record in records(bench):
        by_arm.setdefault(record["arm"], []).append(record)
    ways = {arm: {record["way"] for record in asked} for arm, asked in by_arm.items()}
    assert ways == {f"llamacpp:{server}": {"gap"}, raw: {"text"}}
    for asked in by_arm.values():
        assert len(asked) == 6
        for record in asked:
            assert record["status"] == "completed", (record["way"], record["detail"])
            assert record["input_tokens"] + record["cache_read"] > 0
            assert 0 < record["output_tokens"] <= 64
            assert record["finish"] == ("length" if record["output_tokens"] == 64 else "stop")
            assert 0 <= record["scores"]["indel"] <= 1
    lines = (bench.folder / "out/prompts.jsonl").read_text().splitlines()
    prompts = {tuple(it["arms"]): it for it in map(json.loads, lines)}
    text = prompts[raw,]
    assert text["prompt"].startswith("<|fim_prefix|>")
    assert text["prompt"].endswith("<|fim_middle|>")
    assert "<|endoftext|>" in text["sampling"]["stop"]


@needs_llamacpp
@pytest.mark.timeout(180)
def test_a_template_is_asked_of_a_real_server_in_place_of_infill(server: str, bench: Bench) -> None:
    write_lines(bench.folder / "hole.jsonl", HOLE)
    (bench.folder / "form.txt").write_text("{suffix}|{prefix}")
    done = run(bench, "--dataset", "hole.jsonl", "--models", f"llamacpp:{server}",
               "-p", "template=@form.txt")  # fmt: skip
    assert done.code == 0, done.err
    (record,) = records(bench)
    assert record["way"] == "text"
    assert 0 < record["output_tokens"] <= 128
    (asked,) = map(json.loads, (bench.folder / "out/prompts.jsonl").read_text().splitlines())
    assert asked["prompt"] == "}\n|a {\n"


@pytest.mark.anyio
@needs_llamacpp
async def test_a_stop_string_ends_an_answer_of_a_real_server(server: str) -> None:
    """What it writes without one has some letter, and ends before it when asked again."""
    prompt = find_form("qwen2.5-coder", parity=False).fill("a", "b")
    async with LlamaCppSource(server).opened(Around(timeout=60)) as model:

        async def ask(*stop: str) -> Completion:
            sampling = Sampling(max_tokens=40, temperature=0, stop=stop)
            return await model.complete(Ask(prompt=prompt, sampling=sampling, seed=1))

        whole = await ask()
        stop = next(letter for letter in whole.text if letter.isascii() and letter.isprintable())
        cut = await ask(stop)
    assert cut.finish == "stop"
    assert cut.text == whole.text[: whole.text.index(stop)]


@needs_llamacpp
@pytest.mark.timeout(180)
def test_a_model_that_fills_no_gaps_is_refused(tmp_path: Path, bench: Bench) -> None:
    model = write_model(tmp_path / "plain.gguf", fills_gaps=False)
    with serving(model, tmp_path / "log") as url:
        done = run(bench, "--models", f"llamacpp:{url}", "--limit", "2")
        chat = run(bench, "--models", f"llamacpp:{url}", "--limit", "2", "-p", "way=chat",
                   "-p", "max_tokens=4")  # fmt: skip
    assert done.code == 2
    assert "nfill" in done.err
    assert "--property way=chat" in done.err
    assert chat.code == 0, chat.err


@pytest.mark.timeout(300)
def test_contracts_that_npm_has_are_asked(bench: Bench) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: NOT TESTED WITH A REAL PACKAGE")
    packed = subprocess.run(
        ["npm", "pack", OPENZEPPELIN],
        cwd=bench.folder,
        capture_output=True,
        timeout=120,
        check=False,
    )
    if packed.returncode:
        pytest.skip("the registry cannot be reached: NOT TESTED WITH A REAL PACKAGE")
    file = next(bench.folder.glob("*.tgz"))
    subprocess.run(["tar", "xzf", file], cwd=bench.folder, check=True)
    done = run(bench, "--dataset", "contracts:package/", "--models", "reference", "--limit", "60")
    assert done.code == 0, done.err
    assert figures(bench)["reference", None]["indel"] == 1
    assert "248 rows" in done.out
