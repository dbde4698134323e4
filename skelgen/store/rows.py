"""What a store keeps: one frozen type for each kind of row."""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.trust import Interval

#: Value of an input by its name; a word where it is no number.
Inputs = tuple[tuple[str, float | str], ...]


@dataclass(frozen=True, slots=True)
class RunPart:
    """A part of a run: a phase, a function, a kernel or a chain of kernels.

    Attributes
    ----------
    name : str
        The same for the same part in other runs.
    kind : str
        ``phase``, ``function`` or ``kernel``.
    time_s : float
        Mean time of an occurrence [s].
    weight : float
        Occurrences.
    share : float
        Of the run's time [0 to 1].
    """

    name: str
    kind: str
    time_s: float
    weight: float = 1.0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of an application, or what is known of one.

    Attributes
    ----------
    application : str
    time_s : float
        Wall time [s].
    ranks, nodes, ranks_per_node : int
        0 where nobody said it.
    executable : str
        SHA-256 of the program; empty where it is not known.
    inputs : tuple of (str, float or str)
        By name, sorted.
    hosts : tuple of str
        As the ranks found them; empty where they are not known.
    allocation : str
        Job of the batch system.
    started : float
        Seconds since 1970 in UTC [s]; nan where it is not known.
    status : str
        ``ok``, ``exit 3``, ``signal 9``; ``unknown``: nobody saw how it ended;
        ``unseen``: nobody saw when, and it took at least so long.
    system : str
        Name of the system that the hosts are part of.
    loads : tuple of (str, float)
        Averages over the run, by name: ``cpu_avg_min``, ``cpu_min_avg``,
        ``bandwidth_avg_min``, ``bandwidth_min_avg`` [0 to 1], and ``cpu_start``,
        ``bandwidth_start``.
    costs : tuple of (str, float)
        What the run used, by name and unit: ``cpu_s``, ``memory_bytes``,
        ``read_bytes``, ``written_bytes``, ``sent_bytes``, ``received_bytes``.
    parts : tuple of RunPart
    mpi : str
        MPI library, as it names itself.
    added : float
        When it was typed, where its start is not known; seconds since 1970 in UTC [s].
    source : str
        Where the run comes from: a recorded run, a file and its line, a command.
    identity : str
        The same for the same run however often it is added; no two runs share it.
    author : str
        Who added it through a server: the name of the token; else empty.
    """

    application: str
    time_s: float
    ranks: int = 0
    nodes: int = 0
    ranks_per_node: int = 0
    executable: str = ""
    inputs: Inputs = ()
    hosts: tuple[str, ...] = ()
    allocation: str = ""
    started: float = float("nan")
    status: str = "ok"
    system: str = ""
    loads: tuple[tuple[str, float], ...] = ()
    costs: tuple[tuple[str, float], ...] = ()
    parts: tuple[RunPart, ...] = ()
    mpi: str = ""
    added: float = float("nan")
    source: str = ""
    identity: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A measured property of a host or of a link.

    Attributes
    ----------
    host : str
        A link is ``n1-n2``, its hosts sorted.
    name : str
        Such as ``float_multiply_add`` or ``read_16mib``.
    value, low, high : float
        Median, smallest and largest of the repeats, in `unit`.
    unit : str
        ``1/s``, ``bytes/s``, ``s``, ``bytes``.
    cores : int
        So many cores of the host worked at the same time; 0 where that means nothing.
    repeats : int
    measured : float
        Seconds since 1970 in UTC [s].
    system : str
    compiler, kernel : str
        As they name themselves.
    doubt : str
        Why the fact is not to be trusted, such as a busy machine; else empty.
    """

    host: str
    name: str
    value: float
    unit: str
    low: float
    high: float
    cores: int = 0
    repeats: int = 1
    measured: float = float("nan")
    system: str = ""
    compiler: str = ""
    kernel: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """Time of an MPI operation over sizes: latency + size / bandwidth.

    Attributes
    ----------
    hosts : tuple of str
        Sorted; one where all ranks ran on it.
    operation : str
        ``SR`` (send and receive), ``BC`` (broadcast), ``allreduce``, ``alltoall``, ...
    ranks : int
    latency_s : float
        Of the smallest messages [s].
    bandwidth_bytes_per_s : float
        Of the largest messages [bytes/s]; nan where size does not matter.
    eager_bytes : int
        Largest message that is sent before its receive is posted; 0: not found.
    knees : tuple of (int, float, float)
        Stretches, where there are several, the first from 0 on: from so many bytes on,
        latency [s] and bandwidth [bytes/s].
    points : tuple of (int, float)
        What was measured: size [bytes] and median time [s].
    measured : float
        Seconds since 1970 in UTC [s].
    system : str
    mpi : str
    repeats : int
        Fewest of a size.
    spread : float
        Median over the sizes of (largest - smallest) / median of the repeats [1].
    doubt : str
        As that of a fact.
    """

    hosts: tuple[str, ...]
    operation: str
    ranks: int
    latency_s: float
    bandwidth_bytes_per_s: float
    eager_bytes: int = 0
    knees: tuple[tuple[int, float, float], ...] = ()
    points: tuple[tuple[int, float], ...] = ()
    measured: float = float("nan")
    system: str = ""
    mpi: str = ""
    repeats: int = 1
    spread: float = 0.0
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """A quantity of a node or link over time.

    Attributes
    ----------
    host : str
        A link is ``n1-n2``, its hosts sorted.
    quantity : str
        ``cpu``, ``bandwidth``, ``run_queue``, ``memory_bytes``, ...
    times : tuple of float
        Seconds since 1970 in UTC, rising [s].
    values : tuple of float
    """

    host: str
    quantity: str
    times: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A formula with named inputs, such as ``ADDM*N^3/(P-1) + N*BC(L)``."""

    name: str
    application: str
    formula: str
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coupling:
    """Time of a chain of kernels, measured together; a chain of one is a kernel alone.

    Attributes
    ----------
    application : str
    kernels : tuple of str
        In their order.
    time_s : float
        Of one pass through the chain [s].
    inputs : tuple of (str, float or str)
    ranks : int
    system : str
    measured : float
        Seconds since 1970 in UTC [s].
    """

    application: str
    kernels: tuple[str, ...]
    time_s: float
    inputs: Inputs = ()
    ranks: int = 0
    system: str = ""
    measured: float = float("nan")


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A fitted model, as the document that it is read from.

    Attributes
    ----------
    name : str
    application : str
    fitted : float
        Seconds since 1970 in UTC [s].
    document : str
        JSON text.
    """

    name: str
    application: str
    fitted: float
    document: str


@dataclass(frozen=True, slots=True)
class StoredPrediction:
    """A prediction, and what happened.

    Attributes
    ----------
    method : str
        ``whole-events``, ``paper2005``, ``phases``, ``workload`` or ``model``, as
        `skelgen.trust` has it.
    application : str
    interval : Interval
        Of the time [s].
    made : float
        Seconds since 1970 in UTC [s].
    verdict : str
    doubts : tuple of str
        Codes.
    inputs : tuple of (str, float or str)
    ranks : int
    hosts : tuple of str
    source : str
        Skeleton, phase signature, study or model.
    identity : str
        As that of a run.
    truth : str
        Identity of the run that happened; empty as long as there is none.
    truth_s : float
        Its time [s]; nan as long as there is none.
    measured : Interval or None
        The same without the error of the method [s]; None where it is not known.
    family : str
        Kind of program, as in `skelgen.trust`; empty where it is not known.
    """

    method: str
    application: str
    interval: Interval
    made: float
    verdict: str = "trust"
    doubts: tuple[str, ...] = ()
    inputs: Inputs = ()
    ranks: int = 0
    hosts: tuple[str, ...] = ()
    source: str = ""
    identity: str = ""
    truth: str = ""
    truth_s: float = float("nan")
    measured: Interval | None = None
    family: str = ""


#: The longest page of a recorded run, as text [characters].
MOST_RECORDING = 1_400_000


@dataclass(frozen=True, slots=True)
class StoredRecording:
    """What the page of a recorded run shows; a run has one at most.

    Attributes
    ----------
    run : str
        Identity of the run.
    document : str
        Compressed; `skelgen.web.recording_read` reads it and trusts nothing of it.
    """

    run: str
    document: str


Row = (
    Run
    | Fact
    | Message
    | Series
    | Template
    | Coupling
    | StoredModel
    | StoredPrediction
    | StoredRecording
)
