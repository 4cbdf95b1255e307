"""The searches with the built-in tools only: survey, locate, follow.

Each function gives the calls of one turn; an empty list means that there is nothing to do. What is
read of the files found, and when that is enough, is said in `reading_plan`.
"""

import re
from collections import Counter
from collections.abc import Sequence

from swarm_bench.models.lexical.ranking import RELATED, rank
from swarm_bench.models.lexical.terms import Term
from swarm_bench.programs.rules import observations, patterns
from swarm_bench.programs.rules.observations import Call, Seen, Step
from swarm_bench.programs.rules.reading_plan import BUDGET, Candidate, Reading

MAX_FOLLOWED = 4
CALLED_OFTEN = 2
"""Lines that call a name before its definition is worth a turn."""

_COUNTED = {"output_mode": "count", "head_limit": BUDGET.results}
_CONTENT: dict[str, object] = {"output_mode": "content", "head_limit": BUDGET.results}
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
    best = ranked(terms, taken)[: BUDGET.files]
    if not best:
        return []
    calls: list[Call] = [("Grep", {**_CONTENT, "pattern": patterns.definitions(terms)})]
    everything = patterns.mentions(terms)
    calls += [("Grep", {**_CONTENT, "pattern": everything, "path": path}) for path in best]
    return calls


def candidates(terms: Sequence[Term], taken: Sequence[Step]) -> list[Candidate]:
    """The files that the searches have named, in the order of their rank."""
    followed = [step for step in taken if is_following(step, terms)]
    lines = observations.matched_lines([step for step in taken if step not in followed])
    best = ranked(terms, taken)
    order = [path for path in best if path in lines]
    order += [path for path in sorted(lines) if path not in order]
    named = {path for step in taken for path in observations.listed(step)}
    order += [path for path in best[: BUDGET.files] if path in named - set(lines)]
    for path, found in observations.matched_lines(followed).items():
        if path not in order:
            order.append(path)
            lines[path] = found
    return [Candidate(path=path, lines=lines.get(path, {})) for path in order]


def is_locating(step: Step, terms: Sequence[Term]) -> bool:
    """Whether a call looks for lines that bear or mention the terms, as `locate` does."""
    return _shows_lines(step) and _is_usual(step, terms) and not step.argument("tool")


def is_following(step: Step, terms: Sequence[Term]) -> bool:
    """Whether a call looks for the definitions of names, as `follow` does."""
    return _shows_lines(step) and not _is_usual(step, terms)


def _shows_lines(step: Step) -> bool:
    return step.call.name == "Grep" and step.argument("output_mode") == "content"


def _is_usual(step: Step, terms: Sequence[Term]) -> bool:
    usual = (patterns.definitions(terms), patterns.mentions(terms))
    return step.argument("pattern") in usual


def follow(terms: Sequence[Term], seen: Seen) -> list[Call]:
    """Where the names are defined that several lines call, that bear a term, and of which no
    definition was seen."""
    names = _unknown_names(terms, seen)
    return [("Grep", {**_CONTENT, "pattern": patterns.definition_of(names)})] if names else []


def attempted(taken: Sequence[Step]) -> set[tuple[str, int]]:
    """Where the readings begin that were asked of the built-in tool."""
    starts = [step.call.arguments for step in taken if step.call.name == "Read"]
    return {(str(asked["file_path"]), asked.get("offset", 1)) for asked in starts}


def read(reading: Reading) -> Call:
    """The call that reads some lines of a file."""
    limit = len(reading.lines)
    return "Read", {"file_path": reading.path, "offset": reading.first, "limit": limit}


def ranked(terms: Sequence[Term], taken: Sequence[Step]) -> list[str]:
    """The surveyed files, best first."""
    by_term: dict[str, dict[str, int]] = {term.word: {} for term in terms}
    words = {patterns.mention(term): term.word for term in terms}
    words[patterns.related(terms)] = RELATED
    for step in taken:
        if step.argument("output_mode") == "count":
            word = words.get(step.argument("pattern"))
            if word is not None:
                by_term.setdefault(word, {}).update(observations.counts(step))
        for path in observations.listed(step):
            by_term[terms[0].word].setdefault(path, 0)
    return [path for path, _ in rank(terms, by_term)]


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
