"""Recomputes the headline of a comparison from the files of its session, with numpy alone.

    python recompute.py results/swarm-20261120-213300 [MODE]

It reads `experiment.json` and `metrics.jsonl`, and does what docs/statistics.md explains, without
swarm-bench. MODE is compared with the first mode of the session; the second one if omitted. Scores
that were renewed by `swarm-bench rescore` are not read. Of two figures the first is the mode's.
"""

import json
import math
import re
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np

LOST = {"harness-failed", "provider-limited", "cancelled"}
"""The trials that say nothing about their mode."""
EXACT = 20
"""Tasks up to which all flips of signs are counted; of more, so many are drawn."""
DRAWN = 100_000


def headline(folder, mode=None):
    """Compute the figures of one mode."""
    experiment = json.loads((folder / "experiment.json").read_text("utf-8"))
    modes = [entry["name"] for entry in experiment["modes"]]
    sides = mode or modes[1], modes[0]
    primary = experiment["settings"].get("primary", {}).get("value", "effective_tokens")
    trials = counted(folder / "metrics.jsonl")
    judged = keyed(trials, experiment["tasks"])
    # An agent that failed spent little, and that is no saving; what it found is nothing.
    ended = [trial for trial in trials if trial["status"] != "agent-failed"]
    tasks, (own, reference) = paired(ended, sides, lambda trial: log(trial[primary]), np.median)
    asked, found = paired(
        judged, sides, lambda trial: (trial["scores"] or {}).get("file_recall"), np.mean
    )
    weight = {task["id"]: task["weight"] for task in experiment["tasks"]}
    weights, weights_found = (np.array([weight[name] for name in side]) for side in (tasks, asked))
    saved, gained = own - reference, found[0] - found[1]
    group, named = groups(experiment), experiment.get("beforehand") or {}
    looked_at = bool(named.get("until_clear"))
    units, worth = grouped(saved, weights, [group[name] for name in tasks])
    return {
        "tasks": len(saved),
        "worth": float(worth.sum() ** 2 / np.sum(worth**2)),
        "ratio": math.exp(np.average(saved, weights=weights)),
        "ratio interval": np.exp(interval(units, worth, looked_at)).tolist(),
        "typical": [math.exp(np.average(side, weights=weights)) for side in (own, reference)],
        "sign-flip p": sign_flip_p(units * worth),
        "less, equal, more": [int(np.sum(np.sign(saved) == sign)) for sign in (-1, 0, 1)],
        "Hodges-Lehmann ratio": math.exp(hodges_lehmann(units)),
        "recall": [float(np.average(side, weights=weights_found)) for side in found]
        if len(gained)
        else None,
        "recall interval": interval(
            *grouped(gained, weights_found, [group[name] for name in asked]), looked_at
        )
        if len(gained)
        else None,
        **{
            f"{figure} per right answer": [per_right(judged, side, figure) for side in sides]
            for figure in ("effective_tokens", "cost")
        },
    }


def counted(path):
    """Read the trials that count: the last attempt of each, where the agent was let run."""
    latest = {}
    for line in path.read_text("utf-8").splitlines():
        trial = json.loads(line)
        if trial["trial"] not in latest or latest[trial["trial"]]["attempt"] <= trial["attempt"]:
            latest[trial["trial"]] = trial
    return [
        trial
        for trial in latest.values()
        if trial["status"] not in LOST and trial["retrieval"] != "contaminated"
    ]


def keyed(trials, tasks):
    """Keep the trials of tasks with an answer key; tasks that are done already stand apart."""
    asked = {trial["task_id"] for trial in trials}
    with_key = [task for task in tasks if task["key"] and task["id"] in asked]
    new = [task for task in with_key if "done-already" not in task["tags"]]
    names = {task["id"] for task in new or with_key}
    return [trial for trial in trials if trial["task_id"] in names]


def groups(experiment):
    """Return the group of each task: tasks belong together that name the same group, or the same
    file first, or the same fact where they name no file, or that ask in the same words on one
    commit."""
    repository = experiment["repository"]
    own = None if repository.get("dirty") else repository.get("commit")
    group = {task["id"]: task["id"] for task in experiment["tasks"]}
    first_with = {}
    for task in experiment["tasks"]:
        key = task["key"] or {"files": [], "symbols": [], "facts": []}
        files = key["files"] or [symbol.partition("::")[0] for symbol in key["symbols"]]
        names = [task.get("group"), *files, *key["facts"]]
        shared = [(words(task["prompt"]), task.get("commit") or own)]
        shared += [name for name in names if name][:1]
        for what in shared:
            one, other = group[task["id"]], group[first_with.setdefault(what, task["id"])]
            group = {name: other if of == one else of for name, of in group.items()}
    return group


def words(prompt):
    """Return what is the same of prompts that differ in white space, case, punctuation or invisible
    characters."""
    visible = "".join(char for char in prompt if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return " ".join(re.findall(r"\w[\w+#]*", folded)) or " ".join(visible.split())


def grouped(values, weights, names):
    """Return the mean of each group, and its weight: tasks of one are no further evidence."""
    members = [np.array(names) == name for name in dict.fromkeys(names)]
    means = [np.average(values[each], weights=weights[each]) for each in members]
    return np.array(means), np.array([weights[each].sum() for each in members])


def paired(trials, sides, read, middle):
    """Return the tasks that both sides have, and of each side one figure for the runs of each."""
    runs = defaultdict(list)
    for trial in trials:
        value = read(trial)
        if value is not None:
            runs[trial["mode"], trial["task_id"]].append(value)
    tasks = sorted({task for _, task in runs})
    both = [task for task in tasks if all((side, task) in runs for side in sides)]
    return both, np.array([[middle(runs[side, task]) for task in both] for side in sides])


def log(value):
    """Return the logarithm of a figure that is there."""
    return None if value is None else math.log(value)


def interval(values, weights, looked_at=False):
    """Return the ends of the 95 % t interval of the mean over groups, whose error is that of a
    jackknife; where all weights are the same it is s / sqrt(n)."""
    mean, whole, number = np.average(values, weights=weights), weights.sum(), len(values)
    without = weights * (mean - values) / (whole - weights)  # how the mean moves without one
    error = math.sqrt((number - 1) / number * np.sum(without**2))
    worth = whole**2 / np.sum(weights**2)
    half = (look_quantile(worth) if looked_at else t_quantile(worth - 1)) * error
    return [float(mean - half), float(mean + half)]


def look_quantile(worth):
    """Return the standard errors to which an interval reaches that holds at every look, that is in
    a session that was to end with its verdict (--until-clear)."""
    prior = worth + 4
    ratio = (prior / (4 * 0.05**2)) ** (1 / worth)
    rest = 1 - 4 * ratio / prior
    return math.sqrt((worth - 1) * (ratio - 1) / rest) if rest > 0 else math.inf


def t_quantile(freedom):
    """Return what 97.5 % of the t distribution lie below: integrated, without scipy."""
    angles = np.linspace(0, math.pi / 2, 200_001)[:-1]  # t = sqrt(freedom) tan(angle)
    density = np.cos(angles) ** (freedom - 1)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    angle = np.interp(0.95 * mass[-1], mass, angles)
    return math.sqrt(freedom) * math.tan(angle)


def sign_flip_p(values):
    """Return the share of all flips of signs whose mean is as far from 0."""
    moved = values[values != 0]
    if len(moved) < 2:
        return 1.0
    least = abs(moved.sum()) * (1 - 1e-12)
    if len(moved) > EXACT:
        signs = np.random.default_rng(0).choice([-1, 1], (DRAWN, len(moved)))
        return float((np.sum(abs(signs @ moved) >= least) + 1) / (DRAWN + 1))
    sums = np.zeros(1)
    for value in moved:
        sums = np.concatenate([sums + value, sums - value])
    return float(np.mean(abs(sums) >= least))


def hodges_lehmann(values):
    """Return the median of the averages of all pairs, each value with itself too."""
    rows, columns = np.triu_indices(len(values))
    return float(np.median((values[rows] + values[columns]) / 2))


def per_right(trials, mode, figure):
    """Divide what all trials of a mode spent by the right answers among them."""
    known = [
        (trial[figure], trial["scores"]["files_all_found"])
        for trial in trials
        if trial["mode"] == mode and trial[figure] is not None and trial["scores"]
    ]
    right = sum(is_right for _, is_right in known)
    return sum(value for value, _ in known) / right if right else None


if __name__ == "__main__":
    for name, figure in headline(Path(sys.argv[1]), *sys.argv[2:]).items():
        print(f"{name}: {figure}")
