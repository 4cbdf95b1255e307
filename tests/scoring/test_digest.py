from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.scoring.digest import Digest


def digest(text: str) -> Score:
    context = ScoreContext(text=text, workspace="", files=frozenset())
    return Digest().score(context)["answer_digest"]


def test_equal_texts_have_equal_digests_and_no_text_has_none() -> None:
    assert digest("one\ntwo") == digest("\none\ntwo  \n")
    assert digest("one\ntwo") != digest("one two")
    assert digest(" \n") is None
