"""What commands that may fail a build do about what they could not decide: an option that they share."""

import json
from collections.abc import Mapping
from typing import Any

import click

PASS, FAIL = "pass", "fail"
UNDECIDED = "INCONCLUSIVE"

undecided_option = click.option(
    "--undecided",
    type=click.Choice([PASS, FAIL]),
    help="What becomes of a build if something could not be decided; pass unless told.",
)


def told(document: Mapping[str, Any], text: str, undecided: str | None, *, as_json: bool) -> bool:
    """Print a comparison of extenders, as a program or a person reads it, and return whether a build may go on.

    Args:
        document: the comparison; its `ok` becomes what the exit code says.
        text: the same for a person.
        undecided: what was given with `--undecided`.
        as_json: who reads it.
    """
    failed = document["verdict"] == UNDECIDED and undecided == FAIL
    ok = bool(document["ok"]) and not failed
    why = f"\nFAILED: {UNDECIDED} seen, PASS expected by --undecided fail; repeat it, or give it more --budget"
    print(json.dumps({**document, "ok": ok}, indent=2) if as_json else text + (why if failed else ""))
    return ok
