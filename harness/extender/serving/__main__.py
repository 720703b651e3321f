"""`python -m harness.extender.serving TARGET --port N`: one extender in Python as a process of its own."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import lifeline
from harness.errors import HarnessError, InputError
from harness.extender.serving.app import App
from harness.extender.serving.server import LOOPBACK, Server
from harness.extender.serving.target import Given, resolve


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m harness.extender.serving", description=__doc__)
    parser.add_argument("target", help="ref:NAME[?key=value] or py:module:callable")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1; 0 takes any and says which")
    parser.add_argument("--seed", type=int, default=0, help="for extenders that draw lots")
    parser.add_argument("--kubeconfig", type=Path, help="the cluster, for extenders that bind or watch pods")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="handed to the extender's maker")
    given = parser.parse_args(arguments)
    lifeline.hold()
    try:
        options = dict(_option(text) for text in given.option)
        extender, routes = resolve(given.target, Given(given.seed, given.kubeconfig, options))
        app = App(extender, routes)
        server = Server(app.answer, given.port)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{given.target} at http://{LOOPBACK}:{server.port}: {' '.join(app.routes)}\n")
    sys.stdout.flush()
    server.run()
    return 0


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise InputError(f"--option {text}: K=V expected")
    return key, value


if __name__ == "__main__":
    sys.exit(main())
