from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType
from swarm_bench.programs.canopy.parameters import PackLimits, Search
from swarm_bench.programs.canopy.result_json import SearchResult
from swarm_bench.programs.canopy.service.endpoints import (
    find_best_identifier,
    gather,
    select_within_budget,
)


class Index:
    """Answers by the text of the search and keeps the questions."""

    def __init__(self, answers: dict[str, list[Handle]]) -> None:
        self.answers = answers
        self.asked: list[Search] = []

    def find(self, search: Search) -> SearchResult:
        self.asked.append(search)
        handles = self.answers.get(search.text, [])
        return SearchResult(handles=handles, matches=len(handles))


def _handle(number: int, preview: str, type_: NodeType = NodeType.PARAGRAPH) -> Handle:
    node = Node(type=type_, start=0, end=4000, first_line=1, last_line=9)
    return Handle(hex=f"{number:024x}", path=f"f{number}.md", node=node, preview=preview)


SEED = Search(pattern="job queue", glob="src/**", limit=16)
TEXT = "job queue src/**"


def test_enough_at_once_is_one_search() -> None:
    index = Index({TEXT: [_handle(n, "job queue src", NodeType.FUNCTION) for n in range(5)]})
    pack = gather(SEED, PackLimits(), index.find)
    assert len(index.asked) == 1
    assert len(pack.selected) == 5


def test_nothing_found_asks_for_any_of_the_words() -> None:
    index = Index({"job queue src/**": []})
    gather(SEED, PackLimits(), index.find)
    assert [search.patterns for search in index.asked] == [(), ("job", "queue")]
    assert index.asked[1].glob == "src/**"


def test_a_plan_looks_up_the_identifier_that_stands_out() -> None:
    weak = [_handle(n, "plain words startNow here") for n in range(2)]
    index = Index({TEXT: weak})
    pack = gather(SEED, PackLimits(plan=True), index.find)
    words, definition = index.asked[1:]
    assert words.patterns == ("job", "queue")
    assert (definition.symbol, definition.kind) == ("startNow", "definition")
    assert (definition.limit, definition.glob) == (12, "src/**")
    assert len(pack.result.handles) == 2


def test_without_a_plan_there_is_no_definition_lookup() -> None:
    index = Index({TEXT: [_handle(n, "plain words startNow here") for n in range(2)]})
    gather(SEED, PackLimits(plan=False), index.find)
    assert len(index.asked) == 1


def test_weak_evidence_starts_a_plan_by_itself() -> None:
    index = Index({TEXT: [_handle(n, "plain words startNow here") for n in range(2)]})
    gather(SEED, PackLimits(), index.find)
    assert len(index.asked) > 1


def test_matches_are_summed_and_handles_merged() -> None:
    both = [_handle(n, "x") for n in range(2)]
    search = Search(pattern="job queue")
    index = Index({"job queue": both})
    index.answers["job queue"] = both
    pack = gather(search, PackLimits(plan=True), index.find)
    # The search for any of the words has the same text and so the same answer.
    assert pack.result.matches == 4
    assert len(pack.result.handles) == 2


def test_the_best_identifier() -> None:
    previews = ["return value", "value of makeThing", "make_it"]
    assert find_best_identifier(previews, []) == "makeThing"
    assert find_best_identifier(previews, ["makething"]) == "make_it"
    assert find_best_identifier(["a is 12345"], []) is None


def _sized_handle(
    path: str, line: int, tokens: int = 100, kind: NodeType = NodeType.CHUNK
) -> Handle:
    start = line * 1000
    node = Node(type=kind, start=start, end=start + 4 * tokens, first_line=line, last_line=line + 5)
    return Handle(hex=f"{path}{line}", path=path, node=node, preview="")


def test_everything_that_fits_is_taken() -> None:
    handles = [_sized_handle("a.py", line) for line in (1, 2, 3)]
    assert select_within_budget(handles, "x", 300, {}) == handles


def test_near_ones_and_many_of_a_file_are_left_out() -> None:
    handles = [_sized_handle("a.py", line) for line in (1, 7, 20, 40)] + [_sized_handle("b.py", 1)]
    chosen = select_within_budget(handles, "x", 450, {})
    assert [(each.path, each.node.first_line) for each in chosen] == [
        ("a.py", 1), ("a.py", 20), ("b.py", 1),
    ]  # fmt: skip


def test_what_was_expanded_often_before_goes_first() -> None:
    chunk = _sized_handle("a.py", 1)
    function = _sized_handle("b.py", 1, kind=NodeType.FUNCTION)
    assert select_within_budget([chunk, function], "x", 100, {}) == [function]
    priors = {NodeType.CHUNK: 0.9, NodeType.FUNCTION: 0.1}
    assert select_within_budget([chunk, function], "x", 100, priors) == [chunk]
