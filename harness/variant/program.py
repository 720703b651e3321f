"""The program that a scheduler is: the stock kube-scheduler, or what a user brought in its place."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from harness.cluster.base import Program
from harness.errors import InputError
from harness.extender.cassette.command import require_whole, without_secrets
from harness.extender.subject.program import program_of as built
from harness.extender.subject.there import check_go, found_program
from harness.scenario.words import shown

FORMS = "cmd:COMMAND, go:FOLDER, image:NAME"
MARKS = ("{config}", "{port}", "{kubeconfig}")


def command_words(text: str, command: str) -> tuple[str, ...]:
    """Return the words of a command as a shell would split them.

    Raises:
        InputError: there are none, a quote is not closed, or a mark stands for a secret.
    """
    require_whole(text)
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"{text}: {error}; close it") from None
    if not words:
        raise InputError(f"{text}: a command expected")
    return words


def check_program(text: str | None) -> None:
    """Refuse a command or a Go folder that is not there; nothing is built or started.

    Raises:
        InputError: there is no such program or folder, or the text names none.
    """
    kind, _, rest = (text or "").partition(":")
    match kind:
        case "cmd":
            found_program(without_secrets(str(text)), command_words(str(text), rest)[0])
        case "go":
            check_go(Path(rest))
        case _ if text is not None and kind != "image":
            raise InputError(_unknown(text))


def program_of(text: str | None, versions: Mapping[str, str]) -> Program | None:
    """Return the program that `--scheduler` names; None for the stock one.

    A command without {config}, {port} or {kubeconfig} gets the flags of kube-scheduler. One with some of them but
    {port} cannot know where to serve its pages, so nobody asks for them.

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
            told = not own or any("{port}" in word for word in words)
            return Program(words, takes_flags=not own, guarded=True, serves="https" if told else "nothing")
        case "go":
            return Program((str(built(Path(rest))),), guarded=True)
        case "image":
            return Program((), image=rest, guarded=True)
        case _:
            raise InputError(_unknown(text))


def unproven(text: str, program: Program | None) -> tuple[str, ...]:
    """Say that a program serves nothing that would prove that it lives, if so."""
    if program is None or program.serves != "nothing":
        return ()
    return (
        f"{text}: it serves no health page ({{port}} in its command would say where), so its first binding is proof",
    )


def _unknown(text: str) -> str:
    return f"--scheduler {shown(text)}: one of {FORMS} expected"
