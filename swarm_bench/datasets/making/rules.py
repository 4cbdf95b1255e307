"""Which commits make no task, as far as their messages and the names of their files tell."""

import re
from collections.abc import Collection, Iterator

from swarm_bench.datasets.making.messages import clean, names_commit, names_file
from swarm_bench.runtime.workspaces.history import Commit, FileChange
from swarm_bench.source.files import UNDECLARED, Files, Purpose, is_line
from swarm_bench.text.languages import language_of

MOST_FILES = 6
_LONGEST = 400
"""Characters of a first sentence; longer ones are logs and lists, and no question. Nor is more of
a first line looked at: expressions take a time that grows with the square."""
_REVERT = re.compile(
    r"^\W*(revert(s|ed|ing)?|back\s?out|backed out|undo)\b|This reverts commit", re.IGNORECASE
)
_MERGE = re.compile(r"^\s*(merged?\b|(appl(y|ied|ies)|commit(ted)?)\b.*\bpatch)", re.IGNORECASE)
_BUMP = re.compile(
    r"\b(bump|upgrade|update|pin|unpin)[sd]?\b.*\b(to|from)\s+[\w./-]*\d|^\s*bump|^\s*v?\d+(\.\d+)+\S*\s*$|"
    r"^\s*(deps|build|release)\b\s*[:(]|\(deps(-dev)?\)|\bdependenc(y|ies)\b|"
    r"^\s*(release|prepare|tag|version|cut)\b|\bchange ?log\b|\b(version|release) (bump|number)|"
    r"^\s*\S+@[~^]?\d|\bnext (version|release)\b|\b(back to|start) (development|dev)\b",
    re.IGNORECASE,
)
_FORMATTING = re.compile(
    r"\b(pep-?8|pep-?257|flake8|pylint|lint(s|er|ing|ed)?|pyflakes|isort|black|ruff|prettier|"
    r"eslint|standard style|gofmt|gofumpt|rustfmt|cargo fmt|golint|golangci\S*|clippy|pyupgrade|"
    r"autopep8|mypy|white ?spaces?|indent(ation|s|ed)?|formatting|coding style|code style|"
    r"(re)?format(ting|ted)? (the )?(code|files?|source)|cosmetic(s)?|typos?|spell(ing)?|"
    r"misspell\w*|grammar|wording|type (hints?|annotations?)|typing|type ignores?|unused|"
    r"dead.code|line length|trailing|quotes|f-strings?|nits?)\b|^\s*style\b",
    re.IGNORECASE,
)
_DOCUMENTATION = re.compile(
    r"^\s*(docs?|test|tests|ci|readme)\s*(\([^)]*\))?!?\s*:|^\s*(document|annotat)|"
    r"\b(annotations?|doc ?strings?|documentation|docs?|javadoc|jsdoc|godoc|readme|comments?|"
    r"commented|doc comments?|licen[sc]es?|copyrights?|code of conduct|authors?|contributors?|"
    r"travis|tox|(github )?workflows?|github actions?|appveyor|codecov|coverage|test suite|"
    r"unit ?tests?|tests?|test_\w+)\b",
    re.IGNORECASE,
)
_TIDYING = re.compile(
    r"^\W*(\w+(\([^)]*\))?: *)?(refactor|clean|simplif|polish|reorgani|restructur|tid(y|ied)|"
    r"moderni|extract|split|mov(e|ed|es|ing)\b|renam|replac|reorder|re-?arrang|unif(y|i)|"
    r"consolidat|another\b|more\b|attempt|try|tried|experiment|wip\b|first\b|initial|start|"
    r"temporar|no need|s/|adjust|tweak|modif|minor|small|convert|switch|migrat|port(ed)?\b|reduc|"
    r"reus|address|follow|fixup|squash|hack|todo|we\b|use\b.*\b(instead|replace|similar)\b|prefer\b|"
    r"optimi|speed|performance|inlin|working on)|"
    r"\b(duplicated? code|refactor\w*|simplifications|automated|auto[ -]?fix\w*|moderni[sz]\w*|"
    r"pre-?commit|hard-?coded?|more explicit|readability|unkeyed|variable names?|"
    r"un(necessary|needed)|needless|redundant|tedious|superfluous|obsolete)\b|"
    r"^\W*(oops|us(e|es|ed|ing) .*\b(constants?|standard)\b)|"
    r"\b(various|misc\.?|miscellaneous|several|some|a bunch of|a lot of|lots of) (\w+ )?"
    r"(changes|enhancements|fixes|improvements)\b|"
    r"\b(code|build|ci|windows build|compile|compil\w+ (warnings?|errors?)|refactor(s|ing|ed)?|"
    r"clean(s|ed)? ?up|deploy|simplif\w+|style|deprecat\w* (code|features?)|warnings?|"
    r"performance)\s*(\(#\d+\))?\s*$",
    re.IGNORECASE,
)
"""What is done to code without a change that somebody outside of it would notice: a sentence about
it rarely says where."""


def sources(commit: Commit, files: Files = UNDECLARED) -> tuple[FileChange, ...]:
    """Return the changes of source files."""
    changes = commit.changes
    return tuple(c for c in changes if files.purpose_of(c.path) is Purpose.SOURCE)


def find_rejection_reason(
    commit: Commit, files: Files = UNDECLARED, folders: Collection[str] = ()
) -> str | None:
    """Say why no task is made of a commit; `None` when nothing speaks against it. `folders` are
    those that a message may have as its scope."""
    return next(_reasons(commit, files, folders), None)


def _reasons(commit: Commit, files: Files, folders: Collection[str]) -> Iterator[str]:
    subject = commit.message.partition("\n")[0][:_LONGEST]
    if len(commit.parents) > 1 or _MERGE.match(subject):
        yield "merge"
    if not commit.parents:
        yield "the commit has no parent here"
    if _REVERT.search(commit.message):
        yield "revert"
    if _BUMP.search(subject):
        yield "bump of a version or a dependency"
    if _FORMATTING.search(subject):
        yield "formatting, by its message"
    if _DOCUMENTATION.search(subject):
        yield "documentation or tests, by its message"
    if _TIDYING.search(subject):
        yield "tidying, by its message"
    yield from _check_files(commit, files)
    yield from _check_question(commit, folders)


def _check_question(commit: Commit, folders: Collection[str]) -> Iterator[str]:
    paths = [path for change in commit.changes for path in (change.path, change.target)]
    message = clean(commit.message, paths, folders)
    if not message.says_something:
        yield "message that says too little"
    if len(message.subject) > _LONGEST:
        yield "message with too long a first sentence"
    if names_file(message.subject, paths) or names_commit(message.subject):
        yield "message that names a file of it, or a commit"


def _check_files(commit: Commit, files: Files) -> Iterator[str]:
    names = {name for change in commit.changes for name in (change.path, change.target)}
    if any(language_of(name) and not is_line(name) for name in names):
        yield "a source file whose name is no UTF-8, or not on one line"
    purposes = {files.purpose_of(change.path) for change in commit.changes}
    if Purpose.SOURCE not in purposes:
        yield (
            "generated or vendored files only"
            if Purpose.GENERATED in purposes
            else "no source files: tests, documentation, settings"
        )
    changed = sources(commit, files)
    if len(changed) > MOST_FILES:
        yield f"more than {MOST_FILES} source files"
    existing = [change for change in changed if change.old_hash]
    if not existing:
        yield "new files only"
    if all(change.old_hash == change.after for change in existing):
        yield "renames without content"
