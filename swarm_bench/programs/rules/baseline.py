"""The searches with the built-in tools only: survey, locate, follow.

Each function gives the calls of one turn; an empty list means that there is nothing to do. What is
read of their results, and when that is enough, `reading_plan` decides.
"""

import re
from collections import Counter
from collections.abc import Sequence

from swarm_bench.programs.rules import observations, patterns
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.reading_plan import BUDGET, Candidate, Reading
from swarm_bench.text.ranking import RELATED, rank
from swarm_bench.text.terms import Term

MAX_FOLLOWED = 4
CALLED_OFTEN = 2
"""Lines that call a name before its definition is worth a turn."""

_COUNT = {"output_mode": "count", "head_limit": BUDGET.results}
_CONTENT: dict[str, object] = {"output_mode": "content", "head_limit": BUDGET.results}
_CALL = re.compile(r"\b([A-Za-z_]\w{3,})\s*\(")


def survey(terms: Sequence[Term]) -> list[Call]:
    """Count which files mention each term in how many lines, and look for files named after one."""
    calls: list[Call] = [
        ("Grep", {**_COUNT, "pattern": patterns.match_mention(term)}) for term in terms
    ]
    if related := patterns.match_related(terms):
        calls.append(("Grep", {**_COUNT, "pattern": related}))
    roots = [root for term in terms[:3] for root in term.roots[:2]]
    if roots:
        calls.append(("Glob", {"pattern": "**/*{" + ",".join(roots) + "}*"}))
    return calls


def locate(terms: Sequence[Term], past_steps: Sequence[Step]) -> list[Call]:
    """Look for what the best files say about the terms, and for definitions that bear one."""
    best = rank_files(terms, past_steps)[: BUDGET.files]
    if not best:
        return []
    calls: list[Call] = [("Grep", {**_CONTENT, "pattern": patterns.match_definitions(terms)})]
    everything = patterns.match_mentions(terms)
    calls += [("Grep", {**_CONTENT, "pattern": everything, "path": path}) for path in best]
    return calls


def list_candidates(terms: Sequence[Term], past_steps: Sequence[Step]) -> list[Candidate]:
    """List the files that the searches have named, in the order of their rank."""
    followed = [step for step in past_steps if is_following(step, terms)]
    lines = observations.collect_lines([step for step in past_steps if step not in followed])
    best = rank_files(terms, past_steps)
    order = [path for path in best if path in lines]
    order += [path for path in sorted(lines) if path not in order]
    matched_by_name = {path for step in past_steps for path in observations.list_paths(step)}
    order += [path for path in best[: BUDGET.files] if path in matched_by_name - set(lines)]
    for path, matched in observations.collect_lines(followed).items():
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
    usual = (patterns.match_definitions(terms), patterns.match_mentions(terms))
    return step.argument("pattern") in usual


def follow(terms: Sequence[Term], observed: Observations) -> list[Call]:
    """Look for the definitions of names that several lines call, that bear a term, and whose
    definition was not observed."""
    names = _unknown_names(terms, observed)
    return [("Grep", {**_CONTENT, "pattern": patterns.match_definition_of(names)})] if names else []


def find_attempted(past_steps: Sequence[Step]) -> set[tuple[str, int]]:
    """Return where the readings begin that were asked of the built-in tool."""
    starts = [step.call.arguments for step in past_steps if step.call.name == "Read"]
    return {(str(arguments["file_path"]), arguments.get("offset", 1)) for arguments in starts}


def read(reading: Reading) -> Call:
    """Make the call that reads some lines of a file."""
    limit = len(reading.lines)
    return "Read", {"file_path": reading.path, "offset": reading.first, "limit": limit}


def rank_files(terms: Sequence[Term], past_steps: Sequence[Step]) -> list[str]:
    """Rank the surveyed files, best first."""
    by_term: dict[str, dict[str, int]] = {term.word: {} for term in terms}
    word_of = {patterns.match_mention(term): term.word for term in terms}
    word_of[patterns.match_related(terms)] = RELATED
    for step in past_steps:
        if step.argument("output_mode") == "count":
            word = word_of.get(step.argument("pattern"))
            if word is not None:
                by_term.setdefault(word, {}).update(observations.read_counts(step))
        for path in observations.list_paths(step):
            by_term[terms[0].word].setdefault(path, 0)
    return [path for path, _ in rank(terms, by_term)]


def _unknown_names(terms: Sequence[Term], observed: Observations) -> list[str]:
    expressions = [patterns.match_in_text(term) for term in terms]
    call_counts: Counter[str] = Counter()
    defined: set[str] = set()
    for lines in observed.lines.values():
        for text in lines.values():
            if definition := patterns.DEFINITION.match(text):
                defined.add(definition["name"])
                continue
            call_counts.update(set(_CALL.findall(text)))
    unknown = [
        name
        for name in call_counts
        if name not in defined
        and call_counts[name] >= CALLED_OFTEN
        and any(expression.search(name) for expression in expressions)
    ]
    return sorted(unknown, key=lambda name: (-call_counts[name], name))[:MAX_FOLLOWED]
