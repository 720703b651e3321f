"""The page: one file that needs no network and opens from disk. Without JavaScript it can be read, with it used.

What a record says is text here, whatever it looks like: templates escape it, and data between script tags is written
so that it cannot end them.
"""

import base64
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import orjson
from markupsafe import Markup, escape

from harness.report.document import Cell, Document, Picture, Table
from harness.report.render import cells, paper, pictures
from harness.report.render.legal import legal_json
from harness.report.words import Words, catalogue

FILE = "report.html"
PAGE = Path(__file__).parent / "page"
# So many rows are written out for readers without JavaScript; of longer tables, the first.
ROWS_WRITTEN_MAX = 300
# Longer texts take several lines: a column as wide as the longest name would push the others out.
TEXT_SHORT_WIDTH = 40
TITLE_SHORT_WIDTH = 12
STYLES = ("page.css", "tables.css", "print.css")
PROGRAMS = ("cells.js", "tables.js", "pictures.js", "page.js")
TOLD_TO_PROGRAMS = ("page.cell.", "page.table.", "page.picture.", "page.cop")

_INLINE_CODE = re.compile(r"`([^`\n]+)`")


def render(document: Document, words: Words) -> dict[str, bytes]:
    """Return the page by its file's name."""
    document = document.for_people()
    programs = {"start": _read("start.js"), "main": _read_all(PROGRAMS)}
    if document.pictures():
        programs["bundle"] = pictures.bundle()
    page = (
        _environment(words)
        .get_template("report.html.j2")
        .render(
            document=document,
            styles=Markup(_read_all(STYLES)),  # noqa: S704 - files of this package
            programs={name: Markup(text) for name, text in programs.items()},  # noqa: S704 - programs of this package
            allowed=" ".join(_fingerprint(text) for text in programs.values()),
            told=_told(words),
            checks=Counter(check.outcome for check in document.checks),
        )
    )
    return {FILE: page.encode("utf-8", "replace")}


def data(value: Any) -> Markup:
    """Return JSON that can stand inside a script element."""
    text = legal_json(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode())
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - nothing is left in it that could end the element


def anchor(name: str) -> str:
    """Return a name as an address inside the page."""
    return re.sub(r"[^\w-]+", "-", name)


def prose(text: str) -> Markup:
    """Return text in which `code` stands out."""
    return Markup(_INLINE_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def is_long(text: str, width: int = TEXT_SHORT_WIDTH) -> bool:
    """Tell whether a text may take more than one line in a table; Chinese characters count twice."""
    return len(text) > width or len(text) + sum(character > "\u2e7f" for character in text) > width


def drawing(picture: Picture) -> Markup:
    """Return a picture as part of the page, for readers without JavaScript and for paper."""
    drawn = pictures.svg(picture.spec, background=None, prefix=f"{anchor(picture.name)}-")
    return Markup(drawn)  # noqa: S704 - Vega escapes the texts of a picture


def natural_width(drawn: str) -> int:
    """Return how wide a drawn picture is when nobody shrinks it, in pixels."""
    width = re.search(r'<svg[^>]* width="(\d+)', drawn)
    return int(width[1]) if width else 0


def rows_written(table: Table) -> int:
    """Return how many rows of a table the page has as HTML."""
    total = len(table.rows)
    return total if total <= max(ROWS_WRITTEN_MAX, table.shown) else table.shown


def table_data(table: Table) -> Mapping[str, Any]:
    """Return what the page's program needs to sort and narrow a table."""
    keys = [column.key for column in table.columns]
    return {
        "name": table.name,
        "titles": [column.title for column in table.columns],
        "digits": [column.digits for column in table.columns],
        "numbers": numbers(table),
        "filters": [keys.index(key) for key in table.filters if key in keys],
        "shown": table.shown,
        "marks": {str(row): mark for row, mark in table.marks.items()},
        "rows": table.rows,
    }


def numbers(table: Table) -> list[bool]:
    """Tell for each column whether it has numbers and nothing else."""
    kinds = [{type(row[place]) for row in table.rows} - {type(None)} for place in range(len(table.columns))]
    return [bool(kind) and kind <= {int, float} for kind in kinds]


def _environment(words: Words) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def shown(cell: Cell, digits: int | None) -> str:
        return cells.shown(cell, digits, words)

    def closeness(table: Table) -> str:
        return paper.closeness(table, rows_written(table), shown, is_long)

    environment.globals |= {
        "closeness": closeness,
        "words": words,
        "shown": shown,
        "is_missing": cells.is_missing,
        "is_long": is_long,
        "TITLE_SHORT_WIDTH": TITLE_SHORT_WIDTH,
        "is_single": pictures.is_single,
        "rows_written": rows_written,
        "table_data": table_data,
        "numbers": numbers,
        "drawing": drawing,
        "natural_width": natural_width,
    }
    environment.filters |= {"data": data, "prose": prose, "anchor": anchor, "kind": lambda block: type(block).__name__}
    return environment


def _told(words: Words) -> dict[str, Any]:
    """Return what the page's programs have to know: their texts and the theme of pictures."""
    return {
        "words": {key: words(key) for key in catalogue() if key.startswith(TOLD_TO_PROGRAMS)},
        "levels": {level: words(f"page.level.{level}") for level in ("good", "bad", "warning")},
        "theme": pictures.THEME,
    }


def _fingerprint(program: str) -> str:
    """Return what the page's policy calls a program: only these run, and none can be loaded."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()}'"


def _read_all(names: tuple[str, ...]) -> str:
    return "\n".join(_read(name) for name in names)


@functools.cache
def _read(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")
