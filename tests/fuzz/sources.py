"""Source files of a repository."""

from pathlib import Path

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.source.calls import mentions
from swarm_bench.source.definitions import definitions

_ENDINGS = ("py", "js", "tsx", "go", "rs")
SOURCES = [
    b"@dec\nclass A(B):\n    def f(self): return g(f'{self.f()}')\n__all__ = ['f']\n",
    b"export const f = (a) => require('./g').f(a)\nexports.f = f\nA.prototype.f = function () {}\n",
    b"import { f as g } from './a'\nclass A<T> { f(): void; f(a?: T) { <b>{this.f()}</b> } }\n",
    b"package a\nfunc (l *L[T]) f(t T) { go func() { l.f(t) }() }\ntype (I interface { f() })\n",
    b"use a::{b::f, c};\n#[test]\nimpl<T> A for B<T> { fn f(&self) { f::<T>(); m!(f()) } }\n",
]


def source(data: bytes, _folder: Path) -> None:
    """A file in a language, or one that only has its ending."""
    for path in (f"a.{ending}" for ending in _ENDINGS):
        for each in definitions(path, data):
            assert each.name
            assert 1 <= each.first_line <= each.last_line <= data.count(b"\n") + 1
            assert 0 <= each.span[0] <= each.name_at < each.span[1] <= len(data)
        assert all(data[each.at :].startswith(b"f") for each in mentions(path, data, "f"))


_TASKS = [
    Task(
        id="a-1", title="a", prompt="Where is the é\n of 'a' \"b\"?", key=AnswerKey(files=("a/b",))
    ),
    Task(id="b", title="b", prompt="b?", key=AnswerKey(symbols=("b.py::B.c",), facts=(r"\bb+",))),
]
_FINDER = Finder(_TASKS)
KEPT = [
    b'{"id": "a-1", "prompt": "Where is the \\u00e9\\n of \'a\' \\"b\\"?", '
    b'"key": {"files": ["a/b"]}}',
    b"- id: b\n  key:\n    symbols: [b.py::B.c]\n    facts: ['\\bb+']\n",
    b"id,files\na-1,a/b\nb,b.py\n&quot;a&#45;1\\x41\\U0010ffff\\U001fffff",
]


def kept(data: bytes, _folder: Path) -> None:
    """A file that may hold answer keys."""
    for exposed in _FINDER.exposed("any", data):
        assert exposed.task in ("a-1", "b")
        assert 1 <= exposed.line <= data.decode("utf-8", "replace").count("\n") + 1
