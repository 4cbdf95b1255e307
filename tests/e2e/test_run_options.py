"""Options of `run` that files set, what they may not do untrusted, and what a session may cost."""

import json
from collections import Counter

import pytest

from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench
from tests.e2e.test_models import CODE, KEY, OUT, records, run, stored

PRICES = '["m"]\ninput = 3.0\ncache_write = 3.0\ncache_read = 0.3\noutput = 15.0\n'


def test_options_are_set_where_those_of_compare_are(bench: Bench, golden: Sentences) -> None:
    """The first source wins; a session that is continued has its own."""
    (bench.folder / ".env").write_text("SWARM_BENCH_MODELS=reference\nSWARM_BENCH_LIMIT=3:2\n")
    (bench.folder / "swarm-bench.toml").write_text(
        'models = ["copy"]\nlimit = "9"\nruns = 3\ngenerate-only = true\nmax-turns = 4\n'
    )
    done = run(bench, "humaneval", "--quiet", *OUT, SWARM_BENCH_RUNS="2")
    assert done.code == 0, done.err
    assert {(it["arm"], it["case"], it["run"]) for it in records(bench)} == {
        ("reference", f"HumanEval/{number}", 1) for number in (3, 4)
    }
    assert json.loads((bench.folder / "out/experiment.json").read_text())["runs"] == 2
    again = run(
        bench, "humaneval", "--continue", "out", "--limit", "3:4", SWARM_BENCH_MODELS="copy"
    )
    assert again.code == 0, again.err
    assert {record["arm"] for record in records(bench)} == {"reference"}
    assert len(records(bench)) == 4
    assert bench.call("compare", "--plan").code == 0  # which has other options
    other = run(bench, "humaneval", "--plan", SWARM_BENCH_RUNS="0")
    assert other.code == 2
    golden(other.err)
    wrong = run(bench, "humaneval", "--plan", SWARM_BENCH_GENERATEONLY="1")
    assert wrong.code == 2
    golden(wrong.err)


def test_a_list_of_models_may_be_json(bench: Bench) -> None:
    (bench.folder / ".env").write_text('SWARM_BENCH_MODELS=["reference", "empty"]\n')
    done = run(bench, "humaneval", "--limit", "1", "--generate-only", "--quiet", *OUT)
    assert done.code == 0, done.err
    assert {record["arm"] for record in records(bench)} == {"reference", "empty"}


def test_a_settings_file_can_be_named(bench: Bench) -> None:
    (bench.folder / "mine.toml").write_text("limit = '2'\n[humaneval]\nmax-tokens = 9\n")
    done = run(bench, "humaneval", "--config", "mine.toml", "--generate-only", "--quiet", *OUT)
    assert done.code == 0, done.err
    assert len(records(bench)) == 4
    assert stored(bench, "experiment.json")["property_sources"] == {"max_tokens": "file"}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('models = ["planted:Model"]', "the model planted:Model"),
        ('models = ["http://models.example/v1#m"]', "the model http://models.example/v1#m"),
        ('models = ["ollama:m@HTTP://models.example"]', "the model ollama:m@HTTP://models.example"),
        ('models = ["llamacpp:http://models.example"]', "the model llamacpp:http://models.ex"),
        ('environment = "unconfined"', "the environment unconfined for code of models"),
        (
            'environment = "container:/root/folder"',
            "the environment container:/root/folder for code of models",
        ),
        ('environment = "planted:Own"', "the environment planted:Own for code of models"),
        ("allow-code-execution = true", "code that models write"),
        ('dataset = "./rows.jsonl"', "models with the rows of "),
    ],
)
@pytest.mark.parametrize("origin", ["swarm-bench.toml", ".env"])
def test_what_a_file_would_have_started_is_not(
    line: str, what: str, origin: str, bench: Bench
) -> None:
    name, _, value = line.partition(" = ")
    variable = f"SWARM_BENCH_{name.replace('-', '_').upper()}={value.strip('[]')}\n"
    (bench.folder / origin).write_text(variable if origin == ".env" else f"{line}\n")
    (bench.folder / "planted.py").write_text("open('sprung', 'w')\n")
    permission = () if name.startswith("allow") else ("--allow-code-execution",)
    words = ("humaneval", "--limit", "1", *permission, *OUT)
    done = run(bench, *words, MODEL_API_KEY=KEY)
    assert (done.code, f"{what}" in done.err, f"({origin})" in done.err) == (2, True, True), (
        done.err
    )
    if "planted" in line:  # nor is it for a look
        assert run(bench, *words, "--plan").code == 2
    assert not (bench.folder / "sprung").exists()
    assert not (bench.folder / "out").exists()


def test_what_a_file_says_is_done_for_whoever_trusts_it(bench: Bench) -> None:
    (bench.folder / "swarm-bench.toml").write_text(
        'environment = "unconfined"\nallow-code-execution = true\n'
    )
    words = ("humaneval", "--limit", "1", "--quiet")
    assert run(bench, *words, *OUT).code == 2
    done = run(bench, *words, *OUT, "--trust")
    assert done.code == 0, done.err
    assert run(bench, *words, "--output", "next").code == 0  # that is remembered
    assert run(bench, *words, "--output", "named", "--config", "swarm-bench.toml").code == 0


@pytest.mark.parametrize("word", ["planted:Model", "https://example.com/v1#m"])
def test_a_model_that_only_a_session_names_is_not_asked(bench: Bench, word: str) -> None:
    """Its file may be a stranger's: that would run code, or send a key away."""
    assert run(bench, "humaneval", "--limit", "1", *CODE, *OUT).code == 0
    (bench.folder / "planted.py").write_text("open('sprung', 'w')\n")
    file = bench.folder / "out" / "experiment.json"
    file.write_text(file.read_text().replace('"model": "copy"', f'"model": "{word}"'))
    words = ("humaneval", "--continue", "out", "--runs", "2", *CODE)
    done = run(bench, *words, MODEL_API_KEY=KEY)
    assert (done.code, f"the model {word} (the session" in done.err) == (2, True), done.err
    if word.startswith("planted"):
        assert run(bench, *words, "--plan").code == 2
    assert not (bench.folder / "sprung").exists()


def test_a_session_of_ones_own_is_continued_without_a_question(bench: Bench) -> None:
    """Also one with a class of one's own; not by somebody else."""
    (bench.folder / "own.py").write_text(
        "from swarm_bench.models.offline.reference import Reference\n"
        "class Model(Reference):\n    name = 'mine'\n"
    )
    words = ("humaneval", "--limit", "1", *CODE)
    assert run(bench, *words, "--models", "own:Model", "copy", *OUT).code == 0
    again = ("humaneval", "--continue", "out", *CODE)
    done = run(bench, *again, "--limit", "2")
    assert done.code == 0, done.err
    assert len(records(bench)) == 4
    refused = run(bench, *again, "--limit", "3", XDG_STATE_HOME=str(bench.folder / "other"))
    assert (refused.code, "own:Model (the session" in refused.err) == (2, True), refused.err


def expensive(chat: Chat) -> State:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return says("no code", model="m", usage=usage)


def test_a_plan_needs_no_permission_and_says_what_it_would_take(
    bench: Bench, golden: Sentences
) -> None:
    """At first by what may be asked and answered, and then by a session that shows it."""
    (bench.folder / "prices.toml").write_text(PRICES)
    with chatting(expensive) as chat:
        words = ("humaneval", "--models", f"{chat.url}/v1#m", "copy", "-p", "way=chat")
        planned = run(bench, *words, "--runs", "5", "--plan")
        assert planned.code == 0, planned.err
        assert len(chat.bodies) == 0, "nobody is asked"
        assert len(planned.out.splitlines()) <= 80
        golden(planned.out)
        assert run(bench, *words, "--limit", "3", *CODE).code == 0
        after = run(bench, *words, "--runs", "5", "--plan").out
        costs = next(line for line in after.splitlines() if line.startswith("Cost:"))
        assert "$3.69" in costs, "820 requests of 0.0045 dollars each"
        assert "as in results/humaneval-" in after
        assert "6 done" in run(bench, "humaneval", "--continue", "--plan").out


def test_no_case_is_asked_that_could_cost_too_much(bench: Bench) -> None:
    """A request costs 0.0045 dollars, and might cost 0.0077 for its answer alone."""
    (bench.folder / "prices.toml").write_text(PRICES)
    with chatting(expensive) as chat:
        words = ("humaneval", "--models", f"{chat.url}/v1#m", "reference", "-p", "way=chat", *CODE)
        done = run(bench, *words, "--limit", "20", "--max-cost", "0.03", *OUT)
        assert done.code == 4, done.err
        assert "of --max-cost 0.03 is spent, and HumanEval/" in done.err
        assert "then continue with: swarm-bench run humaneval --continue" in done.err
        paid = [record["cost"] for record in records(bench) if record["arm"] != "reference"]
        assert paid == [0.0045] * len(chat.bodies)
        assert 0.03 - 0.0045 - 0.0077 - 0.01 < sum(paid) <= 0.03
        more = run(bench, "humaneval", "--continue", "out", *CODE, "--max-cost", "0.03")
        assert (more.code, len(chat.bodies)) == (4, len(paid))
        rest = run(bench, "humaneval", "--continue", "out", *CODE, "--max-cost", "1")
        assert (rest.code, len(chat.bodies)) == (0, 20), rest.err


def test_money_that_ends_before_the_cases_was_spent_on_all_models_alike(bench: Bench) -> None:
    """For 0.1 dollars the first one alone could be asked all 20."""
    prices = PRICES + PRICES.replace('"m"', '"n"')
    (bench.folder / "prices.toml").write_text(prices)
    with chatting(expensive) as chat:
        models = (f"{chat.url}/v1#m", f"{chat.url}/v1#n")
        words = ("humaneval", "--models", *models, "-p", "way=chat", "--limit", "20", *CODE)
        done = run(bench, *words, "--max-cost", "0.1", *OUT)
        assert done.code == 4, done.err
        asked = Counter(record["arm"] for record in records(bench))
        assert len(asked) == 2
        assert min(asked.values()) >= 8
        assert max(asked.values()) < 20


def test_a_request_that_failed_counts_for_the_most_that_it_can_have_cost(bench: Bench) -> None:
    (bench.folder / "prices.toml").write_text(PRICES)
    with chatting(lambda _: fails(400, "no")) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--max-cost", "0.03")
        done = run(bench, "humaneval", *words, *CODE, *OUT)
    assert done.code == 4, done.err
    assert 1 <= len(chat.bodies) <= 3


@pytest.mark.parametrize("state", [
    says("x" * 200_000, model="m", usage={"prompt_tokens": 0, "completion_tokens": 0}),
    says("x" * 200_000, model="m", usage={"prompt_tokens": 90, "completion_tokens": 7}),
    says("x" * 200_000, model="m", usage=None),
], ids=["nothing", "too little", "unknown"])  # fmt: skip
def test_tokens_that_cannot_be_so_few_are_missing_and_cost_what_they_can(
    bench: Bench, state: State
) -> None:
    """An answer of 200,000 bytes costs 3 dollars at most."""
    (bench.folder / "prices.toml").write_text(PRICES)
    with chatting(lambda _: state) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--concurrency", "1")
        done = run(bench, "humaneval", *words, "--max-cost", "5", *CODE, *OUT)
    assert (done.code, len(chat.bodies)) == (4, 2), done.err
    for record in records(bench):
        assert (record["cost"], record["output_tokens"]) == (None, None)
    understated = {name for record in records(bench) for name in record["understated"]}
    assert understated <= {"input", "output"}
    assert ("states fewer" in done.out) == bool(understated)


def test_a_limit_that_nobody_can_keep_is_refused(bench: Bench, golden: Sentences) -> None:
    words = ("humaneval", "--models", "http://127.0.0.1:1/v1#m", "--max-cost", "1", *CODE, *OUT)
    done = run(bench, *words)
    assert done.code == 2
    golden(done.err)
    free = run(bench, "humaneval", "--limit", "1", "--max-cost", "1", *CODE, *OUT)
    assert free.code == 0, free.err


def test_the_figures_can_be_printed_as_json(bench: Bench, golden: Sentences) -> None:
    done = run(bench, "humaneval", "--limit", "2", "--report", "json", *CODE, *OUT)
    assert done.code == 0, done.err
    assert json.loads(done.out) == stored(bench, "results.json")
    assert json.loads(done.out)["humaneval"]["reference"]["pass_at_1"] == 1.0
    wrong = run(bench, "humaneval", "--report", "xml", *CODE)
    assert wrong.code == 2, wrong.err
    golden(wrong.err)
