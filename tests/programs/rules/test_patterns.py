"""The expressions: what they find, and that ripgrep can read them too."""

import re

import pytest

from swarm_bench.programs.rules import patterns
from swarm_bench.programs.scout.grep import _SAME_TO_BOTH, find_required
from swarm_bench.text.terms import terms_of

TERMS = terms_of("Find the authentication middleware and `TokenStore`.")
AUTH = next(term for term in TERMS if term.word == "authentication")


@pytest.mark.parametrize(
    "line",
    ["auth", "x.auth(", "is_auth", "requireAuth()", "AuthService", "AUTH_KEY", "def authenticate"],
)
def test_spellings_of_a_short_root(line: str) -> None:
    assert re.search(patterns.match_mention(AUTH), line)


@pytest.mark.parametrize("line", ["author", "__author__", "Authors", "path", "coauthored"])
def test_other_words_that_contain_it(line: str) -> None:
    assert not re.search(patterns.match_mention(AUTH), line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def load(x):", "load"),
        ("    async def load(self) -> None:", "load"),
        ("class Store(Base):", "Store"),
        ("class Store:", "Store"),
        ("export default class Store extends Base {", "Store"),
        ("export async function load<T>(a) {", "load"),
        ("func (s *Store) Load(id int) error {", "Load"),
        ("type Store struct {", "Store"),
        ("pub fn load<T>(x: T) -> T {", "load"),
        ("impl Store for Disk {", "Store"),
        ("pub struct Store;", "Store"),
        ("export const load = () => {", "load"),
        ("interface Store", "Store"),
        ("function returns the value", None),
        ("# class of things", None),
        ("import type from x", None),
    ],
)
def test_definitions(line: str, name: str | None) -> None:
    found = patterns.DEFINITION.match(line)
    assert (found["name"] if found else None) == name


def test_definitions_that_bear_a_term() -> None:
    expression = re.compile(patterns.match_definitions(TERMS))
    assert expression.search("class TokenStore:")
    assert expression.search("  def check_auth(user):")
    assert not expression.search("class Author:")
    assert re.search(patterns.match_definition_of(["load", "save"]), "def save(x):")


def test_ripgrep_reads_them_and_they_can_be_prefiltered() -> None:
    for expression in (
        patterns.match_mentions(TERMS),
        patterns.match_related(TERMS),
        patterns.match_definitions(TERMS),
        patterns.match_definition_of(["load"]),
    ):
        assert _SAME_TO_BOTH.fullmatch(expression)
        assert find_required(expression)
