"""Names of files, and texts that may name them."""

import json
import unicodedata
from pathlib import Path

from swarm_bench.agents.reading.tool_calls import mentions_in
from swarm_bench.source.references.extraction import references
from swarm_bench.source.references.marking import marks_of
from swarm_bench.source.references.snapshot import snapshot_of
from tests.fuzz.parts import joined, parts

_MOST = 20
NAMES = [
    joined("\n".join(names).encode(), text.encode())
    for names, text in (
        (["app/[id]/page.tsx", "src/my tool.py"], "- app/[id]/page.tsx:3\n1. **src/my tool.py**\n"),
        (
            ["fru\u0308h/a.py", "b/(a).py"],
            '[x](file:///w/fr%C3%BCh/a.py) "fr\\303\\274h/a.py" (a).py',
        ),
        (["a/it's.py", 'a/"b".py'], "'a/it'\\''s.py' a/\\\"b\\\".py {\"path\": \"a\\\\it's.py\"}"),
        (["r/[a]/x y.py", "r/(b)/ü.py"], "r/\n├── [a]/\n│   └── x\\ y.py\n└── (b)\n    └── ü.py\n"),
        (
            ["a_b/x_y.py", "a b/ö.py"],
            "a\\_b/x\\_y.py \x1b[35ma_b/x_y.py\x1b[0m:3:\n1\ta b/ö.py\t0.5\na b\\/\\xc3\\xb6.py",
        ),
        (
            ["_a/b.py"],
            "`open('_a/b.py')` x://repo/_a/b.py?line=3 y:///(z)/./_a/b.py:3 HEAD:_a/b.py:3:in 'x'",
        ),
        (["包/文件（一）.py"], "请看包/文件（一）.py，或 &#21253;/文件（一）.py"),
    )
]


def names(data: bytes, _folder: Path) -> None:
    """A text is searched for names: each that is read is one of them, and one that stands alone in
    a document is read."""
    listed, text = (part.decode("utf-8", "replace") for part in parts(data, 2))
    files = frozenset(name for name in listed.split("\n")[:_MOST] if name)
    marks = marks_of(files)
    marked = marks.mark(text, "/w", repeated=False)
    assert len(marked) == len(text)
    for reference in references(text, files, "/w"):
        assert reference.path is None or reference.path in files
        assert 0 <= reference.position <= len(text)
    mentions_in(text, snapshot_of(files, ""))
    for name in files:
        if _is_path(name, files):
            document = json.dumps({"path": name})
            assert {each.path for each in references(document, files, "/w")} == {name}


def _is_path(name: str, files: frozenset[str]) -> bool:
    """Tell whether it is one that git has, and no other is but for the case of letters."""
    parts_of_it = name.split("/")
    same = {other for other in files if _alike(other) == _alike(name)}
    return (
        len(parts_of_it) > 1
        and all(part.strip(". ~*") for part in parts_of_it)
        and name.isprintable()
        and "\\" not in name
        and len(name) < 200
        and len(same) == 1
    )


def _alike(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
