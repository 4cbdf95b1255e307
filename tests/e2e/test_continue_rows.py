"""What the benchmarking framework of Continue was to have, row by row (C01 to C28); those with
longer tests are named so elsewhere, too."""

import json
from typing import Any

import pytest

from tests.builders.chat import chatting, says
from tests.e2e.conftest import Bench, Done

GENERATE = ("--generate-only", "--quiet", "--output", "out")
CODE = ("--allow-code-execution", "--environment", "unconfined", "--quiet", "--output", "out")


def run(bench: Bench, *words: str, **env: str) -> Done:
    return bench.call("run", *words, env=env)


def experiment(bench: Bench) -> Any:
    return json.loads((bench.folder / "out/experiment.json").read_text())


def records(bench: Bench) -> list[dict[str, Any]]:
    content = (bench.folder / "out/metrics.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines()]


def test_c01_one_command_resolves_what_was_typed_and_set(bench: Bench) -> None:
    (bench.folder / "swarm-bench.toml").write_text('models = ["empty"]\nlimit = "2"\n')
    done = run(bench, "unified-diff", "--limit", "1", "--plan", "--allow-code-execution",
               "--environment", "unconfined")  # fmt: skip
    assert (done.code, "Arms:      empty\n" in done.out) == (0, True), done.err
    assert "1 to run" in done.out


def test_c02_a_benchmark_is_chosen_by_its_name(bench: Bench) -> None:
    for name in ("unified-diff-testing", "prompt-evaluation", "system-prompt-opt"):
        assert bench.call("benchmarks", "show", name).code == 0
    unknown = run(bench, "unified-dif", "--plan")
    assert (unknown.code, "unified-diff" in unknown.err) == (2, True), unknown.err


def test_c03_c13_a_session_is_continued_and_asks_no_case_twice(bench: Bench) -> None:
    with chatting(lambda _: says("no diff")) as chat:
        words = ("unified-diff", "--models", f"{chat.url}#m", "--concurrency", "1")
        assert run(bench, *words, "--limit", "2", *GENERATE).code == 0
        session = experiment(bench)["session"]
        for again, asked in (("out", 3), (session, 4)):
            if again == session:
                (bench.folder / "results").mkdir()
                (bench.folder / "out").rename(bench.folder / "results/out")
            done = run(bench, "unified-diff", "--continue", again, "--limit", str(asked))
            assert (done.code, len(chat.bodies)) == (0, asked), done.err


def test_c04_models_come_from_the_command_line_or_from_env(bench: Bench) -> None:
    (bench.folder / ".env").write_text('SWARM_BENCH_MODELS=["reference", "copy"]\n')
    assert run(bench, "unified-diff", "--limit", "1", *GENERATE).code == 0
    assert experiment(bench)["arms"] == ["reference", "copy"]


def test_c05_c16_a_benchmark_has_a_data_set_and_a_schema(bench: Bench) -> None:
    assert run(bench, "unified-diff", "--models", "reference", "--limit", "1", *GENERATE).code == 0
    assert experiment(bench)["data"]["name"] == "diff-dataset"
    shown = bench.call("benchmarks", "show", "unified-diff").out
    assert all(field in shown for field in ("sourceCode", "unitTests", "diff-dataset"))


def test_c06_c20_code_runs_in_the_environment_that_is_named(bench: Bench) -> None:
    done = run(bench, "unified-diff", "--models", "reference", "--limit", "1", *CODE)
    assert done.code == 0, done.err
    assert experiment(bench)["confined"] is False
    refused = run(bench, "unified-diff", "--limit", "1", "--allow-code-execution",
                  "--environment", "nowhere")  # fmt: skip
    assert (refused.code, "local" in refused.err) == (2, True), refused.err


def test_c07_c21_a_report_is_text_or_json(bench: Bench) -> None:
    done = run(bench, "unified-diff", "--models", "reference", "--limit", "1", *CODE)
    assert "| reference |" in done.out
    words = ("unified-diff", "--continue", "out", "--limit", "1", "--report", "json")
    done = run(bench, *words, "--allow-code-execution", "--environment", "unconfined")
    assert json.loads(done.out)["unified-diff"]["pass@1"] == 1.0


def test_c08_the_command_line_wins_then_the_environment_and_files(bench: Bench) -> None:
    (bench.folder / "swarm-bench.toml").write_text(
        "[unified-diff]\ntemperature = 0.1\ntop-p = 0.2\nmax-tokens = 3\n"
        "system-prompt = 'Be brief.'\n"
    )
    (bench.folder / ".env").write_text(
        "SWARM_BENCH_PROPERTY_TEMPERATURE=0.2\nSWARM_BENCH_PROPERTY_TOP_P=0.3\n"
        "SWARM_BENCH_PROPERTY_SYSTEMPROMPT=Be right.\n"
    )
    done = run(bench, "unified-diff", "--models", "reference", "--limit", "1", "-p",
               "tolerant=false", *GENERATE, SWARM_BENCH_PROPERTY_TEMPERATURE="0.4")  # fmt: skip
    assert done.code == 0, done.err
    own = experiment(bench)
    names = ("temperature", "top_p", "systemPrompt", "max_tokens")
    assert [own["properties"][name] for name in names] == [0.4, 0.3, "Be right.", 3]
    assert own["property_sources"] == {
        "tolerant": "command line", "temperature": "environment", "top_p": ".env",
        "systemPrompt": ".env",        "max_tokens": "file",
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [("-p", "timeout=0"), ("-p", "nothing=1"), ("--dataset", "rows.jsonl"), ("--limit", "99:1")],
)
def test_c09_c10_what_is_wrong_is_refused_before_a_model_is_asked(
    words: tuple[str, str], bench: Bench
) -> None:
    (bench.folder / "rows.jsonl").write_text('{"sourceCode": "x = 1"}\n')
    with chatting(lambda _: says("no")) as chat:
        done = run(bench, "unified-diff", "--models", f"{chat.url}#m", *words, *GENERATE)
        assert (done.code, chat.bodies) == (2, []), done.err


def test_c11_c12_a_session_has_an_id_and_a_line_for_each_case(bench: Bench) -> None:
    done = run(bench, "unified-diff", "--models", "reference", "--limit", "3", "--generate-only",
               "--quiet")  # fmt: skip
    assert done.code == 0, done.err
    (folder,) = (bench.folder / "results").glob("unified-diff-*")
    own = json.loads((folder / "experiment.json").read_text())
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    assert {json.loads(line)["session"] for line in lines} == {own["session"]}
    assert len(lines) == 3


def test_c14_a_case_that_breaks_ends_the_session_where_that_is_asked_for(bench: Bench) -> None:
    def answer(chat: Any) -> Any:
        return says("no") if len(chat.bodies) == 1 else (418, {}, b"no")

    with chatting(answer) as chat:
        words = ("unified-diff", "--models", f"{chat.url}#m", "--concurrency", "1")
        done = run(bench, *words, "--limit", "4", "--fail-fast", *GENERATE)
    assert (done.code, len(records(bench))) == (3, 2), done.err


def test_c15_c17_a_benchmark_says_what_it_is_and_can_be_set(bench: Bench) -> None:
    schema = json.loads(bench.call("benchmarks", "show", "unified-diff", "--json").out)
    own = schema["properties"]["systemPrompt"]
    assert {"type", "default", "description"} <= own.keys()


def test_c19_c22_models_and_a_page_for_one_that_writes_benchmarks(bench: Bench) -> None:
    listed = bench.call("models").out
    assert all(name in listed for name in ("openai", "anthropic", "llamacpp", "agent"))
    page = bench.call("benchmarks", "prompt").out
    assert "class MyBenchmark(ModelBenchmark)" in page


def test_c23_c24_a_diff_is_asked_for_applied_and_tested(bench: Bench) -> None:
    done = run(bench, "unified-diff-testing", "--models", "reference", "empty", "--limit", "2",
               *CODE)  # fmt: skip
    assert done.code == 0, done.err
    steps = ("form", "strict", "applied", "passed")
    for record in records(bench):
        is_right = record["arm"] == "reference"
        assert [record["scores"][step] for step in steps] == [is_right] * 4
    prompts = [
        json.loads(it) for it in (bench.folder / "out/prompts.jsonl").read_text().splitlines()
    ]
    assert prompts[0]["prompt"][0]["role"] == "system"


def test_c28_the_data_sets_have_their_names(bench: Bench) -> None:
    listed = bench.call("datasets").out
    assert "diff-dataset" in listed
    assert "swe-dataset" in listed
