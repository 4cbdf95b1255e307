"""What the message of a commit says, without what would give the answer away."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePosixPath

_TRAILER = re.compile(
    r"^\s*([A-Z][A-Za-z]*(-[A-Za-z]+)+|Cc|Refs?|See|Fix(es|ed)?|Closes?|Resolves?|References?|"
    r"Link|Bug|Issue)\s*:|^\s*\(cherry picked|^-{3,}|^\s*(git-svn-id)",
)
_KIND = re.compile(r"^(\w+)(\([^)]*\))?!?:\s+", re.ASCII)
_KINDS = frozenset(
    {"feat", "feature", "fix", "bugfix", "hotfix", "refactor", "perf", "chore", "impl"}
    | {"added", "fixed", "changed"}
)
_SCOPE = re.compile(r"^(?:\[[^\]]{1,30}\]\s*|([\w./,*{}-]{1,40})\s*:\s+)", re.ASCII)
_REPOSITORY = r"(?:[\w.-]{1,40}/[\w.-]{1,100})?"
_NUMBER = rf"(?:{_REPOSITORY}#\d++|GH-?\d++|\d{{3,}}+)"
_WORD_OF_ISSUE = (
    r"(?:fix(?:es|ed|ing)?|close[sd]?|cloases|closing|resolve[sd]?|see|refs?|references?|issues?|"
    r"tickets?|pull requests?|pr|bug|gh|for|per|from|as in|re)"
)
_ISSUE = re.compile(
    rf"[(\[]\s*(?:{_WORD_OF_ISSUE}[\s:]*){{0,5}}{_NUMBER}(?:[\s,&]*(?:and\s*)?{_NUMBER})*+\s*[)\]]|"
    rf"\[ticket:[^\]]*\]|"
    rf"(?:[,;.]|\band\b)?\s*(?:\b{_WORD_OF_ISSUE}[\s:-]*){{0,5}}{_REPOSITORY}(?:#|\bGH-)\d+(?:\s*(?:--?|:))?|"
    rf"\b(?:{_WORD_OF_ISSUE}[\s:]+){{0,5}}(?:issue|ticket|bug|pr)\s+\d+",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"<?\bhttps?://\S+|(?<!\S)\S[^\s@]*+@\S+\.\w+>?")
_KEYWORDS = 8
_SENTENCE = re.compile(r"(?<=[a-z0-9)`'\"][.!?])\s+(?=[A-Z`])")
_CREDIT = re.compile(
    r"\(\s*(?:patch|thanks|thx|courtesy|contributed|reported|rebased|by|via)\b[^()]*\)"
    r"|[,;.]?\s*\b(?:many )?(?:thanks|thx)\b(?:[^.]|\.\b)*(?=\.|$)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\bthis (class|code|command|crate|file|function|library|method|module|package)\b|"
    r"\s\*\s|\?$",
    re.IGNORECASE,
)
"""Pattern that points to something only the author saw; or a list, or a question."""
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
_WORD = re.compile(r"[^\W\d]\w+")
_TERM = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[^\W\dA-Z_]+")
_NAME = re.compile(r"\b(?:[^\W_]*[a-z][A-Z]\w*|\w*[^\W_]_[^\W_]\w*|[^\W\d]\w*(?=\())")
_BEGINNING = 5
"""Letters by which two words are the same."""
_VAGUE_WORDS = """
    a an and or of to in on for from with without by at as is are was be been it its this that
    these those the when where if not no now so also only all any some more less other into than
    then do does don did doesn have has had can could should would may will up out over new old
    fix fixes fixed fixing add adds added adding update updates updated updating change changes
    changed make makes made making use uses used using remove removes removed improve improves
    improved improving improvement improvements allow allows allowed support supports refactor
    refactors refactored refactoring refactorings clean cleans cleaned cleanup cleanups minor small
    tiny little better bit code codes stuff thing things work works working wip move moved moves
    rename renamed simplify simplified tweak tweaks tweaked test tests testing file files function
    functions method methods class classes feature features issue issues bug bugs problem problems
    error errors first initial start started continue implement implemented implementation some
    get set handle correct correctly proper properly missing few several various part follow
    review address merge commit version release polish polishing again still just really we i you
    my our instead via due per them they their there which what who how func funcs short such
"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_ASKED_WORDS = """
    no not without error errors missing remove removes removed file files function functions method
    methods class classes
"""
_REQUEST_WORDS = frozenset(_ASKED_WORDS.split())
"""Vague words that a search for what is asked keeps."""
_MIN_TERMS = ((4, 4), (3, 6), (2, 9))
"""Least number of different words besides the vague ones, in the subject and in all; with fewer,
the meaning cannot be known."""
_FEWEST = 5
"""Words of a paragraph that explains anything."""
_LONGEST = 400
_LONGEST_PARAGRAPH = 2_000
"""Characters that are looked at: expressions take a time that grows with the square."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A commit's message, cleaned."""

    subject: str
    """First sentence of the message."""
    paragraph: str
    """Paragraph that explains it; may be empty."""
    had_scope: bool = False
    """Whether it began with a part of the program, which was taken out."""

    @property
    def text(self) -> str:
        return (
            f"{_end_sentence(self.subject)} {self.paragraph}".strip()
            if self.paragraph
            else self.subject
        )

    @property
    def keywords(self) -> tuple[str, ...]:
        """Its telling words, in their order, with numbers and what is asked of them; those of the
        paragraph only when the subject has too few."""
        enough = len(telling_words(self.subject)) > 2
        return _find_different(
            _TERM, self.subject if enough else self.text, _VAGUE - _REQUEST_WORDS
        )

    @property
    def names(self) -> frozenset[str]:
        """Return the names in the message that are no plain words, such as `LinkExtractor`,
        `max_size` or `close()`."""
        return frozenset(_NAME.findall(self.text))

    def leads_to(self, text: str, *, least: int, common: Collection[str] = ()) -> bool:
        """Tell whether a text has so many of its telling words, or words that begin like them;
        beginnings that are `common` do not count."""
        terms = beginnings(" ".join(telling_words(self.text))).difference(common)
        return len(terms & beginnings(text)) >= least

    @property
    def says_something(self) -> bool:
        if _POINTS.search(self.subject):
            return False
        subject, text = len(telling_words(self.subject)), len(telling_words(self.text))
        return any(subject >= few and text >= many for few, many in _MIN_TERMS)


def telling_words(text: str) -> tuple[str, ...]:
    """Return the different words of a text that say what it is about."""
    return _find_different(_WORD, text, _VAGUE)


def first_words(terms: Sequence[str]) -> str:
    """Write the keywords of a task: the first of the words that say what it is about."""
    return " ".join(terms[:_KEYWORDS])


def sentences(text: str) -> list[str]:
    """Take a text apart at the ends of its sentences."""
    return _SENTENCE.split(text)


def beginnings(text: str) -> set[str]:
    """Return how the words of a text begin that are not vague, and the parts of its names."""
    parts = (part.lower() for part in _PART.findall(text) if len(part) > 2)
    return {part[:_BEGINNING] for part in parts if part not in _VAGUE}


def _find_different(
    pattern: re.Pattern[str], text: str, omitted: frozenset[str]
) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for word in pattern.findall(text):
        tells = len(word) > 2 or word.isupper() or word.lower() in _REQUEST_WORDS
        if tells and word.lower() not in omitted:
            first.setdefault(word.lower(), word)
    return tuple(first.values())


def clean(message: str, paths: Iterable[str], folders: Collection[str] = ()) -> Message:
    """Take out of a message what is no part of the question: kinds, issues, addresses, trailers,
    a scope that names one of the changed files or any of the `folders`, in lower case, and a
    paragraph that names one of the changed files."""
    paths = tuple(paths)
    readable = message.encode("utf-8", "replace").decode()
    paragraphs = filter(None, map(_join_lines, re.split(r"\n\s*\n", readable)))
    first, second = islice(chain(paragraphs, ("", "")), 2)
    head, had_scope = _drop_scope(_drop_references(first), paths, folders)
    subject, *more_sentences = _SENTENCE.split(head, maxsplit=1)
    body = more_sentences[0] if more_sentences else _prose(second)
    if not _explains(body) or names_file(body, paths) or _repeats(body, subject):
        body = ""
    return Message(subject=_plain(subject), paragraph=_shorten(body), had_scope=had_scope)


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the names of the folders of some files, in lower case."""
    return frozenset(part for path in paths for part in path.lower().split("/")[:-1])


def names_file(text: str, paths: Iterable[str]) -> bool:
    """Tell whether a text names one of the files: by its name, its module, or a stem that is no
    plain word."""
    lower = text.lower()
    return any(_is_named(path, text, lower) for path in set(paths))


def names_commit(text: str) -> bool:
    """Tell whether a text has what may be the hash of a commit."""
    return any(any(map(str.isdigit, word)) for word in _HASH.findall(text))


def _is_named(path: str, text: str, lower: str) -> bool:
    stem = PurePosixPath(path).stem
    if stem in text and re.search(rf"(?<![\w.]){re.escape(stem)}\.[a-z_]{{3,}}", text):
        return True
    names = (name for name in _names(path) if name in lower)
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", lower) for name in names)


def _names(path: str) -> set[str]:
    """Return what names a file, in lower case."""
    file = PurePosixPath(path)
    names = {file.name}
    stem = file.stem
    if re.search(r"[a-z0-9][A-Z]|\w[_-]\w", stem):
        names.add(stem)
    if len(file.parts) > 1:
        module = file.parent.name if stem in ("__init__", "mod", "index", "lib") else stem
        folder = file.parent.parent.name if module is not stem else file.parent.name
        names |= {f"{folder}{mark}{module}" for mark in (".", "/", "::") if folder}
    return {name.lower() for name in names}


def _join_lines(paragraph: str) -> str:
    lines = paragraph[:_LONGEST_PARAGRAPH].splitlines()
    return " ".join(word for line in lines if not _TRAILER.match(line) for word in line.split())


def _drop_references(text: str) -> str:
    text = _CREDIT.sub("", _ADDRESS.sub("", text))
    return " ".join(_ISSUE.sub(" ", text).split()).lstrip("-*:•, ")


def _prose(paragraph: str) -> str:
    return "" if re.match(r"[-*•+\d]", paragraph) else _drop_references(paragraph)


def _drop_scope(subject: str, paths: tuple[str, ...], folders: Collection[str]) -> tuple[str, bool]:
    """Return the subject without its kind and scope, and whether a scope was taken out."""
    had_scope = False
    if (kind := _KIND.match(subject)) and kind[1].lower() in _KINDS:
        had_scope = kind[2] is not None
        subject = f"{'fix: ' if 'fix' in kind[1].lower() else ''}{subject[kind.end() :]}"
    scope = _SCOPE.match(subject)
    if scope is None or scope[1] == "fix":
        return subject, had_scope
    parts = set(re.split(r"\W+", (scope[1] or "").lower()))
    names = {
        part.lower()
        for path in paths
        for part in (*PurePosixPath(path).parts, PurePosixPath(path).stem)
    }
    if scope[1] is None or "/" in scope[1] or not parts.isdisjoint(names.union(folders)):
        return subject[scope.end() :], True
    return subject, had_scope


def _explains(text: str) -> bool:
    """Tell whether a text is prose: no listing, no code, no figures."""
    is_listing = re.search(r"(?:^|\s)[*+-] .*\s[*+-] |```|>>>|\d+%|ns/op", text)
    return not (is_listing or names_commit(text) or len(text.split()) < _FEWEST)


def _plain(text: str) -> str:
    return re.sub(r"\s+([,.;:])", r"\1", " ".join(text.split())).strip(" ,;:-.(")


def _repeats(text: str, subject: str) -> bool:
    """Tell whether a text has no word that the subject has not."""
    return set(_WORD.findall(text.lower())) <= set(_WORD.findall(subject.lower()))


def _shorten(text: str) -> str:
    """Leave out the last sentences: what is too long, and what announces something that is cut."""
    sentences = _SENTENCE.split(" ".join(text.split()))
    while sentences and (len(" ".join(sentences)) > _LONGEST or sentences[-1].endswith(":")):
        sentences.pop()
    return " ".join(sentences)


def _end_sentence(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
