"""`python -m harness.controller POLICY --scheduler-name NAME --kubeconfig F --port N`: a scheduler as a controller."""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from harness import lifeline
from harness.controller.pages import LOOPBACK, Pages
from harness.controller.policies import POLICIES, Policy, policy
from harness.controller.scheduler import Controller
from harness.errors import HarnessError, InputError
from harness.kube import Kube

NOT_CONNECTED = "not connected yet"
_OK, _NOT_READY = 200, 503


def main(arguments: Sequence[str] | None = None) -> int:
    """Schedule until told to stop; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m harness.controller", description=__doc__)
    parser.add_argument("policy", help=f"one of: {', '.join(POLICIES)}")
    parser.add_argument("--scheduler-name", required=True, help="the spec.schedulerName of its pods")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="the cluster, and who the controller is there")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1; 0 takes any and says which")
    parser.add_argument("--seed", type=int, default=0, help="for policies that draw lots")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="an option of the policy")
    given = parser.parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    lifeline.hold()
    try:
        options = dict(_option(text) for text in given.option)
        _serve(given, policy(given.policy, given.seed, options), options, stop)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _serve(given: argparse.Namespace, chosen: Policy, options: dict[str, str], stop: threading.Event) -> None:
    if not given.kubeconfig.is_file():
        raise InputError(f"--kubeconfig {given.kubeconfig}: no such file")
    controllers: list[Controller] = []
    # In the form of kube-scheduler, so that whoever compares profiles can.
    chosen_by = {"policy": given.policy, "seed": given.seed, "options": options}
    settings = {"componentconfig": {"profiles": [{"schedulerName": given.scheduler_name}], "controller": chosen_by}}

    def healthy() -> tuple[int, str]:
        # One that has never seen the cluster is of no use yet; one that has lost sight of it helps itself.
        return (_OK, "ok") if controllers and controllers[0].began.is_set() else ready()

    def ready() -> tuple[int, str]:
        missing = controllers[0].missing() if controllers else NOT_CONNECTED
        return (_NOT_READY, missing) if missing else (_OK, "ok")

    def metrics() -> tuple[int, str]:
        return (_OK, controllers[0].page()) if controllers else (_NOT_READY, NOT_CONNECTED)

    served = {
        "/healthz": healthy,
        "/readyz": ready,
        "/metrics": metrics,
        "/configz": lambda: (_OK, json.dumps(settings)),
    }
    pages = Pages(served, given.port)
    _say(f"{given.policy} for pods of {given.scheduler_name} at http://{LOOPBACK}:{pages.port}: {' '.join(served)}")
    controller = Controller(_connected(given.kubeconfig), given.scheduler_name, chosen, _say)
    controllers.append(controller)
    controller.start()
    stop.wait()
    controller.stop()
    pages.close()


def _connected(kubeconfig: Path) -> Kube:
    try:
        return Kube.connect(kubeconfig)
    except Exception as error:
        raise InputError(f"--kubeconfig {kubeconfig}: cannot be used: {error}") from error


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise InputError(f"--option {text}: K=V expected")
    return key, value


_TALKING = threading.Lock()


def _say(line: str) -> None:
    # One line is one write: lines of several threads must not mix, and are to be seen at once.
    with _TALKING:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Without waiting for threads: one may hang in a request that an API server does not answer.
    os._exit(code)
