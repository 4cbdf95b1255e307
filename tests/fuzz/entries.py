"""Every place where bytes of others enter, as a function of bytes: it raises our errors only, and
asserts what holds whatever the bytes are. `make test` and `make fuzz` run the same ones."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.agents.command.file import read_command_file
from swarm_bench.agents.replay.adapter import read_recording
from swarm_bench.app.stored.reporting import report
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.config.layers import load
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.datasets.suites import read_suite
from swarm_bench.engine.lines import fold_amendments, read_lines
from swarm_bench.retrieval.modes.mode import drop_secrets, read_mode
from swarm_bench.testing.recordings import Sample, Side, make_recording
from tests.builders.reports import render, summarise
from tests.fuzz import (
    answers,
    code,
    diffs,
    exports,
    http_servers,
    judging,
    model_servers,
    naming,
    problems,
    prompts,
    rows,
    servers,
    sources,
    streams,
)
from tests.fuzz.parts import SAMPLES, joined, parts

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "session"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Where bytes enter."""

    read: Callable[[bytes, Path], None]
    """Takes the bytes and an empty folder of its own."""
    seeds: Callable[[], list[bytes]]
    """What honest programs and people write there."""


def task_file(data: bytes, folder: Path) -> None:
    path = folder / "tasks.yaml"
    path.write_bytes(data)
    with suppress(SwarmBenchError):
        suite = read_suite(path)
        assert suite.tasks
        assert len({task.id for task in suite.tasks}) == len(suite.tasks)


def mode_file(data: bytes, folder: Path) -> None:
    path = folder / "mode.json"
    path.write_bytes(data)
    with suppress(SwarmBenchError):
        mode = drop_secrets(read_mode(path))
        assert Mode.from_json(mode.model_dump_json()) == mode


def agent_file(data: bytes, folder: Path) -> None:
    path = folder / "agent.yaml"
    path.write_bytes(data)
    with suppress(SwarmBenchError):
        assert read_command_file(path).command


def settings(data: bytes, folder: Path) -> None:
    for name, content in zip(("swarm-bench.toml", ".env"), parts(data, 2), strict=True):
        (folder / name).write_bytes(content)
    with suppress(SwarmBenchError), chdir(folder):
        resolved = load({})
        assert set(resolved.dump_settings()) == set(resolved.sources)


def session(data: bytes, folder: Path) -> None:
    """Every line of records is taken, named, or amended by a later one."""
    metrics, retrieval, experiment = parts(data, 3)
    for name, content in (("metrics.jsonl", metrics), ("retrieval.jsonl", retrieval)):
        (folder / name).write_bytes(content)
    golden = (GOLDEN / "experiment.json").read_bytes()
    (folder / "experiment.json").write_bytes(experiment or golden)
    with suppress(SwarmBenchError):
        found = SessionFolder(folder).read()
        lines_of_trials = read_lines(folder / "metrics.jsonl", TrialRecord)
        amended = len(lines_of_trials) - len(fold_amendments(lines_of_trials, TrialRecord.labels))
        for name, records in (("metrics.jsonl", found.trials), ("retrieval.jsonl", found.swarms)):
            lines = (folder / name).read_bytes().split(b"\n")
            named = [text for text in found.warnings if text.startswith(f"{name}: line")]
            torn = sum(text.split(" cannot ")[0].count(",") + 1 for text in named)
            left_out = torn + (amended if name == "metrics.jsonl" else 0)
            assert len(records) + left_out == sum(bool(line.strip()) for line in lines)
        render(summarise(found)).encode()
        heads = SessionFolder(folder).records.read_heads()
        assert {head.key for head in heads} == {record.key for record in found.trials}


def script_folder(data: bytes, folder: Path) -> None:
    """A folder as canopy's own script writes it."""
    config, metrics, payload = parts(data, 3)
    (folder / "config.json").write_bytes(config)
    (folder / "metrics.jsonl").write_bytes(metrics)
    (folder / "baseline").mkdir()
    (folder / "baseline" / "agent-1.json").write_bytes(payload)
    with suppress(SwarmBenchError):
        report(folder).markdown.encode()


def recording(data: bytes, folder: Path) -> None:
    """Every trial is there whole or its absence is said."""
    head, trials = parts(data, 2)
    make_recording(folder, "scout", {"baseline": Side(samples=[Sample(stdout=b"x")])})
    (folder / "recording.json").write_bytes(head or (folder / "recording.json").read_bytes())
    (folder / "trials.jsonl").write_bytes(trials)
    with suppress(SwarmBenchError):
        found = read_recording(folder)
        assert len(found.trials) <= sum(bool(line.strip()) for line in trials.split(b"\n"))
        assert found.trials or found.problems or not trials.strip()


def _files(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in ROOT.glob(pattern)]


def _of_session() -> list[bytes]:
    names = ("metrics.jsonl", "retrieval.jsonl", "experiment.json")
    return [joined(*((GOLDEN / name).read_bytes() for name in names))]


def _of_script() -> list[bytes]:
    folder = ROOT / "tests" / "importers" / "canopy_script" / "data" / "script"
    config, metrics = (next(folder.rglob(name)) for name in ("config.json", "metrics.jsonl"))
    payload = next(folder.rglob("agent-1.json"))
    return [joined(*(path.read_bytes() for path in (config, metrics, payload)))]


def _of_recording() -> list[bytes]:
    from swarm_bench.runtime.ownership import temporary

    with temporary() as folder:
        make_recording(folder, "scout", {"baseline": Side(samples=[Sample(stdout=b"x")])})
        return [joined(*((folder / n).read_bytes() for n in ("recording.json", "trials.jsonl")))]


ENTRIES: Mapping[str, Entry] = {
    **{
        f"stream-{name}": Entry(read=streams.reader(agent), seeds=_files(*SAMPLES[name]))
        for name, agent in streams.AGENTS.items()
    },
    "problem": Entry(read=problems.problem, seeds=lambda: problems.PROBLEMS),
    "row-file": Entry(read=rows.row_file, seeds=lambda: rows.FILES),
    "repositories": Entry(read=rows.list_of_repositories, seeds=lambda: rows.LISTS),
    "output": Entry(read=problems.output, seeds=lambda: problems.OUTPUTS),
    "checker-report": Entry(read=problems.checked, seeds=lambda: problems.REPORTS),
    "task-file": Entry(read=task_file, seeds=_files("tasks/*.yaml")),
    "mode-file": Entry(read=mode_file, seeds=_files("mcp_configs/*.json", "docs/examples/*.json")),
    "agent-file": Entry(read=agent_file, seeds=_files("docs/examples/*.yaml")),
    "settings": Entry(
        read=settings,
        seeds=lambda: [joined(b'runs = 3\nmodes = ["baseline"]\n', b"SWARM_BENCH_SEED=7\nA='b'\n")],
    ),
    "session": Entry(read=session, seeds=_of_session),
    "script-folder": Entry(read=script_folder, seeds=_of_script),
    "recording": Entry(read=recording, seeds=_of_recording),
    "feedback-database": Entry(read=answers.feedback, seeds=answers.databases),
    "service-metrics": Entry(read=answers.metrics, seeds=lambda: [answers.METRICS]),
    "mcp-message": Entry(read=answers.message, seeds=lambda: answers.MESSAGES),
    "mcp-server": Entry(read=servers.server, seeds=servers.servers),
    "mcp-over-http": Entry(read=http_servers.answer, seeds=http_servers.answers),
    "mcp-body": Entry(read=http_servers.body, seeds=http_servers.bodies),
    "mcp-lines": Entry(read=answers.lines, seeds=lambda: answers.LINES),
    "mcp-result": Entry(read=answers.result, seeds=lambda: answers.RESULTS),
    "names-of-files": Entry(read=naming.names, seeds=lambda: naming.NAMES),
    "expression": Entry(read=answers.expression, seeds=lambda: [b'(union (file "**/a.py"))']),
    "agent-page": Entry(read=judging.page, seeds=judging.pages),
    "chat-completion": Entry(read=judging.completion, seeds=judging.completions),
    "model-server": Entry(read=model_servers.answer, seeds=model_servers.answers),
    "markdown": Entry(read=answers.markdown, seeds=lambda: answers.TEXTS),
    "code-folder": Entry(read=code.folder, seeds=lambda: code.FOLDERS),
    "code-package": Entry(read=code.package, seeds=lambda: code.PACKAGES),
    "answer-file": Entry(read=code.answers, seeds=lambda: code.WRITTEN),
    "diff": Entry(read=diffs.diff, seeds=lambda: diffs.DIFFS),
    "unit-tests": Entry(read=diffs.unit_tests, seeds=lambda: diffs.TESTS),
    "swe-rows": Entry(read=diffs.swe_rows, seeds=lambda: diffs.ROWS),
    "exported-prompts": Entry(read=exports.prompts, seeds=lambda: exports.PROMPTS),
    "prompt-file": Entry(read=prompts.file, seeds=lambda: prompts.FILES),
    "judge-of-prompts": Entry(read=prompts.reply, seeds=lambda: prompts.REPLIES),
    "chat-answer": Entry(read=code.answer, seeds=lambda: code.ANSWERS),
    "source-file": Entry(read=sources.source, seeds=lambda: sources.SOURCES),
    "commit-message": Entry(read=sources.message, seeds=lambda: sources.MESSAGES),
    "kept-keys": Entry(read=sources.kept, seeds=lambda: sources.KEPT),
    "command-line": Entry(read=answers.command_line, seeds=lambda: answers.COMMANDS),
}


def run(name: str, data: bytes, folder: Path) -> None:
    """Read the bytes in an empty folder below this one, which is gone afterwards."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    ENTRIES[name].read(data, place)
