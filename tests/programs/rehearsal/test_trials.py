from swarm_bench.core.outcome import Usage
from swarm_bench.programs.rehearsal.trials import PromptCache, measure_parts

TOOLS, SYSTEM, ASK, CALL = "t" * 400, "s" * 40, "a" * 4, "c" * 8


def usage(read: int, created: int) -> Usage:
    return Usage(input=0, cache_read=read, cache_create=created)


def test_what_a_conversation_sent_before_is_read_and_the_rest_is_written() -> None:
    cache = PromptCache()
    assert cache.request("m", measure_parts([TOOLS, SYSTEM, ASK])) == usage(0, 111)
    assert cache.request("m", measure_parts([TOOLS, SYSTEM, ASK, CALL])) == usage(111, 2)
    assert cache.request("m", measure_parts([TOOLS, SYSTEM, ASK, CALL])) == usage(113, 0)


def test_a_change_in_the_middle_is_paid_with_all_that_follows() -> None:
    cache = PromptCache()
    cache.request("m", measure_parts([TOOLS, SYSTEM, ASK]))
    assert cache.request("m", measure_parts([TOOLS, "another", ASK])) == usage(100, 3)
    assert cache.request("m", measure_parts(["another", SYSTEM, ASK])) == usage(0, 13)


def test_any_earlier_request_will_do_as_with_subagents_in_between() -> None:
    cache = PromptCache()
    cache.request("m", measure_parts([TOOLS, SYSTEM, ASK]))
    cache.request("m", measure_parts(["of a sub-agent"]))
    assert cache.request("m", measure_parts([TOOLS, SYSTEM, ASK, CALL])) == usage(111, 2)


def test_models_do_not_share_a_cache() -> None:
    cache = PromptCache()
    cache.request("m", measure_parts([TOOLS]))
    assert cache.request("small", measure_parts([TOOLS])) == usage(0, 100)
    assert cache.request("m", measure_parts([TOOLS])) == usage(100, 0)


def test_half_a_surrogate_pair_is_a_part_like_any_other() -> None:
    cache = PromptCache()
    assert cache.request("m", measure_parts(["\ud800"])) == usage(0, 1)
    assert cache.request("m", measure_parts(["\ud800"])) == usage(1, 0)
