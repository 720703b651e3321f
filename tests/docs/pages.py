"""The project's documents, taken apart into headings, sections, links and fenced blocks."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(?P<level>#{1,6}) (?P<title>.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Command:
    """A command of a console block, with what the document shows that it prints."""

    text: str
    exit_code: int
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A fenced block; words after its language are the file it is saved as, and remarks."""

    language: str
    words: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        return self.words[0] if self.words else None

    def commands(self) -> list[Command]:
        found: list[Command] = []
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            line, *shown = part.rstrip("\n").split("\n")
            text, _, code = line.partition("# exit code ")
            found.append(Command(text.strip(), int(code or 0), tuple(shown)))
        return found


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return _FENCE.sub("", self.text)

    def blocks(self, language: str = "") -> list[Block]:
        found = []
        for match in _FENCE.finditer(self.text):
            name, *words = match["info"].split() or [""]
            if language in ("", name):
                found.append(Block(name, tuple(words), match["text"]))
        return found

    def section(self, title: str) -> str:
        """The text below a heading, up to the next one that is not below it."""
        headings = list(_HEADING.finditer(self.prose))
        for index, heading in enumerate(headings):
            if heading["title"] == title:
                deeper = (other for other in headings[index + 1 :] if len(other["level"]) <= len(heading["level"]))
                end = next(deeper, None)
                return self.prose[heading.end() : end.start() if end else None]
        message = f'{self}: no heading "{title}"; add a section about it'
        raise AssertionError(message)

    def anchors(self) -> set[str]:
        """What a link may name after #, as GitHub makes it of headings."""
        titles = [heading["title"].lower().replace("`", "") for heading in _HEADING.finditer(self.prose)]
        return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}

    def links(self) -> list[str]:
        return [match["target"] for match in _LINK.finditer(_CODE.sub("", self.prose))]


@cache
def pages() -> list[Page]:
    """Every Markdown file of the project."""
    folders = [path for name in ("docs", "changelog.d", "reports") for path in (ROOT / name).glob("**/*.md")]
    # What the harness wrote itself is no document.
    made = [ROOT / "reports" / name for name in ("runs", "pages", "sample")]
    kept = [path for path in folders if not any(path.is_relative_to(folder) for folder in made)]
    return [Page(path) for path in sorted([*ROOT.glob("*.md"), *kept])]


def page(name: str) -> Page:
    return Page(ROOT / name)


def names_code(text: str, word: str) -> bool:
    """Tell whether a word stands as code, alone or before its argument: `--seed N`."""
    return re.search(rf"`{re.escape(word)}(?:`|[ (=][^`\n]*`)", text) is not None
