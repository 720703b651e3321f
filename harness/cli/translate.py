"""`harness translate`: bring an old scheduler configuration up to date."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from harness.cli.options import json_option
from harness.errors import InputError
from harness.files import read_text
from harness.variant.legacy import Source, Translation
from harness.variant.legacy import translate as to_v1


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--policy", type=click.Path(path_type=Path), help="The Policy that FILE refers to, if it is elsewhere.")
@json_option
@click.option("--check", is_flag=True, help="Print no configuration; exit with 1 if anything would change.")
def translate(file: Path, policy: Path | None, as_json: bool, check: bool) -> int:
    """Turn a scheduler configuration of any age into KubeSchedulerConfiguration v1, and print it.

    FILE is YAML or JSON: a Policy, or a KubeSchedulerConfiguration from v1alpha1 to v1, also inside of a ConfigMap.
    A v1 configuration is checked and printed as it is.

    \b
    Examples:
      harness translate scheduler-policy.json > scheduler.yaml
      harness translate scheduler.yaml --policy policy.cfg
      harness translate scheduler.yaml --check
    """
    asked: list[str] = []
    translation = to_v1(read_text(file), str(file), _finder(file.parent, policy, asked), "--policy")
    if policy is not None and not asked:
        raise InputError(f"--policy {policy}: {file} refers to no Policy; leave --policy out")
    if as_json:
        print(json.dumps(_document(translation), indent=2, ensure_ascii=False))
    elif not check:
        print(translation.text, end="" if translation.text.endswith("\n") else "\n")
    if not as_json:
        print(_summary(translation), file=sys.stderr)
    return 1 if check and translation.changes else 0


def _finder(folder: Path, policy: Path | None, asked: list[str]) -> Callable[[str], Source | None]:
    """Return what finds a Policy: the given file, else where the configuration says, else beside it."""

    def find(name: str) -> Source | None:
        asked.append(name)
        if policy is not None:
            return Source(read_text(policy), str(policy))
        if name.startswith("configmap:"):
            return None
        # A path of the scheduler's own machine means the file that was copied along with the configuration.
        for path in (folder / name, folder / Path(name).name):
            if path.is_file():
                return Source(read_text(path), str(path))
        return None

    return find


def _document(translation: Translation) -> dict[str, object]:
    changes = [
        {"file": one.file, "line": one.line, "path": one.path, "kind": one.kind, "text": one.text}
        for one in translation.changes
    ]
    return {"config": translation.config, "changes": changes, "warnings": list(translation.warnings)}


def _summary(translation: Translation) -> str:
    count = len(translation.changes)
    lines = [str(change) for change in translation.changes]
    lines += [f"{warning} (warning)" for warning in translation.warnings]
    lines.append(f"{count} change{'s' * (count != 1)}" if count else "nothing to change")
    return "\n".join(lines)
