"""The formats of a report by name. Pure."""

from collections.abc import Callable, Mapping, Sequence

from harness.errors import InputError
from harness.report.document import Document
from harness.report.render import badge, brief, json, junit, markdown, tables
from harness.report.render.names import file_names
from harness.report.words import Words

DEFAULT = ("html", "md")
PAGE = "report.html"
Files = dict[str, bytes]


def chosen(text: str) -> tuple[str, ...]:
    """Return the formats that a person names: `html,md`.

    Raises:
        InputError: one is not known.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        raise InputError(f"--format {text}: {', '.join(unknown) or 'nothing'} seen; choose from {','.join(FORMATS)}")
    return names


def render(document: Document, words: Words, formats: Sequence[str]) -> Files:
    """Return the files of a report in some formats, by their path below its folder."""
    files: Files = {}
    for name in formats:
        files |= FORMATS[name](document, words)
    if brief.FILE in files and PAGE in files:
        files |= brief.render(document, words, PAGE)
    return files


def pictures(document: Document) -> Files:
    """Return every picture as SVG and as PNG."""
    # Loads a program that draws: not for those who want numbers only.
    from harness.report.render.pictures import png, svg  # noqa: PLC0415

    names = file_names(document.pictures())
    files: Files = {}
    for picture in document.pictures():
        path = f"{markdown.PICTURES}/{names[id(picture)]}"
        files[f"{path}.svg"] = svg(picture.spec).encode()
        files[f"{path}.png"] = png(picture.spec)
    return files


def _html(document: Document, words: Words) -> Files:
    from harness.report.render.html import render as page  # noqa: PLC0415 - see above

    return page(document, words)


def _markdown(document: Document, words: Words) -> Files:
    return {**markdown.render(document, words), **brief.render(document, words), **pictures(document)}


FORMATS: Mapping[str, Callable[[Document, Words], Files]] = {
    "html": _html,
    "md": _markdown,
    "csv": lambda document, words: tables.render_csv(document),
    "parquet": lambda document, words: tables.render_parquet(document),
    "junit": lambda document, words: junit.render(document),
    "json": lambda document, words: json.render(document),
    "badge": badge.render,
}
