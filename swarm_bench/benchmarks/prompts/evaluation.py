"""The benchmark `prompt-evaluation`: what rules and prompt files bring, and what they cost."""

import re
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pathspec import GitIgnoreSpec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import RowCase, Scores, Tools
from swarm_bench.benchmarks.prompts.common import (
    CHECKED,
    CORRECT,
    MARKED,
    QUALITY,
    Prompted,
    ask_opinion,
    check_varied,
)
from swarm_bench.config.text_file import MARK
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.session.models import Arm, ModelRecord
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.untrusted import read_inside

_LARGEST = 256 * 1024
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_OPEN = re.compile(r"---[ \t]*\r?\n(?:name|description|globs|alwaysApply)[ \t]*:")
"""Beginning of front matter, and of no text behind a line."""
_PREAMBLE = re.compile(r"\A(---[ \t]*\r?\n)?(.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
"""Preamble of a prompt file, which need not begin with a line of dashes."""
_NOTES = re.compile(r"^(name|description):.*\n?(?:(?:[ \t].*|\r?)\n)*", re.MULTILINE)
"""Keys whose values are for people, who write colons as in any other text."""
_STAR = re.compile(r"^(globs:|[ \t]*-)[ \t]+(\*(?:[^#\r\n]|(?<![ \t])#)*).*$", re.MULTILINE)
"""A pattern as Cursor writes it; in YAML it stands in quotes."""
_IN_LINE = re.compile(r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+")
"""A pattern of those that have commas between them."""
_SYSTEM = re.compile(r"<system>((?:(?!<system>).)*?)</system>", re.DOTALL)
_SYSTEM_MARK = re.compile(r"</?system>")
_GAP = re.compile(r"\{\{\{([^{}]*)\}\}\}")
_INPUT = "input"
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_PLACES = 16
"""Most places for a task in all prompt files: each of them is put around the ones before."""
_MOST_GLOBS = 1_000
"""Most patterns, with each alternative in braces counted by itself."""
_NOTHING = ("", "~", "null")
"""Empty values, as YAML writes them."""


class PromptText(BaseModel):
    """One of them, as the arm has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Path of the prompt file."""
    kind: Literal["rule", "prompt"]
    text: str
    globs: tuple[str, ...] = ()
    """Patterns of the files that a rule is for; empty for all."""

    def fits(self, file: str) -> bool:
        """Tell whether it is for what is asked of a file."""
        return not self.globs or GitIgnoreSpec.from_lines(self.globs).match_file(file)


class _Head(BaseModel):
    """The front matter of rules."""

    globs: list[str] = []
    alwaysApply: bool | None = None

    @field_validator("globs", mode="before")
    @classmethod
    def _split_line(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [] if value in _NOTHING else _IN_LINE.findall(value)
        return value

    @field_validator("alwaysApply", mode="before")
    @classmethod
    def _read_nothing(cls, value: object) -> object:
        return None if value in _NOTHING else value


def read_texts(rules: Iterable[str], prompts: Iterable[str]) -> tuple[PromptText, ...]:
    """Read files of rules and prompt files. Raises `ConfigError`."""
    texts = (*map(_read_rules, rules), *map(_read_prompt, prompts))
    if empty := next((text.name for text in texts if not text.text), None):
        raise ConfigError(f"{empty} has no text; omit it")
    names = [text.name for text in texts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"{twice} is named twice among rules and prompts; name it once")
    places = prod(len(_GAP.findall(text.text)) or 1 for text in texts if text.kind == "prompt")
    if places > _MOST_PLACES:
        raise ConfigError(
            f"The prompt files put a task in {places:,} places, as each is put around the ones "
            f"before; have {{{{{{ {_INPUT} }}}}}} at most {_MOST_PLACES} times"
        )
    return texts


def _read_rules(path: str) -> PromptText:
    """Read a file of rules, Markdown with front matter or without. Raises `ConfigError`."""
    text = _read(path)
    match = _HEAD.match(text)
    if match is None and _OPEN.match(text):
        raise ConfigError(f"{path}: its front matter has no end; close it with a line of ---")
    try:
        head = _Head.model_validate(_read_yaml(match[1]) or {}) if match else _Head()
    except (yaml.YAMLError, ValidationError) as error:
        clause = first_clause(error) if isinstance(error, ValidationError) else "is no YAML"
        raise ConfigError(f"{path}: its front matter {clause}; fix the file") from error
    globs = _expand_globs(path, map(str.strip, head.globs))
    if head.alwaysApply is False and not globs:
        raise ConfigError(
            f"{path}: these rules apply to no file, as alwaysApply is false and globs are missing; "
            "name globs, or omit alwaysApply"
        )
    return PromptText(
        name=path,
        kind="rule",
        text=(text[match.end() :] if match else text).strip(),
        globs=() if head.alwaysApply else globs,
    )


def _read_prompt(path: str) -> PromptText:
    """Read a prompt file. Raises `ConfigError`."""
    text = _read(path)
    head = _PREAMBLE.match(text)
    body = text[head.end() :] if head and _is_for_programs(head) else text
    unknown = [gap.strip() for gap in _GAP.findall(body) if gap.strip() != _INPUT]
    if unknown:
        raise ConfigError(
            f"{path}: nothing is put in the place of {{{{{{ {unknown[0]} }}}}}}; only "
            f"{{{{{{ {_INPUT} }}}}}} is known, so omit it"
        )
    if any(map(_GAP.search, _SYSTEM.findall(body))):
        raise ConfigError(
            f"{path} has {{{{{{ {_INPUT} }}}}}} between <system> and </system>; put it behind them"
        )
    if _SYSTEM_MARK.search(_SYSTEM.sub("", body)):
        raise ConfigError(f"{path} has one of <system> and </system>; give both, or none")
    return PromptText(name=path, kind="prompt", text=body.strip())


def _is_for_programs(head: re.Match[str]) -> bool:
    """Tell whether what stands before a line of dashes is no text. A comment of YAML by itself is
    one only behind such a line: it may be a heading."""
    begins_with_dashes, text = head.groups()
    try:
        content = _read_yaml(text)
    except yaml.YAMLError:
        return False
    is_empty = content is None and bool(begins_with_dashes or not text.strip())
    return is_empty or isinstance(content, dict)


def _read_yaml(text: str) -> Any:
    """Read front matter; its values stay texts, of which none is a bad date or number. Raises
    `YAMLError`."""
    text = _STAR.sub(_quote, _NOTES.sub(r"\1: ''\n", text))
    try:
        return yaml.load(text, yaml.BaseLoader)
    except (ValueError, OverflowError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from error


def _quote(match: re.Match[str]) -> str:
    return "{} '{}'".format(match[1], match[2].strip().replace("'", "''"))


def _expand_globs(path: str, globs: Iterable[str]) -> tuple[str, ...]:
    """Write alternatives in braces apart. Raises `ConfigError`."""
    expanded, pending = list[str](), list(globs)[::-1]
    while pending:
        glob = pending.pop()
        if match := _BRACES.search(glob):
            head, behind = glob[: match.start()], glob[match.end() :]
            pending += [f"{head}{choice}{behind}" for choice in match[1].split(",")[::-1]]
        else:
            expanded.append(glob)
        if len(pending) + len(expanded) > _MOST_GLOBS:
            raise ConfigError(f"{path} has globs for more than {_MOST_GLOBS} patterns; give fewer")
    try:
        GitIgnoreSpec.from_lines(expanded)
        "".join(expanded).encode()  # of half a character there is no file
    except (ValueError, re.error) as error:
        raise ConfigError(f"{path} has globs that cannot be read ({error}); fix them") from error
    return tuple(expanded)


def join_system(texts: Iterable[PromptText], first_text: str, file: str) -> str:
    """Return what the model is told first: what stands `before`, the rules that fit the file, and
    what prompt files have for it."""
    parts = [first_text]
    for text in texts:
        if text.kind == "prompt":
            parts += _SYSTEM.findall(text.text)
        elif text.fits(file):
            parts.append(text.text)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def fill_prompts(texts: Sequence[PromptText], prompt: str) -> str:
    """Put what is asked into the prompt files, each around the one before."""
    for text in texts:
        if text.kind == "prompt":
            body = _SYSTEM.sub("", text.text).strip()
            inner, has_gap = prompt, _GAP.search(body) is not None
            prompt = _GAP.sub(lambda _: inner, body) if has_gap else f"{body}\n\n{inner}"  # noqa: B023
    return prompt.strip()


def _read(path: str) -> str:
    """Read a file below the working folder: what a checkout names is not read elsewhere. Raises
    `ConfigError`."""
    content = read_inside(Path.cwd(), path, _LARGEST + 1)
    if content is None:
        raise ConfigError(f"{path} {_explain_unread(path)}")
    if len(content) > _LARGEST:
        raise ConfigError(f"{path} has more than {_LARGEST // 1024} KiB; give a shorter text")
    try:
        return content.decode().removeprefix(MARK)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8; convert it") from error


def _explain_unread(path: str) -> str:
    """Say in a clause why a file cannot be read, and what to do."""
    inner = Path(path)
    if inner.is_absolute() or ".." in inner.parts:
        return "is no path from the working folder to below it; copy the file there"
    try:
        if any(part.is_symlink() for part in (inner, *inner.parents)):
            return "is a link, or behind one, which is not followed; name the file itself"
        if inner.is_dir():
            return "is a folder; name its files"
        if not inner.exists():
            paths = ", ".join(f'"{part.strip()}"' for part in path.split(","))
            advice = f"several are written as a list: [{paths}]"
            return f"is missing; {advice if ',' in path else 'give its path from here'}"
    except (OSError, ValueError):
        return "is no path of a file; give its path from here"
    return "cannot be read; see what it is, and its permissions"


NONE, ALL = "none", "all"
"""Names of arms beside their model."""
_FILES = ("rulesFiles", "promptFiles")
_PROMPTS = ("systemPrompt", *_FILES)
Paths = Annotated[list[str], BeforeValidator(lambda it: [it] if _is_path(it) else it)]


def _is_path(value: object) -> bool:
    """Tell whether it is the path of one file, and no list of them."""
    return isinstance(value, str) and not value.lstrip().startswith("[")


class PromptEvaluation(Prompted):
    """Rules and prompt files, each alone and all together, against none."""

    name: ClassVar[str] = "prompt-evaluation"
    judged: ClassVar[tuple[str, ...]] = (QUALITY,)

    rulesFiles: Paths = Field(
        default=[], description="Files of rules, Markdown below the working folder."
    )
    promptFiles: Paths = Field(
        default=[], description="Prompt files, which may have <system> and {{{ input }}}."
    )
    combined: bool = Field(default=True, description="Have an arm with all of them, too.")
    texts: tuple[PromptText, ...] = Field(
        default_factory=lambda own: read_texts(*(own.get(name, ()) for name in _FILES)),
        description="What these files have; the session keeps it.",
    )

    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        """Make an arm of each model without any file, with each one, and with all; a prompt of
        `--vary` is one more. Each has its texts, and is held against that of its model without any.
        Raises `UsageError`."""
        check_varied(models, ("combined", "texts"))
        parts: dict[str, tuple[PromptText, ...]] = {NONE: ()}
        for text in self.texts:
            if text.name in (NONE, ALL):
                raise UsageError(f"An arm is called {text.name}; give the file as ./{text.name}")
            parts[text.name] = (text,)
        if self.combined and len(self.texts) > 1:
            parts[ALL] = self.texts
        arms_by_name = dict[str, Arm]()
        for model in models:
            plain = _drop_prompts(model)
            none = f"{plain.name} {NONE}"
            model_arms = [
                _make_arm(plain, f"{plain.name} {name}", texts) for name, texts in parts.items()
            ]
            if plain is not model:
                model_arms.append(_make_arm(model, model.name, self._read_varied(model)))
            against = {
                "against": none if len(model_arms) > 1 else None
            }  # otherwise models are compared
            arms_by_name |= {arm.name: arm.model_copy(update=against) for arm in model_arms}
        return list(arms_by_name.values())

    def _read_varied(self, model: Arm) -> tuple[PromptText, ...]:
        """Return the texts of an arm that `--vary` gives prompts of its own."""
        properties = {name: value for name, value in model.properties.items() if name in _FILES}
        return PromptEvaluation(**properties).texts

    def system(self, case: RowCase) -> str:
        """Return the system prompt with the rules that fit."""
        return join_system(self.texts, self.systemPrompt, case.row.file)

    def task(self, case: RowCase) -> str:
        """Return what is asked, within the prompt files."""
        return fill_prompts(self.texts, super().task(case))

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run tests, hold checks against the answer, and ask the judge."""
        scores = await super().score(case, prediction, tools)
        if tools.judge is None:
            return {**scores, QUALITY: None}
        quality = (await ask_opinion(tools.judge, super().task(case), prediction)).quality
        return {**scores, QUALITY: quality}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return what is right, what is checked and what is marked, and what it costs."""
        return (CORRECT, CHECKED, MARKED, _READ, _PER_TOKENS)


def _drop_prompts(model: Arm) -> Arm:
    """Return a model without what `--vary` has for its prompts; as it is where that is nothing."""
    remaining = {name: value for name, value in model.properties.items() if name not in _PROMPTS}
    if len(remaining) == len(model.properties):
        return model
    assigned = "".join(f"( {re.escape(name)}=.*)" for name in model.properties)
    match = re.fullmatch(rf"(.*?){assigned}", model.name, re.DOTALL)
    assert match
    texts = zip(model.properties, match.groups()[1:], strict=True)
    name = match[1] + "".join(text for name, text in texts if name in remaining)
    return Arm(name=name, model=model.model, properties=remaining)


def _make_arm(model: Arm, name: str, texts: Sequence[PromptText]) -> Arm:
    plain = [text.model_dump(mode="json") for text in texts]
    properties = {**model.properties, "texts": plain}
    return Arm(name=name, model=model.model, properties=properties)


def _count_tokens_read(record: ModelRecord) -> float | None:
    if record.input_tokens is None:
        return None
    return sum(
        tokens or 0 for tokens in (record.input_tokens, record.cache_read, record.cache_create)
    )


def _right_and_read(record: ModelRecord) -> Sequence[float] | None:
    """Return whether an answer is right, and how many tokens were read for it."""
    passed, tokens = (record.scores or {}).get(PASSED), _count_tokens_read(record)
    return [int(passed), tokens] if isinstance(passed, bool) and tokens is not None else None


def _per_thousand(sums: Sequence[float]) -> float | None:
    right, tokens = sums
    return 1_000 * right / tokens if tokens else None


_READ = Metric(
    key="tokens_read",
    title="Tokens read",
    unit="tokens",
    style=Style.AVERAGE,
    better=Better.LOWER,
    definition="By the model for an answer, prompts included, cached or not: what a prompt adds.",
    read=_count_tokens_read,
    relative=False,
    compared=True,
)
_PER_TOKENS = Metric(
    key="correct_per_1000_tokens",
    title="Correct per 1,000 tokens",
    unit="answers",
    style=Style.FRACTION,
    better=Better.HIGHER,
    definition="Right answers for each thousand tokens that the model read, prompts included.",
    counts=_right_and_read,
    of_counts=_per_thousand,
    relative=False,
    compared=True,
)
