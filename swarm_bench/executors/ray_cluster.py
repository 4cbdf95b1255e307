"""Runs the blocks of a session on the nodes of a Ray cluster: one actor for each node that has the
resource, and no task of Ray for each trial. Ray runs nothing again by itself."""

import hashlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from threading import Event, Thread
from typing import Any, TypeVar

import anyio
from pydantic import TypeAdapter

from swarm_bench.core.errors import HarnessError, NodeLost, UsageError
from swarm_bench.core.events import Emit, Preparing
from swarm_bench.core.listing import Check, State
from swarm_bench.core.roles.executor import Needs, OpenedExecutor, OpenPacked, PackedSession
from swarm_bench.core.session.base import Machine
from swarm_bench.executors.link import Link, Streams
from swarm_bench.executors.node_facts import Facts, build_node_check, find_fault
from swarm_bench.executors.pool import Pool, gather
from swarm_bench.executors.received import make_line
from swarm_bench.executors.relay import Relay

RESOURCE = "swarm_bench_agents"
"""What the nodes of agents have: how many of them run there at the same time."""
LEASE_SECONDS = 30.0
"""After which a worker that hears nothing stops its agents."""
SILENCE_SECONDS = 45.0
"""After which a worker that says nothing is lost; its lease has run out by then."""
START_SECONDS = 60.0
"""How long connecting, starting an actor, and each call before the session may take."""
STOP_SECONDS = 20.0
_ANSWER_SECONDS = 10.0
_LOOK_SECONDS = 0.05
_LONGEST_NAME = 200
T = TypeVar("T")


@dataclass(frozen=True)
class _Node:
    id: str
    name: str
    agents: float
    actor: Any = None
    """Actor that was started there."""
    machine: Machine = field(default_factory=dict)


class RayCluster:
    """The cluster of RAY_ADDRESS, or one on this machine."""

    @asynccontextmanager
    async def connect(self, needs: Needs, emit: Emit) -> AsyncIterator[OpenPacked]:
        """Start an actor on each node that can run the session. Raises `UsageError` without a
        cluster, `HarnessError` for a node that lacks something, and where none takes it."""
        async with _connect_to_ray(needs.agents_at_once, emit):
            nodes = _start_actors(needs.agents_at_once, needs.agents_at_once)
            emit(Preparing(step=f"examining {_count(nodes)}"))
            yield partial(_open_session, await _examine(nodes, needs))

    async def examine(self, needs: Needs) -> list[Check]:
        """Return what each node has, beside sessions that run. Raises `UsageError`, and
        `HarnessError` where none takes so many agents."""
        async with _connect_to_ray(needs.agents_at_once, lambda event: None):
            nodes = _start_actors(needs.agents_at_once, 0)

            async def check(number: int) -> Check:
                node = nodes[number]
                try:
                    return await _ask(
                        node, needs, lambda facts: build_node_check(node.name, facts, needs)
                    )
                except HarnessError as error:
                    subject = f"node {node.name}"
                    return Check(about=subject, state=State.PROBLEM, finding=str(error))

            checks = await gather(check, len(nodes))
            return checks + _check_unused({node.id for node in nodes}, needs.agents_at_once)


@asynccontextmanager
async def _open_session(
    nodes: list[_Node], session: PackedSession
) -> AsyncIterator[OpenedExecutor[Any, Any]]:
    """Start a worker on each node; those that are lost, or do not stop, are removed. Raises
    `HarnessError`."""
    session.emit(Preparing(step=f"sending the session to {_count(nodes)}"))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_stop_all, nodes)
        links = await _open_links(nodes, session, stack)
        pool = Pool(session.portable, links, session.emit)
        yield pool.build_executor({node.name: node.machine for node in nodes})
    failed_names = {link.name for link in links if link.lost is not None}
    nodes[:] = [node for node in nodes if node.name not in failed_names]


@asynccontextmanager
async def _connect_to_ray(agents: int, emit: Emit) -> AsyncIterator[None]:
    """Connect to the cluster for the block. Raises `UsageError`."""
    emit(Preparing(step="connecting to Ray"))
    options = _set_environment(agents)
    try:
        import ray
    except ImportError as error:
        raise UsageError("--on ray: Ray is not installed; install swarm-bench[ray]") from error

    await _check_answers(options["address"])
    released = Event()
    await _start(partial(ray.init, **options), options["address"], released)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(ray.shutdown)
        released.set()


async def _start(init: Callable[..., Any], address: str, released: Event) -> None:
    """Connect in a thread that stays until it is released: what Ray starts on this machine ends
    with the thread that started it. Raises `UsageError`."""
    errors, connected = list[BaseException](), Event()

    def connect() -> None:
        try:
            init(log_to_driver=False, logging_level="ERROR")
        except BaseException as error:  # noqa: BLE001  # it may exit too
            errors.append(error)
        connected.set()
        released.wait()

    # Ray has no limit of its own, and the end of the process waits for any other thread.
    Thread(target=connect, daemon=True).start()
    # Ray says on stderr how little it will say.
    with _hidden_stderr(), anyio.move_on_after(START_SECONDS):
        while not connected.is_set():  # noqa: ASYNC110  # the thread knows no loop
            await anyio.sleep(_LOOK_SECONDS)
    if errors or not connected.is_set():
        reason = _shorten(errors[0]) if errors else f"it takes more than {START_SECONDS:g} s"
        raise UsageError(
            f"--on ray: {address} does not let this process in ({reason}); set RAY_AUTH_MODE=token "
            "and the RAY_AUTH_TOKEN of the cluster, and check RAY_ADDRESS"
        )


@contextmanager
def _hidden_stderr() -> Iterator[None]:
    stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null)


async def _check_answers(address: str) -> None:
    """Raise `UsageError` for an address that nobody listens at, which Ray would try for long."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        with anyio.fail_after(_ANSWER_SECONDS):
            await (await anyio.connect_tcp(host, int(port))).aclose()
    except (OSError, TimeoutError) as error:
        raise UsageError(
            f"--on ray: nobody answers at {address}; start Ray there, or fix RAY_ADDRESS"
        ) from error


def _set_environment(agents: int) -> dict[str, Any]:
    """Set what Ray reads when it is imported. Returns how to connect."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if address := os.environ.get("RAY_ADDRESS"):
        return {"address": address}
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    resources = {RESOURCE: float(agents)}
    return {"address": "local", "include_dashboard": False, "resources": resources}


def _count(nodes: Sequence[_Node]) -> str:
    return "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"


def _list_alive() -> list[_Node]:
    import ray

    return [
        _Node(node["NodeID"], _name(node), node["Resources"].get(RESOURCE, 0.0))
        for node in ray.nodes()
        if node["Alive"]
    ]


def _name(node: Any) -> str:
    """Return what a node calls itself, unless that cannot be shown."""
    name, id = str(node["NodeName"]), str(node["NodeID"])
    return name if 0 < len(name) <= _LONGEST_NAME and name.isprintable() else id[:12]


def _list_nodes(agents: int) -> list[_Node]:
    """List the nodes that agents can run on. Raises `HarnessError` where none takes so many."""
    nodes = _list_alive()
    able = [node for node in nodes if node.agents >= agents]
    if not able:
        largest = max(nodes, key=lambda node: node.agents, default=None)
        capacity = f"the largest node, {largest.name}, takes {largest.agents:g}" if largest else ""
        raise HarnessError(
            f"--on ray: {agents} agents run at once, and {capacity or 'no node is there'}; "
            f"start nodes with ray start --resources '{{\"{RESOURCE}\": {agents}}}', or give a "
            "lower --concurrency"
        )
    names = [node.name for node in able]
    return [
        node if names.count(node.name) == 1 else _Node(node.id, node.id[:12], node.agents)
        for node in able
    ]


def _check_unused(used: Collection[str], agents: int) -> list[Check]:
    """Name the nodes that take too few agents."""
    return [
        Check(
            about=f"node {node.name}",
            state=State.WARNING if node.agents else State.ABSENT,
            finding=f"takes {node.agents:g} agents at once, and a block has {agents}: it gets none",
            advice=f"start Ray there with --resources '{{\"{RESOURCE}\": {agents}}}' to use it",
        )
        for node in _list_alive()
        if node.id not in used
    ]


def _start_actors(least: int, agents: int) -> list[_Node]:
    """Start an actor on each node that takes at `least` so many agents; with 0 `agents` it takes
    none of them. Raises `HarnessError`."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    options = {"max_restarts": 0, "max_task_retries": 0, "max_concurrency": 16, "num_cpus": 0}
    resources = {RESOURCE: agents} if agents else {}
    remote = partial(ray.remote(Relay).options, resources=resources, **options)

    def start(node: _Node) -> _Node:
        strategy = NodeAffinitySchedulingStrategy(node.id, soft=False)
        return replace(node, actor=remote(scheduling_strategy=strategy).remote())

    return list(map(start, _list_nodes(least)))


async def _examine(nodes: Sequence[_Node], needs: Needs) -> list[_Node]:
    """Return the nodes with their machines. Raises `HarnessError` for the first that lacks
    something."""

    async def examine(number: int) -> _Node:
        node = nodes[number]

        def judge(facts: Facts) -> _Node:
            if (fault := find_fault(facts, needs)) is not None:
                raise HarnessError(f"The node {node.name} {fault}")
            return replace(node, machine=facts["machine"])

        return await _ask(node, needs, judge)

    return await gather(examine, len(nodes))


async def _ask(node: _Node, needs: Needs, judge: Callable[[Facts], T]) -> T:
    """Return what is made of the facts of a node. Raises `HarnessError`, also for facts of which
    nothing can be made, and for another version of Ray."""
    import ray

    answer = await _call(node, node.actor.examine, json.dumps(asdict(needs)))
    with _refused_answers(node):
        facts: Facts = json.loads(answer)
        facts["machine"] = TypeAdapter(Machine).validate_python(facts["machine"])
        if (version := facts["ray"]) != ray.__version__:
            raise HarnessError(
                f"The node {node.name} has Ray {make_line(version)}, and this machine "
                f"{ray.__version__}; install the same"
            )
        return judge(facts)


@contextmanager
def _refused_answers(node: _Node) -> Iterator[None]:
    """Raise `HarnessError` where something in the block is not as our actors answer."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise HarnessError(
            f"The node {node.name} does not say what it has; install the same swarm-bench there"
        ) from error


async def _open_links(
    nodes: Sequence[_Node], session: PackedSession, stack: AsyncExitStack
) -> list[Link]:
    """Start the workers, all at the same time, and open the session at each."""
    import ray

    digest = hashlib.sha256(session.context).hexdigest()
    context = ray.put(session.context)

    async def start(number: int) -> dict[str, Any]:
        answer = await _call(nodes[number], nodes[number].actor.start, context, digest)
        with _refused_answers(nodes[number]):
            order = {"benchmark": session.benchmark, "lease": LEASE_SECONDS}
            return {**json.loads(answer), **order}

    orders = await gather(start, len(nodes))
    make_link, links = partial(Link, session.portable, out=session.out, emit=session.emit), []
    for node, order in zip(nodes, orders, strict=True):
        link = make_link(name=node.name, silence=SILENCE_SECONDS)
        await stack.enter_async_context(link.connect(_connect(node.actor, node.name), order))
        links.append(link)
    await gather(lambda number: links[number].wait_until_open(), len(links))
    return links


def _connect(actor: Any, name: str) -> Streams:
    import ray

    async def receive() -> AsyncIterator[bytes]:
        try:
            while piece := await actor.receive.remote():
                yield piece
        except ray.exceptions.RayError as error:
            raise _make_loss(name, error) from error

    async def send(content: bytes) -> None:
        try:
            await actor.send.remote(content)
        except ray.exceptions.RayError as error:
            raise _make_loss(name, error) from error

    return Streams(receive=receive(), send=send)


def _make_loss(name: str, error: Exception) -> NodeLost:
    import ray

    reason = _shorten(error)
    if isinstance(error, ray.exceptions.ActorUnavailableError):
        reason = "it cannot be reached any more"
    elif isinstance(error, ray.exceptions.ActorDiedError):
        reason = "the actor of this session has ended there"
    return NodeLost(f"The node {name} was lost: {reason}")


async def _call(node: _Node, method: Any, *arguments: Any) -> Any:
    """Call a method of an actor. Raises `HarnessError` where that fails, or takes too long."""
    import ray

    try:
        with anyio.fail_after(START_SECONDS):
            return await method.remote(*arguments)
    except TimeoutError as error:
        raise HarnessError(
            f"The node {node.name} does not answer within {START_SECONDS:g} s; its "
            f"{RESOURCE} may be taken by another session: end that, or see to the node"
        ) from error
    except ray.exceptions.RayError as error:
        raise HarnessError(
            f"The node {node.name} cannot be used: {_shorten(error)}; install the same "
            "swarm-bench on every node"
        ) from error


async def _stop_all(nodes: list[_Node]) -> None:
    """Have the workers end; nodes that do not answer in time, or cannot, are removed."""
    import ray

    async def stop(node: _Node) -> None:
        with anyio.move_on_after(STOP_SECONDS) as late, suppress(ray.exceptions.RayError):
            await node.actor.stop.remote()
            return
        nodes.remove(node)
        if late.cancelled_caught:
            ray.kill(node.actor)

    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as tasks:
            for node in list(nodes):
                tasks.start_soon(stop, node)


def _shorten(error: BaseException) -> str:
    """Return the last line of what Ray says, which has the reason."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
