"""`harness load`: how an extender behaves under a scheduler's load."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from harness.cli.bring import entry_option
from harness.cli.closing import close, report_option
from harness.cli.options import Finite, json_option
from harness.cluster.base import ClusterSpec, KindSpec
from harness.cluster.folder import folders
from harness.errors import InputError
from harness.extender.cassette.command import without_secrets_in
from harness.extender.subject.parse import Subject, parse
from harness.kube import Kube
from harness.load.campaign import ClusterNodes, Options, carry_out
from harness.load.generate import LOCUSTFILE, LOOPBACK, MASTER_PORT, Scale
from harness.load.order import VARIABLE
from harness.load.schedule import KINDS, parse_rates
from harness.load.sweep import KNEE_SECONDS
from harness.paths import runs_folder
from harness.progress import bar, note
from harness.record.call import CASSETTE
from harness.record.find import resolve
from harness.record.load import LoadRecord
from harness.record.read import read
from harness.run import machine
from harness.run.brought import entry_keys

INTERRUPTED = 130
WEB_PORT = 8089
EVERYWHERE = "*"
SECONDS, SWEEP_SECONDS = 10.0, 3.0


Command = TypeVar("Command", bound=Callable[..., Any])
_SENT = (
    click.option("--verb", "verbs", multiple=True, help="filter, prioritize, preempt, bind, or cycle. Repeatable."),
    click.option("--nodes", multiple=True, type=click.IntRange(1, 20_000), help="Nodes in a request; 100. Repeatable."),
    click.option("--wire", "wires", multiple=True, type=click.Choice(["names", "objects"]), help="Form of the nodes."),
    click.option(
        "--node-kib", "node_kibs", multiple=True, type=Finite(0, 64), help="Size of an object; 4. Repeatable."
    ),
    click.option("--cassette", metavar="FILE", help="Recorded requests: a cassette, a record that has one, or latest."),
    click.option("--nodes-of", metavar="CLUSTER", help="Nodes of a cluster: its name (harness up) or kubeconfig."),
)
_HOW = (
    click.option("--rate", metavar="R", help="Open load: requests per second; FROM:TO for a ramp, R,R,… for steps."),
    click.option("--closed", type=int, metavar="N", help="Closed load: schedulers that wait for answers; 1."),
    click.option(
        "--schedule", type=click.Choice(KINDS), default="constant", show_default=True, help="Of an open load."
    ),
    click.option("--sweep", is_flag=True, help="1 to 5000 nodes, names and objects of 2 and 8 KiB."),
    click.option("--knee", is_flag=True, help="Search the highest rate whose p99 is within --budget."),
    click.option("--budget", "budget_ms", type=Finite(0.001), metavar="MS", help="Half of httpTimeout."),
    click.option("--knee-seconds", type=Finite(1, 3600), default=KNEE_SECONDS, help="When a search ends."),
    click.option("--duration", type=Finite(0), metavar="S", help="Seconds per measurement; 10, in a sweep 3."),
    click.option("--warmup", type=Finite(0), default=1.0, show_default=True, metavar="S", help="Seconds before that."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For every lot drawn."),
    click.option("--in-situ", metavar="RUN", help="A run through the extender, to show what its scheduler waited for."),
)
_BY_WHOM = (
    click.option("--processes", type=int, default=1, show_default=True, help="Processes that make the load."),
    click.option("--master", is_flag=True, help="Let workers elsewhere make the load; --processes says how many."),
    click.option("--worker", metavar="HOST", help="Be a worker of the master at HOST; with the master's own options."),
    click.option("--bind", metavar="ADDRESS", help="Where the master listens; loopback, or all with --allow-remote."),
    click.option("--port", type=click.IntRange(1, 65_535), default=MASTER_PORT, help="Of the master, or of the page."),
    click.option("--allow-remote", is_flag=True, help="Also load another machine; it must be yours."),
    click.option("--pods", type=int, metavar="N", help="Let N pods of a kind cluster, and a master, make the load."),
    click.option("--cluster-name", metavar="NAME", help="With --pods: the cluster; a random one unless told."),
    click.option("--keep-cluster", is_flag=True, help="With --pods: leave the cluster there at the end."),
    click.option("--web", is_flag=True, help="Start and watch the load in locust's page; Ctrl-C ends it."),
    click.option("--order", type=click.Path(path_type=Path), metavar="DIR", help="Send nothing; write locust's order."),
)


def _load_options(command: Command) -> Command:
    for option in reversed((*_SENT, *_HOW, *_BY_WHOM)):
        command = option(command)
    return command


@click.command()
@click.argument("subjects", nargs=-1, required=True, metavar="SUBJECT...")
@entry_option
@_load_options
@click.option("--out", type=click.Path(path_type=Path), help="Folder of records; reports/runs unless told.")
@report_option
@json_option
def load(subjects: tuple[str, ...], entries: tuple[str, ...], out: Path | None, as_json: bool, **given: Any) -> int:
    """Put extenders under a scheduler's load and measure how long they take.

    Closed load (--closed N): N schedulers, each of which waits for an answer before it asks again, as kube-scheduler
    does. Open load (--rate R): requests come on a schedule, and latency counts from when each was to be sent, so that
    an extender that stalls cannot hide its queue. Exits with 0 if every request was answered, 1 if some failed or the
    extender died, 2 on bad input, 3 if nothing could be measured.

    \b
    Examples:
      harness load ref:pass-through
      harness load go:./my-extender --rate 200 --nodes 1000 --wire objects
      harness load go:./my-extender --verb cycle --closed 4 --duration 30
      harness load 'cmd:./my-extender {port}' --rate 100:2000 --schedule ramp
      harness load ref:lucky go:./my-extender --sweep --json
      harness load go:./my-extender --knee --budget 50
      harness load go:./my-extender --cassette latest --in-situ latest
    """
    options, scale = _options(given), _scale(given)
    keys = entry_keys(entries).given()
    brought = [parse(text, keys) for text in subjects]
    if given["order"] is not None:
        return _hand_out(brought, options, scale, given["order"])
    if given["pods"] is not None:
        record = _in_pods(brought, options, given, out or runs_folder())
    else:
        with bar("Load") as shown:
            record = carry_out(brought, options, scale, out or runs_folder(), facts=_facts, report=shown.show)
    print(_json(record) if as_json else _text(record))
    close([record.path], given["report_to"], as_json=as_json)
    return exit_code(record)


def _options(given: Mapping[str, Any]) -> Options:
    rate, closed, schedule = given["rate"], given["closed"], given["schedule"]
    if rate is not None and closed is not None:
        raise InputError("--rate and --closed: one of them; a load is open or closed")
    if given["knee"] and (own := _given("duration", "warmup", "schedule")):
        raise InputError(f"--knee: it has its own times and schedule; leave {' and '.join(own)} out")
    if not given["knee"] and (own := _given("budget_ms", "knee_seconds")):
        raise InputError(f"{' and '.join(own)}: about the search for a knee; say --knee too")
    if rate is None and schedule != "constant":
        raise InputError(f"--schedule {schedule}: it is about an open load; say its --rate too")
    if given["knee"] and (rate is not None or closed is not None):
        raise InputError("--knee: it looks for the rate itself; leave --rate and --closed out")
    seconds = SWEEP_SECONDS if given["sweep"] else SECONDS
    same = ("nodes", "wires", "schedule", "sweep", "knee", "budget_ms", "knee_seconds", "node_kibs", "seed")
    return Options(
        **{name: given[name] for name in (*same, "allow_remote")},
        verbs=given["verbs"] or (("cycle",) if given["knee"] else ("filter",)),
        rates=None if rate is None else parse_rates(schedule, rate),
        schedulers=1 if closed is None else closed,
        seconds=seconds if given["duration"] is None else given["duration"],
        warmup_seconds=given["warmup"],
        cassette=_found(given["cassette"]) if given["cassette"] else None,
        cluster=_nodes_of(given["nodes_of"]) if given["nodes_of"] else None,
        in_situ=read(resolve(given["in_situ"], runs_folder())) if given["in_situ"] else None,
    )


def _given(*names: str) -> list[str]:
    """Return which of some options were typed, as they are typed."""
    context = click.get_current_context()
    typed = [one for one in names if context.get_parameter_source(one) is ParameterSource.COMMANDLINE]
    return [option.opts[0] for option in context.command.params if option.name in typed]


def _nodes_of(name: str) -> ClusterNodes:
    """Return the nodes of the cluster that a name or a kubeconfig means."""
    up = {folder.name: folder.facts().get("kubeconfig") for folder in folders()}
    file = Path(up.get(name) or name)
    if not file.is_file():
        known = f"up are {', '.join(sorted(up))}" if up else "none is up"
        raise InputError(f"--nodes-of {name}: no cluster of that name, and no kubeconfig; {known}")
    kube = Kube.connect(file)
    try:
        nodes = tuple(kube.items("/api/v1/nodes"))
    finally:
        kube.close()
    return ClusterNodes(f"cluster {name}", nodes, file) if name in up else ClusterNodes(file.name, nodes)


def _scale(given: Mapping[str, Any]) -> Scale:
    master, worker, port = given["master"], given["worker"], given["port"]
    if master and worker:
        raise InputError("--master and --worker: one of them per process")
    role = "master" if master else "worker" if worker else "local"
    if given["bind"] and not master:
        raise InputError(f"--bind {given['bind']}: it says where a --master listens")
    if given["pods"] is None and (given["cluster_name"] or given["keep_cluster"]):
        raise InputError("--cluster-name and --keep-cluster are about the cluster of --pods N")
    if given["pods"] is not None and (role != "local" or given["web"] or given["processes"] > 1):
        raise InputError("--pods: each pod is one process; leave --processes, --master, --worker and --web out")
    page = None
    if given["web"]:
        if role != "local" or given["processes"] > 1:
            raise InputError("--web: it is for one process; leave --master, --worker and --processes out")
        page = WEB_PORT if port == MASTER_PORT else port
        note(f"locust's page: http://{LOOPBACK}:{page}; start the load there, Ctrl-C here ends it")
    here = given["bind"] or (EVERYWHERE if given["allow_remote"] else LOOPBACK)
    return Scale(given["processes"], role, here if master else worker or LOOPBACK, port, page)


def _in_pods(subjects: Sequence[Subject], options: Options, given: Mapping[str, Any], out: Path) -> LoadRecord:
    from harness.cluster.kind.provider import KindProvider  # noqa: PLC0415 - only those with Docker need it
    from harness.load.pods import carry_out_in_pods, check_pods  # noqa: PLC0415 - see above

    if len(subjects) > 1:
        raise InputError("--pods: one subject expected")
    check_pods(subjects[0], options, given["pods"])
    spec = ClusterSpec(name=given["cluster_name"], kind=KindSpec(workers=1, keep=given["keep_cluster"]))
    with KindProvider().cluster(spec) as cluster, bar("Load") as shown:
        return carry_out_in_pods(cluster, subjects[0], options, given["pods"], out, facts=_facts, report=shown.show)


def _hand_out(subjects: Sequence[Subject], options: Options, scale: Scale, folder: Path) -> int:
    from harness.load.handout import hand_out  # noqa: PLC0415 - few need it

    path = hand_out(subjects, options, scale, folder)
    print(f"order: {path}\nopen it in locust's page, at http://{LOOPBACK}:{WEB_PORT}:")
    print(f"  {VARIABLE}={path} {sys.executable} -m locust -f {LOCUSTFILE} --web-host {LOOPBACK}")
    return 0


def _found(name: str) -> Path:
    """Return the cassette that a name means."""
    given = Path(name)
    path = given if given.is_file() else resolve(name, runs_folder()) / CASSETTE
    if not path.is_file():
        raise InputError(f"{path.parent}: this record has no {CASSETTE}; make one with an extender and a tap")
    return path


def _facts() -> dict[str, object]:
    fingerprint = {**machine.fingerprint(), "load": machine.load_now()}
    return {"machine": fingerprint, "versions": versions(), "command": without_secrets_in(sys.argv)}


def versions() -> dict[str, str]:
    """Return the versions of what makes and judges a load."""
    from importlib.metadata import version  # noqa: PLC0415 - only a record needs it

    return {**machine.versions(), **{name: version(name) for name in ("locust", "gevent", "httptools", "numpy")}}


def _text(record: LoadRecord) -> str:
    from harness.report.load import load_text  # noqa: PLC0415 - only text needs it

    return load_text(record)


def _json(record: LoadRecord) -> str:
    document = {
        "ok": exit_code(record) == 0,
        "status": record.meta["status"],
        "record": str(record.path),
        "warnings": record.meta.get("warnings", []),
        "results": [result.to_json() for result in record.results],
        "knees": [knee.to_json() for knee in record.knees],
        "in_situ": record.meta.get("in_situ", []),
    }
    return json.dumps(document, indent=2)


def exit_code(record: LoadRecord) -> int:
    """Return what the command says to a script."""
    endings: Sequence[str] = [result.ended for result in record.results]
    if record.meta["status"] == "interrupted" or "interrupted" in endings:
        return INTERRUPTED
    if not any(result.requests for result in record.results) or any(
        ended in ("generator-failed", "deadline", "worker-lost") for ended in endings
    ):
        return 3
    # A search for the knee goes where requests fail.
    failed = any(result.errors for result in record.results) and not record.knees
    return 1 if failed or any(ended in ("died", "gone") for ended in endings) else 0
