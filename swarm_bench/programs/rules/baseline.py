"""The searches with the built-in tools only: survey, locate, follow.

Each function gives the calls of one turn; an empty list means that there is nothing to do. What is
read of their results, and when that is enough, `reading_plan` decides.
"""

import re
from collections import Counter
from collections.abc import Sequence

from swarm_bench.models.lexical.ranking import RELATED, rank
from swarm_bench.models.lexical.terms import Term
from swarm_bench.programs.rules import observations, patterns
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.reading_plan import BUDGET, Candidate, Reading

MAX_FOLLOWED = 4
CALLED_OFTEN = 2
"""Lines that call a name before its definition is worth a turn."""

_COUNTED = {"output_mode": "count", "head_limit": BUDGET.results}
_CONTENT: dict[str, object] = {"output_mode": "content", "head_limit": BUDGET.results}
_CALLED = re.compile(r"\b([A-Za-z_]\w{3,})\s*\(")


def survey(terms: Sequence[Term]) -> list[Call]:
    """Count which files mention each term in how many lines, and look for files named after one."""
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
    """Look for what the best files say about the terms, and for definitions that bear one."""
    best = ranked(terms, taken)[: BUDGET.files]
    if not best:
        return []
    calls: list[Call] = [("Grep", {**_CONTENT, "pattern": patterns.definitions(terms)})]
    everything = patterns.mentions(terms)
    calls += [("Grep", {**_CONTENT, "pattern": everything, "path": path}) for path in best]
    return calls


def candidates(terms: Sequence[Term], taken: Sequence[Step]) -> list[Candidate]:
    """List the files that the searches have named, in the order of their rank."""
    followed = [step for step in taken if is_following(step, terms)]
    lines = observations.matched_lines([step for step in taken if step not in followed])
    best = ranked(terms, taken)
    order = [path for path in best if path in lines]
    order += [path for path in sorted(lines) if path not in order]
    named = {path for step in taken for path in observations.listed(step)}
    order += [path for path in best[: BUDGET.files] if path in named - set(lines)]
    for path, matched in observations.matched_lines(followed).items():
        if path not in order:
            order.append(path)
            lines[path] = matched
    return [Candidate(path=path, lines=lines.get(path, {})) for path in order]


def is_locating(step: Step, terms: Sequence[Term]) -> bool:
    """Tell whether a call looks for lines that bear or mention the terms, as `locate` does."""
    return _shows_lines(step) and _is_usual(step, terms) and not step.argument("tool")


def is_following(step: Step, terms: Sequence[Term]) -> bool:
    """Tell whether a call looks for the definitions of names, as `follow` does."""
    return _shows_lines(step) and not _is_usual(step, terms)


def _shows_lines(step: Step) -> bool:
    return step.call.name == "Grep" and step.argument("output_mode") == "content"


def _is_usual(step: Step, terms: Sequence[Term]) -> bool:
    usual = (patterns.definitions(terms), patterns.mentions(terms))
    return step.argument("pattern") in usual


def follow(terms: Sequence[Term], observed: Observations) -> list[Call]:
    """Look for the definitions of names that several lines call, that bear a term, and whose
    definition was not observed."""
    names = _unknown_names(terms, observed)
    return [("Grep", {**_CONTENT, "pattern": patterns.definition_of(names)})] if names else []


def attempted(taken: Sequence[Step]) -> set[tuple[str, int]]:
    """Return where the readings begin that were asked of the built-in tool."""
    starts = [step.call.arguments for step in taken if step.call.name == "Read"]
    return {(str(asked["file_path"]), asked.get("offset", 1)) for asked in starts}


def read(reading: Reading) -> Call:
    """Make the call that reads some lines of a file."""
    limit = len(reading.lines)
    return "Read", {"file_path": reading.path, "offset": reading.first, "limit": limit}


def ranked(terms: Sequence[Term], taken: Sequence[Step]) -> list[str]:
    """Rank the surveyed files, best first."""
    by_term: dict[str, dict[str, int]] = {term.word: {} for term in terms}
    word_of = {patterns.mention(term): term.word for term in terms}
    word_of[patterns.related(terms)] = RELATED
    for step in taken:
        if step.argument("output_mode") == "count":
            word = word_of.get(step.argument("pattern"))
            if word is not None:
                by_term.setdefault(word, {}).update(observations.counts(step))
        for path in observations.listed(step):
            by_term[terms[0].word].setdefault(path, 0)
    return [path for path, _ in rank(terms, by_term)]


def _unknown_names(terms: Sequence[Term], observed: Observations) -> list[str]:
    expressions = [patterns.in_text(term) for term in terms]
    called: Counter[str] = Counter()
    defined: set[str] = set()
    for lines in observed.lines.values():
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
