"""`harness schema`: the JSON Schema of scenario files, for editors."""

import json
from pathlib import Path

import click

from harness.paths import shipped
from harness.scenario.schema import schema as scenario_schema


@click.command()
@click.option("--write", is_flag=True, help="Write scenarios/scenario.schema.json instead of printing it.")
def schema(write: bool) -> int:
    """Print the JSON Schema of scenario files.

    \b
    Example:
      harness schema > scenario.schema.json
    """
    text = json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n"
    if write:
        path = Path(shipped("scenarios")) / "scenario.schema.json"
        path.write_text(text, encoding="utf-8")
        print(path)
    else:
        print(text, end="")
    return 0
