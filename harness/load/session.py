"""One extender under load: started, looked at once, then measured as often as is asked for."""

import contextlib
import ipaddress
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import psutil

from harness import ports
from harness.clock import WaitTimeoutError, wait_until
from harness.errors import InputError
from harness.extender.entry import Entry
from harness.extender.reply.effect import effect
from harness.extender.subject.parse import Subject
from harness.extender.subject.post import post
from harness.extender.subject.probe import guess_entry
from harness.extender.subject.start import Running, started
from harness.extender.subject.tls import demanded_tls
from harness.load.bodies import Corpus
from harness.load.generate import Scale, generate
from harness.load.measure import Case, Run, results
from harness.load.order import Order
from harness.load.schedule import Plan
from harness.record.load import LoadResult

CYCLE = ("filter", "prioritize", "bind")
LOOKED_AT = ("filter", "prioritize")
SECONDS_MAX = 600.0
SCHEDULERS_MAX = 512
PROCESSES_MAX = 64
FLOOR_SECONDS = (0.5, 2.0)
FLOOR_REQUESTS = 100
DESCRIPTORS_MARGIN = 32
CLOSING_SECONDS = 2.0


@dataclass(frozen=True)
class Shape:
    """The load: arrivals on a schedule (`plan`), or so many schedulers that wait for answers."""

    seconds: float
    warmup_seconds: float
    plan: Plan | None = None
    schedulers: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= SECONDS_MAX:
            raise InputError(f"duration {self.seconds:g} s: more than 0 and at most {SECONDS_MAX:g} s expected")
        if not 0 <= self.warmup_seconds <= SECONDS_MAX:
            raise InputError(f"warm-up {self.warmup_seconds:g} s: 0 to {SECONDS_MAX:g} s expected")
        if self.plan is None and not 1 <= self.schedulers <= SCHEDULERS_MAX:
            raise InputError(f"{self.schedulers} schedulers: 1 to {SCHEDULERS_MAX} expected")

    @property
    def total_seconds(self) -> float:
        """Return how long it takes with its warm-up."""
        return self.seconds + self.warmup_seconds

    @property
    def text(self) -> str:
        """Return it in a few words."""
        if self.plan is None:
            return f"closed {self.schedulers}"
        return f"{self.plan.kind} {', '.join(f'{rate:g}' for rate in self.plan.rates)}/s"


class Loaded:
    """An extender that runs and can be measured."""

    def __init__(self, running: Running, entry: Entry, notes: Sequence[str]) -> None:
        self.running = running
        self.entry = entry
        self.notes = tuple(notes)

    @property
    def subject(self) -> Subject:
        """Return what it was started from."""
        return self.running.subject

    def verbs(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Return the verbs that are meant; `cycle` are those that a scheduler would call one after the other."""
        if "cycle" not in asked:
            return tuple(asked)
        return tuple(verb for verb in CYCLE if self.entry.verb(verb) and (verb != "bind" or self.subject.is_started))

    def look(self, corpus: Corpus) -> list[str]:
        """Send one request per verb and say what is wrong with its reply; a load of bad replies measures nothing."""
        said = []
        for verb in LOOKED_AT:
            body = next((one.data for one in corpus.bodies if one.verb == verb), None)
            if body is None:
                continue
            reply = post(self.entry.url(verb), body, self.entry, timeout_seconds=self.entry.timeout_seconds)
            if reply.status is None:
                said.append(f"a first {verb} was not answered: {reply.problem}")
                continue
            judged = effect(verb, self.entry, orjson.loads(body), reply.status, reply.body, ending=reply.ending)
            if judged.error:
                said.append(f"a first {verb} failed: {judged.error}")
        return said

    def order(self, corpus: Corpus, shape: Shape, scale: Scale, *, floor: bool) -> Order:
        """Return what the generator is told."""
        return Order(
            target=self.entry,
            requests=corpus.prepared(self.entry),
            seconds=shape.total_seconds,
            warmup_seconds=shape.warmup_seconds,
            plan=shape.plan,
            schedulers=shape.schedulers if shape.plan is None else 0,
            floor_seconds=_floor_seconds(shape) if floor else 0.0,
            workers=scale.processes,
            pids=tuple(one.pid for one in self.running.processes()),
            by_message=scale.role != "local",
        )

    def measure(
        self,
        corpus: Corpus,
        shape: Shape,
        scale: Scale,
        *,
        floor: bool = True,
        report: Callable[[str], None] = lambda _: None,
    ) -> tuple[Run, list[LoadResult]]:
        """Put the extender under load once and return what was seen, also if it was not what was hoped for."""
        before = self._descriptors()
        order = self.order(corpus, shape, scale, floor=floor)
        with contextlib.ExitStack() as stack:
            if scale.role == "local" and scale.processes > 1:
                scale = replace(scale, port=stack.enter_context(ports.reserved(1))[0])
            run = generate(order, scale, report=report, check=self.running.check)
        run = replace(run, notes=(*run.notes, *self._leak(before, run)))
        case = Case(
            subject=self.subject.text,
            nodes=corpus.nodes,
            wire=corpus.wire,
            model="closed" if shape.plan is None else "open",
            schedulers=shape.schedulers if shape.plan is None else None,
            warmup_seconds=shape.warmup_seconds,
            seconds=shape.total_seconds,
            timeout_seconds=self.entry.timeout_seconds,
            body_bytes=round(corpus.bytes_mean),
            verbs=corpus.verbs,
            plan=shape.plan,
            workers=scale.processes,
            turns=tuple(body.verb for body in corpus.bodies),
            node_kib=corpus.node_kib,
        )
        segments: list[tuple[float, float, float | None]] = [(0.0, shape.total_seconds, None)]
        if shape.plan is not None:
            segments = list(shape.plan.segments())
        return run, results(case, run, segments)

    def _descriptors(self) -> int | None:
        """Return how many files and sockets the extender's processes have open, where the system tells."""
        try:
            return sum(one.num_fds() for one in self.running.processes()) or None
        except (psutil.Error, AttributeError):
            return None

    def _leak(self, before: int | None, run: Run) -> list[str]:
        """Say that the extender did not close what we closed; a busy one gets a moment for it."""
        opened = sum(worker["opened"] for worker in run.workers)
        if before is None:
            return []
        limit = before + DESCRIPTORS_MARGIN
        with contextlib.suppress(WaitTimeoutError):
            wait_until(
                lambda: (self._descriptors() or 0) <= limit, what="closed sockets", timeout_seconds=CLOSING_SECONDS
            )
            return []
        held = self._descriptors()
        said = f"the extender holds {held} files and sockets after the load, {before} before it, though"
        return [f"{said} all {opened} connections were closed: it leaks them, or hangs on them"]


@contextlib.contextmanager
def loading(
    subject: Subject,
    folder: Path,
    *,
    verbs: Sequence[str],
    seed: int,
    allow_remote: bool = False,
    kubeconfig: Path | None = None,
) -> Iterator[Loaded]:
    """Start an extender for measuring; it ends with the context. Its log goes into the folder.

    With a kubeconfig it can look into that cluster.

    Raises:
        InputError: it is on another machine and that was not allowed, or a file of its TLS cannot be read.
        VariantError, BuildError, MissingToolError: it does not start.
    """
    refuse_remote(subject, allow_remote=allow_remote)
    with started(subject, folder=folder, seed=seed, kubeconfig=kubeconfig) as running:
        entry, notes = _entry(subject, running.url, verbs)
        if demanded_tls(subject.text, entry.url_prefix, entry):
            notes.append(
                f"{subject.text}: asked over TLS and HTTP/1.1, where kube-scheduler may use HTTP/2; "
                "what TLS costs the generator is not in the floor"
            )
        yield Loaded(running, entry, notes)


def refuse_remote(subject: Subject, *, allow_remote: bool) -> None:
    """Raise if a load would reach another machine without having been allowed to."""
    if subject.is_started or allow_remote:
        return
    host = urlsplit(subject.target).hostname or ""
    if not is_loopback(host):
        raise InputError(
            f"{subject.text}: {host} is not this machine; a load may harm what it is aimed at. "
            "If it is yours to load, say --allow-remote"
        )


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by its name or address alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _entry(subject: Subject, url: str, verbs: Sequence[str]) -> tuple[Entry, list[str]]:
    """Return the extender's entry: what is known of it, else what answers, else the verbs' own names."""
    known = dict(subject.entry or {})
    entry = Entry.from_json({**known, "urlPrefix": url}, subject.text)
    notes: list[str] = []
    if not entry.verbs():
        entry, guesses = guess_entry(url, known)
        notes += [f"{subject.text}: {guess}" for guess in guesses if "left out" not in guess]
    for verb in verbs:
        if verb != "cycle" and not entry.verb(verb):
            entry = Entry.from_json({**entry.to_json(), f"{verb}Verb": verb}, subject.text)
            notes.append(f"{subject.text}: its entry has no {verb}Verb; /{verb} is asked")
    return entry, notes


def _floor_seconds(shape: Shape) -> float:
    low, high = FLOOR_SECONDS
    if shape.plan is None:
        return low
    return max(low, min(high, FLOOR_REQUESTS / max(shape.plan.rate, 1e-9), shape.total_seconds))
