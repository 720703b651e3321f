"""A course's own template: Jinja in a sandbox, filled in with a report. Pure but for reading the template."""

import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from harness.errors import InputError
from harness.report.document import Block, Cell, Column, Document, Picture, Section, Table
from harness.report.render import cells, markdown, tables
from harness.report.render.formats import Files, pictures
from harness.report.render.names import names_of
from harness.report.sections.grouping import readable
from harness.report.sources import Sources
from harness.report.summary import RunSummary
from harness.report.words import Words

ENDINGS = (".j2", ".jinja", ".jinja2")
MARKUP = ("html", "htm", "xhtml", "xml", "svg")


def render(template: Path, document: Document, lab: Document, sources: Sources, words: Words) -> Files:
    """Return the filled-in template with the pictures and tables that it may link to: those of report and write-up.

    Raises:
        InputError: the template is not there, or it has a fault; the message has its file and line.
    """
    names = {section.name for section in lab.sections}
    rest = tuple(section for section in document.sections if section.name not in names)
    whole = replace(lab, sections=(*lab.sections, *rest))
    if not template.is_file():
        raise InputError(f"--template {template}: no such file; give a Jinja template, or lab")
    try:
        text = _environment(template).get_template(template.name).render(given(document, whole, sources, words))
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{_file(template, error.filename)}:{error.lineno}: {error.message}") from error
    except Exception as error:
        # Whatever a template does wrong, its author needs the line.
        raise InputError(f"{template}:{_line(template, error)}: {type(error).__name__}: {error}") from error
    return {output_name(template): text.encode("utf-8", "replace"), **tables.render_csv(whole), **pictures(whole)}


def output_name(template: Path) -> str:
    """Return the name of the file that a template becomes: `course.md.j2` becomes `course.md`."""
    name = template.name
    ending = next((ending for ending in ENDINGS if name.endswith(ending)), "")
    # A template without an ending of its own must not come out under its own name.
    return name.removesuffix(ending) if ending else f"report-{name}"


def _environment(template: Path) -> jinja2.Environment:
    return ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(template.resolve().parent),
        autoescape=output_name(template).rpartition(".")[2].lower() in MARKUP,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def given(document: Document, whole: Document, sources: Sources, words: Words) -> dict[str, Any]:
    """Return what a template can name; `whole` has the chapters of report and write-up."""
    files = names_of(whole)
    writer = markdown.Writer(words, files)

    def as_markdown(thing: Section | Block) -> str:
        lines = writer.section(thing) if isinstance(thing, Section) else writer.block(thing)
        return "\n".join(lines).rstrip("\n") + "\n"

    def file(thing: Table | Picture, ending: str = "") -> str:
        folder, usual = (markdown.PICTURES, "svg") if isinstance(thing, Picture) else (tables.FOLDER, "csv")
        return f"{folder}/{files[id(thing)]}.{ending or usual}"

    def shown(cell: Cell, column: Column) -> str:
        return cells.shown(cell, column.digits, words)

    return {
        "report": document,
        "runs": [readable({}, run.to_json) or _bare(run) for run in sources.runs],
        "section": _by_name(whole.sections),
        "table": _by_name(whole.tables()),
        "picture": _by_name(whole.pictures()),
        "markdown": as_markdown,
        "file": file,
        "shown": shown,
        "kind": lambda block: type(block).__name__,
    }


def _bare(run: RunSummary) -> dict[str, Any]:
    """Return what can be told of a run of which some files are damaged."""
    meta = run.record.meta
    facts = {name: getattr(meta, name) for name in ("scenario", "size", "variant", "cluster", "seed", "settled")}
    verdicts = [verdict.to_json() for verdict in run.verdicts]
    return {**facts, "ok": run.ok, "pods": run.counts(), "placements": run.placements(), "verdicts": verdicts}


def _by_name(items: Iterable[Any]) -> Callable[[str], Any]:
    return {item.name: item for item in items}.get


def _file(template: Path, name: str | None) -> Path:
    """Return a template's path as the user gave it; those that it includes lie beside it."""
    return template.parent / Path(name).name if name else template


def _line(template: Path, error: Exception) -> int | str:
    folder = template.resolve().parent
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == folder
    ]
    return next((line for line in reversed(lines) if line), "?")
