"""Writes the order of a load for a person, who carries it out with locust itself; nothing is sent."""

from collections.abc import Sequence
from pathlib import Path

from harness import temporary
from harness.errors import HarnessError, InputError
from harness.extender.subject.parse import Subject
from harness.load.campaign import Options, check, corpora
from harness.load.generate import Scale
from harness.load.session import loading


def hand_out(subjects: Sequence[Subject], options: Options, scale: Scale, folder: Path) -> Path:
    """Write the order of one measurement into a folder and return its file.

    Raises:
        InputError: it would be more than one measurement, or of an extender that runs only while we measure it.
        HarnessError: the folder cannot be written.
    """
    check(subjects, options, scale)
    if len(subjects) != 1 or options.sweep or options.knee or scale != Scale():
        raise InputError("--order: one subject, measured once by one process; leave --sweep, --knee and the like out")
    (subject,) = subjects
    if subject.is_started:
        raise InputError(f"--order: {subject.text} would end with this command; start it yourself and name http://…")
    with (
        temporary.folder("load") as place,
        loading(subject, place, verbs=options.verbs, seed=options.seed, allow_remote=options.allow_remote) as loaded,
    ):
        first, *others = corpora(loaded, options)
        if others:
            raise InputError("--order: one size and one wire; name one of each")
        order = loaded.order(first, options.shape(), scale, floor=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return order.write(folder.resolve())
        except OSError as error:
            raise HarnessError(f"{folder}: cannot be written: {error.strerror}; choose another --order") from None
