"""The policy with the built-in tools only: survey, locate, read, follow.

Each function gives the calls of one turn; an empty list means that there is nothing to do.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from swarm_bench.models.rules import evidence, patterns
from swarm_bench.models.rules.evidence import Seen, Step
from swarm_bench.models.rules.ranking import RELATED, rank
from swarm_bench.models.rules.terms import Term

Call = tuple[str, Mapping[str, object]]

SURVEY_FILES = 60
"""Files shown per term in the survey."""
TOP_FILES = 6
LINES_PER_FILE = 12
DEFINITIONS = 60
WINDOW = 60
"""Lines of one Read."""
MAX_READS = 6
READS_PER_FILE = 2
MAX_FOLLOWED = 4
CALLED_OFTEN = 2
"""Lines that call a name before its definition is worth a turn."""

_COUNTED = {"output_mode": "count", "head_limit": SURVEY_FILES}
_CALLED = re.compile(r"\b([A-Za-z_]\w{3,})\s*\(")


def survey(terms: Sequence[Term]) -> list[Call]:
    """How many lines of which files mention each term, and which files are named after one."""
    calls: list[Call] = [
        ("Grep", {**_COUNTED, "pattern": patterns.mention(term)}) for term in terms
    ]
    if related := patterns.related(terms):
        calls.append(("Grep", {**_COUNTED, "pattern": related}))
    roots = [root for term in terms[:3] for root in term.roots[:2]]
    if roots:
        calls.append(("Glob", {"pattern": "**/*{" + ",".join(roots) + "}*"}))
    return calls


def locate(terms: Sequence[Term], taken: Sequence[Step]) -> list[Call]:
    """What the best files say about the terms, and where something is defined that bears one."""
    best = ranked(terms, taken)[:TOP_FILES]
    if not best:
        return []
    calls: list[Call] = [
        (
            "Grep",
            {
                "pattern": patterns.definitions(terms),
                "output_mode": "content",
                "head_limit": DEFINITIONS,
            },
        )
    ]
    everything = patterns.mentions(terms)
    calls += [
        (
            "Grep",
            {
                "pattern": everything,
                "path": path,
                "output_mode": "content",
                "head_limit": LINES_PER_FILE,
            },
        )
        for path in best
    ]
    return calls


def read(terms: Sequence[Term], taken: Sequence[Step]) -> list[Call]:
    """Windows around the lines that say most, in the order of the files' rank."""
    lines = evidence.seen(taken).lines
    order = [path for path in ranked(terms, taken) if path in lines]
    order += [path for path in sorted(lines) if path not in order]
    named = {path for step in taken for path in evidence.listed(step)}
    order += [path for path in ranked(terms, taken)[:TOP_FILES] if path in named - set(lines)]
    windows: list[tuple[str, int]] = []
    for path in order:
        first_lines = _windows(lines[path], terms) if path in lines else [1]
        windows += [(path, first) for first in first_lines]
    return [_read(path, first) for path, first in windows[:MAX_READS]]


def follow(terms: Sequence[Term], taken: Sequence[Step]) -> list[Call]:
    """Where the names are defined that several lines call, that bear a term, and of which no
    definition was seen."""
    names = _unknown_names(terms, evidence.seen(taken))
    if not names:
        return []
    arguments = {
        "pattern": patterns.definition_of(names),
        "output_mode": "content",
        "head_limit": 2 * MAX_FOLLOWED,
    }
    return [("Grep", arguments)]


def read_followed(taken: Sequence[Step]) -> list[Call]:
    """The definitions found by `follow` in files of which nothing was read yet."""
    known = evidence.seen(taken).read
    found = evidence.hits(taken[-1])
    first: dict[str, int] = {}
    for path, number, _ in found:
        if path not in known:
            first.setdefault(path, number)
    return [_read(path, number) for path, number in list(first.items())[:2]]


def ranked(terms: Sequence[Term], taken: Sequence[Step]) -> list[str]:
    """The surveyed files, best first."""
    by_term: dict[str, dict[str, int]] = {term.word: {} for term in terms}
    words = {patterns.mention(term): term.word for term in terms}
    words[patterns.related(terms)] = RELATED
    for step in taken:
        if step.argument("output_mode") == "count":
            word = words.get(step.argument("pattern"))
            if word is not None:
                by_term.setdefault(word, {}).update(evidence.counts(step))
        for path in evidence.listed(step):
            by_term[terms[0].word].setdefault(path, 0)
    return [path for path, _ in rank(terms, by_term)]


def _read(path: str, first: int) -> Call:
    return "Read", {"file_path": path, "offset": first, "limit": WINDOW}


def _windows(lines: Mapping[int, str], terms: Sequence[Term]) -> list[int]:
    """First lines of up to two windows that cover the most telling lines of a file."""
    expressions = [patterns.in_text(term) for term in terms]
    worth = {
        number: sum(1 for expression in expressions if expression.search(text))
        + (2 if patterns.DEFINITION.match(text) else 0)
        for number, text in lines.items()
    }
    chosen: list[int] = []
    while worth and len(chosen) < READS_PER_FILE:
        first = max(worth, key=lambda number: (_covered(worth, number), -number))
        chosen.append(max(1, first - 3))
        covered = range(chosen[-1], chosen[-1] + WINDOW)
        worth = {number: value for number, value in worth.items() if number not in covered}
    return chosen


def _covered(worth: Mapping[int, int], first: int) -> int:
    return sum(value for number, value in worth.items() if first <= number < first + WINDOW - 3)


def _unknown_names(terms: Sequence[Term], seen: Seen) -> list[str]:
    expressions = [patterns.in_text(term) for term in terms]
    called: Counter[str] = Counter()
    defined: set[str] = set()
    for lines in seen.lines.values():
        for text in lines.values():
            if definition := patterns.DEFINITION.match(text):
                defined.add(definition["name"])
                continue
            called.update(set(_CALLED.findall(text)))
    wanted = [
        name
        for name in called
        if name not in defined
        and called[name] >= CALLED_OFTEN
        and any(expression.search(name) for expression in expressions)
    ]
    return sorted(wanted, key=lambda name: (-called[name], name))[:MAX_FOLLOWED]
