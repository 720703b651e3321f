"""`harness why`: explain one pod of a saved record."""

import json

import click

from harness.cli.options import json_option
from harness.expect.why import tell
from harness.paths import runs_folder
from harness.record.find import resolve
from harness.record.read import read


@click.command()
@click.argument("pod")
@click.option("--run", "run_name", default="latest", show_default=True, help="Record: a path, an id, or latest.")
@json_option
def why(pod: str, run_name: str, as_json: bool) -> int:
    """Explain in words why a POD of a saved record is where it is, or why it is pending.

    \b
    Examples:
      harness why pod-3
      harness why default/web-1 --run 20261116-053610-twenty-pause-lab-default-3f2a
    """
    story = tell(read(resolve(run_name, runs_folder())), pod)
    print(json.dumps(story.to_json(), indent=2) if as_json else story.text())
    return 0
