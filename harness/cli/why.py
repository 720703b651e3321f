"""`harness why`: explain one pod of a saved record."""

import click

from harness.expect.why import why as explain
from harness.paths import runs_folder
from harness.record.find import resolve
from harness.record.read import read


@click.command()
@click.argument("pod")
@click.option("--run", "run_name", default="latest", show_default=True, help="Record: a path, an id, or latest.")
def why(pod: str, run_name: str) -> int:
    """Explain in words why a POD of a saved record is where it is, or why it is pending.

    \b
    Examples:
      harness why pod-3
      harness why default/web-1 --run 20261116-053610-twenty-pause-lab-default-3f2a
    """
    print(explain(read(resolve(run_name, runs_folder())), pod))
    return 0
