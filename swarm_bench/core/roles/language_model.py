"""The role of a language model: who is asked in a request, and says what answering took."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from swarm_bench.core.outcome import Usage
from swarm_bench.core.status import Cause

if TYPE_CHECKING:
    from swarm_bench.core.session.experiment import Program

Way = Literal["chat", "text", "gap"]
"""How a model is asked: in turns, with a text that it continues, or with one that has a gap."""
Finish = Literal["stop", "length", "refused"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A text with a gap in it, which the model fills."""

    prefix: str
    suffix: str


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How an answer is drawn; `None` for what is left to the provider."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    """Texts at which an answer may end. No provider takes all of them, so the caller cuts again."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request."""

    prompt: str | Gap | tuple[Turn, ...]
    sampling: Sampling = Sampling()
    seed: int | None = None
    reference: str | None = field(default=None, compare=False)
    """Answer of a perfect model. Only sources that are no model look at it, and at the next."""
    case: str = field(default="", compare=False)
    """Id of the case."""
    number: int = field(default=0, compare=False)
    """Number of the case in its data set, from 0."""
    run: int = field(default=1, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Files that the request is about, by their paths: an agent finds them in its folder."""

    @property
    def way(self) -> Way:
        """How it is asked."""
        if isinstance(self.prompt, str):
            return "text"
        return "gap" if isinstance(self.prompt, Gap) else "chat"

    @property
    def texts(self) -> tuple[str, ...]:
        """What the model reads."""
        if isinstance(self.prompt, str):
            return (self.prompt,)
        if isinstance(self.prompt, Gap):
            return self.prompt.prefix, self.prompt.suffix
        return tuple(turn.text for turn in self.prompt)

    @property
    def is_unlimited(self) -> bool:
        """Whether the answer may be as long as the provider likes."""
        return self.sampling.max_tokens is None


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What a model answered."""

    text: str
    """Text of the answer; empty when there was none."""
    finish: Finish | None
    """Reason why it ended; `None` when the model does not say."""
    usage: Usage
    """Usage of the request that was answered."""
    requests: int | None = 1
    """Number of requests that it took: those before were turned away, or broke off. `None` if
    unknown."""
    seconds: float | None = None
    """Seconds of the request that was answered: waiting for a provider does not count."""
    model: str | None = None
    """Name of the model, as the provider writes it."""
    omitted: tuple[str, ...] = ()
    """Parts of the request that the provider refuses, and that were not sent."""
    elsewhere: str | None = None
    """Field in which a server put what it has instead of a text, as `reasoning_content` or
    `tool_calls`, if the text is empty."""
    whole: bool = False
    """Whether the answer is not to be cut, as it comes from a file, where nothing follows it."""
    cause: Cause = Cause.FINISHED
    """Why it ended. What ends otherwise has tokens and a cost all the same, and is not scored."""
    detail: str | None = None
    """A sentence on an end that is none with an answer."""
    cost: float | None = None
    """US dollars, where the provider reports them."""
    cost_estimated: bool | None = None
    """True when that comes from a price table."""
    turns: int | None = None
    """Number of an agent's turns."""
    answers_read: tuple[str, ...] = ()
    """Files and folders with the answers of the data set that an agent named: its answer is not its
    own."""


class LanguageModel(Protocol):
    """Answers a request with a text."""

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once. Raises `ModelFailed`; `NotAuthorized` and `UsageError` for what would fail
        every time."""
        ...


@dataclass(frozen=True, kw_only=True)
class Around:
    """What models are opened in."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the environment and of `.env`: keys are among them."""
    timeout: float = 120
    """Seconds for a request."""
    cases: tuple[str, ...] = ()
    """Ids of the cases that are asked, in their order."""
    runs: int = 1
    is_asked: bool = True
    """Whether the model will be asked, for which it needs a key; a plan asks no model."""
    ways: frozenset[Way] = frozenset()
    """Ways in which the model will be asked; empty before that is known, and once it is opened."""
    lessons: tuple[str, ...] = ()
    """One text for each case of the whole data set, with its answer."""
    every: tuple[str, ...] = ()
    """Ids of all cases of the data set, in its order."""
    groups: tuple[str | None, ...] = ()
    """The group of each of them; `None` for a case that is one by itself."""
    one_word: bool = False
    """Whether an answer is one word."""
    prompts: Callable[[], Iterable[tuple[str, str]]] = tuple
    """Makes what the model is asked in each case of the data set that is a text, with the case."""
    seed: int = 0
    """Seed of the session."""
    max_turns: int = 15
    """Most turns of an agent in a request."""
    answers: tuple[Path, ...] = ()
    """Files and folders that hold the answers of the data set."""
    kept: Path | None = None
    """The folder for what agents print; `None` where nothing is stored."""


class ModelSource(Protocol):
    """What a word after `--models` stands for. Packages register theirs as `swarm_bench.models`; it
    is made with what stands behind the colon of the word."""

    @property
    def about(self) -> str:
        """A sentence with the form of the word."""
        ...

    @property
    def ways(self) -> frozenset[Way]:
        """How it can be asked."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """Variables that let it in."""
        ...

    @property
    def address(self) -> str | None:
        """The server that the word names; `None` where it names none. What only the file of a
        session says is asked on this machine alone."""
        ...

    @property
    def free(self) -> bool:
        """Whether asking it costs nothing, so that it needs no price."""
        ...

    @property
    def sampled(self) -> bool:
        """Whether temperature and top_p have a say in what it answers."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether it gives the same answer in every run, so that one is enough."""
        ...

    def program(self, around: Around) -> "Program":
        """Say who will answer, and check what can be checked for free. Raises `UsageError`."""
        ...

    def opened(self, around: Around) -> AbstractAsyncContextManager[LanguageModel]:
        """Open it for the block."""
        ...
