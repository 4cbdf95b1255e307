from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.repository import Canopy
from swarm_bench.programs.canopy.search.dsl import DslError, Expression, parse_dsl


def test_nested_expressions_and_escapes() -> None:
    found = parse_dsl(r'(limit 3 (in-file "src/**" (union (grep "a\"b\n\\") (code "c")))) rest')
    grep = Expression("grep", ('a"b\n\\',))
    union = Expression("union", parts=(grep, Expression("code", ("c",))))
    inside = Expression("in-file", ("src/**",), parts=(union,))
    assert found == Expression("limit", number=3, parts=(inside,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "character 0: expected"),
        ("grep", "character 0: expected"),
        ('(grep "x', "character 6: expected a text"),
        ("(grep x)", "character 6: expected a text"),
        ('(grap "x")', "'grap' is not known"),
        ("(union)", "character 6: expected"),
        ('(limit x (grep "x"))', "character 7: expected a number"),
        ('(children-named "a")', "expected a text"),
        ("(union " * 100, "nested too deep"),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(DslError, match=message):
        parse_dsl(text)


@pytest.fixture
def names(repo: Path) -> Iterator[Callable[[str], list[str | None]]]:
    canopy = Canopy(repo)
    canopy.refresh()

    def run(text: str) -> list[str | None]:
        return [each.node.name or each.path for each in canopy.find(Search(dsl=text)).handles]

    yield run
    canopy.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(section "guide")', ["Guide"]),
        ('(grep "hexdigest")', ["check_password"]),
        ('(file "*.json")', ["settings.json"]),
        ('(code "runjob")', ["runJob"]),
        ('(definition "AuthController")', ["AuthController"]),
        ('(children "AuthController")', ["login", "logout"]),
        ('(children-named "AuthController" "login")', ["login"]),
        ('(in-file "docs/**" (section "a"))', ["Authentication"]),
        ('(union (code "login") (code "login") (code "start"))', ["login", "start"]),
        ('(intersect (grep "session") (children "AuthController"))', ["logout"]),
        ('(limit 1 (children "AuthController"))', ["login"]),
        ('(limit 9 (references "check_password"))', ["login"]),
    ],
)
def test_every_word(
    names: Callable[[str], list[str | None]], text: str, expected: list[str]
) -> None:
    assert names(text) == expected


def test_references_at_the_top_give_places_and_not_nodes(repo: Path) -> None:
    canopy = Canopy(repo)
    canopy.refresh()
    found = canopy.find(Search(dsl='(references "sha256")'))
    (reference,) = found.references
    canopy.close()
    assert found.handles == []
    assert (reference.path, reference.name, reference.type) == ("src/auth.py", "sha256", "call")
    assert reference.qualifier == "hashlib"
    assert reference.preview.startswith("return hashlib.sha256(")
    assert reference.holder is not None
    assert reference.holder.node.name == "check_password"


def test_a_whole_file_can_be_expanded(repo: Path) -> None:
    canopy = Canopy(repo)
    canopy.refresh()
    (handle,) = canopy.find(Search(dsl='(file "src/auth.py")')).handles
    text = canopy.expand(handle.id).text
    canopy.close()
    assert text == (repo / "src" / "auth.py").read_text()


def test_more_than_the_limit_is_said(repo: Path) -> None:
    canopy = Canopy(repo)
    canopy.refresh()
    found = canopy.find(Search(dsl='(file "**")', limit=2))
    canopy.close()
    assert (len(found.handles), found.matches, found.truncated) == (2, 4, True)


def test_an_expression_of_too_many_parts_is_refused() -> None:
    assert parse_dsl("(union " + '(grep "x")' * 255 + ")")
    with pytest.raises(DslError, match="more than 256"):
        parse_dsl("(union " + '(grep "x")' * 256 + ")")
