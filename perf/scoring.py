"""Processor time in which 1,000 answers are scored by all scorers, in fresh processes.

    python perf/scoring.py

The repository has 1,000 files of the installed packages of this environment. The answers are made
up, about 4.8 kB each: prose, lists, tables, links and code that name files, lines and symbols, some
of them invented; with transcripts of 20 calls, and 40 keys. Goal: 5 s.
"""

import pickle
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from swarm_bench.benchmarks.swarm.scorers import ScorableAnswer, Trees, load_scorers, score_answer
from swarm_bench.core.outcome import Outcome, Retrieved
from swarm_bench.core.session.experiment import Repository
from swarm_bench.core.session.tasks import SYMBOL_MARK, AnswerKey, Task, group_tasks
from swarm_bench.core.status import Cause
from swarm_bench.source.definitions import Definition, definitions

FILES, ANSWERS, KEYS, RUNS = 1000, 1000, 40, 5
NEAR = 12
"""Files that the answers to one task are about."""
CALLS, CALLED = 20, 30
"""Calls of a transcript, and texts in each that may be paths."""
LENGTH = 4800
WORKSPACE = "/tmp/swarm-bench/agent/workspace"
GOAL = 5.0


def copied(target: Path) -> dict[str, list[Definition]]:
    """Make the repository; returns what each of its files defines."""
    source = Path(sysconfig.get_paths()["purelib"])
    result: dict[str, list[Definition]] = {}
    for path in sorted(source.rglob("*.py")):
        name, content = path.relative_to(source).as_posix(), path.read_bytes()
        if defined := [each for each in definitions(name, content) if not each.is_local]:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
            result[name] = defined
        if len(result) == FILES:
            break
    subprocess.run(["git", "init", "-q", target], check=True)
    subprocess.run(["git", "-C", target, "add", "."], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", target, *identity, "commit", "-qm", "All"], check=True)
    return result


def line(chance: random.Random, path: str, defined: Definition, words: list[str]) -> str:
    """Write a line of an answer that names a file."""
    name, first, last = defined.name, defined.first_line, defined.last_line
    tail = " ".join(chance.choices(words, k=chance.randint(6, 24)))
    ways = (
        f"- `{path}:{first}-{last}`: `{name}()` {tail}.",
        f"- **{path}** (lines {first}-{last}): {tail}, e.g. Node.js v1.2.3 and `{name}`.",
        f"| `{name}` | {path} | {first} | {tail} |",
        f"See [{name}]({path}#L{first}): {tail}.",
        f"{tail.capitalize()} in {WORKSPACE}/{path}; `{name}` {tail}.",
        f"## {name.rpartition('.')[2]} ({path.rpartition('/')[2]})\n\n{tail}.",
        f"{tail.capitalize()}: the class `{name}` in `{path}` calls `self.{words[0]}`, {tail}.",
        f"```python\n# {path}\ndef {name.rpartition('.')[2]}(self):\n    return {tail}\n```",
        f"It is not in `lib/{words[0]}_{first}.py`, {tail}; {tail.replace(' ', '/')}.",
    )
    return chance.choice(ways)


def answers(defined: dict[str, list[Definition]]) -> Iterator[ScorableAnswer]:
    """Write the answers with their transcripts."""
    paths = list(defined)
    names = sorted({each.own_name for listed in defined.values() for each in listed})
    words = [word for name in names for word in name.split("_") if word.isalpha()]
    for number in range(ANSWERS):
        chance = random.Random(number)
        topic = random.Random(number % KEYS).sample(paths, NEAR)
        text = ""
        while len(text) < LENGTH:
            path = chance.choice(topic if chance.random() < 0.8 else paths)
            text += line(chance, path, chance.choice(defined[path]), words) + "\n"
        said = [f"{WORKSPACE}/{path}" for path in topic] + chance.sample(paths, 60) + words[:60]
        calls = tuple(
            Retrieved(
                tool="Read",
                turn=turn,
                seconds=float(turn),
                tokens=turn * 900,
                mentions=tuple(chance.choices(said, k=CALLED)),
            )
            for turn in range(CALLS)
        )
        key = AnswerKey(
            files=tuple(topic[:3]),
            symbols=tuple(f"{path}{SYMBOL_MARK}{defined[path][0].name}" for path in topic[:3]),
            facts=(topic[0], rf"\b{defined[topic[0]][0].own_name}\b"),
        )
        outcome = Outcome(cause=Cause.FINISHED, text=text, retrieved=calls)
        task = Task(id=f"t{number % KEYS}", title="t", prompt=f"What is {number % KEYS}?", key=key)
        yield ScorableAnswer(
            outcome=outcome, task=task, tasks=(), groups={}, workspace=WORKSPACE, commit=None
        )


def run(folder: Path) -> None:
    """Score them once; prints the processor time."""
    repository, answers = pickle.loads((folder / "answers").read_bytes())
    every = load_scorers()
    started = time.process_time()
    with Trees(repository=repository) as trees:
        results = [score_answer(every, answer, trees, ()) for answer in answers]
    assert not any(result.failures for result in results)
    print(time.process_time() - started)


def main() -> None:
    """Write the answers, and have them scored several times."""
    with tempfile.TemporaryDirectory() as folder:
        defined = copied(Path(folder) / "repo")
        commit = subprocess.run(
            ["git", "-C", Path(folder) / "repo", "rev-parse", "HEAD"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        repository = Repository(
            path=str(Path(folder) / "repo"),
            kind="git",
            commit=commit,
            tree=commit,
            files=len(defined),
            bytes=0,
        )
        alone = list(answers(defined))
        tasks = tuple(answer.task for answer in alone[:KEYS])
        groups = group_tasks(tasks, commit)
        written = [replace(answer, tasks=tasks, groups=groups) for answer in alone]
        (Path(folder) / "answers").write_bytes(pickle.dumps((repository, written)))
        command = [sys.executable, __file__, folder]
        taken = [float(subprocess.check_output(command)) for _ in range(RUNS)]
    seconds = statistics.median(taken)
    length = statistics.mean(len(answer.outcome.text or "") for answer in written)
    print(
        f"scoring: {ANSWERS:,} answers of {length / 1000:.1f} kB about {len(defined):,} files in "
        f"{seconds:.1f} s of processor time (goal {GOAL:.0f} s), ratio {seconds / GOAL:.2f}, "
        f"median of {RUNS} runs"
    )


if __name__ == "__main__":
    run(Path(sys.argv[1])) if sys.argv[1:] else main()
