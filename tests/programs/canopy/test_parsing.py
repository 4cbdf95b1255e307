import pytest

from swarm_bench.programs.canopy.index.parsing import parse
from swarm_bench.programs.canopy.nodes import Node, NodeType


def _summary(path: str, text: str) -> list[tuple[str, str | None, str | None]]:
    return [(node.type.label, node.name, node.parent) for node in parse(path, text.encode())]


CASES = {
    "a.py": (
        "class A:\n    def m(self):\n        def inner(): pass\n\n@route\ndef f(): pass\n",
        [
            ("class", "A", None),
            ("method", "m", "A"),
            ("method", "inner", "A"),
            ("chunk", None, None),
            ("function", "f", None),
        ],
    ),
    "a.js": (
        "function f() {}\nconst g = (x) => {\n  list.map(y => y);\n};\nclass C { m() {} }\n"
        "run(() => {\n  go();\n});\n",
        [
            ("function", "f", None),
            ("chunk", None, None),
            ("function", "g", None),
            ("class", "C", None),
            ("method", "m", "C"),
            ("chunk", None, None),
            ("function", "<anonymous>", None),
        ],
    ),
    "a.tsx": (
        "interface I { x: number }\ntype T = I;\nenum E { A }\n"
        "abstract class K { m() { return <b/>; } }\n",
        [
            ("struct", "I", None),
            ("struct", "T", None),
            ("struct", "E", None),
            ("class", "K", None),
            ("method", "m", "K"),
        ],
    ),
    "a.rs": (
        "mod m {\n  pub struct S<T>(T);\n  impl<T> S<T> { fn f(&self) {} }\n  trait Q {}\n}\n"
        "fn main() {}\n",
        [
            ("section", "mod m", None),
            ("struct", "S", None),
            ("struct", "S", None),
            ("function", "f", "S"),
            ("class", "Q", None),
            ("function", "main", None),
        ],
    ),
    "a.go": (
        "type C struct{}\ntype ( A int; B int )\nfunc (c *C) M() {}\nfunc F() {}\n",
        [
            ("struct", "C", None),
            ("chunk", None, None),
            ("struct", "A", None),
            ("struct", "B", None),
            ("method", "M", "C"),
            ("function", "F", None),
        ],
    ),
    "a.md": (
        "intro\n\n# One\n\ntext\n\n## Two\n\n```py\n# no heading\n```\n",
        [
            ("paragraph", None, None),
            ("section", "One", None),
            ("paragraph", None, None),
            ("section", "Two", None),
            ("code_block", None, None),
        ],
    ),
    "a.json": ('{"a": 1}\n', [("chunk", None, None)]),
    "empty.py": ("", []),
    "no_symbols.py": ("X = 1\n", [("chunk", None, None)]),
}


@pytest.mark.parametrize("path", CASES)
def test_every_language_gives_its_symbols_and_the_rest_as_chunks(path: str) -> None:
    text, expected = CASES[path]
    assert _summary(path, text) == expected


def test_no_keyword_is_a_symbol() -> None:
    nodes = parse("a.js", b"function f() {\n  return function () {\n    return 1;\n  };\n}\n")
    assert [node.name for node in nodes] == ["f", "<anonymous>"]


@pytest.mark.parametrize("path", [path for path, (text, _) in CASES.items() if text])
def test_every_word_of_a_file_is_in_some_node(path: str) -> None:
    source = CASES[path][0].encode()
    covered = bytearray(len(source))
    for node in parse(path, source):
        covered[node.start : node.end] = b"\1" * (node.end - node.start)
    left = bytes(byte for byte, seen in zip(source, covered, strict=True) if not seen)
    assert not any(chr(byte).isalnum() for byte in left)


def test_lines_and_offsets_of_a_node() -> None:
    (node,) = parse("a.py", "# é\n".encode() + b"def f():\n    pass\n")[1:]
    assert node == Node(
        type=NodeType.FUNCTION, start=5, end=22, first_line=2, last_line=3, name="f"
    )


def test_a_large_file_is_cut_into_overlapping_pieces_of_lines() -> None:
    source = b"x" * 20_000 + b"\n"
    nodes = parse("a.py", source * 100)
    assert [(node.first_line, node.last_line) for node in nodes] == [(1, 50), (41, 90), (81, 100)]


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.ts", "a.tsx", "a.rs", "a.go", "a.md"])
@pytest.mark.parametrize("source", [b"((((((", b"class\nclass", b"\xef\xbb\xbf", "é{".encode()])
def test_broken_sources_are_no_error(path: str, source: bytes) -> None:
    for node in parse(path, source):
        assert 0 <= node.start <= node.end <= len(source)
