"""A scheduler written as a controller: it watches pods that ask for it, picks a node and creates the Binding."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import yaml

from harness.cluster.base import Cluster, Program
from harness.controller.policies import policy
from harness.errors import ClusterError, InputError, VariantError
from harness.extender.cassette.command import without_secrets
from harness.extender.subject.program import program_of as built
from harness.scenario.words import shown
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.config import runs_schedulers
from harness.variant.program import check_program, command_words, unproven

NAME = "controller-scheduler"
FALLBACK = "ref:least-loaded"
FORMS = "ref:POLICY, cmd:COMMAND, go:FOLDER"
# What the reference policies are made with, as every kube-scheduler here is configured.
SETTINGS = {"qps": -1, "burst": 0, "leaderElect": False}
# What a stranger's controller is told: the same as flags that a person would type.
ENV = {"KUBECONFIG": "{kubeconfig}", "PORT": "{port}", "SCHEDULER_NAME": NAME}


class ControllerVariant:
    """No kube-scheduler at all for the pods under test: one controller binds them."""

    name = "controller"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Run the controller; pods ask for it by its schedulerName."""
        runner = runs_schedulers(cluster, self.name)
        given = setup.controller or FALLBACK
        check_controller(given)
        program = controller_program(given, setup.controller_seed)
        text = without_secrets(given)
        # It reads no configuration; this is what the record tells about it.
        known = {"settings": SETTINGS} if given.startswith("ref:") else {}
        told = {"controller": text, "profiles": [{"schedulerName": NAME}], **known}
        config = yaml.safe_dump(told, sort_keys=False)
        with contextlib.ExitStack() as stack:
            try:
                scheduler = stack.enter_context(runner.scheduler(config, self.name, program))
            except ClusterError as error:
                raise VariantError(f"{text}: the controller does not come up: {error}") from error
            notes = unproven(text, program)
            yield Installed(self.name, {NAME: scheduler}, config, notes=notes, asks_for=NAME)


def check_controller(text: str) -> None:
    """Refuse a controller that is not there or cannot be: nothing is built or started.

    Raises:
        InputError: there is no such policy, program or folder, or the text stands for none.
    """
    kind, _, rest = text.partition(":")
    if kind in ("cmd", "go"):
        check_program(text)
    elif kind == "ref":
        _reference(rest, 0)
    else:
        raise InputError(f"--controller {shown(text)}: one of {FORMS} expected")


def controller_program(text: str, seed: int) -> Program:
    """Return the program of a controller.

    Raises:
        InputError: the text stands for none.
    """
    kind, _, rest = text.partition(":")
    env = {**ENV, "HARNESS_SEED": str(seed)}
    match kind:
        case "ref":
            return _reference(rest, seed)
        case "cmd":
            words = command_words(text, rest)
            told = any("{port}" in word for word in words)
            return Program(words, env, takes_flags=False, guarded=True, serves="http" if told else "nothing")
        case "go":
            return Program((str(built(Path(rest))),), env, takes_flags=False, guarded=True, serves="nothing")
        case _:
            raise InputError(f"--controller {shown(text)}: one of {FORMS} expected")


def _reference(rest: str, seed: int) -> Program:
    name, _, query = rest.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    # Said now, rather than by a process that does not come up.
    policy(name, seed, given)
    options = [word for key, value in given.items() for word in ("--option", f"{key}={value}")]
    command = (
        *(sys.executable, "-m", "harness.controller", name),
        *("--scheduler-name", NAME, "--kubeconfig", "{kubeconfig}", "--port", "{port}", "--seed", str(seed)),
        *options,
    )
    return Program(command, takes_flags=False, guarded=True, serves="http")
