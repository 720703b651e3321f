"""The folder of a record that taps write into during a run, and what becomes of it: calls and a cassette.

It holds bodies as they were sent, with everybody's secrets, so it never stays: the run itself takes it away at its end,
and whoever comes next takes away that of a run that was killed. A lock, which a killed process loses, tells the two
apart.
"""

import contextlib
import datetime
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from harness import __version__
from harness.errors import HarnessError
from harness.extender.cassette.file import CassetteWriter
from harness.extender.cassette.finalize import STREAM, finalize
from harness.extender.entry import Entry
from harness.record.call import CASSETTE, EXTENDERS, SPOOL, Extender
from harness.record.write import RecordWriter

NOTE = f"{SPOOL}/run.json"
_LOCK = "owner.lock"


@contextlib.contextmanager
def owned(record: Path) -> Iterator[Path]:
    """Make the folder and own it as long as the context lasts; yields it."""
    folder = record / SPOOL
    folder.mkdir(mode=0o700)
    with FileLock(folder / _LOCK, timeout=0):
        yield folder


def note(writer: RecordWriter, facts: Mapping[str, str], offsets: Mapping[str, float]) -> None:
    """Write down what `gather` has to know when it is not the run itself that calls it.

    Args:
        writer: the record; its extenders stand in it already.
        facts: scenario and Kubernetes version, for the cassette's header.
        offsets: the run's time when the clock of each extender's tap stood at 0, by the extender's name.
    """
    writer.write_json(NOTE, {"facts": facts, "offsets": offsets})


def gather(writer: RecordWriter, told: Callable[[str], str] = str) -> list[str]:
    """Make the calls and the cassette of a record, and remove the folder; return what is doubtful about them.

    Raises:
        HarnessError: something could not be read or written; the folder stays then.
    """
    record = writer.path
    try:
        known = orjson.loads((record / NOTE).read_bytes())
        extenders = [Extender.from_json(one) for one in orjson.loads((record / EXTENDERS).read_bytes())]
    except (OSError, ValueError, TypeError) as error:
        raise HarnessError(
            f"{record / SPOOL}: cannot be made into calls: {error}; delete it, secrets may be in it"
        ) from error
    header = {
        **known["facts"],
        "made_by": f"scheduler-harness {__version__}",
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "extenders": [one.to_json() for one in extenders],
    }
    warnings: list[str] = []
    with CassetteWriter(record / CASSETTE, header) as cassette:
        for one in extenders:
            if one.name in known["offsets"]:
                entry = Entry.from_json(one.entry, f"{record / EXTENDERS}: {one.name}")
                offset = known["offsets"][one.name]
                warnings += finalize(
                    record / SPOOL / one.name, one.name, entry, offset, writer.append, cassette, told=told
                )
    # What the taps wrote stands in the record now, and there without anybody's secrets.
    shutil.rmtree(record / SPOOL, ignore_errors=True)
    return warnings


def recover(record: Path) -> bool:
    """Do for a run that was killed what it could not do itself; return whether there was something to do.

    Raises:
        HarnessError: its calls could not be read or written.
    """
    if not (record / NOTE).is_file():
        return False
    try:
        with FileLock(record / SPOOL / _LOCK, timeout=0):
            if not (record / NOTE).is_file():
                # Somebody else did it just now.
                return False
            # It may have been killed while it did this itself.
            (record / f"{STREAM}.jsonl").unlink(missing_ok=True)
            with RecordWriter(record, {}) as writer:
                gather(writer)
    except Timeout:
        return False
    except OSError as error:
        raise HarnessError(f"{record}: cannot be written: {error.strerror or error}; look at the folder") from error
    return True


def recover_all(runs: Path, say: Callable[[str], None]) -> None:
    """Do that for every record of a folder, and say so; one that cannot be mended keeps nobody from working."""
    for path in sorted(runs.glob(f"*/{NOTE}")):
        record = path.parent.parent
        try:
            if recover(record):
                say(f"{record}: its run was killed; what its taps had recorded is now in it, without secrets")
        except HarnessError as error:
            say(str(error))
