"""What the files of a repository are for, by their paths, and which of them a program wrote or
people copied from elsewhere, by the signs that the world uses."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from swarm_bench.text.languages import language_of

VENDORED = re.compile(
    r"(^|/)(node_modules|vendor(s|ed)?|_vendor(ed)?|third[_-]?party|3rd[_-]?party|external|extern|deps|"
    r"bundled|bower_components|jspm_packages|site-packages|Pods|Carthage|Godeps|\.yarn|venv)/"
    r"|[\w.]-\d+\.\d+(\.\d+)+(\.slim)?\.js$|(^|/)\.pnp\.(loader\.)?[cm]js$",
    re.IGNORECASE,
)
"""Paths of what was copied."""
GENERATED = re.compile(
    r"(^|/)(__generated__|generated([_-]sources?)?|src-gen|dist|build|out|__snapshots__)/"
    r"|\.(min|bundle|generated|gen|g|g\.i|designer|pb(enum|json|server)?)\.\w+$|-min\.js$"
    r"|\.(freezed|gr|mocks)\.dart$|_pb2(_\w+)?\.pyi?$|_pb\.(js|ts|d\.ts|rb)$|\.pb\.\w+\.go$"
    r"|[._](generated|autogen)\.\w+$|_gen\.go$|(^|/)(zz_generated|(parse|lex)tab|moc_|qrc_)[^/]*$"
    r"|\.tab\.(c|cc|cpp|cxx|h|hh|hpp)$|(^|/)lex\.\w+\.(c|cc|cpp)$|(^|/)ui_[^/]*\.h$"
    r"|(^|/)(R|BuildConfig)\.java$|(^|/)bindata(_assetfs)?\.go$|(^|/)alembic/versions/[^/]*\.py$"
    r"|(^|/)migrations/(\d{4}_[^/]*|versions/[^/]*)\.py$|(^|/)db/(\w+_)?schema\.rb$",
    re.IGNORECASE,
)
"""Paths of what programs write."""
_HEAD = 4096
"""Bytes at the beginning of a file in which it says that a program wrote it."""
_LONG_LINE = 200
"""Bytes that lines have on average only where a program wrote them."""
_BLOCKS = {"/*": "*/", "<!--": "-->", "{-": "-}", "(*": "*)", "=begin": "=end"}
_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|''')")
_LINE_MARK = re.compile(r"\#|//|--|;|%|\*|'|REM\b|dnl\b")
_SETTING = re.compile(
    r"^#!|coding[:=]|[et]slint-disable|^// ?@ts-|^# (mypy|pylint|ruff|flake8)[: ]"
)
"""Comments that programs read."""
_PRECEDING = re.compile(
    r"['\"]use \w+['\"]|<\?(php|xml)|package\b|import\b|from\b|using\b|@echo\b|declare\(|option\b|"
    r"namespace [\w.\\]+;|open\b|module [\w.]+$|mod\b|use\b|require|exports\b|"
    r"Object\.defineProperty\(exports\b"
)
"""Lines of code that may stand before a comment about the whole file."""
_MARKS = re.compile(r"^[\s#/*;%'\"!<>=-]*|[\s#/*=-]*$")

_AUTO = r"(?:auto(?:matically)?|machine|programmatically)[\s-]*"
_WHOLE_DOC = (
    r"(?:file|code|class|module|script|source|header|interface|program|document|client|package|stub|"
    r"schema|migration|implementation|bindings?)"
)
_START = r"^[^\w\n]{0,20}"
_KIND = (
    r"(?:python|java|c|c\+\+|ansi-c|c\#|javascript|typescript|go|rust|swift|kotlin|ruby|php|grpc|protobuf|"
    r"protocol\s+buffer|source|form|client|server|api|data|meta\s+object|resource|object|test|type|stub)"
)
_VERB = r"(?:generated|produced|created|made|emitted|written)"
_BEGINNINGS = (
    r"(?!\W{0,4}(?:\w+[ -]){0,3}"
    r"(?:admin|startproject|startapp|cookiecutter|create-[\w-]+|init|new)\b)"
)
"""Words for a program that only began a file, which people continue."""
_TOOL = rf"\s+(?:automatically\s+)?(?:by|from|with|using|via)\b{_BEGINNINGS}"
_NOT = r"(?<!\byou\s)\b(?:do\s+\*?not\*?|don['’]t)\s+"
_LONELY = r"(?=[^\w\n]*$|\s*[.,:;!(–—-]|\s+(?:by|from|with|using|via|on|at|files?|code|data|do)\b)"
_STRICT = re.compile(
    rf"""(?xim)
    {_START}@generated\b
  | <auto-?generated\b
  | (?-i:\bDO\ NOT\ (?:EDIT|MODIFY|CHANGE|TOUCH)\b)
  | {_NOT}(?:manually\s+|hand[\s-]*)?(?:edit|modify|change)\s+(?:it\s+)?
      (?:(?:this|the|these)\s+(?:\w+\s+)?{_WHOLE_DOC}s?\b(?!\s+(?:without|before)\b)
        |by\s+hand|manually|directly)
  | {_NOT}(?:hand[\s-]*)?edit\s*(?:$|[!.:])
  | \bthis\s+{_WHOLE_DOC}\s+(?:should|must)\s+not\s+be\s+(?:manually\s+)?(?:edited|modified|changed)
  | {_START}{_AUTO}generated{_LONELY}
  | {_START}(?-i:Generated|GENERATED){_TOOL}
  | \A\W{{0,40}}generated{_TOOL}
  | {_START}(?-i:Generated|GENERATED)\s+(?:on|at)\s+\d
  | (?-i:{_START}(?:Generated|GENERATED)|\A[^\w\n]{{0,20}}generated)
      \s+(?:file|code|source)s?(?=[^\w\n]*$|\s*[.,:;!(-])
  | {_START}(?:\w+:\s+)?(?:(?:this|the\s+following|an?)\s+)?(?:{_KIND}\s+)?{_WHOLE_DOC}\s+
      (?:(?:was|is|has\s+been)\s+)?(?:{_AUTO})?generated{_TOOL}(?!\s+this\b)
  | \bthis\s+(?:\w+\s+)?{_WHOLE_DOC}\s+(?:is|was|has\s+been|gets)\s+
      (?:\w+ly\s+|an?\s+)?@?(?:{_AUTO})?(?:re)?generated\b
  | \bthis\s+is\s+an?\s+(?:{_AUTO})?generated\s+(?:\w+\s+)?{_WHOLE_DOC}\b
  | {_START}(?-i:Generated|GENERATED)\s+{_KIND}\s+(?:code|file)[^\w\n]*$
  | {_START}meta\s+object\s+code\s+from\s+reading\b
  | [(]generated\s+by\s+open-?api
  | {_START}(?:an?\s+)?(?:[\w+\#-]{{1,20}}\s+){{0,2}}(?:parser|scanner|lexer|code|tables?),?\s+
      {_VERB}\s+by\s+(?:gnu|bison|byacc|yacc|flex|lex|re2c|gperf|jison|ragel|antlr|peg\S*)\b
  | \bcreated\s+by:\s+(?:the\s+resource\s+compiler|qt\b)
  | [(\[]{_AUTO}generated\b[^)\]\n]{{0,60}}[)\]][^\w\n]*$
    """
)
"""Text that says it of the whole file, in comments and in the text at the head of a module."""
_LOOSE = re.compile(
    rf"""(?xim)
    [.!]\s+(?-i:Generated|GENERATED){_TOOL}
  | {_START}[\w./-]{{1,80}}\.\w{{1,5}}[.:]?\s+(?:is\s+)?generated{_TOOL}(?!\s+this\b)
  | (?:@|\b__)generated(?:__)?\s+by\b
  | \balways\s+generated\s+file\b
  | \bthis\s+file\s+is\s+an?\s+amalgamation\b
  | (?<!\bnot\s)(?<!\bthan\s)\b{_AUTO}generated{_TOOL}(?!\s+this\b)
  | \b{_AUTO}generated\s+{_WHOLE_DOC}s?\b
  | \b(?:changes|edits|modifications)\b[^.!]{{0,60}}\b(?:this|the)\s+{_WHOLE_DOC}\b[^.!]{{0,80}}
      \b(?:lost|overwritten|discarded)\b
  | \b(?:all|any|manual|local|your)\s+(?:changes|edits|modifications)\s+(?:made\s+)?(?:here\s+)?
      (?:will|may)\s+be\s+(?:lost|overwritten|discarded)\b
    """
)
"""Text that says so in comments only: prose at the head of a module can be about other things."""
_ANNOTATION = re.compile(rb"^@(\w+\.)*\w*Generated\b", re.MULTILINE)
_BANNER = re.compile(
    rb"\A\s*/\*(?:!|\*\s*@license\b)[^\n]{0,200}(?:\n[^\n]{0,200}){0,2}?\bv?\d+\.\d+\.\d+\b"
)
"""Beginning of a library in one file, which is copied: its licence, which is kept when it is made
smaller, and its version."""
_MAPPED = re.compile(rb"^(//|/\*)[#@] sourceMappingURL=", re.MULTILINE)
_TAIL = 500


def says_generated(source: bytes) -> bool:
    """Tell whether the content of a file says that a program wrote it, or looks so: with lines that
    no person writes, or with a map to what it was made of."""
    if len(source) >= _LONG_LINE * (source.count(b"\n") + 1) or _MAPPED.search(source[-_TAIL:]):
        return True
    if _ANNOTATION.search(source[:_HEAD]) or _BANNER.match(source[:_HEAD]):
        return True
    lines = list(_head(source[:_HEAD].decode("utf-8", "replace")))
    comments = "\n".join(line for line, is_prose in lines if not is_prose)
    text = "\n".join(line for line, _ in lines)
    return _STRICT.search(text) is not None or _LOOSE.search(comments) is not None


def _head(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of the comments before the program begins, without their marks, each with
    whether it is of a docstring."""
    end, is_prose = "", False
    for line in map(str.strip, text.removeprefix("\ufeff").splitlines()):
        if end:
            yield _MARKS.sub("", line), is_prose
            end = "" if end in line else end
        elif docstring := _DOCSTRING.match(line):
            remaining = line[docstring.end() :]
            end, is_prose = ("" if docstring[1] in remaining else docstring[1]), True
            yield _MARKS.sub("", remaining), True
        elif opening := next((mark for mark in _BLOCKS if line.startswith(mark)), None):
            end, is_prose = ("" if _BLOCKS[opening] in line else _BLOCKS[opening]), False
            yield _MARKS.sub("", line), False
        elif _SETTING.search(line):
            continue
        elif _LINE_MARK.match(line):
            yield _MARKS.sub("", line), False
        elif line and not _PRECEDING.match(line):
            return


_TEST = re.compile(
    r"(^|/)(tests?|test_?(suites?|utils?|helpers?)|\w+_tests?|__tests__|specs?|testdata|fixtures|__fixtures__|__mocks__|e2e)/"
    r"|(^|/)(?!(la|con|at)test/)[a-z]+test/[^/]*\.go$"
    r"|(^|/)(tests?_[^/]*|tests?|conftest)\.\w+$|[._-](tests?|spec)(-d)?\.\w+$"
)
_MAY_BE_TEST = re.compile(r"tests?(_?(utils?|helpers?|case|client))?\.\w+")
_DOCUMENTATION = re.compile(
    r"(^|/)(docs?|documentation|website|examples?|_?samples?|demos?|tutorials?|bench(es|marks?)?|"
    r"perf)/|[._-]bench([._-][^/]*)?\.\w+$",
    re.IGNORECASE,
)
_SETTINGS = re.compile(
    r"(^|/)(\.[^/]+/|ci/|(setup|noxfile|fabfile|conf|tasks|_?_?version_?_?|__about__)\.py$|build\.rs$|"
    r"version\.\w+$|(gulp|grunt|jake|rake|cake)file\.\w+$|[^/]+\.config\.\w+$|\.[^/]+$)",
    re.IGNORECASE,
)
_NO_LINE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


class Purpose(Enum):
    """What a file is for."""

    SOURCE = auto()
    TEST = auto()
    DOCUMENTATION = auto()
    """Examples and benchmarks too."""
    GENERATED = auto()
    """Or written elsewhere, and copied."""
    OTHER = auto()
    """Settings, data, and what builds and releases the program."""


_PURPOSES = (
    (_TEST, Purpose.TEST),
    (_DOCUMENTATION, Purpose.DOCUMENTATION),
    (_SETTINGS, Purpose.OTHER),
)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a `.gitattributes` says of a file, which has the last word; `None`: nothing."""

    generated: bool | None = None
    vendored: bool | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Files:
    """What the files of a repository are for."""

    declared: Mapping[str, Declared] = field(default_factory=dict)
    """Declarations by path, of the files that have any."""

    def purpose_of(self, path: str) -> Purpose:
        """Tell what a file is for, by its path and what is declared of it."""
        if language_of(path) is None or not is_line(path):
            return Purpose.OTHER
        declaration = self.declared.get(path, Declared())
        vendored, generated = declaration.vendored, declaration.generated
        if VENDORED.search(path) if vendored is None else vendored:
            return Purpose.GENERATED
        if GENERATED.search(path) if generated is None else generated:
            return Purpose.GENERATED
        for pattern, purpose in _PURPOSES:
            if pattern.search(path):
                return purpose
        return Purpose.SOURCE

    def is_generated(self, path: str, source: bytes) -> bool:
        """Tell whether a program wrote a file, by its content and what is declared of it."""
        declared = self.declared.get(path, Declared()).generated
        return says_generated(source) if declared is None else declared


UNDECLARED = Files()
"""Files of a repository without a `.gitattributes`."""


def purpose_of(path: str) -> Purpose:
    """Tell what a file is for, by its path alone."""
    return UNDECLARED.purpose_of(path)


def may_be_test(path: str) -> bool:
    """Tell whether its name leaves open if it holds tests, or helps with them and is part of the
    program."""
    folder, _, name = path.rpartition("/")
    return _MAY_BE_TEST.fullmatch(name) is not None and _TEST.search(f"{folder}/") is None


def is_line(path: str) -> bool:
    """Tell whether a path is text on one line: an answer can name no other one."""
    return _NO_LINE.search(path) is None
