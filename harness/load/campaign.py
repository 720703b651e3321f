"""A whole load: every subject, size and wire that was asked for, measured in turn and kept as one record."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.extender.cassette.command import entry_without_secrets
from harness.extender.entry import VERBS
from harness.extender.subject.parse import Subject
from harness.load import insitu
from harness.load.bodies import NODE_KIB, WIRES, Corpus, about, made_up, recorded
from harness.load.generate import Scale
from harness.load.keep import LoadWriter
from harness.load.measure import Run
from harness.load.schedule import Plan
from harness.load.session import PROCESSES_MAX, Loaded, Shape, is_loopback, loading, refuse_remote
from harness.load.sweep import KNEE_SECONDS, NODE_KIBS, NODES, find_knee, sizes
from harness.record.load import LoadRecord, LoadResult, read
from harness.record.model import Record

ENDINGS = ("interrupted", "deadline", "worker-lost", "generator-failed")
"""What ends the whole load and not only a measurement, worst last."""


@dataclass(frozen=True)
class ClusterNodes:
    """Nodes as the API server of a cluster gives them.

    `source` is what people call it. With `kubeconfig` the extenders may look into it, too: only if it is one of ours,
    for in the user's own pods may matter.
    """

    source: str
    nodes: tuple[Mapping[str, Any], ...]
    kubeconfig: Path | None = None


@dataclass(frozen=True)
class Options:
    """What is asked for.

    Args:
        verbs: filter, prioritize, preempt, bind; or cycle, what a scheduler calls one after the other.
        nodes: how many nodes the made-up requests name; 100 unless given, all of `sweep.NODES` in a sweep.
        wires: names, objects; what the extender's entry asks for unless given, both in a sweep.
        schedule: constant, poisson, ramp or step; with `rates`, an open load.
        rates: see `schedule.Plan`; None for a closed load.
        schedulers: how many schedulers a closed load has.
        seconds: how long each measurement takes, after its warm-up.
        sweep: measure many sizes.
        knee: search the highest rate within `budget_ms`.
        node_kibs: how large made-up nodes are; 4 unless given, all of `sweep.NODE_KIBS` in a sweep.
        cassette: recorded requests instead of made-up ones.
        cluster: the nodes of a cluster instead of made-up ones.
        in_situ: a run through the extenders; what its scheduler waited for is kept beside the results.
    """

    verbs: tuple[str, ...] = ("filter",)
    nodes: tuple[int, ...] = ()
    wires: tuple[str, ...] = ()
    schedule: str = "constant"
    rates: tuple[float, ...] | None = None
    schedulers: int = 1
    seconds: float = 10.0
    warmup_seconds: float = 1.0
    sweep: bool = False
    knee: bool = False
    budget_ms: float | None = None
    knee_seconds: float = KNEE_SECONDS
    node_kibs: tuple[float, ...] = ()
    cassette: Path | None = None
    cluster: ClusterNodes | None = None
    in_situ: Record | None = None
    seed: int = 0
    allow_remote: bool = False
    floor: bool = True

    @property
    def sizes_of_nodes(self) -> tuple[float, ...]:
        """Return how large made-up nodes are, where nothing else was asked for."""
        return self.node_kibs or (NODE_KIBS if self.sweep else (NODE_KIB,))

    def shape(self) -> Shape:
        """Return the load of one measurement.

        Raises:
            InputError: it is more than may be asked for.
        """
        plan = None
        if self.rates is not None:
            plan = Plan(self.schedule, self.rates, self.seconds, self.seed, self.warmup_seconds)
        return Shape(self.seconds, self.warmup_seconds, plan, self.schedulers)


def carry_out(
    subjects: Sequence[Subject],
    options: Options,
    scale: Scale,
    out: Path,
    *,
    facts: Callable[[], Mapping[str, Any]] = dict,
    report: Callable[[str], None] = lambda _: None,
) -> LoadRecord:
    """Measure everything and return its record; Ctrl-C ends it, and what was measured by then is kept.

    Args:
        subjects: the extenders, one after the other.
        options: what is asked of each.
        scale: by how many processes.
        out: the folder of all records.
        facts: asked at the beginning and the end for what the record is to say about the machine.
        report: told what is being measured.

    Raises:
        InputError: something of it cannot be done; nothing was started then.
        VariantError, BuildError, MissingToolError: an extender does not start.
    """
    check(subjects, options, scale)
    title = subjects[0].name if len(subjects) == 1 else f"{len(subjects)}-subjects"
    inputs = {"subjects": [one.text for one in subjects], **_inputs(options), "scale": asdict(scale)}
    run = options.in_situ
    seen = insitu.rows(run) if run else []
    writer = LoadWriter(out, title, {**facts(), "inputs": inputs, "in_situ": seen})
    warnings = insitu.doubts(run, [one.text for one in subjects]) if run else []
    status = "failed"
    try:
        status = _measure_all(subjects, options, scale, writer, _Report(report, warnings))
    except KeyboardInterrupt:
        # Between two measurements: what is there stays.
        status = "interrupted"
    finally:
        writer.finish(status, list(dict.fromkeys(warnings)), facts())
    return read(writer.path)


def check(subjects: Sequence[Subject], options: Options, scale: Scale) -> None:
    """Refuse what cannot be done before anything is started."""
    if not subjects:
        raise InputError("a subject expected, such as ref:pass-through; see --help")
    if wrong := next((verb for verb in options.verbs if verb not in (*VERBS, "cycle")), None):
        raise InputError(f"--verb {wrong}: one of {', '.join(VERBS)} or cycle expected")
    if wrong := next((wire for wire in options.wires if wire not in WIRES), None):
        raise InputError(f"--wire {wrong}: one of {', '.join(WIRES)} expected")
    for subject in subjects:
        refuse_remote(subject, allow_remote=options.allow_remote)
    if not 1 <= scale.processes <= PROCESSES_MAX:
        raise InputError(f"{scale.processes} processes: 1 to {PROCESSES_MAX} expected")
    options.shape()
    if scale.role != "local":
        _check_distributed(subjects, options, scale)
    if options.cassette is not None and (options.nodes or options.wires or options.sweep or options.node_kibs):
        raise InputError(
            "--cassette: its requests have their own nodes and wire; leave --nodes, --wire, --node-kib and --sweep out"
        )
    if options.cluster is not None and (options.nodes or options.cassette or options.node_kibs):
        raise InputError(
            f"{options.cluster.source}: it has its own nodes; leave --nodes, --node-kib and --cassette out"
        )


def _check_distributed(subjects: Sequence[Subject], options: Options, scale: Scale) -> None:
    several = len(subjects) > 1 or any(len(one) > 1 for one in (options.nodes, options.wires, options.node_kibs))
    if several or options.sweep or options.knee or subjects[0].is_started:
        raise InputError("--master and --worker measure once, and one subject that runs already (http://…)")
    if not (is_loopback(scale.host) or options.allow_remote):
        raise InputError(f"{scale.host}: this is not the machine itself; say --allow-remote if it is yours")


@dataclass(frozen=True)
class _Report:
    show: Callable[[str], None]
    warnings: list[str]


def _measure_all(
    subjects: Sequence[Subject], options: Options, scale: Scale, writer: LoadWriter, report: _Report
) -> str:
    for number, subject in enumerate(subjects, 1):
        report.show(f"{subject.text}: starting")
        folder = writer.path / "subjects" / str(number)
        with loading(
            subject,
            folder,
            verbs=options.verbs,
            seed=options.seed,
            allow_remote=options.allow_remote,
            kubeconfig=options.cluster.kubeconfig if options.cluster else None,
        ) as loaded:
            report.warnings.extend(loaded.notes)
            for corpus in corpora(loaded, options):
                ended = _measure(loaded, corpus, options, scale, writer, report)
                if ended in ENDINGS:
                    return ended
                if ended in ("died", "gone"):
                    # Nothing is left to be measured of it.
                    break
    return "complete"


def _measure(
    loaded: Loaded, corpus: Corpus, options: Options, scale: Scale, writer: LoadWriter, report: _Report
) -> str:
    title = f"{loaded.subject.name} {'+'.join(corpus.verbs)}, {corpus.nodes} {corpus.wire}"
    title += f" of {corpus.node_kib:g} KiB" if corpus.node_kib and len(options.sizes_of_nodes) > 1 else ""
    report.warnings.extend(f"{title}: {said}" for said in (*loaded.look(corpus), *corpus.notes))
    endings = []

    def once(corpus: Corpus, shape: Shape, floor: bool) -> tuple[Run, list[LoadResult]]:
        told = f"{title}, {shape.text}"
        run, results = loaded.measure(
            corpus, shape, scale, floor=floor and options.floor, report=lambda far: report.show(f"{told}: {far}")
        )
        inputs = {
            "corpus": corpus.source,
            "digest": corpus.digest,
            "shape": _shape(shape),
            "entry": entry_without_secrets(loaded.entry),
        }
        kept = writer.add(run, results, inputs)
        endings.append(run.ended)
        if run.ended == "interrupted":
            raise KeyboardInterrupt
        return run, kept

    with contextlib.suppress(KeyboardInterrupt):
        if options.knee:
            writer.add_knee(
                find_knee(
                    loaded,
                    corpus,
                    once,
                    budget_ms=options.budget_ms,
                    seed=options.seed,
                    limit_seconds=options.knee_seconds,
                )
            )
        else:
            once(corpus, options.shape(), True)
        return endings[-1] if endings else "complete"
    return "interrupted"


def corpora(loaded: Loaded, options: Options) -> Iterator[Corpus]:
    """Yield what is sent, a corpus per size and wire; the extender's entry follows it.

    Raises:
        InputError: there is nothing to send.
    """
    verbs = loaded.verbs(options.verbs)
    if not verbs:
        raise InputError(
            f"{loaded.subject.text}: its entry has no verb that a scheduler would call; name one with --verb"
        )
    if options.cassette is not None:
        yield recorded(options.cassette, verbs)
        return
    own = "names" if loaded.entry.node_cache_capable else "objects"
    wires = options.wires or (WIRES if options.sweep else (own,))
    there = options.cluster
    counts = (len(there.nodes),) if there else options.nodes or (NODES if options.sweep else (100,))
    if options.node_kibs and "objects" not in wires:
        raise InputError(f"--node-kib: {loaded.subject.text} is sent names, which have no size; say --wire objects")
    for count, wire, kib in sizes(counts, wires, (NODE_KIB,) if there else options.sizes_of_nodes):
        # Said to the extender's judge too: it is asked in the mode that is measured.
        loaded.entry = replace(loaded.entry, node_cache_capable=wire == "names")
        if there:
            yield about(there.nodes, wire, verbs, there.source)
        else:
            yield made_up(count, wire, verbs, node_kib=kib)


def _shape(shape: Shape) -> dict[str, Any]:
    plan = shape.plan.to_json() if shape.plan else None
    return {
        "seconds": shape.seconds,
        "warmup_seconds": shape.warmup_seconds,
        "plan": plan,
        "schedulers": shape.schedulers,
    }


def _inputs(options: Options) -> dict[str, Any]:
    named = {
        "cassette": str(options.cassette) if options.cassette else None,
        "cluster": options.cluster.source if options.cluster else None,
        "in_situ": options.in_situ.meta.id if options.in_situ else None,
    }
    return {**asdict(replace(options, cluster=None, in_situ=None)), **named}
