"""The toy benchmark of swarm_bench/testing, by the command: what the kernel does for any."""

import json
import signal
import subprocess
import time

import psutil
import pytest

from tests.builders.golden import Sentences, parts
from tests.builders.packages import install
from tests.e2e.conftest import COMMAND, Bench, Done

POINTS = "[swarm_bench.benchmarks]\ntoy = toy_package:Toy\n"
CODE = "from swarm_bench.testing.toy import Toy\n"
FAILING = """
from dataclasses import replace
from swarm_bench.core.metric import Metrics
from swarm_bench.testing.toy import METRICS, Toy

class Failing(Toy):
    def metrics(self):
        return Metrics((*METRICS, replace(METRICS["words"], key="fails", read=lambda _: 1 / 0)))
"""
GROWING = """
from swarm_bench.testing.toy import Toy

class Growing(Toy):
    def arms(self, properties):
        return ("plain",)

    def next_arms(self, records):
        return ("plain", "polite") if len(records) == 3 else ()
"""
SLOW = ("--property", "seconds=0.4")


@pytest.fixture
def env(bench: Bench) -> dict[str, str]:
    packages = bench.folder / "packages"
    install("toy_package", CODE, POINTS, packages)
    return {**bench.environment(), "PYTHONPATH": str(packages)}


def run(bench: Bench, env: dict[str, str], *words: str) -> Done:
    return bench.call(*words, env=env)


def lines(bench: Bench) -> list[dict[str, object]]:
    content = (bench.folder / "out" / "metrics.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines()]


def test_it_is_planned_run_continued_and_reported(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    planned = run(bench, env, "run", "toy", "--runs", "2", "--plan")
    golden(planned.out)
    assert not (bench.folder / "results").exists()
    refused = run(bench, env, "run", "toy", "--output", "packages", "--plan")
    assert (refused.code, "is not an empty folder" in refused.err) == (2, True)

    done = run(bench, env, "run", "toy", "--runs", "2", "--output", "out")
    assert done.code == 0, done.err
    assert len(lines(bench)) == 12
    assert {line["answer"] for line in lines(bench)} == {"yes", "no", "perhaps"}
    more = run(bench, env, "run", "toy", "--continue", "out", "--runs", "3")
    assert more.code == 0, more.err
    assert len(lines(bench)) == 18
    assert more.err.count(" starts: ") == 6

    reported = run(bench, env, "report", "out")
    assert reported.out == more.out
    exported = run(bench, env, "export", "out")
    assert (exported.code, exported.out.count("\n")) == (0, 19), exported.err
    summary = (bench.folder / "out" / "summary.md").read_text()
    assert summary == reported.out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in summary.splitlines()]
    assert ["Words, primary", "4.00×"] in rows
    assert ["Words", "2.0", "8.0"] in rows
    assert ["Letters", "not reported", "4.0"] in rows
    golden(parts(summary))


def test_a_metric_that_raises_is_missing_and_named(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    (bench.folder / "failing.py").write_text(FAILING)
    done = run(bench, env, "run", "failing:Failing", "--runs", "1", "--output", "out")
    assert done.code == 0, done.err
    summary = (bench.folder / "out" / "summary.md").read_text()
    golden(parts(summary))


def test_arms_that_the_records_ask_for_are_run_and_stored(
    bench: Bench, env: dict[str, str]
) -> None:
    (bench.folder / "growing.py").write_text(GROWING)
    done = run(bench, env, "run", "growing:Growing", "--runs", "1", "--output", "out")
    assert done.code == 0, done.err
    assert [line["arm"] for line in lines(bench)] == ["plain"] * 3 + ["polite"] * 3
    assert bench.experiment("out")["order"] == [["plain", "polite"]]


def test_two_arms_of_a_run_are_asked_at_once_and_runs_never(
    bench: Bench, env: dict[str, str]
) -> None:
    done = run(bench, env, "run", "toy", "--runs", "2", "--output", "out", *SLOW)
    assert done.code == 0, done.err
    keys = ("run", "arm", "started_at", "ended_at")
    spans = [[str(line[key]) for key in keys] for line in lines(bench)]
    together = [
        (one[0], other[0])
        for one in spans
        for other in spans
        if one[1] != other[1] and one[2] < other[3] and other[2] < one[3]
    ]
    assert together
    assert all(first == second for first, second in together)


def test_a_session_that_was_killed_is_continued_with_what_it_had(
    bench: Bench, env: dict[str, str]
) -> None:
    words = [str(COMMAND), "run", "toy", "--runs", "1", "--output", "out", *SLOW]
    with subprocess.Popen(words, cwd=bench.folder, env=env, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b" ended: " in line:
                break
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    before = lines(bench)
    assert 1 <= len(before) < 6

    done = run(bench, env, "run", "toy", "--continue", "out", "--runs", "2")
    assert done.code == 0, done.err
    after = lines(bench)
    assert len(after) == 12
    assert after[: len(before)] == before
    assert len({line["trial"] for line in after}) == 12


def test_an_interrupted_session_ends_in_order(bench: Bench, env: dict[str, str]) -> None:
    words = [str(COMMAND), "run", "toy", "--output", "out", *SLOW]
    process = subprocess.Popen(words, cwd=bench.folder, env=env, stderr=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if b" ended: " in line:
            break
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Continue with: swarm-bench run toy --continue" in error
    assert (
        "planned trials; --continue runs them" in (bench.folder / "out" / "summary.md").read_text()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nothing"), "nothing"),
        (("run", "toy", "-p", "seconds=-1"), "seconds"),
        (("run", "toy", "-p", "second=1"), "has no property 'second'; did you mean 'seconds'"),
        (("run", "toy", "-p", "seconds"), "NAME=VALUE"),
        (("run", "swarm"), "commands of its own"),
        (("run", "toy", "--runs", "x"), "swarm-bench: --runs 'x': it must be a whole number"),
        (("run", "toy", "--runs", "0"), "swarm-bench: --runs '0': it must be at least 1"),
        (("run", "toy", "--seed", "1.5"), "swarm-bench: --seed '1.5': it must be a whole number"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    bench: Bench, env: dict[str, str], words: tuple[str, ...], said: str
) -> None:
    done = run(bench, env, *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (bench.folder / "results").exists()


def test_what_a_session_began_with_stays(bench: Bench, env: dict[str, str]) -> None:
    assert run(bench, env, "run", "toy", "--runs", "2", "--output", "out").code == 0
    for words, said in (
        (("-p", "seconds=1"), "keeps its properties"),
        (("--runs", "1"), "2 runs already"),
        (("--seed", "4"), "--seed"),
    ):
        done = run(bench, env, "run", "toy", "--continue", "out", *words)
        assert (done.code, said in done.err) == (2, True), done.err


def test_a_report_loads_no_module_that_a_file_names(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    assert run(bench, env, "run", "toy", "--runs", "1", "--output", "out").code == 0
    (bench.folder / "evil.py").write_text("open('loaded', 'w')\n")
    experiment = bench.folder / "out" / "experiment.json"
    experiment.write_text(experiment.read_text().replace('"toy"', '"evil:Toy"'))
    done = run(bench, env, "report", "out")
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "loaded").exists()


@pytest.mark.parametrize(
    ("arms", "why"),
    [
        ("()", "has no arms"),
        ("('a', 'a')", "two of its arms are called 'a'"),
        ("('a', 'b\\nc')", "cannot be shown in one line"),
        ("1 / 0", "ZeroDivisionError"),
        ("'ab'", "no list of names"),
        ("(1, 2)", "no list of names"),
        ("map(str, range(90_000))", "more than 100,000 trials"),
    ],
)
def test_what_a_benchmark_cannot_ask_is_refused_before_anything_is_made(
    bench: Bench, env: dict[str, str], arms: str, why: str
) -> None:
    code = f"{CODE}class Odd(Toy):\n    name = 'odd'\n    def arms(self, _): return {arms}\n"
    points = "[swarm_bench.benchmarks]\nodd = odd_package:Odd\n"
    install("odd_package", code, points, bench.folder / "packages")
    done = run(bench, env, "run", "odd", "--runs", "1")
    assert done.code == 2
    assert why in done.err
    assert "Traceback" not in done.err
    assert not (bench.folder / "results").exists()


def test_a_key_in_an_answer_reaches_no_file_and_a_long_answer_is_cut(
    bench: Bench, env: dict[str, str]
) -> None:
    key = "sk-of-the-user-0123456789"
    code = f"{CODE}from dataclasses import replace\nimport os\n" + (
        "class Leaky(Toy):\n"
        "    name = 'leaky'\n"
        "    async def run(self, job, deliver):\n"
        "        async def keep(delivery):\n"
        "            if hasattr(delivery, 'answer'):\n"
        "                text = os.environ['OTHER_API_KEY'] + ' and ' + 'x' * 2_000_000\n"
        "                delivery = replace(delivery, answer=text, detail=text)\n"
        "            await deliver(delivery)\n"
        "        await super().run(job, keep)\n"
    )
    points = "[swarm_bench.benchmarks]\nleaky = leaky_package:Leaky\n"
    install("leaky_package", code, points, bench.folder / "packages")
    words = ("run", "leaky", "--runs", "1", "--output", "out")
    done = run(bench, {**env, "OTHER_API_KEY": key}, *words)
    assert done.code == 0, done.err
    files = [path.read_text() for path in (bench.folder / "out").iterdir() if path.is_file()]
    assert not any(key in text for text in [*files, done.out, done.err])
    answers = {len(str(line["answer"])) for line in lines(bench)}
    assert answers == {1 << 20}


def test_lines_that_were_changed_or_planted_are_named(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    assert run(bench, env, "run", "toy", "--runs", "1", "--output", "out").code == 0
    file = bench.folder / "out" / "metrics.jsonl"
    first, *others = file.read_text().splitlines()
    planted = json.dumps({**json.loads(first), "trial": "f" * 12, "input_tokens": 25_000})
    edited = first.replace('"input_tokens":', '"input_tokens":9')
    file.write_text("\n".join([edited, *others, planted]) + "\n")
    summary = run(bench, env, "report", "out").out
    golden(parts(summary))
    assert "25" not in summary.split("## Trials")[1]


def test_a_session_of_another_command_is_named(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    assert run(bench, env, "run", "toy", "--runs", "1", "--output", "out").code == 0
    done = run(bench, env, "compare", "--continue", "out")
    assert done.code == 2
    golden(done.err)
    assert "restore" not in done.err


def test_what_a_killed_session_had_started_ends_with_it(bench: Bench, env: dict[str, str]) -> None:
    words = [str(COMMAND), "run", "toy", "--runs", "1", "--output", "out", "-p", "seconds=30"]
    with subprocess.Popen(words, cwd=bench.folder, env=env, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b" starts: " in line:
                break
        time.sleep(1)
        children = psutil.Process(process.pid).children(recursive=True)
        assert any("time.sleep" in " ".join(child.cmdline()) for child in children)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    assert psutil.wait_procs(children, timeout=10)[1] == []


SECRETIVE = """
import os
from pydantic import Field, SecretStr
from swarm_bench.testing.toy import Properties, Toy

class Keys(Properties):
    service: SecretStr
    inherited: SecretStr = Field(default_factory=lambda: SecretStr(os.environ["OTHER_API_KEY"]))
    api_key: str = ""
    sort_key: str = "name"
    address: str = ""
    style: str = ""

class Secretive(Toy):
    properties = Keys

    async def run(self, job, deliver):
        assert job.properties["service"].startswith("drawn-by-chance")
        assert job.properties["inherited"] == os.environ["OTHER_API_KEY"]
        assert job.properties["api_key"] == "sk-typed-0123456789"
        await super().run(job, deliver)

class Named(Secretive):
    def arms(self, properties):
        return ("plain", properties.api_key)
"""


def test_a_key_in_a_property_reaches_its_benchmark_and_no_file(
    bench: Bench, env: dict[str, str], golden: Sentences
) -> None:
    (bench.folder / "secretive.py").write_text(SECRETIVE)
    env = {**env, "OTHER_API_KEY": "sk-of-the-user-0123456789"}
    keys = (
        "service=drawn-by-chance-77",
        "api_key=sk-typed-0123456789",
        "address=https://me:hunter22@host/",
        "style=sk-of-the-user-0123456789",
    )
    again = [word for key in keys for word in ("-p", key)]
    words = ("run", "secretive:Secretive", "--runs", "1", "--output", "out", *again)
    done = run(bench, env, *words)
    assert done.code == 0, done.err
    assert bench.experiment("out")["properties"] == {
        "seconds": 0.0,
        "service": "(not stored)",
        "api_key": "(not stored)",
        "sort_key": "name",
        "address": "(not stored)",
        "style": "(not stored)",
    }

    more = ("run", "secretive:Secretive", "--continue", "out", "--runs", "2")
    refused = run(bench, env, *more, *again[:2])
    assert refused.code == 2
    golden(refused.err)
    done = run(bench, env, *more, *again)
    assert done.code == 0, done.err
    assert len(lines(bench)) == 12
    files = [path.read_text() for path in (bench.folder / "out").iterdir() if path.is_file()]
    for key in ("drawn-by-chance-77", "sk-typed-0123456789", "hunter22", "sk-of-the-user"):
        assert not any(key in text for text in [*files, done.out, done.err]), key

    named = run(bench, env, "run", "secretive:Named", *words[2:5], "new", *again)
    assert (named.code, "after a secret" in named.err) == (2, True), named.err
    assert not (bench.folder / "new").exists()
