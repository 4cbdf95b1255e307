"""Pages that have one text in every place, and texts that would like to be more than that."""

from collections.abc import Sequence
from functools import partial

from swarm_bench.core.metric import Better, Style
from swarm_bench.core.report.document import (
    Answer,
    Answers,
    Attachment,
    Banner,
    Block,
    Bullets,
    CombinedValue,
    ComparedValue,
    Document,
    Fact,
    Facts,
    Grid,
    Interval,
    Paragraph,
    Part,
    Picture,
    Scale,
    Section,
    ShownEffect,
    Span,
    Step,
    Tone,
    Value,
    Verbatim,
)
from swarm_bench.core.report.page import (
    Bar,
    Lane,
    Matrix,
    MatrixEntry,
    MatrixRow,
    SessionPage,
    ShownTask,
    ShownTrial,
    Timeline,
    TimelineLegend,
)
from swarm_bench.core.report.pictures import (
    Axis,
    Line,
    MarkGroup,
    MarkRow,
    PlaneChart,
    Point,
    RowChart,
    RowMark,
    make_picture,
)
from swarm_bench.core.treatment.conversation import Conversation, ShownCall

RATIO = Value(scale=Scale.RATIO, value=0.69, low=0.58, high=0.82)

HOSTILE = (
    "<script>hit()</script>",
    "</script><script>hit()</script>",
    "</style><style>*{background:url(http://127.0.0.1:9/)}</style>",
    "<img src=x onerror=hit()>",
    '" onmouseover="hit()" x="',
    "' autofocus onfocus=hit() '",
    "<svg onload=hit()><animate onbegin=hit() attributeName=x></svg>",
    "javascript:hit()",
    "data:text/html,<script>hit()</script>",
    "<iframe srcdoc='<script>parent.hit()</script>'>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<!-- --><!--><script>hit()</script>",
    "]]><script>hit()</script>",
    "{{ 7*7 }}{% raw %}${hit()}`",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "\x00\x08\x1b]0;title\x07\x9b31m",
    "half \ud83d of a pair \udc00",
    "&lt;script&gt;hit()&#60;/script&#62;",
)


def make_charts(text: str) -> tuple[RowChart, PlaneChart]:
    """A chart of rows and one of a plane, with marks of every look."""
    tones = (Tone.GOOD, Tone.BAD, Tone.OPEN, None)
    groups = [
        MarkGroup(label=f"{text}{at}", shape=at, tone=tone, is_hollow=is_hollow)
        for is_hollow in (True, False)
        for at, tone in enumerate(tones)
    ]
    marks = tuple(
        RowMark(group=at, value=float(at) or None, interval=(1.0, 2.0)) for at in range(len(groups))
    )
    axis = Axis(label=text, style=Style.AVERAGE)
    lines = tuple(
        Line(
            label=f"{text}{at}",
            shape=at,
            points=(Point(x=1, y=at, y_interval=(0, 9)), Point(x=2, y=at)),
        )
        for at in range(7)
    )
    rows = RowChart(
        title=text, explanation=text, axis=axis, groups=tuple(groups), extra_column=text,
        rows=(MarkRow(label=text, marks=marks, figure=RATIO),), is_linked=True,
    )  # fmt: skip
    return rows, PlaneChart(title=text, explanation=text, x=axis, y=axis, lines=lines)


def make_document(text: str) -> Document:
    """A document that has a text in every place."""
    answer = Answer(
        subject=text,
        claim=" helps",
        tone=Tone.GOOD,
        figures=text,
        next=Step(text, text),
        evidence=text,
        caveats=(text, text),
        effect=ShownEffect(
            metric=text,
            value=RATIO,
            margin=0.1,
            better=Better.LOWER,
            margin_label=text,
            cases="2 tasks",
        ),
        use=text,
    )
    own = Value(scale=Style.WHOLE, value=8490.0)
    cells = (
        *(text, Span(text=text, strong=True, tone=Tone.BAD), RATIO, None),
        Interval(scale=Scale.RATIO, low=0.5, high=2.0),
        CombinedValue(style=Style.SECONDS, parts=((1.0, text),), notes=(text,)),
        ComparedValue(own=own, change=text),
    )
    headers = tuple(f"{text}{number}" for number in range(len(cells)))
    blocks: tuple[Block, ...] = (
        Paragraph(lines=(text, (text, Span(text=text, code=True)))),
        Bullets(items=(text, (Span(text=text, address=text),)), omitted=2),
        Banner(text=text),
        Verbatim(text=text),
        Facts(lines=((Fact(label=text, value=text),),)),
        Picture(address=text, about=text),
        *map(partial(make_picture, "tasks"), make_charts(text)),
        Grid(headers=headers, labels=1, rows=(cells,), about=text, ranges=text, omitted=3),
    )
    warnings = Bullets(items=tuple((Span(text=text, longest=1000),) for _ in range(5)))
    return Document(
        title=text,
        banner=text,
        head=((Fact(label=text, value=text),),),
        sections=(
            Section(
                title=text,
                blocks=(Answers(items=(answer,), size=text),),
                part=Part.HEADLINE,
            ),
            Section(title=text, blocks=(warnings,), part=Part.WARNINGS),
            Section(title=text, blocks=blocks),
            Section(title=text, blocks=blocks, folded=True),
            Section(title=text, blocks=blocks, part=Part.SET_UP),
        ),
        apart=Attachment(title=text, sections=(Section(title="Apart", blocks=blocks),), instead=()),
    )


def make_calls(
    *arguments: str, result: str = "result", results: Sequence[str] = ()
) -> tuple[ShownCall, ...]:
    """Make calls of one tool, with one result or one each."""
    shown_results = results or [result] * len(arguments)
    return tuple(
        ShownCall(
            id=f"call-{turn}",
            tool="Read",
            arguments=argument,
            result=shown_result,
            has_result=True,
            failed=False,
            turn=turn,
            result_at=None,
            seconds=1.0,
        )
        for turn, (argument, shown_result) in enumerate(
            zip(arguments, shown_results, strict=True), start=1
        )
    )


def make_trial(name: str, calls: Sequence[ShownCall], text: str = "text") -> ShownTrial:
    return ShownTrial(
        name=name,
        arm=name.partition(", run ")[0],
        run=1,
        outcome=text,
        figures=((text, RATIO), (text, text)),
        turns=(100, None),
        conversation=Conversation(calls=tuple(calls), texts={1: text}),
        answer=text,
        errors=text,
        key=((text, True), (f"{text}2", False)),
        is_markdown=True,
        cited=((text, True), (text, False), (text, None)),
        notes=((text, text),),
        remarks=(text,),
    )


def make_page(text: str, tasks: Sequence[ShownTask] = ()) -> SessionPage:
    """Make a page that has a text in every place, and trials of two arms for each task."""
    tasks = tasks or [make_task(text)]
    trials = [*enumerate(tasks[0].trials)]
    cells = tuple(
        tuple(
            MatrixEntry(value=text, tone=Tone.BAD, name=trial.name, trial=number)
            for number, trial in trials
            if trial.arm == arm
        )
        for arm in dict.fromkeys(trial.arm for _, trial in trials)
    )
    rows = tuple(MatrixRow(title=task.title, cells=cells) for task in tasks)
    bar = Bar(begin=0.0, end=2.0, tone=None, label=text, trial=(0, 0))
    lanes = (Lane(label=text, bars=(bar,), phases=(bar,)),)
    return SessionPage(
        document=make_document(text),
        command=text,
        matrix=Matrix(title=text, about=text, case=text, arms=(text, text), rows=rows),
        timeline=Timeline(
            title=text,
            about=text,
            begin=0.0,
            seconds=2.0,
            lanes=lanes,
            legend=TimelineLegend(agents={None: text}, calls=text, phases=text),
        ),
        tasks=tasks,
    )


def make_task(text: str) -> ShownTask:
    first, second = make_calls(text, "same", result=text), make_calls(text, "other", result=text)
    trials = (
        make_trial("baseline, run 1, agent 1", first, text),
        make_trial("canopy, run 1, agent 1", second, text),
    )
    return ShownTask(title=text, prompt=text, trials=trials)
