"""Starts a subject, waits until it answers, and ends it with everything that it started; never leaves one behind."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import psutil

from harness import ports
from harness.errors import VariantError
from harness.extender.subject.answering import HOST, await_answer
from harness.extender.subject.parse import PORT_MARK, Subject
from harness.extender.subject.program import program_of
from harness.extender.subject.reach import cannot_reach
from harness.extender.subject.there import check_there, found_program, without_containers
from harness.process import Child, spawn, undisturbed

LOG = "subject.log"
# Who refuses does so at once; who is busy is given time.
REACH_SECONDS = 30.0


@dataclass(frozen=True)
class _Start:
    """What one start needs besides the subject; the seed may change from one to the next."""

    folder: Path
    kubeconfig: Path | None
    port: int
    program: Path | None


class Running:
    """A subject that answers.

    `url` is what the scheduler's urlPrefix has to be. `log` and `child` are None for a subject that the harness did not
    start. The child is the guard of the command: the subject's own processes are below it.
    """

    def __init__(self, subject: Subject, url: str, start: _Start | None = None) -> None:
        self.subject = subject
        self.url = url
        self.log = start.folder / LOG if start else None
        self.child: Child | None = None
        self._start = start

    @property
    def restartable(self) -> bool:
        """Tell whether the harness can stop, kill and restart it."""
        return self._start is not None

    @property
    def alive(self) -> bool:
        """Tell whether it runs; a subject that runs elsewhere does if it accepts a connection."""
        if self._start is None:
            return self.unreachable() is None
        return self.child is not None and self.child.exit_code is None and not self.child.died

    def unreachable(self) -> str | None:
        """Say why no connection to it can be made, None if one can."""
        return cannot_reach(self.url, timeout_seconds=REACH_SECONDS)

    def check(self) -> str | None:
        """Say how it ended, if it did so by itself."""
        return self.child.describe_end() if self.child and self.child.died else None

    def processes(self) -> list[psutil.Process]:
        """Return its processes, the one that was started first, for those who measure."""
        if self.child is None:
            return []
        with contextlib.suppress(psutil.Error):
            return list(psutil.Process(self.child.pid).children(recursive=True))
        return []

    def stop(self) -> None:
        """Ask it to end, then insist. Calling it twice, or on a subject that runs elsewhere, is harmless."""
        with undisturbed():
            if self.child:
                self.child.stop()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        with undisturbed():
            if self.child:
                self.child.kill()

    def restart(self, seed: int) -> None:
        """Start it again on the same port, ending it first if it still runs, and return when it answers.

        Raises:
            VariantError: it does not come up, or it runs elsewhere and is not ours to restart.
        """
        if self._start is None:
            raise VariantError(f"{self.subject.text}: runs elsewhere, so the harness cannot restart it")
        self.stop()
        _refuse_taken(self.subject, self._start.port)
        command = _command(self.subject, self._start, seed)
        with undisturbed():
            self.child = spawn(
                self.subject.name,
                command,
                log=self._start.folder / LOG,
                cwd=self.subject.folder,
                env=_environment(self.subject, self._start, seed),
                guarded=True,
            )
        await_answer(self.subject, self.child, self.url)


@contextlib.contextmanager
def started(
    subject: Subject, *, folder: Path, seed: int, kubeconfig: Path | None, port: int | None = None
) -> Iterator[Running]:
    """Start a subject and yield it once it answers; it ends with the context.

    Args:
        subject: what to start; one that runs elsewhere is only reached.
        folder: where its log goes; made if it is not there.
        seed: what a subject that draws lots starts from; it gets it as HARNESS_SEED.
        kubeconfig: how it reaches the cluster; it gets it as KUBECONFIG.
        port: where it has to listen; a free one unless given.

    Raises:
        InputError: what it names (a program, a folder, a Python class) is not there.
        BuildError, MissingToolError: it has to be built and cannot be.
        VariantError: it ended, or did not answer in time; says why as far as can be seen.
    """
    if not subject.is_started:
        if cause := cannot_reach(subject.target, timeout_seconds=REACH_SECONDS):
            raise VariantError(f"{subject.text}: not reachable: {cause}")
        yield Running(subject, subject.target)
        return
    if subject.kind == "image":
        raise VariantError(without_containers(subject))
    check_there(subject)
    program = program_of(subject.folder / subject.target) if subject.kind == "go" else None
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        chosen = stack.enter_context(ports.reserved(1))[0] if port is None else port
        running = Running(subject, _url(subject, chosen), _Start(folder.resolve(), kubeconfig, chosen, program))
        stack.callback(running.stop)
        running.restart(seed)
        yield running


def _url(subject: Subject, port: int) -> str:
    """Return where a started subject is: what its entry says of scheme and path, and the port that it was given."""
    told = str((subject.entry or {}).get("urlPrefix", ""))
    parts = urlsplit(told)
    scheme = parts.scheme if parts.scheme in ("http", "https") else "http"
    return f"{scheme}://{HOST}:{port}{parts.path.rstrip('/')}"


def _command(subject: Subject, start: _Start, seed: int) -> list[str]:
    arguments = [word.replace(PORT_MARK, str(start.port)) for word in subject.arguments]
    match subject.kind:
        case "cmd":
            return [found_program(subject.text, arguments[0], subject.folder, subject.env), *arguments[1:]]
        case "go":
            return [str(start.program), *arguments]
        case _:
            query = f"?{urlencode(subject.options)}" if subject.options else ""
            target = f"{subject.kind}:{subject.target}{query}"
            kubeconfig = ["--kubeconfig", str(start.kubeconfig.resolve())] if start.kubeconfig else []
            module = "harness.extender.serving"
            return [sys.executable, "-m", module, target, "--port", str(start.port), "--seed", str(seed), *kubeconfig]


def _environment(subject: Subject, start: _Start, seed: int) -> Mapping[str, str]:
    # Without a cluster of ours it gets none: the user's own kubeconfig may lead to a cluster where pods matter.
    kubeconfig = str(start.kubeconfig.resolve()) if start.kubeconfig else os.devnull
    given = {"PORT": str(start.port), "HARNESS_SEED": str(seed), "KUBECONFIG": kubeconfig}
    if subject.kind in ("py", "ref"):
        # What it prints is its log; unread in a buffer it would help nobody.
        given["PYTHONUNBUFFERED"] = "1"
    return {**given, **{name: value.replace(PORT_MARK, str(start.port)) for name, value in subject.env.items()}}


def _refuse_taken(subject: Subject, port: int) -> None:
    """Raise when somebody else answers there already: their health would be taken for the subject's."""
    if cannot_reach(f"http://{HOST}:{port}", timeout_seconds=REACH_SECONDS) is None:
        raise VariantError(
            f"{subject.text}: {HOST}:{port} is taken by another process; stop it, or choose another port"
        )
