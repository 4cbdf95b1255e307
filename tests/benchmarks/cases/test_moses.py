import ast
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesDetokenizer

from swarm_bench.benchmarks.code_to_text.benchmark import detokenize

ORACLE = MosesDetokenizer("en")
ENOUGH = 200
MARKS = "' \" '' ` `` s' 's 'é ( [ { $ € ¿x ¡ , .. ) % \\ x; “ ” „ @-@ &amp; &lt; &#124; &amp;lt;"
TOKENS = st.lists(st.sampled_from([*MARKS.split(), "a", "bs", "é", "中", "文"]), max_size=12)


def docstrings() -> Iterator[str]:
    """Yield those of the standard library, module by module."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-c]*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (
                text := ast.get_docstring(node)
            ):
                yield text


def test_docstrings_are_joined_as_sacremoses_joins_them() -> None:
    texts = list(docstrings())
    assert len(texts) >= ENOUGH
    for text in texts:
        for tokens in (text.split(), re.findall(r"\w+|[^\w\s]", text)):
            assert detokenize(tokens) == ORACLE.detokenize(tokens)


@given(tokens=TOKENS)
def test_any_tokens_are_joined_as_sacremoses_joins_them(tokens: list[str]) -> None:
    assert detokenize(tokens) == ORACLE.detokenize(tokens)


@given(tokens=st.lists(st.text()))
def test_no_character_is_lost_and_none_is_added(tokens: list[str]) -> None:
    plain = [token for token in tokens if "&" not in token and "@" not in token]
    assert "".join(detokenize(plain).split()) == "".join("".join(plain).split())
