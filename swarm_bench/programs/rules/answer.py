"""Writes the answer: where the words of the task occur, with quotations.

It cites a line only if a tool result has shown it, and draws no conclusion: rules have no
understanding to draw one with.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from swarm_bench.programs.rules import patterns
from swarm_bench.programs.rules.observations import Observations
from swarm_bench.text.terms import Term

MAX_FILES = 6
POINTS_PER_FILE = 5
MAX_EXCERPTS = 3
EXCERPT_LINES = 14
MAX_CONNECTIONS = 8
MAX_UNREAD = 5
_MAX_QUOTE = 120

_DICTATED = re.compile(r"^Reply with the single word (\w+)\.$", re.MULTILINE)
_CALL = re.compile(r"(?<![\w.])(?:\w+\.)*([A-Za-z_]\w{3,})\s*\(")


def find_dictated(prompt: str) -> str | None:
    """Return the answer that a prompt spells out; there is nothing to look for then."""
    match = _DICTATED.search(prompt)
    return match[1] if match else None


def write(terms: Sequence[Term], observed: Observations, order: Sequence[str]) -> str:
    """Write the answer in Markdown. `order` has the files by rank; unread ones are listed apart."""
    files = _files(terms, observed, order)
    if not files:
        return _nothing(terms)
    unread = [path for path in order if path not in observed.lines][:MAX_UNREAD]
    parts = [
        _summary(terms, observed, files),
        "## Where it is\n\n" + "\n\n".join(_file(path, terms, observed) for path in files),
        *_section("How the parts connect", _connections(observed, files)),
        "## Excerpts\n\n" + "\n\n".join(_excerpts(terms, observed, files)),
        *_section("Ranked lower and not opened", [f"- `{path}`" for path in unread]),
    ]
    return "\n\n".join(parts) + "\n"


def _files(terms: Sequence[Term], observed: Observations, order: Sequence[str]) -> list[str]:
    """Choose the files to report: those read, first what defines a name that the task spells out,
    then by rank; then those of which a search showed lines."""
    exact = {term.word for term in terms if term.exact}
    paths = [path for path in order if path in observed.lines]
    paths += sorted(path for path in observed.lines if path not in paths)
    names = {path: {name for _, name in _definitions(path, terms, observed)} for path in paths}

    def sort_key(path: str) -> tuple[bool, int]:
        is_read = path in observed.read
        return not is_read, -len(names[path] & exact) if is_read else 0

    return sorted(paths, key=sort_key)[:MAX_FILES]


def _summary(terms: Sequence[Term], observed: Observations, files: Sequence[str]) -> str:
    read = [path for path in files if path in observed.read]
    lines = sum(len(window) for path in read for window in observed.windows(path))
    searched = ", ".join(f"`{term.word}`" for term in terms)
    names = [
        f"`{definition[1]}` (`{path}:{definition[0]}`)"
        for path in read or files
        for definition in _definitions(path, terms, observed)[:1]
        if _find_terms(definition[1], terms)
    ]
    sentences = [
        f"The search for {searched} leads to {_number(len(files), 'file')}, of which "
        f"{_number(len(read), 'was', 'were')} opened ({_number(lines, 'line')} read).",
    ]
    if names:
        sentences.append(f"The main definitions seen are {', '.join(names[:4])}.")
    sentences.append(
        "This is evidence collected by fixed rules without a language model: every line cited "
        "was read, and nothing is concluded beyond it."
    )
    return "## Summary\n\n" + " ".join(sentences)


def _file(path: str, terms: Sequence[Term], observed: Observations) -> str:
    points = [f"- `{path}:{number}` {text}" for number, text in _points(path, terms, observed)]
    if not points:
        windows = ", ".join(
            f"{window.start}-{window.stop - 1}" for window in observed.windows(path)
        )
        points = [f"- lines {windows} mention none of the words searched for"]
    return f"### `{path}`\n\n" + "\n".join(points)


def _points(path: str, terms: Sequence[Term], observed: Observations) -> list[tuple[int, str]]:
    """Choose the lines of a file that say most: definitions first, then mentions of several
    terms."""
    points: list[tuple[float, int, str]] = []
    for number, text in observed.lines[path].items():
        mentioned = _find_terms(text, terms)
        definition = patterns.DEFINITION.match(text)
        heading = patterns.HEADING.match(text) if path.endswith((".md", ".rst")) else None
        if definition and mentioned:
            point = f"defines {definition['kind']} `{definition['name']}`"
            points.append((3 + 2 * len(mentioned), number, point + _list_terms(mentioned)))
        elif heading and mentioned:
            points.append(
                (2 + len(mentioned), number, f"section “{heading['name']}”{_list_terms(mentioned)}")
            )
        elif mentioned and text.strip():
            points.append((float(len(mentioned)), number, _quote(text) + _list_terms(mentioned)))
    best = sorted(points, key=lambda point: (-point[0], point[1]))[:POINTS_PER_FILE]
    return sorted((number, text) for _, number, text in best)


def _connections(observed: Observations, files: Sequence[str]) -> list[str]:
    """List names that one observed line defines and another, outside that line, calls."""
    defined: dict[str, tuple[str, int]] = {}
    for path, number, text in _all_lines(observed, files):
        if definition := patterns.DEFINITION.match(text):
            defined.setdefault(definition["name"], (path, number))
    points: list[str] = []
    done: set[tuple[str, str]] = set()
    for path, number, text in _all_lines(observed, files):
        if patterns.DEFINITION.match(text):
            continue
        for name in _CALL.findall(text):
            if name in defined and (name, path) not in done:
                done.add((name, path))
                file_path, line = defined[name]
                points.append(
                    f"- `{path}:{number}` calls `{name}`, defined at `{file_path}:{line}`"
                )
    return points[:MAX_CONNECTIONS]


def _excerpts(terms: Sequence[Term], observed: Observations, files: Sequence[str]) -> Iterator[str]:
    """Quote lines as they were read, from the most telling part of the first files."""
    for path in [path for path in files if path in observed.read][:MAX_EXCERPTS] or files[:1]:
        lines = observed.lines[path]
        definitions = _definitions(path, terms, observed)
        points = _points(path, terms, observed)
        first = definitions[0][0] if definitions else points[0][0] if points else min(lines)
        last = first
        while last + 1 in lines and last - first < EXCERPT_LINES - 1:
            last += 1
        while last > first and not lines[last].strip():
            last -= 1
        text = "\n".join(_cut(lines[number]) for number in range(first, last + 1))
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        language = PurePosixPath(path).suffix.lstrip(".")
        yield f"`{path}:{first}-{last}`\n\n{fence}{language}\n{text}\n{fence}"


def _definitions(path: str, terms: Sequence[Term], observed: Observations) -> list[tuple[int, str]]:
    """List number and name of the definitions observed, those that bear most terms first."""
    definitions = [
        (-len(_find_terms(match["name"], terms)), number, match["name"])
        for number, text in observed.lines[path].items()
        if (match := patterns.DEFINITION.match(text))
    ]
    return [(number, name) for _, number, name in sorted(definitions)]


def _find_terms(text: str, terms: Sequence[Term]) -> list[str]:
    return [term.word for term in terms if patterns.match_in_text(term).search(text)]


def _all_lines(observed: Observations, files: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    for path in files:
        for number in sorted(observed.lines[path]):
            yield path, number, observed.lines[path][number]


def _quote(text: str) -> str:
    short = _cut(text.strip())
    # Two ticks hold a text that has one; a tick at the end needs a blank before the closing ones.
    return f"`` {short} ``" if "`" in short else f"`{short}`"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else text[:_MAX_QUOTE] + "…"


def _list_terms(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _section(title: str, points: Sequence[str]) -> list[str]:
    return [f"## {title}\n\n" + "\n".join(points)] if points else []


def _nothing(terms: Sequence[Term]) -> str:
    if not terms:
        return (
            "## Summary\n\nThe task names nothing that could be searched for, so nothing was "
            "opened and nothing can be cited.\n"
        )
    searched = "\n".join(
        f"- `{term.word}`, as {', '.join((*term.roots, *term.related))}" for term in terms
    )
    return (
        "## Summary\n\nNothing relevant was found: no line that could be read in this workspace "
        "mentions what the task asks for, so nothing is cited.\n\n"
        f"## Searched for\n\n{searched}\n"
    )


def _number(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
