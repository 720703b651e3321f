"""Runs schedulers as processes on this machine, beside a cluster that is here or far away."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import ports
from harness.certificates import Authority, Identity
from harness.cluster.base import Program
from harness.cluster.embedded.loopback import LoopbackPages, NoPages, Pages, PlainPages, StrangersPages
from harness.cluster.embedded.supervisor import SCHEDULER, START_TIMEOUT_SECONDS, Supervisor
from harness.errors import VariantError
from harness.process import Child, family_cpu_seconds

STRANGER_SECONDS = 20.0

Flags = Callable[[Path, int, Identity], list[str]]
"""Returns kube-scheduler's flags, given its configuration, its port and the certificate of its server."""


class SchedulerProcess:
    """One scheduler process; `told` is what becomes of its pages before anybody reads them."""

    def __init__(
        self, child: Child, pages: Pages, config: str, command: Sequence[str], told: Callable[[str], str] = str
    ) -> None:
        self.config = config
        self.command = tuple(command)
        self._child = child
        self._pages = pages
        self._told = told

    @property
    def pid(self) -> int:
        """Return its process."""
        return self._child.pid

    @property
    def log(self) -> Path:
        """Return its log file."""
        return self._child.log

    def cpu_seconds(self) -> float | None:
        """Return what it and all that it started have used."""
        return family_cpu_seconds(self.pid)

    def page(self, path: str) -> str:
        """Return a page of its own server."""
        return self._told(self._pages.get(path))


@dataclass(frozen=True)
class Beside:
    """Where schedulers run beside one cluster, and what they and we are to each other.

    `authority` vouches for their servers and for `reader`, who reads their pages; `flags` are kube-scheduler's.
    """

    folder: Path
    supervisor: Supervisor
    authority: Authority
    reader: Identity
    kubeconfig: Path
    flags: Flags

    @contextlib.contextmanager
    def scheduler(
        self,
        config: str,
        name: str,
        program: Program | None = None,
        *,
        shown: str | None = None,
        told: Callable[[str], str] = str,
    ) -> Iterator[SchedulerProcess]:
        """Run a scheduler; it has synced its caches when this returns. `shown` is the configuration it tells of."""
        if program and program.image:
            raise VariantError(
                f"image:{program.image}: this cluster runs no containers; name its program (cmd:…) or sources (go:…)"
            )
        with ports.reserved(1) as (port,):
            server = self.authority.server(name)
            path = self.folder / f"{name}.yaml"
            path.write_text(config)
            arguments = self.flags(path, port, server)
            identity = (program and program.kubeconfig) or self.kubeconfig
            filled = _filled(program, {"config": str(path), "port": str(port), "kubeconfig": str(identity)})
            child = self.supervisor.start(SCHEDULER, arguments, name=name, program=filled)
            pages = self._pages(program, port)
            try:
                self._await_health(name, program, port, pages)
                command = self._told(self.supervisor.command(SCHEDULER, arguments, filled))
                yield SchedulerProcess(child, pages, config if shown is None else shown, command, told)
            finally:
                self.supervisor.stop(child)

    def _told(self, command: Sequence[str]) -> list[str]:
        """Return a command line as one that may be read elsewhere: where things are kept here means nothing there."""
        first, *others = (word.replace(f"{self.folder}/", "") for word in command)
        return [Path(first).name, *others]

    def _pages(self, program: Program | None, port: int) -> Pages:
        if program and program.serves != "https":
            return NoPages(port) if program.serves == "nothing" else PlainPages(port)
        if program and program.guarded:
            return StrangersPages(port, self.reader)
        return LoopbackPages(port, self.authority.certificate, self.reader)

    def _await_health(self, name: str, program: Program | None, port: int, pages: Pages) -> None:
        serves = program.serves if program else "https"
        if serves == "nothing":
            self.supervisor.check()
            return
        what = f"{name} answering {pages.scheme}://127.0.0.1:{port}/readyz or /healthz"
        seconds = STRANGER_SECONDS if program and program.guarded else START_TIMEOUT_SECONDS
        self.supervisor.wait(pages.is_ready, what, seconds)


def _filled(program: Program | None, known: Mapping[str, str]) -> Program | None:
    if program is None:
        return None

    def filled(text: str) -> str:
        for mark, value in known.items():
            text = text.replace(f"{{{mark}}}", value)
        return text

    env = {name: filled(value) for name, value in program.env.items()}
    return replace(program, command=tuple(map(filled, program.command)), env=env)
