"""A load that pods of a kind cluster make: one is locust's master, the others its workers."""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.python_image import python_image
from harness.cluster.kind.tasks import ADDRESS_VARIABLE, OUT, Tasks
from harness.errors import HarnessError, InputError
from harness.extender.connect import IMAGE_PORT
from harness.extender.entry import Entry
from harness.extender.subject.parse import Subject
from harness.load.campaign import Options, check
from harness.load.generate import MASTER_PORT, START_SECONDS, Scale
from harness.load.pod import VARIABLE, Part
from harness.load.session import is_loopback, refuse_remote
from harness.record.load import FILE, LoadRecord, read

PROGRAM = "harness.load.pod"
# Started by their names, so that nothing shows that they are needed.
STARTED = ("locust.main", "harness.load.models")
MASTER = "master"
LOGS = "pods"
SAID_LINES = 8
SPARE_SECONDS = 4 * START_SECONDS
"""What a pod may take besides the load itself: for starting, for the other pods, for ending."""


def check_pods(subject: Subject, options: Options, workers: int) -> None:
    """Refuse what pods cannot load before anything is started."""
    if subject.kind not in ("http", "image"):
        raise InputError(f"{subject.text}: pods load an image (image:REFERENCE) or what they reach at http://HOST:PORT")
    if subject.kind == "http" and is_loopback(urlsplit(subject.target).hostname or ""):
        raise InputError(f"{subject.text}: a pod has a loopback of its own; name an address that pods reach")
    if options.cassette is not None or options.cluster is not None or options.in_situ is not None:
        raise InputError("--pods: requests are made up in the pods; leave --cassette, --nodes-of and --in-situ out")
    refuse_remote(subject, allow_remote=options.allow_remote)
    check([replace(subject, kind="http")], replace(options, allow_remote=True), Scale(workers, MASTER))


def carry_out_in_pods(  # noqa: PLR0913 - carry_out, and where
    cluster: ClusterOnKind,
    subject: Subject,
    options: Options,
    workers: int,
    out: Path,
    *,
    facts: Callable[[], Mapping[str, Any]] = dict,
    report: Callable[[str], None] = lambda _: None,
) -> LoadRecord:
    """Measure one extender by workers in pods and return the record; Ctrl-C ends it, and what was measured is kept.

    Args:
        cluster: where the pods run.
        subject: an image, which runs in the cluster meanwhile, or an address that its pods reach.
        options: what is asked of it.
        workers: how many pods make the load; one more gathers their samples.
        out: the folder of all records.
        facts: asked for what the record is to say about the machine.
        report: told what is going on.

    Raises:
        InputError: something of it cannot be done; nothing was started then.
        VariantError, ClusterError: the extender, or a pod, does not come up.
        HarnessError: the master failed; says what it printed.
    """
    check_pods(subject, options, workers)
    report("making the image of the generator")
    image = python_image(PROGRAM, also=STARTED)
    entry = {key: value for key, value in (subject.entry or {}).items() if key != "urlPrefix"}
    timeout = Entry.from_json(entry, subject.text).timeout_seconds
    seconds = options.shape().total_seconds + 2 * timeout + SPARE_SECONDS
    report(f"{subject.text}: starting")
    with _address(cluster, subject) as url, cluster.tasks(image, seconds) as tasks:
        # The master gathers at the address of its own pod: nobody outside of the cluster reaches that.
        part = Part(
            text=subject.text,
            url=url,
            entry=entry,
            options=replace(options, allow_remote=True),
            scale=Scale(workers, MASTER, f"$({ADDRESS_VARIABLE})", MASTER_PORT),
            out=Path(OUT),
            facts=facts(),
        )
        names = _run(tasks, part, report)
        return _brought_home(tasks, names, out)


@contextlib.contextmanager
def _address(cluster: ClusterOnKind, subject: Subject) -> Iterator[str]:
    """Yield where pods reach the extender; an image runs for as long as that is asked for."""
    if subject.kind == "http":
        yield subject.target
        return
    parts = urlsplit(str((subject.entry or {}).get("urlPrefix", "")))
    with cluster.serving(subject.target, "load", parts.port or IMAGE_PORT, subject.env) as url:
        yield url + parts.path.rstrip("/")


def _run(tasks: Tasks, part: Part, report: Callable[[str], None]) -> list[str]:
    """Start the pods, wait for the end of the master, and return what the pods are called."""
    count = part.scale.processes
    names = [MASTER, *(f"worker-{number}" for number in range(1, count + 1))]
    try:
        tasks.start(MASTER, {VARIABLE: part.to_json()})
        address = tasks.address(MASTER)
        mine = replace(part, scale=replace(part.scale, role="worker", host=address), out=Path("/tmp"))  # noqa: S108
        for name in names[1:]:
            tasks.start(name, {VARIABLE: mine.to_json()})
        report(f"{count} pods load {part.text} for about {part.options.shape().total_seconds:.0f} s")
        if code := tasks.wait(MASTER):
            said = "\n".join(tasks.log(MASTER).splitlines()[-SAID_LINES:])
            raise HarnessError(f"the pod of the master ended with code {code}; what it printed:\n{said}")
    except KeyboardInterrupt:
        # The master keeps what it has by then, if it was that far.
        tasks.stop(MASTER)
        if not list(tasks.folder.glob(f"*/{FILE}")):
            raise
    return names


def _brought_home(tasks: Tasks, names: list[str], out: Path) -> LoadRecord:
    logs = {name: tasks.log(name) for name in names}
    (found,) = tasks.folder.glob(f"*/{FILE}")
    kept = out / found.parent.name
    out.mkdir(parents=True, exist_ok=True)
    shutil.move(found.parent, kept)
    (kept / LOGS).mkdir(mode=0o700)
    for name, text in logs.items():
        (kept / LOGS / f"{name}.log").write_text(text, encoding="utf-8")
    return read(kept)
