"""Conversion of what a program printed into an outcome, as its command file describes it."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import regex

from swarm_bench.agents.command.figures import read_dollars, read_milliseconds
from swarm_bench.agents.command.file import CommandFile
from swarm_bench.agents.command.locators import (
    PATTERN_SECONDS,
    Locators,
    Material,
    find_all,
    first_amount,
    first_count,
    first_text,
    first_texts,
)
from swarm_bench.agents.command.output import (
    Answers,
    Failure,
    ProgramOutput,
    Tokens,
    Tools,
    read_output,
)
from swarm_bench.agents.reading.api_errors import find_reason, last_error
from swarm_bench.agents.reading.endings import STOPPED, Ending, apply_refusal, ending
from swarm_bench.agents.reading.json_lines import as_clause, as_count, as_text
from swarm_bench.agents.reading.tool_calls import Timeline, ToolCalls, limit_texts
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved, ToolAnswer, Usage
from swarm_bench.core.status import Cause

MAX_REQUESTS = 10_000
"""Nodes of `each` that are read: no agent makes so many requests, whatever it prints."""
_MAX_ANSWERS = 10_000


def read_outcome(file: CommandFile, exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process. Never raises on what it printed."""
    output = file.output
    printed = read_output(exit, output.source, output.format, output.answer)
    material = printed.material
    text = as_text(first_text(output.answer, material))
    per_request, usage = _usage_in(output.tokens, material)
    cause, detail = _judge(file, exit, printed, text, usage)
    answers, retrieved = _read_answers(output.tools, material, exit.files) or (None, None)
    figures = material
    if printed.is_cut:  # behind that place may be more of all figures
        figures, per_request, usage = Material(texts={}, readable=False), None, Usage()
    return Outcome(
        cause=cause,
        detail=detail,
        # What stands there after a failure may be an error's message, and must not be scored.
        text=text if cause in (Cause.FINISHED, Cause.ANSWER_CUT) else None,
        usage=usage,
        turn_usage=per_request,
        turns=first_count(output.turns, figures),
        duration_ms=first_amount(output.duration_ms, figures, read_milliseconds),
        cost=first_amount(output.cost, figures, read_dollars),
        model=as_clause(first_text(output.model, material)),
        tool_calls=_read_tools(output.tools, output.tools.calls, material),
        tool_failures=_read_tools(output.tools, output.tools.failures, material),
        tool_answers=answers,
        retrieved=retrieved,
        commands=_limited_texts(output.tools.commands, material),
        paths=_limited_texts(output.tools.paths, material),
        retries=first_count(output.retries, material),
        compactions=first_count(output.compactions, material),
        subagents=first_count(output.subagents, material),
        servers={} if file.mcp == "none" else _read_servers(output.tools, material),
        tools_offered=_read_offered(output.tools, material),
        payload=printed.payload,
    )


def _usage_in(tokens: Tokens, material: Material) -> tuple[tuple[Usage, ...] | None, Usage]:
    """Read usage by request, where the file describes how to separate requests, and all of it. A
    figure that one request lacks is missing in the sum, and all are when there are too many
    requests."""
    if tokens.each is None:
        return None, _read_usage(tokens, material)
    nodes = find_all(tokens.each, material, MAX_REQUESTS + 1)
    if len(nodes) > MAX_REQUESTS:
        return None, Usage()
    requests = tuple(_read_usage(tokens, material.inside(node)) for node in nodes)
    return requests or None, Usage.total(requests)


def _read_usage(tokens: Tokens, material: Material) -> Usage:
    sent, output = first_count(tokens.input, material), first_count(tokens.output, material)
    if sent is None and output is None:
        return Usage()  # a constant would stand alone
    read = first_count(tokens.cache_read, material)
    create = first_count(tokens.cache_create, material)
    if tokens.input_includes_cached:
        cached = [read, create] if tokens.cache_create else [read]
        within = total(cached)
        sent = None if sent is None or within is None else as_count(sent - within)
    return Usage(input=sent, cache_read=read, cache_create=create, output=output)


def _judge(
    file: CommandFile, exit: AgentExit, printed: ProgramOutput, text: str | None, usage: Usage
) -> Ending:
    """Return why it ended; also for a refusal that the file has no rule for."""
    cause, detail = _find_cause(file, exit, printed, text)
    if cause is Cause.FINISHED and usage == Usage():
        refusal = _refusal_in_its_place(text or "", exit.files)
        return (cause, detail) if refusal is None else (refusal, as_clause(text))
    # JSON that cannot be read has no answer, and a plain text may be one.
    has_answered = exit.returncode == 0 and (bool((text or "").strip()) or usage != Usage())
    return apply_refusal((cause, detail), exit, has_answered=has_answered)


def _find_cause(
    file: CommandFile, exit: AgentExit, printed: ProgramOutput, text: str | None
) -> Ending:
    """Return why it ended, and a sentence on a failure."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    error = as_clause(first_text(file.output.error, printed.material))
    searched = _remove_answer(printed.material, text) if exit.returncode == 0 else printed.material
    for failure in file.failures:
        if _is_match(failure, exit, searched):
            message = as_clause(first_text(failure.when, printed.material))
            return failure.cause, error or message or _describe_ending(exit, printed.material)
    if exit.returncode != 0:
        return _find_error_cause(error, Cause.EXIT_CODE), error or _describe_ending(
            exit, printed.material
        )
    if printed.is_cut and (text is None or not printed.material.readable):
        return Cause.OUTPUT_CUT, printed.problem
    if printed.problem is not None and not printed.is_cut:
        return (Cause.NO_OUTPUT if printed.empty else Cause.UNREADABLE_OUTPUT), printed.problem
    if text is None:
        cause = _find_error_cause(error, Cause.UNREADABLE_OUTPUT)
        return cause, error or _describe_missing(printed.material)
    if not text.strip():
        return _find_error_cause(error, Cause.EMPTY_ANSWER), error
    return Cause.FINISHED, printed.problem


def _find_error_cause(error: str | None, unknown: Cause) -> Cause:
    """Return the reason of its provider that the program's own error names."""
    return unknown if error is None else find_reason(error, unknown=unknown)


def _refusal_in_its_place(text: str, files: frozenset[str]) -> Cause | None:
    """Return the cause that an error means which stands in the place of an answer that took no
    tokens, as far as it is known. An answer that quotes one names the file where it is, or fences
    it."""
    cause = last_error(text)
    if cause is None or "```" in text or any(file.rpartition("/")[2] in text for file in files):
        return None
    return cause


def _remove_answer(material: Material, text: str | None) -> Material:
    """Take the answer out of the streams in which failures are looked for: it may speak of any."""
    if not (text or "").strip():
        return material
    forms = (text or "", json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    streams = dict(material.texts)
    for name, printed in streams.items():
        for form in forms:
            printed = printed.replace(form.strip(), "")
        streams[name] = printed
    return replace(material, texts=streams)


def _is_match(failure: Failure, exit: AgentExit, material: Material) -> bool:
    if failure.exit_code == "failing" and exit.returncode == 0:
        return False
    if isinstance(failure.exit_code, int) and exit.returncode != failure.exit_code:
        return False
    return all(is_set(locator.values(material)) for locator in failure.when)


def _describe_ending(exit: AgentExit, material: Material) -> str:
    """Return the exit code and the last line of standard error."""
    return ending(exit.returncode, material.texts["stderr"].rstrip().rpartition("\n")[2])


def _describe_missing(material: Material) -> str:
    slow = f"; a pattern was given up after {PATTERN_SECONDS:g} s"
    suffix = slow if material.budget.timed_out else ""
    return f"There is no answer in the output where the agent file looks for it{suffix}"


def _read_tools(tools: Tools, locators: Locators, material: Material) -> dict[str, int] | None:
    names = _read_names(tools, locators, material)
    return None if names is None else dict(Counter(names))


def _limited_texts(locators: Locators, material: Material) -> tuple[str, ...] | None:
    texts = first_texts(locators, material) if material.readable else None
    return None if texts is None else limit_texts(texts)


def _read_answers(
    tools: Tools, material: Material, files: frozenset[str]
) -> tuple[tuple[ToolAnswer, ...], tuple[Retrieved, ...]] | None:
    def common_name(name: str) -> str:
        return name if tools.mcp is None else _common_name(tools.mcp, name, material)

    answers = _answers_in(tools.answers, material, common_name, files)
    return None if tools.mcp in material.budget.timed_out else answers


def _read_offered(tools: Tools, material: Material) -> tuple[str, ...] | None:
    names = _read_names(tools, tools.offered, material)
    return tuple(dict.fromkeys(names)) if names else None


def _read_servers(tools: Tools, material: Material) -> dict[str, str] | None:
    names = first_texts(tools.servers, material) if material.readable else None
    return None if names is None else dict.fromkeys(names, "connected")


def _read_names(tools: Tools, locators: Locators, material: Material) -> list[str] | None:
    """Return names of tools; `None` when the file does not describe where they stand, or nothing is
    there, or it takes too long to determine which of them are a server's."""
    names = first_texts(locators, material) if material.readable else None
    if names is None or tools.mcp is None:
        return names
    common = [_common_name(tools.mcp, name, material) for name in names]
    return None if tools.mcp in material.budget.timed_out else common


def _common_name(mcp: str, name: str, material: Material) -> str:
    """Return `mcp__<server>__<tool>` for a tool that the file's pattern recognises."""
    match = material.budget.search(
        mcp, lambda seconds: regex.fullmatch(mcp, name, timeout=seconds, concurrent=True)
    )
    return f"mcp__{match['server']}__{match['tool']}" if match else name


def _answers_in(
    answers: Answers | None,
    material: Material,
    common_name: Callable[[str], str],
    files: frozenset[str],
) -> tuple[tuple[ToolAnswer, ...], tuple[Retrieved, ...]] | None:
    """Digest the answers, and return what they put before the agent; `None` when the file does not
    describe where they stand, or there are more than an agent can have asked for."""
    if answers is None or not material.readable:
        return None
    nodes = find_all(answers.each, material, _MAX_ANSWERS + 1)
    if len(nodes) > _MAX_ANSWERS:
        return None
    calls = ToolCalls(files)
    for number, node in enumerate(nodes):
        inner = material.inside(node)
        if (tool := first_text(answers.tool, inner)) is None:
            continue
        calls.add(str(number), common_name(tool), _find_values(answers.arguments, inner))
        failed = is_set(_find_values(answers.failed, inner))
        calls.add_result(str(number), _find_content(answers.result, inner), failed=failed)
    return calls.answers, calls.list_retrieved(Timeline())


def _find_values(locators: Locators, material: Material) -> list[object]:
    """Return what the first locator that leads to anything has."""
    return next(filter(None, (locator.values(material) for locator in locators)), [])


def _find_content(locators: Locators, material: Material) -> object:
    """Return a text, or blocks; `None` when nothing stands there."""
    values = _find_values(locators, material)
    return values[0] if len(values) == 1 else (first_text(locators, material) if values else None)


def is_set(values: Iterable[object]) -> bool:
    """Tell whether something stands there: `error: null` and `is_error: false` are nothing."""
    return any(value is not None and value is not False for value in values)
