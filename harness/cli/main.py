"""The `harness` command: gathers the subcommands and turns every error into a message and an exit code.

Exit codes: 0 all held, 1 an expectation failed, 2 bad input, 3 infrastructure, 130 interrupted.
"""

import importlib
import signal
import sys
import traceback
from typing import Any

import click

from harness import __version__
from harness.errors import HarnessError

# name: (module, attribute). Imported when used: a person waits for --help.
COMMANDS = {
    "run": "harness.cli.run:run",
    "parity": "harness.cli.parity:parity",
    "why": "harness.cli.why:why",
    "report": "harness.cli.report:report",
    "compare": "harness.cli.compare:compare",
    "trend": "harness.cli.trend:trend",
    "up": "harness.cli.clusters:up",
    "down": "harness.cli.clusters:down",
    "list": "harness.cli.clusters:list_clusters",
    "clean": "harness.cli.clusters:clean",
    "build": "harness.cli.doctor:build",
    "doctor": "harness.cli.doctor:doctor",
    "schema": "harness.cli.schema:schema",
    "translate": "harness.cli.translate:translate",
    "replay": "harness.cli.replay:replay_command",
    "keep": "harness.cli.keep:keep",
    "load": "harness.cli.load:load",
    "regress": "harness.cli.regress:regress",
    "baseline": "harness.cli.baseline:baseline",
}

# One line of "harness --help" each: a command's own help begins with a sentence that may be too long for that.
SUMMARIES = {
    "run": "Run scenarios on an ephemeral cluster and judge what happened.",
    "parity": "Compare the verdicts of scenarios on several providers.",
    "why": "Explain why a pod of a saved record is where it is.",
    "report": "Write a report on saved records.",
    "compare": "Compare saved runs with the first of them.",
    "trend": "Show how saved runs went over time, and where they changed.",
    "up": 'Bring up a cluster that stays until "harness down".',
    "down": 'End clusters that "harness up" brought up.',
    "list": "List clusters, what they use, and where their kubeconfig is.",
    "clean": "Remove what crashed runs left behind.",
    "build": "Build a control plane and the tap ahead of time.",
    "doctor": "Say what is here and what is missing.",
    "schema": "Print the JSON Schema of scenario files.",
    "translate": "Turn an old scheduler configuration into one of today.",
    "replay": "Ask an extender again what was asked in a recorded run.",
    "load": "Measure how long extenders take under a scheduler's load.",
    "regress": "Decide whether one extender is slower than another.",
    "baseline": "Keep what an extender costs, and check it later or elsewhere.",
}

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that imports a subcommand only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        command.short_help = SUMMARIES.get(cmd_name)
        return command


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Test and benchmark Kubernetes scheduler extensions on ephemeral clusters.

    \b
    Examples:
      harness run twenty-pause            the lab's 20 pause replicas on an embedded cluster
      harness run scenarios/ --json       every scenario, as one JSON document
      harness why pod-3                   why a pod of the last run is where it is
      harness up --nodes 3                a cluster to explore with kubectl
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    # Ended politely, we must end our children too: as after Ctrl-C. Both are taken even where a shell started us in the
    # background with interrupts ignored: what owns a cluster must be stoppable.
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    try:
        code: Any = cli.main(arguments, prog_name="harness", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        print("interrupted; everything that was started has been stopped", file=sys.stderr)
        code = INTERRUPTED
    except HarnessError as error:
        print(describe(error), file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read us has seen enough.
        sys.stderr.close()
        code = 0
    except Exception:  # noqa: BLE001 - the last word on a fault of ours, with everything needed to report it
        traceback.print_exc()
        print("harness: this is a fault of the harness itself; please report it with the lines above", file=sys.stderr)
        code = 3
    sys.exit(code if isinstance(code, int) else 0)


def describe(error: HarnessError) -> str:
    """Return an error as people read it, with what the outer layers knew about it."""
    notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
    return f"error: {error}{notes}"


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
