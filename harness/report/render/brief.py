"""The short form of a report: for the summary page of a job and for comments on pull requests. Pure.

It has to fit where others decide how much fits: less than 60 lines, and less than the 65,536 characters of a comment.
"""

import html
from collections.abc import Iterable
from dataclasses import replace

from harness.report.document import Block, Code, Document, Facts, Fold, Picture, Section, Text
from harness.report.render.markdown import Writer, escaped, verdict_line
from harness.report.render.names import names_of
from harness.report.words import Words

FILE = "summary.md"
MARKER = "<!-- scheduler-harness-report -->"
"""The first line, by which a workflow finds its comment again and replaces it."""

LINES_MAX = 58
BYTES_MAX = 60_000
# Of all lines, how many the part that is not folded may take.
_OPEN_LINES_MAX = 36
_ROWS_MAX = 12
_FOLDED_ROWS_MAX = 5
_SOURCES_MAX = 3


def render(document: Document, words: Words, page_file: str = "") -> dict[str, bytes]:
    """Return the short form: the verdict, what is brief, and below a fold what else there is room for.

    First below the fold stands what the runs were made with, and the command that makes them again.

    Args:
        document: the report.
        words: its language.
        page_file: the page of the same report, where it is made too.
    """
    document = document.for_people()
    writer = Writer(words, names_of(document), rows_max=_ROWS_MAX, linked=False)
    page = _Page([MARKER, verdict_line(document, words), ""])
    for section in document.sections:
        page.add(replace(section, title="", blocks=section.short), writer, _OPEN_LINES_MAX)
    for section in document.sections:
        if section.brief:
            page.add(replace(section, blocks=_open(section)), writer, _OPEN_LINES_MAX)
    link = f"[{words('formats.brief.whole')}]({page_file}) " if page_file else ""
    closing = ["</details>", "", f"{link}<sub>{_sources(document, words)}</sub>"]
    page.lines += ["<details>", f"<summary>{words('formats.brief.rest')}</summary>", ""]
    folded = replace(writer, rows_max=_FOLDED_ROWS_MAX)
    making = [(section, _making(section)) for section in document.sections]
    made = [replace(section, blocks=tuple(_flat(one, words) for one in blocks)) for section, blocks in making]
    rest = [section for section in document.sections if not section.brief]
    rest += [replace(section, blocks=_folded(section)) for section in document.sections if section.brief]
    told = {id(block) for _, blocks in making for block in blocks}
    rest = [replace(one, blocks=tuple(block for block in one.blocks if id(block) not in told)) for one in rest]
    for section in (*made, *rest):
        page.add(section, folded, LINES_MAX - len(closing) - 2)
    if page.left:
        page.lines += [words("formats.brief.left", names=escaped(words("run.list").join(page.left))), ""]
    return {FILE: "\n".join([*page.lines, *closing, ""]).encode("utf-8", "replace")}


class _Page:
    """Lines so far, and the titles of sections of which something did not fit."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        self.left: dict[str, None] = {}

    def add(self, section: Section, writer: Writer, lines_max: int) -> None:
        """Add as many blocks of a section as there is room for, with its heading before the first."""
        heading = [f"### {escaped(section.title)}", ""] if section.title else []
        for block in section.blocks:
            more = [*heading, *writer.block(block)]
            if len(self.lines) + len(more) <= lines_max and _size([*self.lines, *more]) < BYTES_MAX:
                self.lines += more
                heading = []
            elif section.title:
                self.left[section.title] = None


def _open(section: Section) -> tuple[Block, ...]:
    # What is a picture there would be a sentence here: the tables of a brief section say the same.
    return tuple(block for block in section.blocks if not isinstance(block, Fold | Picture))


def _folded(section: Section) -> tuple[Block, ...]:
    folds = [block for block in section.blocks if isinstance(block, Fold)]
    return tuple(inner for fold in folds for inner in fold.blocks)


def _making(section: Section) -> tuple[Block, ...]:
    """Return what a chapter says of how its runs were made: facts, and the command up to which it stands."""
    for blocks in (section.blocks, *(block.blocks for block in section.blocks if isinstance(block, Fold))):
        end = next((place for place, block in enumerate(blocks) if _is_command(block)), None)
        if end is not None and any(isinstance(block, Facts) for block in blocks[:end]):
            return blocks[: end + 1]
    return ()


def _flat(block: Block, words: Words) -> Block:
    """Return facts as a paragraph: a row each would leave no room for the command below them."""
    if not isinstance(block, Facts):
        return block
    return Text(words("run.join").join(words("run.said", where=name, text=value) for name, value in block.pairs))


def _is_command(block: Block) -> bool:
    return isinstance(block, Code) and block.language == "console"


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _sources(document: Document, words: Words) -> str:
    shown = html.escape(words("run.list").join(document.sources[:_SOURCES_MAX]), quote=False)
    rest = len(document.sources) - _SOURCES_MAX
    return f"{shown} {words('formats.brief.more', count=rest)}" if rest > 0 else shown
