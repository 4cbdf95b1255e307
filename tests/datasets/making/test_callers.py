from contextlib import suppress

import pytest

from swarm_bench.datasets.making.callers import find_callers, make_callers
from swarm_bench.datasets.making.code import code_of
from swarm_bench.datasets.making.made import UnsuitableCandidate
from tests.builders.golden import Sentences
from tests.builders.trees import tree_of
from tests.datasets.making.trees import files_of, searched, symbols_of

PYTHON = {
    "app/__init__.py": "",
    "app/base.py": (
        "def wanted(x): pass\n\ndef other(): return wanted(1)\n"
        "class Base:\n"
        "    def step(self): pass\n    def run(self): self.step()\n"
        "    def again(self): return [self.step() for _ in 'ab']\n"
    ),
    "app/use.py": (
        "from app import base\nfrom .base import wanted\n__all__ = ['wanted']\n"
        "def by_name(): return f'{wanted(2)} wanted'\n"
        "def by_module(): g = lambda: base.wanted(3); call(wanted=1)\n"
        "class Child(Base):\n    def more(self):\n        # self.step() of the base\n"
        "        super().step()\n"
    ),
    "tests/test_use.py": "def test_it(): wanted(4); Base().step()\n",
}
JAVASCRIPT = {
    "lib/tag.js": (
        "exports.wanted = wanted\nfunction wanted(a) {}\nconst own = () => wanted(1)\n"
        "class Box { inner() {} first() { this.inner() }\n"
        "  second() { list.map(x => this.inner(x)) } }\n"
    ),
    "lib/use.js": (
        "const { wanted } = require('./tag')\nconst tag = require('./tag')\n"
        "app.go = function go() { return wanted(2) }\nfunction all() { tag.wanted(3) }\n"
    ),
}
TYPESCRIPT = {
    "src/tag.ts": (
        "export function wanted(a: string): void;\nexport function wanted<T>(a: any) {}\n"
        "class Box { inner() {} first() { this.inner() } }\n"
        "class Crate extends Box { last = () => { this.inner() } }\n"
    ),
    "src/index.ts": "export { wanted } from './tag.js'\n",
    "src/use.tsx": (
        "import { wanted } from '.'\nimport * as tag from './tag'\n"
        "export const one = () => wanted<string>('a')\n"
        "function two() { return <b>{tag.wanted('')}</b> }\n"
    ),
}
GO = {
    "go.mod": "module example.com/thing\n",
    "tag/tag.go": (
        "package tag\nfunc Wanted() {}\nfunc own() { defer Wanted() }\ntype Box struct{}\n"
        "func (b *Box) Inner() {}\nfunc (b *Box) first() { b.Inner() }\n"
        "func (b *Box) second() { go func() { b.Inner() }() }\n"
        "func (b *Box) hidden() {}\nfunc (b *Box) third() { b.hidden() }\n"
        "func free(x Box) { x.hidden() }\n"
    ),
    "main.go": ('package main\nimport t "example.com/thing/tag"\nfunc start() { t.Wanted() }\n'),
    "main_test.go": "package main\nfunc TestIt() { t.Wanted() }\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "my-thing"\n',
    "src/tag.rs": (
        "pub fn wanted<T>() {}\nfn own() { wanted::<u8>() }\npub struct Tag;\n"
        "impl Tag { fn inner(&self) {} fn first(&self) { self.inner() }\n"
        "  fn new_tag() -> Tag { Tag } }\n"
        "impl Show for Tag { fn second(&self) { self.inner(); Self::new_tag(); } }\n"
        "fn build() { Tag::new_tag(); }\n"
        "#[cfg(test)]\nmod checks { #[test] fn it() { wanted(); assert!(wanted()) } }\n"
    ),
    "src/lib.rs": (
        "mod tag;\nuse crate::tag::{wanted, Tag};\nfn one() { wanted() }\n"
        "fn two() { tag::wanted(); }\n"
    ),
}
EXPECTED = {
    "python": (
        PYTHON,
        {
            "wanted": "app/base.py::other app/use.py::by_name app/use.py::by_module",
            "Base.step": "app/base.py::Base.run app/base.py::Base.again app/use.py::Child.more",
        },
    ),
    "javascript": (
        JAVASCRIPT,
        {
            "wanted": "lib/tag.js::own lib/use.js::app.go lib/use.js::all",
            "Box.inner": "lib/tag.js::Box.first lib/tag.js::Box.second",
        },
    ),
    "typescript": (
        TYPESCRIPT,
        {
            "wanted": "src/use.tsx::one src/use.tsx::two",
            "Box.inner": "src/tag.ts::Box.first src/tag.ts::Crate.last",
        },
    ),
    "go": (
        GO,
        {
            "Wanted": "main.go::start tag/tag.go::own",
            "Box.Inner": "tag/tag.go::Box.first tag/tag.go::Box.second",
            "Box.hidden": "tag/tag.go::Box.third tag/tag.go::free",
        },
    ),
    "rust": (
        RUST,
        {
            "wanted": "src/lib.rs::one src/lib.rs::two src/tag.rs::own",
            "Tag::inner": "src/tag.rs::Tag.first src/tag.rs::Tag.second",
            "Tag::new_tag": "src/tag.rs::Tag.second src/tag.rs::build",
        },
    ),
}


def _called(texts: dict[str, str]) -> dict[str, str]:
    """Return the callers of whatever is called by two functions or more, by its name."""
    code, called = code_of(tree_of(texts)), dict[str, str]()
    for each in code.candidates():
        with suppress(UnsuitableCandidate):
            callers = find_callers(code, each) if each.kind in ("function", "method") else {}
            if len(callers) > 1:
                name = each.name.replace(".", "::") if each.path.endswith(".rs") else each.name
                called[name] = " ".join(callers[at].symbol for at in sorted(callers))
    return called


@pytest.mark.parametrize("language", EXPECTED)
def test_calls_are_attributed_to_the_function_around_them(language: str) -> None:
    texts, expected = EXPECTED[language]
    assert _called(texts) == expected


UNCLEAR = {
    "passed on": ("b.py", "from a import wanted\nrun(wanted)\n"),
    "a decorator": ("b.py", "from a import wanted\n@wanted\ndef f(): pass\n"),
    "a decorator that is called": ("b.py", "from a import wanted\n@wanted()\ndef f(): pass\n"),
    "another name": ("b.py", "from a import wanted as w\n"),
    "looked up by name": ("b.py", "getattr(a, 'wanted')()\n"),
    "an attribute of an object": ("b.py", "def f(x): x.wanted()\n"),
    "imported from elsewhere": ("b.py", "from .. import x\nfrom json import wanted\n"),
    "a parameter": ("b.py", "def f(wanted): wanted()\n"),
    "assigned": ("b.py", "def f():\n    wanted = g()\n"),
    "outside of functions": ("b.py", "from a import wanted\nwanted()\n"),
    "a function within": ("b.py", "from a import wanted\ndef f():\n    def g(): wanted()\n"),
    "a file of settings": ("setup.cfg", "run = a:wanted\n"),
    "another language": ("b.js", "function f() { wanted() }\n"),
    "a second definition": ("tests/b.py", "def wanted(): pass\n"),
    "a test or not": ("shop/test.py", "from a import wanted\ndef f(): wanted()\n"),
    "a module that no package has": ("b.py", "import a.c\ndef f(): a.c.wanted()\n"),
}


@pytest.mark.parametrize("why", UNCLEAR)
def test_what_cannot_be_known_for_sure_is_not_called(why: str) -> None:
    known = {"a.py": "def wanted(): pass\ndef f(): wanted()\ndef g(): wanted()\n"}
    assert list(_called(known)) == ["wanted"]
    path, text = UNCLEAR[why]
    assert "wanted" not in _called({**known, path: text})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b.js", "export default wanted\n"),
        ("b.js", "module.exports = wanted\n"),
        ("b.js", "import { wanted } from 'other'\n"),
        ("b.ts", "const x = { wanted: 1 }\n"),
    ],
)
def test_other_exports_and_packages_are_not_guessed(path: str, text: str) -> None:
    source = "function wanted() {}\nfunction f() { wanted() }\nfunction g() { wanted() }\n"
    assert list(_called({"a.js": source})) == ["wanted"]
    assert _called({"a.js": source, path: text}) == {}


def test_self_is_of_the_class_only_where_it_inherits_from_it() -> None:
    source = (
        "class A:\n    def step(self): pass\n    def f(self): self.step()\n"
        "class B(A):\n    def g(self): self.step()\n"
    )
    assert list(_called({"a.py": source})) == ["A.step"]
    assert _called({"a.py": f"{source}class C:\n    def h(self): self.step()\n"}) == {}


STEPS = {
    "a.py": "def wanted(): pass\ndef near(): wanted()\ndef self_made(): near(); wanted()\n",
    "b.py": "from a import near\ndef far(): near()\nclass Far:\n    def off(self): near()\n",
    "c.py": "from b import far\ndef farther(): far()\n",
}


def test_the_callers_of_the_callers_are_asked_for(golden: Sentences) -> None:
    (task,) = make_callers(tree_of(STEPS), 9, 0).tasks
    assert files_of(task) == ["b.py"], "and not where it is called"
    assert symbols_of(task) == ["b.py::far", "b.py::Far.off"]
    golden(task.title, task.prompt)


def test_a_call_of_a_caller_that_cannot_be_known_is_not_guessed() -> None:
    unclear = {**STEPS, "d.py": "from a import near\nrun(near)\n"}
    assert not make_callers(tree_of(unclear), 9, 0).tasks


def test_it_is_counted_why_a_name_was_dropped(golden: Sentences) -> None:
    source = "def wanted(): pass\ndef f(): wanted()\ndef g(): run(wanted)\n"
    made = make_callers(tree_of({"a.py": source}), 1, 0)
    golden(*(f"{number}: {why}" for why, number in made.dropped.items()))
    assert made.looked_at == len(made.tasks) + sum(made.dropped.values())


def test_what_is_local_to_a_function_without_a_name_is_not_called() -> None:
    source = "make(() => { function wanted() {} \n x.f = () => wanted(); x.g = () => wanted() })\n"
    assert _called({"a.js": source}) == {}


def test_a_macro_of_rust_is_not_guessed() -> None:
    source = "fn wanted() {}\nfn f() { wanted() }\nfn g() { wanted() }\n"
    assert list(_called({"a.rs": source})) == ["wanted"]
    assert _called({"a.rs": f"{source}fn h() {{ run!(wanted()) }}\n"}) == {}


def test_tasks_name_no_path_and_follow_from_the_seed() -> None:
    texts = {
        f"m{n}.py": f"def call_{n}(): pass\ndef near_{n}(): call_{n}()\n"
        f"def far_{n}(): near_{n}()\ndef off_{n}(): near_{n}()\n"
        for n in range(9)
    }
    first, again, other = (make_callers(tree_of(texts), 3, seed).tasks for seed in (1, 1, 2))
    assert first == again != other
    assert not any(path in task.prompt for task in first for path in files_of(task))
    assert all(task.keywords in searched(task) for task in first)


@pytest.mark.parametrize(("times", "callers"), [(200, 1), (201, None)])
def test_a_name_that_stands_very_often_in_a_file_is_not_asked_about(
    times: int, callers: int | None
) -> None:
    calls = "    pay_it()\n" * (times - 1)
    code = code_of(tree_of({"a.py": f"def pay_it():\n    pass\n\n\ndef pay_all():\n{calls}"}))
    target = code.definitions("a.py")[0]
    if callers is None:
        with pytest.raises(UnsuitableCandidate, match="times in a file"):
            find_callers(code, target)
    else:
        assert len(find_callers(code, target)) == callers


@pytest.mark.parametrize(("length", "called"), [(100, ["wanted"]), (5_000, [])])
def test_an_import_in_rust_is_read_up_to_a_length(length: int, called: list[str]) -> None:
    names = ", ".join("some_name" for _ in range(length // 10))
    other = f"use crate::{{{names}, a::*}};\nfn f() {{ wanted() }}\nfn g() {{ wanted() }}\n"
    assert list(_called({"a.rs": "pub fn wanted() {}\n", "b.rs": other})) == called
