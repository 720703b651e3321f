"""The program that a scheduler is: the stock kube-scheduler, or what a user brought in its place."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from harness.cluster.base import Program
from harness.errors import InputError
from harness.extender.subject.program import program_of as built
from harness.scenario.words import shown

FORMS = "cmd:COMMAND, go:FOLDER, image:NAME"
MARKS = ("{config}", "{port}", "{kubeconfig}")


def command_words(text: str, command: str) -> tuple[str, ...]:
    """Return the words of a command as a shell would split them.

    Raises:
        InputError: there are none, or a quote is not closed.
    """
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"{text}: {error}; close it") from None
    if not words:
        raise InputError(f"{text}: a command expected")
    return words


def program_of(text: str | None, versions: Mapping[str, str]) -> Program | None:
    """Return the program that `--scheduler` names; None for the stock one.

    A command without {config}, {port} or {kubeconfig} gets the flags of kube-scheduler.

    Raises:
        InputError: it names none.
    """
    if text is None:
        return None
    kind, _, rest = text.partition(":")
    match kind:
        case "cmd":
            words = command_words(text, rest)
            own = any(mark in word for word in words for mark in MARKS)
            return Program(words, takes_flags=not own, guarded=True)
        case "go":
            return Program((str(built(Path(rest))),), guarded=True)
        case "image":
            return Program((), image=rest, guarded=True)
        case _:
            raise InputError(f"--scheduler {shown(text)}: one of {FORMS} expected")
