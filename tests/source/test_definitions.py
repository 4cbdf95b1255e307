import pytest

from swarm_bench.source.calls import Use, mentions
from swarm_bench.source.definitions import LARGEST, definitions, is_supported
from swarm_bench.source.grammars import WIDEST, comment_lines, grammar_of, parse

PYTHON = """\
@route("/")
@cached
class A(B):
    @property
    def x(self): return 1
    @x.setter
    def x(self, value): pass
    def m(self):
        def inner(): pass
    class In:
        async def z(self): pass
@overload
def f(a: int): ...
@overload
def f(a: str): ...
def f(a): pass
"""
JAVASCRIPT = """\
export default class K { static s = async () => {}; get v() { return 1 } m() {} }
export const g = (x) => x, h = function () {};
exports.foo = function foo() {};
View.prototype.lookup = function () {};
app.use = function use(fn) { return list.map(x => x); };
const box = { parse() {}, other: function () {} };
"""
TYPESCRIPT = """\
export function f(a: string): string;
export function f(a: number): number;
export function f(a: any) { return a; }
@dec()
export abstract class K<T> {
  @route("/")
  m(a: T) {}
  n(): void;
  n(a?: T) {}
  abstract z(): void;
}
export interface I { a(): void; b: string }
export type T = I;
enum E { A }
export namespace util { export const same = (a) => a; }
"""
GO = """\
package a
type Engine struct { x int }
type (
	H func(int)
	I interface { Serve(x int) error }
	L[T any] struct {}
)
func (e *Engine) Run(a int) {}
func (l *L[T]) Push(t T) {}
func New() *Engine { f := func() {}; f() }
"""
RUST = """\
#[derive(Debug)]
/// Words.
#[serde]
pub struct S<T> { a: T }
impl<T> S<T> { #[inline] pub fn new() -> Self { fn inner() {} } }
impl<'a> fmt::Display for &'a S<T> { fn fmt(&self) {} }
pub trait Walk { fn go(&self); }
macro_rules! mac { () => {} }
#[cfg(unix)]
fn plat() {}
#[cfg(windows)]
fn plat() {}
mod tests { #[test] fn t() {} }
"""
EXPECTED = {
    "a.py": (
        PYTHON,
        "class A 1-11, method A.x 4-7, method A.m 8-9, function A.m.inner 9-9, class A.In 10-11, "
        "method A.In.z 11-11, function f 12-16",
    ),
    "a.mjs": (
        JAVASCRIPT,
        "class K 1-1, method K.s 1-1, method K.v 1-1, method K.m 1-1, function g 2-2, "
        "function h 2-2, function foo 3-3, function View.lookup 4-4, function app.use 5-5, "
        "method box.parse 6-6, method box.other 6-6",
    ),
    "a.tsx": (
        TYPESCRIPT,
        "function f 1-3, class K 4-11, method K.m 6-7, method K.n 8-9, method K.z 10-10, "
        "interface I 12-12, method I.a 12-12, type T 13-13, enum E 14-14, namespace util 15-15, "
        "function util.same 15-15",
    ),
    "a.go": (
        GO,
        "struct Engine 2-2, type H 4-4, interface I 5-5, method I.Serve 5-5, struct L 6-6, "
        "method Engine.Run 8-8, method L.Push 9-9, function New 10-10",
    ),
    "a.rs": (
        RUST,
        "struct S 1-4, method S.new 5-5, function S.new.inner 5-5, method S.fmt 6-6, "
        "trait Walk 7-7, method Walk.go 7-7, macro mac 8-8, function plat 9-12, "
        "module tests 13-13, function t 13-13",
    ),
}


@pytest.mark.parametrize("path", EXPECTED)
def test_each_language_has_its_definitions_with_all_that_belongs_to_them(path: str) -> None:
    source, expected = EXPECTED[path]
    listed = definitions(path, source.encode())
    assert [f"{d.kind} {d.name} {d.first_line}-{d.last_line}" for d in listed] == expected.split(
        ", "
    )
    assert all(source.encode()[d.name_at :].startswith(d.own_name.encode()) for d in listed)


@pytest.mark.parametrize("path", EXPECTED)
def test_broken_source_does_not_raise(path: str) -> None:
    source = EXPECTED[path][0].encode()
    for end in range(0, len(source), 7):
        definitions(path, source[:end])
    definitions(path, b"\0\xff" + source[5:] + b"((((")


def test_other_languages_and_large_files_have_none() -> None:
    assert not is_supported("a.rb")
    assert definitions("a.rb", b"def f\nend") == ()
    assert definitions("a.py", b"def f(): pass\n" + b"#" * LARGEST) == ()


def test_a_table_of_data_is_not_looked_into() -> None:
    table = b"def f(): pass\nx = [" + b"f, " * WIDEST + b"]\n"
    assert definitions("a.py", table) == ()
    assert {mention.use for mention in mentions("a.py", table, "f")} == {Use.VALUE}
    assert definitions("a.py", table[: len(table) // 2])[0].name == "f"


def test_names_do_not_grow_without_end() -> None:
    nested = definitions("a.js", b"function f() {" * 2_000 + b"}" * 2_000)
    assert len(nested) == 20


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.ts", "a.go", "a.rs"])
def test_what_a_parser_would_try_to_repair_for_minutes_is_not_read(path: str) -> None:
    source = b"-," * 10_000 + b"\ndef f(): pass  # f\n"
    assert definitions(path, source) == ()
    assert comment_lines(path, source) == frozenset()
    assert [each.use for each in mentions(path, source, "f")] == [Use.VALUE, Use.VALUE]
    grammar = grammar_of(path)
    assert grammar is not None
    assert parse(grammar, source) is None
    assert parse(grammar, b"-," * 10) is not None
