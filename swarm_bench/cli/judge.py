"""`swarm-bench judge`: a model compares the answers of a session."""

from typing import Annotated

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import say, show
from swarm_bench.cli.output.waiting import show_step

HELP = """Have a model compare the answers of a session with those of the reference, task by task.

It sees the task and two answers, and not whose they are; every pair is shown in both orders, and
where the two verdicts differ it is a tie. Questions and answers, with the code that they quote, go
to its server. What is stored is not asked again. The summary gets a section of its own; nothing
else in it changes.

\b
Examples:
  swarm-bench judge results/swarm-20261120-213300 --model gpt-5 --plan
  swarm-bench judge results/swarm-20261120-213300 --model gpt-5
  swarm-bench judge results/swarm-20261120-213300 --model qwen3 --url http://127.0.0.1:8080/v1

Any server that speaks the chat completions of OpenAI will do. Exit codes: 0 every pair has its
verdicts, 2 wrong usage, 3 the server gave no answer or refused the key, 130 interrupted.
"""
Model = Annotated[str, typer.Option(metavar="NAME", help="Model that judges.")]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Server to ask. [default: https://api.openai.com/v1]"),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="VARIABLE",
        help="Environment variable that holds the key. [default: OPENAI_API_KEY, for OpenAI only]",
    ),
]
Timeout = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time that a request may take: seconds, or 90s, 5m. [default: 120]",
    ),
]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would be asked, and ask nobody.")]


def register(app: typer.Typer) -> None:
    app.command(name="judge", cls=FoldedCommand, help=HELP)(judge)


def judge(
    model: Model,
    session: SessionArgument = LATEST,
    url: Url = None,
    key: Key = None,
    timeout: Timeout = None,
    plan: Plan = False,
) -> None:
    with show_step("starting"):
        from swarm_bench.app import judging
        from swarm_bench.config.layers import check_options

    options = {"url": url, "key": key, **check_options({"timeout": timeout})}
    request = judging.JudgeRequest(
        folder=find_session(session),
        model=model,
        **{name: value for name, value in options.items() if value is not None},
    )
    if plan:
        show(judging.show_plan(request))
        return
    try:
        with show_step("reading the answers") as line:
            result = judging.judge(request, line.say)
    except KeyboardInterrupt:
        say("Interrupted; the same command asks what is still open.")
        raise
    show(result.summary)
    result.check()
