"""Rules and prompt files: texts that are put around what a model is asked."""

import re
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal

import yaml
from pathspec import GitIgnoreSpec
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from swarm_bench.config.text_file import MARK
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.untrusted import read_inside

_LARGEST = 256 * 1024
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_OPEN = re.compile(r"---[ \t]*\r?\n(?:name|description|globs|alwaysApply)[ \t]*:")
"""Begins front matter, and no text behind a line."""
_PREAMBLE = re.compile(r"\A(---[ \t]*\r?\n)?(.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
"""Of a prompt file, which need not begin with a line of dashes."""
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
"""Of a task in all prompt files: each of them is put around the ones before."""
_MOST_GLOBS = 1_000
"""With the alternatives of their braces apart."""
_NOTHING = ("", "~", "null")
"""As YAML writes it."""


class PromptText(BaseModel):
    """One of them, as the arm has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Its path."""
    kind: Literal["rule", "prompt"]
    text: str
    globs: tuple[str, ...] = ()
    """Of rules: the files that they are for; empty for all."""

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
