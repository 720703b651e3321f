"""Makes a report of records and writes its files: the only part of reports that changes anything."""

import contextlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.report.assemble import assemble
from harness.report.document import Document
from harness.report.render import brief
from harness.report.render.formats import DEFAULT, Files, render
from harness.report.sources import gather
from harness.report.words import Words, language_of_here

LAB = "lab"
JOB_SUMMARY = "GITHUB_STEP_SUMMARY"
JOB_SUMMARY_BYTES_MAX = 1024 * 1024


@dataclass(frozen=True)
class Order:
    """What kind of report is wanted.

    Args:
        formats: as in `formats.FORMATS`; html and md unless told, and none where a template is a file.
        language: en or zh; that of whoever sits here unless told.
        template: `lab`, or the file of a Jinja template.
    """

    formats: tuple[str, ...] | None = None
    language: str | None = None
    template: str | None = None


@dataclass(frozen=True)
class Published:
    """A report that was written: what it says, and its files."""

    document: Document
    folder: Path
    files: tuple[str, ...]

    def listing(self) -> list[str]:
        """Return a line per file that a person opens, and one per folder of others."""
        names = Counter(file.partition("/")[0] for file in self.files if "/" in file)
        main = [str(self.folder / file) for file in self.files if "/" not in file]
        return [*main, *(f"{self.folder / name}/ ({count} files)" for name, count in sorted(names.items()))]


def publish(records: Sequence[Path], folder: Path, order: Order | None = None) -> Published:
    """Make the report of some records and write it into a folder.

    Raises:
        InputError: a record or a template cannot be used, or nothing can be written.
    """
    order = order or Order()
    words = Words(order.language or language_of_here())
    document, files = _made(records, words, order)
    write(files, folder)
    return Published(document, folder, tuple(files))


def _made(records: Sequence[Path], words: Words, order: Order) -> tuple[Document, Files]:
    sources = gather(records)
    document = assemble(sources, words)
    if order.template is None:
        return document, render(document, words, order.formats or DEFAULT)
    from harness.report.lab import write_up  # noqa: PLC0415 - only for those who ask for it

    lab = write_up(sources, document, words)
    if order.template == LAB:
        return lab, render(lab, words, order.formats or DEFAULT)
    from harness.report.render.template import render as fill_in  # noqa: PLC0415 - see above

    files = fill_in(Path(order.template), document, lab, sources, words)
    return document, {**render(document, words, order.formats or ()), **files}


def write(files: Files, folder: Path) -> None:
    """Write the files of a report into a folder; its short form also goes where a job shows it.

    Raises:
        InputError: it cannot be written. A report that was there before is then still whole.
    """
    drafts = {folder / name: _draft_of(folder / name) for name in files}
    try:
        for (path, draft), content in zip(drafts.items(), files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
        for path, draft in drafts.items():
            draft.replace(path)
    except OSError as error:
        for draft in drafts.values():
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        raise InputError(
            f"{folder}: the report cannot be written: {error.strerror or error}; choose another folder"
        ) from error
    if brief.FILE in files:
        _append_to_job(files[brief.FILE], os.environ)


def _draft_of(path: Path) -> Path:
    """Return where a file is written aside: beside its place, so that it takes that in one move; hidden until then."""
    return path.with_name(f".{path.name}.{os.getpid()}")


def _append_to_job(summary: bytes, environment: Mapping[str, str]) -> None:
    """Show the short form on the page of a job of GitHub, where one runs."""
    name = environment.get(JOB_SUMMARY)
    if not name:
        return
    path = Path(name)
    try:
        size = path.stat().st_size if path.exists() else 0
        # GitHub takes nothing at all of a page that is too long.
        if size + len(summary) < JOB_SUMMARY_BYTES_MAX:
            with path.open("ab") as file:
                file.write(summary)
    except OSError as error:
        raise InputError(f"{JOB_SUMMARY}: {path} cannot be written: {error.strerror or error}") from error
